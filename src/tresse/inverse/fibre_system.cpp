#include <tresse/inverse/fibre_system.hpp>

#include <atomic>
#include <cmath>

#include <tresse/base/blocks.hpp>

namespace tresse::inverse {

template <typename Visit>
void FibreSystem::for_each_fibre(const Visit& visit) const {
  constexpr std::size_t few = 8;
  for_blocks(sides_.size(), few, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t f = first; f < last; ++f)
      visit(f, rows_.body_begin[f], rows_.body_begin[f + 1] - rows_.body_begin[f]);
  });
}

FibreSystem::FibreSystem(const friction::FactoredProblem& rows, const std::vector<MatrixX>& blocks)
    : rows_(rows), blocks_(blocks), sides_(rows.body_begin.size() - 1), factors_(sides_.size()) {
  for (std::size_t i = 0; i < rows.contacts.size(); ++i) {
    for (const friction::ContactRows& side : rows.contacts[i]) {
      if (side.body >= 0) sides_[static_cast<std::size_t>(side.body)].push_back({static_cast<int>(i), side});
    }
  }
}

bool FibreSystem::factor(const std::vector<Matrix3>& weights) {
  weights_ = weights;
  std::atomic<bool> positive{true};
  for_each_fibre([&](std::size_t f, int, int size) {
    MatrixX block = blocks_.empty() ? MatrixX::Identity(size, size).eval() : blocks_[f];
    bool plain = blocks_.empty();
    for (const Side& side : sides_[f]) {
      const Matrix3& weight = weights_[static_cast<std::size_t>(side.contact)];
      if (weight.isZero(0.0)) continue;
      plain = false;
      const auto X = rows_of(rows_, side.rows);
      const Eigen::Index n = side.rows.columns;
      block.topLeftCorner(n, n).noalias() += X.transpose() * (weight * X);
    }
    factors_[f] = plain ? Eigen::LLT<MatrixX>() : Eigen::LLT<MatrixX>(block);
    if (!plain && factors_[f].info() != Eigen::Success) positive.store(false);
  });
  return positive.load();
}

VectorX FibreSystem::rows_times(const VectorX& x) const {
  VectorX out(3 * static_cast<Eigen::Index>(rows_.contacts.size()));
  constexpr std::size_t block = 256;
  for_blocks(rows_.contacts.size(), block, [&](std::size_t, std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      Vector3 sum = Vector3::Zero();
      for (const friction::ContactRows& side : rows_.contacts[i]) {
        if (side.body < 0) continue;
        sum += rows_of(rows_, side) * x.segment(rows_.body_begin[static_cast<std::size_t>(side.body)], side.columns);
      }
      out.segment<3>(3 * static_cast<Eigen::Index>(i)) = sum;
    }
  });
  return out;
}

VectorX FibreSystem::transposed_times(const VectorX& r) const {
  VectorX out = VectorX::Zero(rows_.body_begin.back());
  for_each_fibre([&](std::size_t f, int begin, int) {
    for (const Side& side : sides_[f]) {
      out.segment(begin, side.rows.columns).noalias() +=
          rows_of(rows_, side.rows).transpose() * r.segment<3>(3 * static_cast<Eigen::Index>(side.contact));
    }
  });
  return out;
}

VectorX FibreSystem::times(const VectorX& x) const {
  VectorX r = rows_times(x);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    auto of_contact = r.segment<3>(3 * static_cast<Eigen::Index>(i));
    of_contact = (weights_[i] * of_contact).eval();
  }
  VectorX out = transposed_times(r);
  if (blocks_.empty()) return out + x;
  for_each_fibre([&](std::size_t f, int begin, int size) {
    out.segment(begin, size).noalias() += blocks_[f] * x.segment(begin, size);
  });
  return out;
}

VectorX FibreSystem::preconditioned(const VectorX& x) const {
  VectorX out = x;
  for_each_fibre([&](std::size_t f, int begin, int size) {
    if (factors_[f].rows() > 0) out.segment(begin, size) = factors_[f].solve(x.segment(begin, size));
  });
  return out;
}

FibreSystem::Solve FibreSystem::solve(const VectorX& b, double tolerance, int max_iterations) const {
  Solve out{.x = VectorX::Zero(b.size())};
  VectorX left = b, z = preconditioned(b), p = z;
  double size = left.dot(z);
  const double target = tolerance * tolerance * size;
  for (; out.iterations < max_iterations && size > target; ++out.iterations) {
    const VectorX q = times(p);
    const double curvature = p.dot(q);
    if (!(curvature > 0.0)) {
      out.positive = false;
      return out;
    }
    const double step = size / curvature;
    out.x += step * p;
    left -= step * q;
    z = preconditioned(left);
    const double next = left.dot(z);
    p = z + (next / size) * p;
    size = next;
  }
  return out;
}

}  // namespace tresse::inverse
