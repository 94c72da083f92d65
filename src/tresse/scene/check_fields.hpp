#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/scene/fields.hpp>

namespace tresse::scene {

struct Root;

/// Checks what the list of a table says of its values. Throws InvalidInput naming the field, below `owner`.
class FieldCheck {
 public:
  explicit FieldCheck(std::string owner) : owner_(std::move(owner)) {}

  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  void number(std::string_view key, double value, const Range& range) const;
  void unit(std::string_view key, const Vector3& value) const;
  void rotation(std::string_view key, const Matrix3& value) const;
  void count(std::string_view key, std::size_t size, std::size_t wanted) const;  ///< one for each element

  /// All fields of a table, and what the check of its list asks.
  template <class List, class T>
  void table(const T& x) const {
    Table<List>::fields(x, *this);
    const Complain complain = [this](std::string_view key, const std::string& message) { fail(key, message); };
    if constexpr (requires { Table<List>::check(x, complain); }) Table<List>::check(x, complain);
  }

  void operator()(const Field& field, double value) const { number(field.key, value, field.range); }
  void operator()(const Field& field, int value) const { number(field.key, value, field.range); }
  void operator()(const Field& field, std::uint64_t value) const {
    number(field.key, static_cast<double>(value), field.range);
  }
  void operator()(const Field& field, const Vector3& value) const {
    if (field.direction) return unit(field.key, value);
    for (int i = 0; i < 3; ++i) number(entry(field.key, i), value[i], field.range);
  }
  void operator()(const Field& field, const Matrix3& value) const { rotation(field.key, value); }
  void operator()(const Field& field, const Root& value) const;
  void operator()(const Field&, bool) const {}
  void operator()(const Field&, const std::string&) const {}
  template <WithWords E>
  void operator()(const Field& field, E value) const {
    if (!has_word(value)) fail(field.key, "is no value of its kind; expected one that has a word");
  }
  template <class T>
  void operator()(const Field& field, const std::optional<T>& value) const {
    if (value) (*this)(field, *value);
  }
  template <class T>
  void operator()(const Field& field, const std::vector<T>& values) const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Field one = field;
      const std::string key = entry(field.key, i);
      one.key = key;
      (*this)(one, values[i]);
    }
  }
  template <HasTable T>
  void operator()(const Field& field, const T& value) const {
    FieldCheck(owner_ + "." + std::string(field.key)).table<T>(value);
  }
  template <class T>
  void operator()(const Field&, const Unkept<T>&) const {}

 private:
  static std::string entry(std::string_view key, std::size_t index) {
    return std::string(key) + "[" + std::to_string(index) + "]";
  }

  std::string owner_;
};

}  // namespace tresse::scene
