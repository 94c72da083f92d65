#include <tresse/grains/detail/layered_lu.hpp>

#include <tresse/base/interrupt.hpp>

namespace tresse::grains::detail {

LayeredLU::LayeredLU(const std::vector<int>& sizes) : first_{0}, factors_(sizes.size()) {
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    diagonal_.emplace_back(sizes[k], sizes[k]);
    if (k > 0) {
      above_.emplace_back(sizes[k - 1], sizes[k]);
      below_.emplace_back(sizes[k], sizes[k - 1]);
    }
    layer_.insert(layer_.end(), static_cast<std::size_t>(sizes[k]), static_cast<int>(k));
    first_.push_back(first_.back() + sizes[k]);
  }
}

void LayeredLU::set_zero() {
  for (std::vector<MatrixX>* blocks : {&diagonal_, &above_, &below_})
    for (MatrixX& one : *blocks) one.setZero();
}

/// Afterwards above_[k] is D_k^-1 A_k, D_k what the elimination of the layers before leaves of a diagonal block.
void LayeredLU::factor() {
  for (std::size_t k = 0; k < diagonal_.size(); ++k) {
    poll_interrupt();
    if (k > 0) diagonal_[k].noalias() -= below_[k - 1] * above_[k - 1];
    if (diagonal_[k].size() == 0) continue;
    factors_[k].compute(diagonal_[k]);
    if (k + 1 < diagonal_.size() && above_[k].size() > 0) above_[k] = factors_[k].solve(above_[k]);
  }
}

bool LayeredLU::solve(VectorX& x) const {
  const auto part = [&](std::size_t k) { return x.segment(first_[k], first_[k + 1] - first_[k]); };
  for (std::size_t k = 0; k < diagonal_.size(); ++k) {
    if (k > 0) part(k).noalias() -= below_[k - 1] * part(k - 1);
    if (diagonal_[k].size() > 0) part(k) = factors_[k].solve(part(k)).eval();
  }
  for (std::size_t k = diagonal_.size() - 1; k-- > 0;) part(k).noalias() -= above_[k] * part(k + 1);
  return x.allFinite();
}

}  // namespace tresse::grains::detail
