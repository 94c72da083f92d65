#include <tresse/friction/detail/largest_share.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tresse::friction::detail {

std::vector<int> largest_share(const std::vector<double>& values, double share, std::size_t most) {
  std::vector<std::pair<double, int>> order;  // by number where values are equal
  order.reserve(values.size());
  double total = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    order.emplace_back(values[i], static_cast<int>(i));
    total += values[i];
  }
  if (std::isnan(total)) return {};  // sorting what has no order may leave the range
  // Selected, then sorted: a third of the time of a partial sort.
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::nth_element(order.begin(), last, order.end(), std::greater<>());
  std::sort(order.begin(), last, std::greater<>());
  std::vector<int> out;
  double sum = 0.0;
  for (auto next = order.begin(); next != last && sum < share * total; ++next) {
    out.push_back(next->second);
    sum += next->first;
  }
  return out;
}

}  // namespace tresse::friction::detail
