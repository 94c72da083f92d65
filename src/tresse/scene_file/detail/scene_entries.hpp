#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene_file::detail {

/// The shortest digits that read back as the same double, and as no integer.
std::string number_text(double value);
std::string vector_text(const Vector3& v);
std::string strand_text(const scene::Strand& strand);
/// A basic string; "${" must not be taken for a parameter, and no resolved text holds one that is meant.
std::string quoted_text(std::string_view text);

template <typename Range, typename Format>
std::string joined(const Range& values, Format&& format) {
  std::string out = "[";
  for (const auto& value : values) out += fmt::format("{}{}", out.size() > 1 ? ", " : "", format(value));
  return out + "]";
}

/// The values of lists as entries of TOML. What is not given, and what a file alone has, is left out.
class Entries {
 public:
  /// `separator` stands between entries; `left_out`: keys that are not written.
  explicit Entries(std::string_view separator, std::vector<std::string_view> left_out = {})
      : separator_(separator), left_out_(std::move(left_out)) {}

  template <class List, class T>
  Entries& add(const T& x) {
    scene::Table<List>::fields(x, *this);
    return *this;
  }
  void entry(std::string_view key, std::string_view value) {
    if (std::find(left_out_.begin(), left_out_.end(), key) != left_out_.end()) return;
    out_ += fmt::format("{}{} = {}", out_.empty() ? "" : separator_, key, value);
  }
  const std::string& text() const { return out_; }

  template <class T>
  void operator()(const scene::Field& field, const T& value) {
    const std::string text = value_text(field, value);
    if (!text.empty()) entry(field.key, text);
  }

  void operator()(const scene::Field& field, const std::string& value) {
    if (!value.empty() || !field.needed.empty()) entry(field.key, quoted_text(value));
  }

 protected:
  static std::string root_text(const scene::Root& root, std::vector<std::string_view> left_out = {}) {
    if (root.condition == rods::RootCondition::carried) return table_text<scene::BranchRoot>(root);
    if (root.condition == rods::RootCondition::free) left_out.push_back("motion");
    if (root.condition == rods::RootCondition::clamped)
      left_out.insert(left_out.end(), {"velocity", "angular_velocity"});
    return table_text<scene::Root>(root, std::move(left_out));
  }

 private:
  static std::string value_text(const scene::Field&, double value) { return number_text(value); }
  static std::string value_text(const scene::Field&, int value) { return fmt::format("{}", value); }
  static std::string value_text(const scene::Field&, std::uint64_t value) { return fmt::format("{}", value); }
  static std::string value_text(const scene::Field&, bool value) { return value ? "true" : "false"; }
  static std::string value_text(const scene::Field&, const Vector3& value) { return vector_text(value); }
  static std::string value_text(const scene::Field&, const Matrix3& frame) {
    return fmt::format("[{}, {}, {}]", vector_text(frame.col(0)), vector_text(frame.col(1)), vector_text(frame.col(2)));
  }
  static std::string value_text(const scene::Field&, const std::string& value) { return quoted_text(value); }
  static std::string value_text(const scene::Field&, const scene::Root& root) { return root_text(root); }
  static std::string value_text(const scene::Field&, const scene::Strand& strand) { return strand_text(strand); }
  static std::string value_text(const scene::Field& field, const scene::Wind& wind) {
    return wind.gust.isZero(0.0) ? value_text(field, wind.mean) : table_text<scene::Wind>(wind);
  }
  template <WithWords E>
  static std::string value_text(const scene::Field&, E value) {
    return quoted_text(word(value));
  }
  template <class T>
  static std::string value_text(const scene::Field& field, const std::optional<T>& value) {
    if (value) return value_text(field, *value);
    if constexpr (std::is_arithmetic_v<T>) {
      if (field.none) return value_text(field, static_cast<T>(*field.none));
    }
    return "";
  }
  template <class T>
  static std::string value_text(const scene::Field& field, const std::vector<T>& values) {
    return values.empty() ? "" : joined(values, [&](const T& value) { return value_text(field, value); });
  }
  template <scene::HasTable T>
  static std::string value_text(const scene::Field&, const T& value) {
    return table_text<T>(value);
  }
  template <class T>
  static std::string value_text(const scene::Field&, const scene::Unkept<T>&) {
    return "";
  }
  template <class List, class T>
  static std::string table_text(const T& x, std::vector<std::string_view> left_out = {}) {
    return "{ " + Entries(", ", std::move(left_out)).add<List>(x).text() + " }";
  }

  std::string_view separator_;
  std::vector<std::string_view> left_out_;
  std::string out_;
};

}  // namespace tresse::scene_file::detail
