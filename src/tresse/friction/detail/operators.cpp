#include <tresse/friction/detail/operators.hpp>

#include <algorithm>

namespace tresse::friction::detail {
namespace {

void fill_base(OperatorBase& out, const VectorX& q, const VectorX& mu, const std::vector<Matrix3>& diagonal,
               const VectorX& scales, const std::vector<int>& island) {
  const auto n = static_cast<Eigen::Index>(island.size());
  out.q.resize(3 * n);
  out.mu.resize(n);
  out.scale.resize(n);
  out.contact.reserve(island.size());
  for (Eigen::Index k = 0; k < n; ++k) {
    const int i = island[static_cast<std::size_t>(k)];
    const double s = scales[i];
    out.q.segment<3>(3 * k) = q.segment<3>(3 * i) / s;
    out.mu[k] = mu[i];
    out.scale[k] = s;
    out.contact.push_back(prepare_contact(diagonal[static_cast<std::size_t>(i)] / (s * s), mu[i]));
  }
}

}  // namespace

AssembledOperator::AssembledOperator(const FrictionProblem& problem, const std::vector<Matrix3>& diagonal,
                                     const VectorX& scales, const std::vector<int>& island, std::vector<int>& local) {
  fill_base(*this, problem.q, problem.mu, diagonal, scales, island);
  for (std::size_t k = 0; k < island.size(); ++k) local[static_cast<std::size_t>(island[k])] = static_cast<int>(k);
  const BlockMatrix& w = problem.W;
  row_begin_.push_back(0);
  for (const int i : island) {
    for (int k = w.row_begin[static_cast<std::size_t>(i)]; k < w.row_begin[static_cast<std::size_t>(i) + 1]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      const int j = w.column[entry];
      if (j == i || (w.block[entry].array() == 0.0).all()) continue;
      column_.push_back(local[static_cast<std::size_t>(j)]);
      const Matrix3 scaled = w.block[entry] / (scales[i] * scales[j]);
      block_.insert(block_.end(), scaled.data(), scaled.data() + 9);
    }
    row_begin_.push_back(static_cast<int>(column_.size()));
  }
}

void AssembledOperator::velocities(const VectorX& x, VectorX& u) const {
  for (int i = 0; i < contacts(); ++i)
    u.segment<3>(3 * i) = free_velocity(i, x) + contact[static_cast<std::size_t>(i)].W * x.segment<3>(3 * i);
}

void AssembledOperator::dense(MatrixX& W) const {
  W.setZero(3 * contacts(), 3 * contacts());
  for (int i = 0; i < contacts(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    W.block<3, 3>(3 * i, 3 * i) = contact[row].W;
    for (int k = row_begin_[row]; k < row_begin_[row + 1]; ++k)
      W.block<3, 3>(3 * i, 3 * column_[static_cast<std::size_t>(k)]) =
          Eigen::Map<const Matrix3>(block_.data() + 9 * static_cast<std::size_t>(k));
  }
}

FactoredOperator::FactoredOperator(const FactoredProblem& problem, const std::vector<Matrix3>& diagonal,
                                   const VectorX& scales, const std::vector<int>& island, std::vector<int>& local) {
  fill_base(*this, problem.q, problem.mu, diagonal, scales, island);
  // `local` holds, per body, its first entry in this island's y; -1 outside.
  std::vector<int> touched;
  int next = 0;
  side_.resize(island.size());
  for (std::size_t k = 0; k < island.size(); ++k) {
    const int i = island[k];
    for (std::size_t which = 0; which < 2; ++which) {
      const ContactRows& side = problem.contacts[static_cast<std::size_t>(i)][which];
      if (side.body < 0 || side.columns == 0) continue;
      const auto body = static_cast<std::size_t>(side.body);
      if (local[body] < 0) {
        local[body] = next;
        next += problem.body_begin[body + 1] - problem.body_begin[body];
        touched.push_back(side.body);
      }
      side_[k][which] = {local[body], side.columns, rows_.size()};
      for (int c = 0; c < 3 * side.columns; ++c)
        rows_.push_back(problem.rows[static_cast<std::size_t>(side.offset + c)] / scales[i]);
    }
  }
  for (const int body : touched) local[static_cast<std::size_t>(body)] = -1;
  bodies_size_ = next;
  scratch_.resize(next);
}

void FactoredOperator::refresh(VectorX& x) const {
  x.tail(bodies_size_).setZero();
  for (int i = 0; i < contacts(); ++i)
    for (const Side& side : side_[static_cast<std::size_t>(i)])
      add_transposed(side, x.segment<3>(3 * i), x.data() + 3 * mu.size());
}

void FactoredOperator::velocities(const VectorX& x, VectorX& u) const {
  scratch_.setZero();
  for (int i = 0; i < contacts(); ++i)
    for (const Side& side : side_[static_cast<std::size_t>(i)])
      add_transposed(side, x.segment<3>(3 * i), scratch_.data());
  for (int i = 0; i < contacts(); ++i) {
    Vector3 sum = q.segment<3>(3 * i);
    for (const Side& side : side_[static_cast<std::size_t>(i)]) add_rows(side, scratch_.data(), sum);
    u.segment<3>(3 * i) = sum;
  }
}

void FactoredOperator::dense(MatrixX& W) const {
  MatrixX X = MatrixX::Zero(3 * contacts(), bodies_size_);
  for (int i = 0; i < contacts(); ++i)
    for (const Side& side : side_[static_cast<std::size_t>(i)])
      for (int k = 0; k < 3; ++k)
        X.row(3 * i + k).segment(side.begin, side.columns) +=
            Row(rows_.data() + side.offset + static_cast<std::size_t>(k * side.columns), side.columns).transpose();
  W.noalias() = X * X.transpose();
}

}  // namespace tresse::friction::detail
