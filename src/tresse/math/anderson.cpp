#include <tresse/math/anderson.hpp>

#include <Eigen/QR>

namespace tresse::math {

void AndersonMixing::clear() {
  tried_.clear();
  answered_.clear();
}

VectorX AndersonMixing::next(const VectorX& tried, const VectorX& answered) {
  tried_.push_back(tried);
  answered_.push_back(answered);
  if (tried_.size() > depth_) {
    tried_.erase(tried_.begin());
    answered_.erase(answered_.begin());
  }
  const auto changes = static_cast<Eigen::Index>(tried_.size()) - 1;
  if (changes == 0) return answered;
  MatrixX of_miss(answered.size(), changes), of_answer(answered.size(), changes);
  for (Eigen::Index k = 0; k < changes; ++k) {
    const auto i = static_cast<std::size_t>(k);
    of_answer.col(k) = answered_[i + 1] - answered_[i];
    of_miss.col(k) = of_answer.col(k) - (tried_[i + 1] - tried_[i]);
  }
  const VectorX share = of_miss.colPivHouseholderQr().solve(answered - tried);
  if (!share.allFinite()) return answered;
  return answered - of_answer * share;
}

}  // namespace tresse::math
