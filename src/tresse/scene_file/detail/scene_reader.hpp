#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/files/units.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene_file/detail/scene_description.hpp>
#include <tresse/scene_file/detail/scene_parameters.hpp>
#include <tresse/scene_file/detail/toml_document.hpp>
#include <tresse/scene_file/scene_file.hpp>

namespace tresse::scene_file::detail {

using scene::limits::Range;

/// What every reader needs: the parameters, the name of the file, and the list of origins to fill.
struct ReaderContext {
  std::string file_name;
  const Parameters& parameters;
  const ParameterOverrides& set;
  std::vector<Origin> origins;
  std::vector<Import> imports;
  bool leave_meshes = false;  ///< their files are not read

  /// The message names the value that was given beside the file, where the location says so.
  [[noreturn]] void fail(const scene::Location& location, std::string_view message) const;
  /// The message tells the values of the parameters that the node refers to.
  [[noreturn]] void fail(const TomlNode& node, std::string_view message) const;
};

/// What a number must be.
struct Wanted {
  files::Dimension dimension;
  Range range;
  bool degrees = false;             ///< a plain number is in degrees
  std::optional<double> none = {};  ///< is taken as well
  std::string_view word = {};       ///< likewise, by who reads the number; empty: none
};

/// One value: `path` names it in messages and origins. All throw InvalidInput with the position of the value.
double read_number(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted);
double read_whole(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted);
bool read_boolean(ReaderContext& context, const TomlNode& node, const std::string& path);
std::string read_text(const ReaderContext& context, const TomlNode& node, const std::string& path);
std::string read_word(ReaderContext& context, const TomlNode& node, const std::string& path,
                      std::span<const std::string_view> words);
Vector3 read_vector(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted);
/// Unit vector along the one given; left as it is when it is unit to rounding.
Vector3 read_direction(ReaderContext& context, const TomlNode& node, const std::string& path);

/// `v` itself when it is unit to rounding, so that a written scene reads back bit for bit.
Vector3 normalised(const Vector3& v);

/// The value under a key of a table, `place` in messages.
const TomlNode& require_member(ReaderContext& context, const TomlNode& table, std::string_view place,
                               std::string_view key, std::string_view expected);

/// A table with the keys of its list: refuses unknown ones, then reads each if it is there.
class TableReader {
 public:
  /// `refused`: keys that are known elsewhere, for refuse().
  TableReader(ReaderContext& context, const TomlNode& node, std::string path, const TableDescription& list,
              std::span<const std::string_view> refused = {});

  bool has(std::string_view key) const { return find(key) != nullptr; }
  bool lists(std::string_view key) const { return list_.find(key) != nullptr; }
  const TomlNode* find(std::string_view key) const { return node_.find(key); }
  const TomlNode& require(std::string_view key, std::string_view expected) const;
  /// Of a key that the list says is needed.
  const TomlNode& require(std::string_view key) const;
  std::string path(std::string_view key) const { return path_ + "." + std::string(key); }
  ReaderContext& context() const { return context_; }
  const TomlNode& node() const { return node_; }
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  /// Refuses a key that this table has no use for, with a message that says why.
  void refuse(std::string_view key, std::string_view message) const;
  /// Refuses `keys` in the presence of `key`.
  void exclusive(std::string_view key, std::initializer_list<std::string_view> keys) const;

  /// The range of a number hangs on other values of the scene.
  void narrow(std::string_view key, const Range& range) { narrowed_[std::string(key)] = range; }
  /// What the list says of a key, for values that are read by hand.
  Wanted wanted(std::string_view key) const { return wanted(list_.find(key)->field); }
  Wanted wanted(const scene::Field& field) const;
  /// Whether the program is to choose what the key holds: it is missing, or says the word for that.
  bool leaves(const scene::Field& field) const;
  bool leaves(std::string_view key) const { return leaves(list_.find(key)->field); }
  /// A number that no member keeps as it is, or what holds without it.
  double number(std::string_view key, double otherwise) const;

  /// Reads what the list shows of `x`, and has it checked. What is kept in another form than the file's is left alone:
  /// arrays, tables by name or one by one, roots.
  template <class List, class T>
  void read(T& x) const {
    scene::Table<List>::fields(x, *this);
    check<List>(x);
  }
  template <class List, class T>
  void check(const T& x) const {
    const scene::Complain complain = [this](std::string_view key, const std::string& message) { fail(key, message); };
    if constexpr (requires { scene::Table<List>::check(x, complain); }) scene::Table<List>::check(x, complain);
  }

