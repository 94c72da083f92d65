#include <tresse/rods/detail/articulated_matrix.hpp>

#include <cmath>

#include <tresse/base/assert.hpp>

namespace tresse::rods::detail {
namespace {

/// D = R R^T with R upper triangular, from the upper triangle of D. False where D is not positive definite or not
/// finite.
template <int N>
bool reverse_cholesky(Eigen::Matrix<double, N, N>& R) {
  for (int j = N - 1; j >= 0; --j) {
    const double pivot = R(j, j);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double scale = 1.0 / std::sqrt(pivot);
    for (int i = 0; i <= j; ++i) R(i, j) *= scale;
    for (int k = 0; k < j; ++k) {
      for (int i = 0; i <= k; ++i) R(i, k) -= R(k, j) * R(i, j);
    }
    for (int i = j + 1; i < N; ++i) R(i, j) = 0.0;
  }
  return true;
}

/// Of an upper triangular matrix.
Matrix3 inverse(const Matrix3& R) {
  Matrix3 out = Matrix3::Zero();
  out(0, 0) = 1.0 / R(0, 0);
  out(1, 1) = 1.0 / R(1, 1);
  out(2, 2) = 1.0 / R(2, 2);
  out(0, 1) = -R(0, 1) * out(0, 0) * out(1, 1);
  out(1, 2) = -R(1, 2) * out(1, 1) * out(2, 2);
  out(0, 2) = -(R(0, 1) * out(1, 2) + R(0, 2) * out(2, 2)) * out(0, 0);
  return out;
}

}  // namespace

template <int W>
bool ArticulatedMatrix<W>::factor(ChainRoot root) {
  TRESSE_ASSERT(!elements_.empty());
  root_ = root;
  blocks_.resize(elements_.size());
  Eigen::Matrix<double, Z, Z> beyond = Eigen::Matrix<double, Z, Z>::Zero();
  int attachment = static_cast<int>(attachments_.size()) - 1;
  TRESSE_ASSERT(attachment < 0 || attachments_[attachment].element < count());
  for (int e = count() - 1; e >= 0; --e) {
    if (!eliminate(e, beyond, attachment, beyond)) return false;
  }
  return factor_root(beyond);
}

/// The form of element e in (V_e, c_e) with everything beyond, and what is left of it without d_e.
template <int W>
bool ArticulatedMatrix<W>::eliminate(int e, const Eigen::Matrix<double, Z, Z>& beyond, int& attachment,
                                     Eigen::Matrix<double, Z, Z>& result) {
  const Element& element = elements_[e];
  Eigen::Matrix<double, 6, W> reach = beyond.template topLeftCorner<6, 6>() * element.twist;  // Ihat dz/dc
  if constexpr (W == 6) reach.template rightCols<3>() += beyond.template topRightCorner<6, 3>();
  Eigen::Matrix<double, 6 + W, 6 + W> form;
  auto V_V = form.template topLeftCorner<6, 6>();
  auto V_c = form.template topRightCorner<6, W>();
  auto c_c = form.template bottomRightCorner<W, W>();
  V_V = element.weight * element.inertia + beyond.template topLeftCorner<6, 6>();
  V_c = element.weight * element.coupling + reach;
  c_c = element.weight * element.own + element.local;
  c_c.noalias() += element.twist.transpose() * reach;
  if constexpr (W == 6) {
    // dz_{e+1}/dc = (X; 0 1): the rows of the end node meet what reach has left out.
    c_c.template bottomRows<3>().noalias() += beyond.template bottomLeftCorner<3, 6>() * element.twist;
    c_c.template bottomRightCorner<3, 3>() += beyond.template bottomRightCorner<3, 3>();
  }
  for (; attachment >= 0 && attachments_[attachment].element == e; --attachment) {
    const Attachment& a = attachments_[attachment];
    const Eigen::Matrix<double, 6, W> wrench = a.inertia * a.twist;
    V_V += a.inertia;
    V_c += wrench;
    c_c.noalias() += a.twist.transpose() * wrench;
  }
  TRESSE_ASSERT(attachment < 0 || attachments_[attachment].element < e);
  if constexpr (W == 6) form.template block<3, 6>(6, 0) = form.template block<6, 3>(0, 6).transpose();

  Block& block = blocks_[e];
  block.R = form.template bottomRightCorner<3, 3>();
  if (!reverse_cholesky<3>(block.R)) return false;
  block.R_inverse = inverse(block.R);
  block.B.noalias() = form.template topRightCorner<Z, 3>() * block.R_inverse.transpose();
  result = form.template topLeftCorner<Z, Z>();
  result.noalias() -= block.B * block.B.transpose();
  return true;
}

template <int W>
bool ArticulatedMatrix<W>::factor_root(const Eigen::Matrix<double, Z, Z>& all) {
  carried_inertia_ = all.template topLeftCorner<6, 6>();
  if constexpr (W == 6) {
    node_.R = all.template bottomRightCorner<3, 3>();
    if (!reverse_cholesky<3>(node_.R)) return false;
    node_.R_inverse = inverse(node_.R);
    node_.B.template topRows<6>().noalias() = all.template topRightCorner<6, 3>() * node_.R_inverse.transpose();
    node_.B.template bottomRows<3>().setZero();
    carried_inertia_.noalias() -= node_.B.template topRows<6>() * node_.B.template topRows<6>().transpose();
  }
  if (root_ != ChainRoot::free) return carried_inertia_.allFinite();
  root_R_ = carried_inertia_;
  return reverse_cholesky<6>(root_R_);
}

template <int W>
template <typename Visit>
void ArticulatedMatrix<W>::root_to_tip(const Eigen::Ref<const VectorX>& x, Vector6 twist, Visit&& visit) const {
  TRESSE_ASSERT(x.size() == dof());
  Local c = Local::Zero();
  if constexpr (W == 6) c.template tail<3>() = x.template segment<3>(root_dof());
  for (int e = 0; e < count(); ++e) {
    if constexpr (W == 6) c.template head<3>() = c.template tail<3>().eval();
    visit(e, twist, c);
    twist.noalias() += elements_[e].twist * c;
  }
}

template <int W>
void ArticulatedMatrix<W>::whitened_from_velocity(Eigen::Ref<VectorX> x, const Vector6& root_twist) const {
  Vector6 twist = root_twist;
  if (root_ == ChainRoot::free) twist = x.template head<6>();
  Vector3 node = Vector3::Zero();
  if constexpr (W == 6) {
    node = x.template segment<3>(root_dof());
    x.template segment<3>(root_dof()) = node_.R.transpose() * node + node_.B.template topRows<6>().transpose() * twist;
  }
  if (root_ == ChainRoot::free) x.template head<6>() = (root_R_.transpose() * twist).eval();
  for (int e = 0; e < count(); ++e) {
    auto here = x.template segment<3>(at(e) + W - 3);
    const Block& block = blocks_[e];
    Local c;
    c.template tail<3>() = here;
    here = block.R.transpose() * c.template tail<3>() + block.B.template topRows<6>().transpose() * twist;
    if constexpr (W == 6) {
      c.template head<3>() = node;
      here.noalias() += block.B.template bottomRows<3>().transpose() * node;
      node = c.template tail<3>();
    }
    twist.noalias() += elements_[e].twist * c;
  }
}

template <int W>
double ArticulatedMatrix<W>::squared_norm(const Eigen::Ref<const VectorX>& x, const Vector6& root_twist,
                                          std::span<Vector6> attachment_twists) const {
  TRESSE_ASSERT(attachment_twists.empty() || attachment_twists.size() == attachments_.size());
  std::size_t attachment = 0;
  Vector6 start = root_twist;
  double sum = 0.0;
  if (root_ == ChainRoot::free) {
    start = x.template head<6>();
    sum = (root_R_.transpose() * start).squaredNorm();
  }
  if constexpr (W == 6) {
    sum += (node_.R.transpose() * x.template segment<3>(root_dof()) + node_.B.template topRows<6>().transpose() * start)
               .squaredNorm();
  }
  root_to_tip(x, start, [&](int e, const Vector6& twist, Local& c) {
    const Block& block = blocks_[e];
    c.template tail<3>() = x.template segment<3>(at(e) + W - 3);
    Vector3 own = block.R.transpose() * c.template tail<3>();
    own.noalias() += block.B.template topRows<6>().transpose() * twist;
    if constexpr (W == 6) own.noalias() += block.B.template bottomRows<3>().transpose() * c.template head<3>();
    sum += own.squaredNorm();
    for (; attachment < attachment_twists.size() && attachments_[attachment].element == e; ++attachment)
      attachment_twists[attachment] = twist + attachments_[attachment].twist * c;
  });
  return sum;
}

template <int W>
void ArticulatedMatrix<W>::velocity_from_whitened(Eigen::Ref<VectorX> x, const Vector6& root_twist,
                                                  std::span<Vector6> attachment_twists) const {
  TRESSE_ASSERT(attachment_twists.empty() || attachment_twists.size() == attachments_.size());
  Vector6 start = root_twist;
  if (root_ == ChainRoot::free) {
    root_R_.transpose().template triangularView<Eigen::Lower>().solveInPlace(x.template head<6>());
    start = x.template head<6>();
  }
  if constexpr (W == 6) {
    auto node = x.template segment<3>(root_dof());
    node -= node_.B.template topRows<6>().transpose() * start;
    node = (node_.R_inverse.transpose() * node).eval();
  }
  std::size_t attachment = 0;
  root_to_tip(x, start, [&](int e, const Vector6& twist, Local& c) {
    const Block& block = blocks_[e];
    auto here = x.template segment<3>(at(e) + W - 3);
    Vector3 left = here;
    left.noalias() -= block.B.template topRows<6>().transpose() * twist;
    if constexpr (W == 6) left.noalias() -= block.B.template bottomRows<3>().transpose() * c.template head<3>();
    here.noalias() = block.R_inverse.transpose() * left;
    c.template tail<3>() = here;
    for (; attachment < attachment_twists.size() && attachments_[attachment].element == e; ++attachment)
      attachment_twists[attachment] = twist + attachments_[attachment].twist * c;
  });
}

template <int W>
void ArticulatedMatrix<W>::solve(Eigen::Ref<VectorX> x) const {
  whiten<1>(x);
  velocity_from_whitened(x);
}

/// With y_e the whitened entries of d_e: R y_e = h_e - (dz_{e+1}/dd_e)^T p_{e+1} and
/// p_e = B y_e + (dz_{e+1}/dz_e)^T p_{e+1} gathers what every later column of U brings, as forces on z_e.
template <int W>
template <int K>
Eigen::Matrix<double, 6, K> ArticulatedMatrix<W>::whiten(
    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, K>> columns,
    std::span<const Eigen::Matrix<double, 6, K>> attachment_wrenches) const {
  TRESSE_ASSERT(attachment_wrenches.empty() || attachment_wrenches.size() == attachments_.size());
  const int leading = static_cast<int>(columns.rows());
  TRESSE_ASSERT(leading >= root_dof() && leading <= dof() && (leading - root_dof()) % 3 == 0);
  Eigen::Matrix<double, 6, K> wrench = Eigen::Matrix<double, 6, K>::Zero();
  Eigen::Matrix<double, W, K> local = Eigen::Matrix<double, W, K>::Zero();  // last three: force on the node at hand
  const int last = (leading - root_dof() - W + 3) / 3 - 1;
  auto attachment = static_cast<int>(attachment_wrenches.size()) - 1;
  while (attachment >= 0 && attachments_[attachment].element > last) --attachment;
  for (int e = last; e >= 0; --e) {
    const Block& block = blocks_[e];
    const auto& twist = elements_[e].twist;
    if constexpr (W == 6) {
      const Eigen::Matrix<double, 3, K> node = local.template topRows<3>();
      local.noalias() = twist.transpose() * wrench;
      local.template bottomRows<3>() += node;
    } else {
      local.noalias() = twist.transpose() * wrench;
    }
    for (; attachment >= 0 && attachments_[attachment].element == e; --attachment) {
      const auto& from = attachment_wrenches[attachment];
      local.noalias() += attachments_[attachment].twist.transpose() * from;
      wrench += from;
    }
    auto here = columns.template middleRows<3>(at(e) + W - 3);
    const Eigen::Matrix<double, 3, K> left = here - local.template bottomRows<3>();
    const Eigen::Matrix<double, 3, K> y = block.R_inverse * left;
    here = y;
    wrench.noalias() += block.B.template topRows<6>() * y;
    if constexpr (W == 6) local.template topRows<3>().noalias() += block.B.template bottomRows<3>() * y;
  }
  if constexpr (W == 6) {
    if (leading > root_dof()) {
      auto here = columns.template middleRows<3>(root_dof());
      const Eigen::Matrix<double, 3, K> left = here - local.template topRows<3>();
      here.noalias() = node_.R_inverse * left;
      wrench.noalias() += node_.B.template topRows<6>() * here;
    }
  }
  if (root_ != ChainRoot::free) return wrench;
  auto here = columns.template topRows<6>();
  here -= wrench;
  root_R_.template triangularView<Eigen::Upper>().solveInPlace(here);
  return Eigen::Matrix<double, 6, K>::Zero();
}

template <int W>
void ArticulatedMatrix<W>::whiten(Columns columns) const {
  Eigen::Index k = 0;
  for (; k + 3 <= columns.cols(); k += 3) whiten<3>(columns.template middleCols<3>(k));
  for (; k < columns.cols(); ++k) whiten<1>(columns.col(k));
}

template <int W>
void ArticulatedMatrix<W>::spread(const Eigen::Ref<const VectorX>& x, const Vector6& root_twist,
                                  std::span<Vector6> attachment_twists) {
  TRESSE_ASSERT(attachment_twists.empty() || attachment_twists.size() == attachments_.size());
  twists_.resize(elements_.size());
  std::size_t attachment = 0;
  const Vector6 start = root_ == ChainRoot::free ? Vector6(x.template head<6>()) : root_twist;
  root_to_tip(x, start, [&](int e, const Vector6& twist, Local& c) {
    twists_[e] = twist;
    c.template tail<3>() = x.template segment<3>(at(e) + W - 3);
    for (; attachment < attachment_twists.size() && attachments_[attachment].element == e; ++attachment)
      attachment_twists[attachment] = twist + attachments_[attachment].twist * c;
  });
}

template <int W>
Vector6 ArticulatedMatrix<W>::mass_times(const Eigen::Ref<const VectorX>& x, Eigen::Ref<VectorX> out,
                                         std::span<const Vector6> attachment_wrenches) const {
  TRESSE_ASSERT(attachment_wrenches.empty() || attachment_wrenches.size() == attachments_.size());
  TRESSE_ASSERT(x.size() == dof() && out.size() == dof() && twists_.size() == elements_.size());
  out.setZero();
  Vector6 wrench = Vector6::Zero();
  auto attachment = static_cast<int>(attachment_wrenches.size()) - 1;
  for (int e = count() - 1; e >= 0; --e) {
    const Element& element = elements_[e];
    const Local c = x.template segment<W>(at(e));
    auto row = out.template segment<W>(at(e));
    row.noalias() += element.twist.transpose() * wrench;
    row.noalias() += element.coupling.transpose() * twists_[e];
    row.noalias() += element.own * c;
    for (; attachment >= 0 && attachments_[attachment].element == e; --attachment) {
      const Vector6& from = attachment_wrenches[attachment];
      row.noalias() += attachments_[attachment].twist.transpose() * from;
      wrench += from;
    }
    wrench.noalias() += element.inertia * twists_[e];
    wrench.noalias() += element.coupling * c;
  }
  if (root_ != ChainRoot::free) return wrench;
  out.template head<6>() = wrench;
  return Vector6::Zero();
}

template class ArticulatedMatrix<3>;
template class ArticulatedMatrix<6>;
template Vector6 ArticulatedMatrix<3>::whiten<1>(Eigen::Ref<VectorX>, std::span<const Vector6>) const;
template Vector6 ArticulatedMatrix<6>::whiten<1>(Eigen::Ref<VectorX>, std::span<const Vector6>) const;
template Eigen::Matrix<double, 6, 3> ArticulatedMatrix<3>::whiten<3>(
    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>>, std::span<const Eigen::Matrix<double, 6, 3>>) const;
template Eigen::Matrix<double, 6, 3> ArticulatedMatrix<6>::whiten<3>(
    Eigen::Ref<Eigen::Matrix<double, Eigen::Dynamic, 3>>, std::span<const Eigen::Matrix<double, 6, 3>>) const;

}  // namespace tresse::rods::detail
