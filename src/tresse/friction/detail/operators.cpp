#include <tresse/friction/detail/operators.hpp>

#include <algorithm>

#include <tresse/base/blocks.hpp>

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
  const auto blocks_of = [](int columns) { return (columns + lanes - 1) / lanes; };
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
        next += lanes * blocks_of(problem.body_begin[body + 1] - problem.body_begin[body]);
        touched.push_back(side.body);
      }
      const int blocks = blocks_of(side.columns);
      side_[k][which] = {local[body], blocks, rows_.size()};
      rows_.resize(rows_.size() + static_cast<std::size_t>(3 * lanes * blocks), 0.0);
      double* to = rows_.data() + side_[k][which].offset;
      const double* from = problem.rows.data() + side.offset;
      for (int row = 0; row < 3; ++row)
        for (int c = 0; c < side.columns; ++c)
          to[(c / lanes * 3 + row) * lanes + c % lanes] = from[row * side.columns + c] / scales[i];
    }
  }
  body_begin_.assign(touched.size() + 1, 0);
  std::vector<int> number(static_cast<std::size_t>(next), -1);  // of the body that starts at an entry of y
  for (std::size_t b = 0; b < touched.size(); ++b)
    number[static_cast<std::size_t>(local[static_cast<std::size_t>(touched[b])])] = static_cast<int>(b);
  const auto for_each_side = [&](const auto& visit) {
    for (int k = 0; k < contacts(); ++k)
      for (int which = 0; which < 2; ++which) {
        const Side& side = side_[static_cast<std::size_t>(k)][static_cast<std::size_t>(which)];
        if (side.blocks > 0) visit(static_cast<std::size_t>(number[static_cast<std::size_t>(side.begin)]), k, which);
      }
  };
  for_each_side([&](std::size_t body, int, int) { ++body_begin_[body + 1]; });
  for (std::size_t b = 0; b < touched.size(); ++b) body_begin_[b + 1] += body_begin_[b];
  of_body_.resize(static_cast<std::size_t>(body_begin_.back()));
  std::vector<int> place(body_begin_.begin(), body_begin_.end() - 1);
  for_each_side([&](std::size_t body, int k, int which) {
    of_body_[static_cast<std::size_t>(place[body]++)] = {k, which};
  });
  for (const int body : touched) local[static_cast<std::size_t>(body)] = -1;
  bodies_size_ = next;
  scratch_.resize(next);
  swept_q_ = q;
  constexpr std::size_t large = 1000;
  if (island.size() >= large) {
    rounded_.resize(rows_.size());
    constexpr std::size_t block = 1 << 14;
    for_blocks(rows_.size(), block, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) rounded_[i] = static_cast<float>(rows_[i]);
    });
  }
}

void FactoredOperator::sum_bodies(const VectorX& x, double* y) const {
  constexpr int block = 16;  // bodies
  for_blocks(static_cast<int>(body_begin_.size()) - 1, block, [&](int, int first, int last) {
    for (int b = first; b < last; ++b) {
      for (int k = body_begin_[static_cast<std::size_t>(b)]; k < body_begin_[static_cast<std::size_t>(b) + 1]; ++k) {
        const auto [i, which] = of_body_[static_cast<std::size_t>(k)];
        const Side& side = side_[static_cast<std::size_t>(i)][static_cast<std::size_t>(which)];
        add_transposed(rows_, side, x.segment<3>(3 * i), y);
      }
    }
  });
}

void FactoredOperator::refresh(VectorX& x) const {
  x.tail(bodies_size_).setZero();
  sum_bodies(x, x.data() + 3 * mu.size());
}

void FactoredOperator::velocities(const VectorX& x, VectorX& u) const {
  scratch_.setZero();
  sum_bodies(x, scratch_.data());
  constexpr int block = 256;
  for_blocks(contacts(), block, [&](int, int begin, int end) {
    for (int i = begin; i < end; ++i) {
      const auto& sides = side_[static_cast<std::size_t>(i)];
      u.segment<3>(3 * i) = q.segment<3>(3 * i) + times_rows(rows_, sides, scratch_.data());
      if (!rounded_.empty())
        swept_q_.segment<3>(3 * i) = u.segment<3>(3 * i) - times_rows(rounded_, sides, x.data() + 3 * mu.size());
    }
  });
}

void FactoredOperator::dense(MatrixX& W) const {
  MatrixX X = MatrixX::Zero(3 * contacts(), bodies_size_);
  for (int i = 0; i < contacts(); ++i)
    for (const Side& side : side_[static_cast<std::size_t>(i)])
      for (int c = 0; c < lanes * side.blocks; ++c)
        for (int row = 0; row < 3; ++row)
          X(3 * i + row, side.begin + c) +=
              rows_[side.offset + static_cast<std::size_t>((c / lanes * 3 + row) * lanes + c % lanes)];
  W.noalias() = X * X.transpose();
}

}  // namespace tresse::friction::detail
