#include <tresse/friction/detail/large_newton.hpp>

#include <tresse/friction/detail/sweep_policy.hpp>

namespace tresse::friction::detail {

LargeNewton::LargeNewton(const MatrixX& W) {
  const auto n = static_cast<int>(W.rows() / 3);
  BlockMatrix blocks;
  blocks.rows = n;
  blocks.row_begin.push_back(0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      const auto block = W.block<3, 3>(3 * i, 3 * j);
      if (i != j && block.isZero(0.0)) continue;
      blocks.column.push_back(j);
      blocks.block.emplace_back(block);
    }
    blocks.row_begin.push_back(static_cast<int>(blocks.column.size()));
  }
  const auto all = static_cast<std::size_t>(n) * static_cast<std::size_t>(n);
  if (blocks.block.size() * newton_policy.form.filled < all)
    blocks_ = std::move(blocks);
  else
    dense_ = W;
}

int LargeNewton::with_proximal_terms(const VectorX& q, const VectorX& mu, const NewtonSettings& settings,
                                     VectorX& r) const {
  return blocks_.rows > 0 ? proximal(blocks_, q, mu, settings, r) : proximal(dense_, q, mu, settings, r);
}

}  // namespace tresse::friction::detail
