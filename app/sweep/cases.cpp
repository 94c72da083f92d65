#include "cases.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include <tresse/base/errors.hpp>

namespace tresse::app::sweep {
namespace {

constexpr int most_cases = 100'000;

[[noreturn]] void refuse(const std::string& text, const std::string& expected) {
  throw InvalidInput(fmt::format("--vary {}: expected {}", text, expected));
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(at, begin);
    out.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return out;
    begin = end + 1;
  }
}

template <typename Number>
bool read(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> range(const std::string& text, const std::vector<std::string>& parts) {
  double first = 0.0;
  double last = 0.0;
  int count = 0;
  if (parts.size() != 3 || !read(parts[0], first) || !read(parts[1], last) || !read(parts[2], count) ||
      !std::isfinite(first) || !std::isfinite(last) || count < 1 || count > most_cases || (count == 1 && first != last))
    refuse(text, "name=a:b:n, n plain numbers from a to b");
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) {
    const double share = count > 1 ? static_cast<double>(i) / (count - 1) : 0.0;
    // Few digits where few are meant: 0.3, not 0.30000000000000004.
    const double value = i + 1 == count ? last : first + share * (last - first);
    out.push_back(fmt::format("{:.12g}", value));
  }
  return out;
}

}  // namespace

Variation parse_variation(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) refuse(text, "name=a:b:n or name=v1,v2,...");
  Variation out;
  out.name = text.substr(0, equals);
  const std::string values = text.substr(equals + 1);
  const std::vector<std::string> parts = split(values, ':');
  out.values = parts.size() > 1 ? range(text, parts) : split(values, ',');
  if (std::any_of(out.values.begin(), out.values.end(), [](const std::string& v) { return v.empty(); }))
    refuse(text, "a value between the commas");
  return out;
}

std::vector<Case> cases_of(const std::vector<Variation>& variations) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < variations.size(); ++i) {
    count *= variations[i].values.size();
    require(count <= most_cases, fmt::format("--vary: makes more than {} runs; expected fewer", most_cases));
    for (std::size_t j = 0; j < i; ++j) {
      require(variations[j].name != variations[i].name,
              fmt::format("--vary {}: found twice, expected all values in one --vary", variations[i].name));
    }
  }
  const int digits = std::max(3, static_cast<int>(std::to_string(count - 1).size()));
  std::vector<Case> out(count);
  for (std::size_t k = 0; k < count; ++k) {
    out[k].name = fmt::format("case-{:0{}}", k, digits);
    std::size_t rest = k;
    for (auto variation = variations.rbegin(); variation != variations.rend(); ++variation) {
      out[k].settings.emplace_back(variation->name, variation->values[rest % variation->values.size()]);
      rest /= variation->values.size();
    }
    std::reverse(out[k].settings.begin(), out[k].settings.end());
  }
  return out;
}

std::string describe(const Case& one) {
  std::string out;
  for (const auto& [name, value] : one.settings) out += fmt::format("{}{}={}", out.empty() ? "" : " ", name, value);
  return out;
}

}  // namespace tresse::app::sweep
