#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tresse/rods/fit_curve.hpp>
#include <tresse/scene/scene.hpp>

/// Scene files: TOML with parameters, units and arithmetic. docs/reference/scenes.md is the reference of the format.
namespace tresse::scene_file {

/// Values that replace those of the [parameters] table, or, where the name is "table.key", a setting of [simulation],
/// [contact], [fluid], [solver], [output] or [statics]; in order: (name, value).
struct ParameterOverrides : std::vector<std::pair<std::string, std::string>> {
  using std::vector<std::pair<std::string, std::string>>::vector;

  /// "--set name=value": what messages call one of them.
  std::string shown(std::string_view name, std::string_view value) const;

  std::string_view given_as = "--set";  ///< how the user gave them
};

/// One entry of the [parameters] table.
struct Parameter {
  std::string name;
  std::string value;        ///< in use, as written: "0.6 1/cm", "20", "certified"
  std::string file_value;   ///< as the file has it
  std::string resolved;     ///< number in SI units, "true"/"false", or the word itself
  std::string unit;         ///< SI unit of `resolved`; empty for words, booleans and plain numbers
  std::string description;  ///< the comment behind it, or else the lines above it
  bool overridden = false;
  scene::Location location;
};

/// Where one number of the scene came from.
struct Origin {
  std::string path;     ///< "fibres.hair.radius", "simulation.gravity[2]"
  std::string written;  ///< as in the file: "${friction}"
  double value = 0.0;   ///< in SI units
  std::string unit;     ///< SI unit, empty for a plain number
  scene::Location location;
};

/// How well the fibres of a group came out of a file.
struct Import {
  std::string group;
  std::string file;
  std::size_t strands = 0;
  int least_elements = 0, most_elements = 0;  ///< of a strand
  double largest_distance = 0.0;              ///< from a point of the file to its fibre's centreline [m]
  double mean_distance = 0.0;                 ///< of the strands' means [m]

  void add(const rods::FittedCurve& fit);
};

struct SceneDocument {
  scene::Scene scene;
  std::vector<Parameter> parameters;  ///< in the order of the file
  std::vector<Import> imports;        ///< of groups whose fibres come from a file
  std::vector<Origin> origins;        ///< numbers the file gives, in the order read; the first 10000
  std::string time_step_reason;       ///< why the program chose scene.simulation.time_step; empty: it is given
};

/// Of the strands of the file that is being read, how many are fitted.
struct FitCount {
  std::size_t done = 0;
  std::size_t all = 0;  ///< 0: no fit was needed yet
};

/// For whoever watches from another thread.
FitCount fit_count() noexcept;

/// Reads, substitutes, checks everything. Throws InvalidInput with one line "file:line:column: what was found; what was
/// expected", SystemFailure when the file cannot be read.
SceneDocument read_scene_document(const std::filesystem::path& file, const ParameterOverrides& set = {});
/// The same from text; `file_name` is only for messages.
SceneDocument parse_scene_document(std::string_view text, std::string_view file_name,
                                   const ParameterOverrides& set = {});

/// The [parameters] table alone; nothing else is read, no file that the scene names is opened.
std::vector<Parameter> read_parameters(const std::filesystem::path& file, const ParameterOverrides& set = {});

/// The files that a scene was read from: its own, and those of its meshes and strands.
std::vector<std::filesystem::path> files_of(const std::filesystem::path& file, const SceneDocument& document);

scene::Scene read_scene(const std::filesystem::path& file, const ParameterOverrides& set = {});
scene::Scene parse_scene(std::string_view text, std::string_view file_name, const ParameterOverrides& set = {});
/// The resolved scene of a run for whoever needs its fibres alone: each mesh becomes one triangle, and no file is read.
scene::Scene parse_scene_without_meshes(std::string_view text, std::string_view file_name);

/// The scene as a file without parameters: every value in SI units with 17 significant digits, every default written
/// out. parse_scene() of it gives the same scene bit for bit, locations aside. The parameters are listed in comments.
std::string write_resolved(const scene::Scene& scene, const std::vector<Parameter>& parameters = {});
std::string write_resolved(const SceneDocument& document);

}  // namespace tresse::scene_file
