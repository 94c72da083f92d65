#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tresse/scene_file/detail/toml_document.hpp>
#include <tresse/scene_file/expression.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file::detail {

/// The [parameters] table with the overrides applied, every value evaluated once.
class Parameters {
 public:
  /// `table` may be null. Throws InvalidInput for unknown names, values that are none, references in a circle.
  /// `set` has to live as long.
  Parameters(const TomlNode* table, std::string_view text, std::string_view file_name, const ParameterOverrides& set);

  /// Value as a number; throws ExpressionError for an unknown name or a word.
  Quantity quantity(std::string_view name) const;
  /// Replaces each ${name} by the parameter's text. Throws ExpressionError.
  std::string substituted(std::string_view text) const;
  /// " (name = value, ...)" for the parameters that a text names, or nothing; those that were replaced as they were
  /// given, "--set name=value".
  std::string values_used(std::string_view text) const;

  std::vector<Parameter> list() const;

 private:
  struct Entry {
    Parameter shown;
    TomlNode::Kind kind = TomlNode::Kind::text;  ///< text: a word or an expression
    bool word = false;
    bool boolean = false;
    Quantity quantity;
    enum class State { waiting, running, ready } state = State::waiting;
  };

  void load(const TomlNode& table, std::string_view text);
  void override_with(const std::string& name, const std::string& raw);
  std::string as_given(const Parameter& parameter) const;
  void resolve(Entry& entry);
  Entry* find(std::string_view name);
  const Entry& known(std::string_view name) const;
  [[noreturn]] void fail(const Entry& entry, std::string_view message) const;

  std::string file_name_;
  const ParameterOverrides& set_;
  std::vector<Entry> entries_;
  int depth_ = 0;  ///< of parameters that wait for others
};

}  // namespace tresse::scene_file::detail
