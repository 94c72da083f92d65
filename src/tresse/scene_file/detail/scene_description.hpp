#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/enum_words.hpp>
#include <tresse/base/types.hpp>
#include <tresse/files/units.hpp>
#include <tresse/scene/scene_fields.hpp>

namespace tresse::scene_file::detail {

struct TableDescription;

/// What the list of a table says of one key, and what the type of its member adds.
struct KeyDescription {
  enum class Kind { number, integer, boolean, text, none };

  std::string key;
  scene::Field field;
  Kind kind = Kind::none;        ///< none: a table only
  files::Dimension dimension{};  ///< of the field's unit
  unsigned forms = 0;            ///< of a value that is not a table
  bool whole = false;            ///< the words are all that a text may be: one only, of a table that has it
  std::vector<std::string> words{};
  nlohmann::ordered_json initial{};               ///< what holds without the key; null: nothing, or no one value
  std::vector<const TableDescription*> tables{};  ///< the tables that may stand there: each takes other keys
  enum class Tables { one, array, by_name } several = Tables::one;
};

struct TableDescription {
  std::string name;
  std::string meaning;
  std::vector<KeyDescription> keys{};

  const KeyDescription* find(std::string_view key) const;
  std::vector<std::string> names() const;
};

/// Of each number of a direction, which has any length but none.
inline constexpr scene::Range direction_range{-1e6, 1e6};

/// The dimension of a unit of a list: "N s/m^2".
files::Dimension dimension_of(std::string_view unit);

/// Of a table, without the values of a scene.
template <class List>
const TableDescription& description();
/// One for obstacles of each shape, in the order of bodies::Shape.
const std::vector<TableDescription>& obstacle_descriptions();

/// The JSON schema of a table and of those below it.
nlohmann::ordered_json table_schema(const TableDescription& table);

/// Collects the keys of a list, by the types of their members.
class Describe {
 public:
  explicit Describe(std::vector<KeyDescription>& keys) : keys_(keys) {}

  template <class T>
  void operator()(const scene::Field& field, const T& value) {
    KeyDescription out{.key = std::string(field.key), .field = field};
    add(out, &value);
    finish(std::move(out));
  }

 private:
  using Kind = KeyDescription::Kind;
  template <class T>
  static constexpr bool is_number = std::same_as<T, double> || std::same_as<T, int> || std::same_as<T, std::uint64_t>;

  /// `value` is what holds without the key, null where nothing does.
  template <class T>
  static void add(KeyDescription& out, const T* value) {
    if constexpr (scene::HasTable<T>) {
      if constexpr (std::same_as<T, scene::Wind>) add(out, value != nullptr ? &value->mean : nullptr);
      if constexpr (std::same_as<T, scene::FrictionRegion>) out.kind = Kind::number;  // or plain coefficients
      out.tables = tables_of<T>();
    } else if constexpr (is_number<T>) {
      out.kind = std::same_as<T, double> ? Kind::number : Kind::integer;
      out.forms |= scene::forms::one;
      if (value != nullptr) out.initial = *value;
    } else if constexpr (std::same_as<T, Vector3>) {
      out.kind = Kind::number;
      out.forms |= scene::forms::triplet;
      if (value != nullptr && !(out.field.direction && value->isZero()))
        out.initial = {value->x(), value->y(), value->z()};
    } else if constexpr (std::same_as<T, Matrix3>) {
      out.kind = Kind::number;
      out.forms |= scene::forms::triplets;
    } else if constexpr (std::same_as<T, bool>) {
      out.kind = Kind::boolean;
      out.forms |= scene::forms::one;
      if (value != nullptr) out.initial = *value;
    } else if constexpr (std::same_as<T, std::string>) {
      out.kind = Kind::text;
      out.forms |= scene::forms::one;
      out.words.assign(out.field.words.begin(), out.field.words.end());
    } else if constexpr (WithWords<T>) {
      out.kind = Kind::text;
      out.forms |= scene::forms::one;
      const auto& list = Words<T>::list;
      out.words.assign(list.begin(), list.end());
      if (value != nullptr) out.initial = word(*value);
    } else {
      add_several(out, *value);
    }
  }
  template <class T>
  static void add_several(KeyDescription& out, const std::optional<T>& value) {
    add(out, value ? &*value : nullptr);
    if (!value && out.field.none) {
      out.initial = *out.field.none;
      if (out.kind == Kind::integer) out.initial = static_cast<int>(*out.field.none);
    }
  }
  template <class T>
  static void add_several(KeyDescription& out, const scene::Unkept<T>& value) {
    if constexpr (is_number<T> || std::same_as<T, Vector3>) {
      add(out, value.otherwise ? &*value.otherwise : nullptr);
    } else {
      static const T empty{};
      add(out, &empty);
    }
  }
  template <class T>
  static void add_several(KeyDescription& out, const std::vector<T>&) {
    add<T>(out, nullptr);
    if constexpr (scene::HasTable<T>)
      out.several = KeyDescription::Tables::array;
    else
      out.forms = std::same_as<T, Vector3> ? scene::forms::triplets : scene::forms::list;
  }
  template <class T>
  static void add_several(KeyDescription& out, const std::map<std::string, T>&) {
    if constexpr (scene::HasTable<T>) add<T>(out, nullptr);
    out.several = KeyDescription::Tables::by_name;
  }

  template <class T>
  static std::vector<const TableDescription*> tables_of() {
    if constexpr (std::same_as<T, scene::Root>) return {&description<scene::Root>(), &description<scene::BranchRoot>()};
    if constexpr (std::same_as<T, scene::Surface>)
      return {&description<scene::Surface>(), &description<scene::ClothSurface>()};
    if constexpr (std::same_as<T, scene::Obstacle>) {
      std::vector<const TableDescription*> out;
      for (const TableDescription& one : obstacle_descriptions()) out.push_back(&one);
      return out;
    }
    return {&description<T>()};
  }

  /// Drops what is no default; adds the key in degrees.
  void finish(KeyDescription out);

  std::vector<KeyDescription>& keys_;
};

/// `x` has what the list shows: its values are the defaults.
template <class List, class T>
TableDescription described(const T& x) {
  TableDescription out{.name = std::string(scene::Table<List>::name),
                       .meaning = std::string(scene::Table<List>::meaning)};
  Describe describe(out.keys);
  scene::Table<List>::fields(x, describe);
  return out;
}

template <class List>
const TableDescription& description() {
  // Lists that are no types of values show members of another one.
  using Shown = std::conditional_t<
      std::same_as<List, scene::BranchRoot>, scene::Root,
      std::conditional_t<std::same_as<List, scene::StrandEllipse>, scene::Ellipse,
                         std::conditional_t<std::same_as<List, scene::ClothSurface>, scene::Surface, List>>>;
  static const TableDescription out = described<List>(Shown{});
  return out;
}

}  // namespace tresse::scene_file::detail
