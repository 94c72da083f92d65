#include <tresse/friction/detail/newton_system.hpp>

#include <cmath>

#include <tresse/friction/detail/sweep_policy.hpp>
#include <tresse/math/dense_qr.hpp>

namespace tresse::friction::detail {
namespace {

using Index = Eigen::Index;

Index count(const std::vector<int>& list) { return static_cast<Index>(list.size()); }

/// The contacts that are not open.
std::vector<int> active_contacts(const std::vector<ContactFunction>& contacts) {
  std::vector<int> out;
  for (std::size_t i = 0; i < contacts.size(); ++i)
    if (!contacts[i].du.isZero(0.0) || !contacts[i].dr.isIdentity(0.0)) out.push_back(static_cast<int>(i));
  return out;
}

VectorX values(const std::vector<ContactFunction>& contacts) {
  VectorX f(3 * static_cast<Index>(contacts.size()));
  for (std::size_t i = 0; i < contacts.size(); ++i) f.segment<3>(3 * static_cast<Index>(i)) = contacts[i].value;
  return f;
}

template <typename Do>
void for_row(const BlockMatrix& W, int i, const Do& visit) {
  const auto row = static_cast<std::size_t>(i);
  for (int k = W.row_begin[row]; k < W.row_begin[row + 1]; ++k)
    visit(W.column[static_cast<std::size_t>(k)], W.block[static_cast<std::size_t>(k)]);
}

}  // namespace

void multiply(const MatrixX& W, const VectorX& r, VectorX& out) { out.noalias() = W * r; }

void multiply(const BlockMatrix& W, const VectorX& r, VectorX& out) {
  out.resize(3 * static_cast<Index>(W.rows));
  for (int i = 0; i < W.rows; ++i) {
    Vector3 sum = Vector3::Zero();
    for_row(W, i, [&](int j, const Matrix3& block) { sum += block * r.segment<3>(3 * j); });
    out.segment<3>(3 * i) = sum;
  }
}

double frobenius_norm(const MatrixX& W) { return W.norm(); }

double frobenius_norm(const BlockMatrix& W) {
  double sum = 0.0;
  for (const Matrix3& block : W.block) sum += block.squaredNorm();
  return std::sqrt(sum);
}

void lift_diagonal(const MatrixX& W, double rho, MatrixX& out) {
  if (out.size() != W.size()) out = W;
  out.diagonal() = W.diagonal().array() + rho;
}

void lift_diagonal(const BlockMatrix& W, double rho, BlockMatrix& out) {
  if (out.block.size() != W.block.size()) out = W;
  for (int i = 0; i < W.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (int k = W.row_begin[row]; k < W.row_begin[row + 1]; ++k) {
      const auto block = static_cast<std::size_t>(k);
      if (W.column[block] == i) out.block[block].diagonal() = W.block[block].diagonal().array() + rho;
    }
  }
}

/// Rows and columns of the active contacts; f_ in: of all contacts, out: of the active ones.
void DenseNewtonSystem::reduce(const std::vector<ContactFunction>& contacts, const std::vector<int>& active,
                               double lift) {
  const Index m = count(active);
  derivative_.resize(3 * m, 3 * m);
  VectorX open = f_;
  for (const int i : active) open.segment<3>(3 * i).setZero();
  const VectorX from_open = W_ * open;
  VectorX f(3 * m);
  for (Index k = 0; k < m; ++k) {
    const int j = active[static_cast<std::size_t>(k)];
    for (Index l = 0; l < m; ++l) {
      const int i = active[static_cast<std::size_t>(l)];
      derivative_.block<3, 3>(3 * l, 3 * k).noalias() =
          contacts[static_cast<std::size_t>(i)].du * W_.block<3, 3>(3 * i, 3 * j);
    }
    const ContactFunction& c = contacts[static_cast<std::size_t>(j)];
    derivative_.block<3, 3>(3 * k, 3 * k) += c.dr + lift * c.du;
    f.segment<3>(3 * k) = f_.segment<3>(3 * j) - c.du * from_open.segment<3>(3 * j);
  }
  f_ = f;
}

bool DenseNewtonSystem::solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method,
                              VectorX& d) {
  const auto n = static_cast<Index>(contacts.size());
  f_ = values(contacts);
  if (contacts.size() > newton_policy.form.whole_rows && method == LinearSolve::elimination) {
    const std::vector<int> active = active_contacts(contacts);
    d = f_;
    reduce(contacts, active, lift);
    const VectorX change = derivative_.partialPivLu().solve(f_);
    for (std::size_t k = 0; k < active.size(); ++k)
      d.segment<3>(3 * active[k]) = change.segment<3>(3 * static_cast<Index>(k));
    return d.allFinite();
  }
  derivative_.resize(3 * n, 3 * n);
  for (Index i = 0; i < n; ++i) {
    const ContactFunction& c = contacts[static_cast<std::size_t>(i)];
    derivative_.middleRows<3>(3 * i).noalias() = c.du * W_.middleRows<3>(3 * i);
    derivative_.block<3, 3>(3 * i, 3 * i) += lift > 0.0 ? Matrix3(c.dr + lift * c.du) : c.dr;
  }
  d = method == LinearSolve::least_squares ? math::least_squares(derivative_, f_)
                                           : VectorX(derivative_.partialPivLu().solve(f_));
  return d.allFinite();
}