  void operator()(const scene::Field& field, double& value) const;
  void operator()(const scene::Field& field, int& value) const;
  void operator()(const scene::Field& field, std::uint64_t& value) const;
  void operator()(const scene::Field& field, bool& value) const;
  void operator()(const scene::Field& field, std::string& value) const;
  void operator()(const scene::Field& field, Vector3& value) const;
  void operator()(const scene::Field& field, Matrix3& value) const;
  void operator()(const scene::Field& field, bodies::Motion& motion) const;
  void operator()(const scene::Field& field, scene::Wind& value) const;
  void operator()(const scene::Field&, scene::Root&) const {}
  template <WithWords E>
  void operator()(const scene::Field& field, E& value) const {
    if (const TomlNode* found = find(field))
      value = *find_word<E>(read_word(context_, *found, path(field.key), Words<E>::list));
  }
  template <class T>
  void operator()(const scene::Field& field, std::optional<T>& value) const {
    if (!has(field.key)) return;
    T given{};
    (*this)(field, given);
    value = given;
    if constexpr (std::same_as<T, double> || std::same_as<T, int>) {
      if (field.none == given) value.reset();
    }
  }
  template <scene::HasTable T>
  void operator()(const scene::Field& field, T& value) const {
    if (const TomlNode* found = find(field))
      TableReader(context_, *found, path(field.key), description<T>()).template read<T>(value);
  }
  template <class T>
  void operator()(const scene::Field&, std::vector<T>&) const {}
  template <class T>
  void operator()(const scene::Field&, const scene::Unkept<T>&) const {}

 private:
  /// The value of a field; refuses a table that lacks what is needed.
  const TomlNode* find(const scene::Field& field) const;

  ReaderContext& context_;
  const TomlNode& node_;
  std::string path_;
  const TableDescription& list_;
  std::map<std::string, Range, std::less<>> narrowed_;
};

/// Names that friction pairs may use, and the materials' constants by name.
struct Materials {
  std::map<std::string, rods::Material> table;
  std::set<std::string> names;  ///< of materials, of fabrics and of obstacles' surfaces
  std::map<std::string, scene::Fabric> fabrics;
};

/// None for an unknown name.
std::optional<rods::Material> material_preset(std::string_view name);

Materials read_materials(ReaderContext& context, const TomlNode* node);
/// Item `above.size()` of the array `nodes`, after the groups `above`.
scene::FibreGroup read_fibre_group(ReaderContext& context, const TomlNode& nodes,
                                   const std::vector<scene::FibreGroup>& above, const Materials& materials);
/// Elements, sections and curvatures of a fibre whose model is known.
void read_shape(const TableReader& table, scene::FibreGroup& group);
/// Columns (n0, n1, n2) from the keys frame, tangent, normal, roll_deg, pitch_deg, yaw_deg.
Matrix3 read_frame(const TableReader& table);
/// Fills group.strands: fibres fitted to the rows of a file, or one by one as a resolved scene has them.
void read_strands_from_file(const TableReader& group_table, const TomlNode& from, scene::FibreGroup& group);
void read_strands(const TableReader& group_table, const TomlNode& node, scene::FibreGroup& group);
/// The constants of a material by its name, from the file or a preset.
rods::Material find_material(const TableReader& table, const std::string& name, const Materials& materials);
scene::Surface read_surface(ReaderContext& context, const TomlNode& node, std::size_t index,
                            const Materials& materials);
/// Adds the fabrics of the file.
void read_fabrics(ReaderContext& context, const TomlNode* node, Materials& materials);
/// What a cloth has beside its name.
void read_cloth(const TableReader& table, const Materials& materials, scene::Surface& out);
/// `obstacles`: all of the scene.
scene::Grains read_grains(ReaderContext& context, const TomlNode& node, const std::vector<scene::Obstacle>& obstacles);
scene::Obstacle read_obstacle(ReaderContext& context, const TomlNode& node, std::size_t index);
/// Coefficients of pairs of materials, `names`.
template <class OfTable>
void read_pairs(const TableReader& above, const std::set<std::string>& names, OfTable& out);

}  // namespace tresse::scene_file::detail
