#pragma once

#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tresse/base/types.hpp>
#include <tresse/files/units.hpp>
#include <tresse/scene/limits.hpp>
#include <tresse/scene_file/detail/scene_parameters.hpp>
#include <tresse/scene_file/detail/scene_recorder.hpp>
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
  SceneRecorder* recorder = nullptr;  ///< told of all that is asked for, where there is one
  bool leave_meshes = false;          ///< their files are not read

  /// The message names the value that was given beside the file, where the location says so.
  [[noreturn]] void fail(const scene::Location& location, std::string_view message) const;
  /// The message tells the values of the parameters that the node refers to.
  [[noreturn]] void fail(const TomlNode& node, std::string_view message) const;
};

/// What a number must be.
struct Wanted {
  files::Dimension dimension;
  Range range;
  bool degrees = false;  ///< a plain number is in degrees
};

inline constexpr Wanted wanted_length{files::dimensions::length, scene::limits::length};
inline constexpr Wanted wanted_radius{files::dimensions::length, scene::limits::radius};
inline constexpr Wanted wanted_position{files::dimensions::length, scene::limits::coordinate};

/// One value: `path` names it in messages and origins. All throw InvalidInput with the position of the value.
double read_number(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted);
int read_integer(ReaderContext& context, const TomlNode& node, const std::string& path, double least, double most);
bool read_boolean(ReaderContext& context, const TomlNode& node, const std::string& path);
std::string read_text(ReaderContext& context, const TomlNode& node, const std::string& path);
std::string read_word(ReaderContext& context, const TomlNode& node, const std::string& path,
                      std::span<const std::string> words);
Vector3 read_vector(ReaderContext& context, const TomlNode& node, const std::string& path, const Wanted& wanted);
/// Unit vector along the one given; left as it is when it is unit to rounding.
Vector3 read_direction(ReaderContext& context, const TomlNode& node, const std::string& path);

/// `v` itself when it is unit to rounding, so that a written scene reads back bit for bit.
Vector3 normalised(const Vector3& v);

/// The value under a key of a table, `place` in messages.
const TomlNode& require_member(ReaderContext& context, const TomlNode& table, std::string_view place,
                               std::string_view key, std::string_view expected);

/// A table with its keys: refuses unknown ones, then reads each if it is there.
class TableReader {
 public:
  TableReader(ReaderContext& context, const TomlNode& node, std::string path,
              const std::vector<std::string_view>& keys);

  bool has(std::string_view key) const { return find(key) != nullptr; }
  const TomlNode* find(std::string_view key) const { return node_.find(key); }
  const TomlNode& require(std::string_view key, std::string_view expected) const;
  std::string path(std::string_view key) const { return path_ + "." + std::string(key); }
  const std::string& own_path() const { return path_; }
  const scene::Location& location() const { return node_.location; }
  ReaderContext& context() const { return context_; }
  const TomlNode& node() const { return node_; }
  [[noreturn]] void fail(std::string_view key, std::string_view message) const;
  /// Refuses a key that this table has no use for, with a message that says why.
  void refuse(std::string_view key, std::string_view message) const;
  /// What holds without `key`, for those that are not read by the functions below.
  void without(std::string_view key, const nlohmann::ordered_json& value) const;
  /// Refuses `keys` in the presence of `key`.
  void exclusive(std::string_view key, std::initializer_list<std::string_view> keys) const;

  void read(std::string_view key, double& value, const Wanted& wanted) const;
  void read(std::string_view key, int& value, int least, int most) const;
  void read(std::string_view key, bool& value) const;
  void read(std::string_view key, std::string& value, std::span<const std::string> words) const;
  void read(std::string_view key, Vector3& value, const Wanted& wanted) const;
  void read_direction(std::string_view key, Vector3& value) const;
  double required(std::string_view key, const Wanted& wanted, std::string_view expected) const;

 private:
  ReaderContext& context_;
  const TomlNode& node_;
  std::string path_;
};

/// Names that friction pairs may use, and the materials' constants by name.
struct Materials {
  std::map<std::string, rods::Material> table;
  std::set<std::string> names;  ///< of materials and of obstacles' surfaces
};

const std::vector<std::string>& material_presets();
rods::Material material_preset(const std::string& name);
const std::vector<std::string>& models();

Materials read_materials(ReaderContext& context, const TomlNode* node);
/// Item `above.size()` of the array `nodes`, after the groups `above`.
scene::FibreGroup read_fibre_group(ReaderContext& context, const TomlNode& nodes,
                                   const std::vector<scene::FibreGroup>& above, const Materials& materials);
/// Elements, sections and curvatures of a fibre whose model is known.
void read_shape(const TableReader& table, scene::FibreGroup& group);
/// Columns (n0, n1, n2) from the keys frame, tangent, normal, roll_deg, pitch_deg, yaw_deg.
Matrix3 read_frame(const TableReader& table);
/// One number (k2) or one triplet (twist, k1, k2).
Vector3 read_curvature(ReaderContext& context, const TomlNode& node, const std::string& path);
/// Fills group.strands: fibres fitted to the rows of a file, or one by one as a resolved scene has them.
void read_strands_from_file(const TableReader& group_table, const TomlNode& from, scene::FibreGroup& group);
void read_strands(const TableReader& group_table, const TomlNode& node, scene::FibreGroup& group);
scene::Grid read_grid(ReaderContext& context, const TomlNode& node, const std::string& path);
scene::Cap read_cap(ReaderContext& context, const TomlNode& node, const std::string& path);
scene::Obstacle read_obstacle(ReaderContext& context, const TomlNode& node, std::size_t index);
bodies::Motion read_motion(ReaderContext& context, const TomlNode& node, const std::string& path);
scene::FrictionTable read_friction(ReaderContext& context, const TomlNode* node, const std::set<std::string>& names);

/// parse_scene_document() that tells a recorder, if there is one, or leaves the files of meshes alone.
SceneDocument parse_document(std::string_view text, std::string_view file_name, const ParameterOverrides& set,
                             SceneRecorder* recorder, bool leave_meshes = false);

}  // namespace tresse::scene_file::detail