bool SparseNewtonSystem::solve(const std::vector<ContactFunction>& contacts, double lift, LinearSolve method,
                               VectorX& d) {
  if (method != LinearSolve::elimination) return false;
  const std::vector<int> active = active_contacts(contacts);
  std::vector<int> place(contacts.size(), -1);
  for (std::size_t k = 0; k < active.size(); ++k) place[static_cast<std::size_t>(active[k])] = static_cast<int>(k);
  d = values(contacts);
  VectorX f(3 * count(active));
  std::vector<Eigen::Triplet<double>> entries;
  for (std::size_t k = 0; k < active.size(); ++k) {
    const int i = active[k];
    const ContactFunction& c = contacts[static_cast<std::size_t>(i)];
    const int row = 3 * static_cast<int>(k);
    Vector3 value = c.value;
    for_row(W_, i, [&](int j, const Matrix3& block) {
      Matrix3 product = c.du * block;
      const int column = 3 * place[static_cast<std::size_t>(j)];
      if (column < 0) {
        value -= product * contacts[static_cast<std::size_t>(j)].value;
        return;
      }
      if (j == i) product += c.dr + lift * c.du;
      for (int a = 0; a < 3; ++a)
        for (int b = 0; b < 3; ++b)
          if (product(a, b) != 0.0) entries.emplace_back(row + a, column + b, product(a, b));
    });
    f.segment<3>(row) = value;
  }
  if (active.empty()) return d.allFinite();
  Eigen::SparseMatrix<double> derivative(f.size(), f.size());
  derivative.setFromTriplets(entries.begin(), entries.end());
  Eigen::SparseLU<Eigen::SparseMatrix<double>, Eigen::COLAMDOrdering<int>> factor;
  factor.compute(derivative);
  if (factor.info() != Eigen::Success) return false;
  const VectorX change = factor.solve(f);
  for (std::size_t k = 0; k < active.size(); ++k)
    d.segment<3>(3 * active[k]) = change.segment<3>(3 * static_cast<Index>(k));
  return d.allFinite();
}

bool DenseDerivative::factor(const std::vector<ContactFunction>& contacts) {
  derivative_.resize(W_.rows(), W_.cols());
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    const Index row = 3 * static_cast<Index>(i);
    derivative_.middleRows<3>(row).noalias() = contacts[i].du * W_.middleRows<3>(row);
    derivative_.block<3, 3>(row, row) += contacts[i].dr;
  }
  if (!derivative_.allFinite()) return false;
  lu_.compute(derivative_);
  return lu_.matrixLU().diagonal().cwiseAbs().minCoeff() > 0.0;
}

bool SparseDerivative::factor(const std::vector<ContactFunction>& contacts) {
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(9 * W_.block.size());
  double sum = 0.0;
  for (int i = 0; i < W_.rows; ++i) {
    const ContactFunction& c = contacts[static_cast<std::size_t>(i)];
    for_row(W_, i, [&](int j, const Matrix3& block) {
      Matrix3 product = c.du * block;
      if (j == i) product += c.dr;
      sum += product.sum();
      for (int b = 0; b < 3; ++b)
        for (int a = 0; a < 3; ++a) entries.emplace_back(3 * i + a, 3 * j + b, product(a, b));
    });
  }
  if (!std::isfinite(sum)) return false;
  const bool first = derivative_.size() == 0;
  if (first) derivative_.resize(3 * W_.rows, 3 * W_.rows);
  derivative_.setFromTriplets(entries.begin(), entries.end());
  if (first) lu_.analyzePattern(derivative_);
  lu_.factorize(derivative_);
  return lu_.info() == Eigen::Success;
}

}  // namespace tresse::friction::detail
