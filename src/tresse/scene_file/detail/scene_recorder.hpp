#pragma once

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/types.hpp>
#include <tresse/files/units.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene_file/detail/toml_document.hpp>

namespace tresse::scene_file::detail {

struct Wanted;

/// What the reader of scenes asks of a file, noted while it reads one: from this the JSON schema is made, so that it
/// cannot say anything else than the reader. Places are kinds of table, "fibres.root": without names and indices, and a
/// motion is a motion wherever it stands.
class SceneRecorder {
 public:
  enum class Kind { number, integer, boolean, text, word };

  /// One form that a value may take.
  struct Form {
    Kind kind = Kind::text;
    int depth = 0;         ///< arrays around it, but for the one of a triplet
    bool triplet = false;  ///< three numbers in an array
    bool degrees = false;  ///< a plain number is in degrees
    std::vector<std::string> units{};
    std::optional<scene::limits::Range> range{};  ///< none: any, or not the same everywhere
    std::vector<std::string> words{};
  };

  struct Key {
    std::vector<Form> forms;
    nlohmann::ordered_json initial;  ///< what holds without the key; null: nothing, or not the same everywhere
    bool varies = false;
  };

  /// One table of the file that was read.
  struct Instance {
    std::string table;
    bool in_array = false;
    std::vector<std::string> keys;
    std::set<std::string> required;
    std::set<std::string> refused;
    std::string shape;  ///< the word under "shape", where it has one
  };

  void table(const TomlNode& node, std::string_view path, const std::vector<std::string_view>& keys);
  void require(const TomlNode& node, std::string_view key) { required_[&node].insert(std::string(key)); }
  void refuse(const TomlNode& node, std::string_view key) { refused_[&node].insert(std::string(key)); }
  /// A value at `path`, "fibres.hair.radius[2]".
  void value(std::string_view path, Form form);
  /// What holds when the key at `path` is not given.
  void initial(std::string_view path, const nlohmann::ordered_json& value);

  /// In the order read; ends the reading of a file: nodes are no longer told apart afterwards.
  void close();

  const std::vector<Instance>& instances() const { return instances_; }
  /// By "table.key"; null when no value was ever read there.
  const Key* find(std::string_view table, std::string_view key) const;

 private:
  std::vector<Instance> instances_;
  std::map<const TomlNode*, std::size_t> open_;
  std::map<const TomlNode*, std::set<std::string>> required_, refused_;
  std::map<std::string, Key, std::less<>> keys_;
};

SceneRecorder::Form form_of(const Wanted& wanted, bool triplet = false);
/// Vectors and numbers as the file would have them: in degrees where plain numbers are.
nlohmann::ordered_json initial_of(double value, const Wanted& wanted);
nlohmann::ordered_json initial_of(const Vector3& value, const Wanted& wanted);

}  // namespace tresse::scene_file::detail
