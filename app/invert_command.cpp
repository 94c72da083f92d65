#include "commands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <tresse/base/errors.hpp>
#include <tresse/base/words.hpp>
#include <tresse/dynamics/start_contacts.hpp>
#include <tresse/files/atomic_file.hpp>
#include <tresse/files/csv.hpp>
#include <tresse/inverse/assembly.hpp>
#include <tresse/inverse/critical_stiffness.hpp>
#include <tresse/record/checkpoint.hpp>
#include <tresse/record/outputs.hpp>
#include <tresse/record/run.hpp>
#include <tresse/scene/build.hpp>
#include <tresse/scene_file/scene_file.hpp>

#include "common_options.hpp"
#include "messages.hpp"
#include "scene_arguments.hpp"
#include "slow_work.hpp"
#include "version.hpp"

namespace tresse::app {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

struct InvertArguments {
  SceneArguments scene;
  std::string folder;
  inverse::AssemblyOptions options;
  std::optional<double> regularisation;  ///< none: by the guess
  double contact_tolerance = 0.01;       ///< of the radius
  int threads = 0;                       ///< 0: never given, all cores
  bool quiet = false;
  bool strict = false;
};

constexpr const char* scene_name = "inverted.toml";
constexpr const char* start_name = "start.h5";
constexpr const char* rest_name = "rest.csv";
constexpr const char* summary_name = "summary.json";

bool is_of_inversion(const std::string& name) { return name == scene_name || name == start_name || name == rest_name; }

std::string name_of(const scene::Scene& scene, const assembly::World& world, std::size_t f) {
  const assembly::Fibre& fibre = world.fibres[f];
  return fmt::format("fibre {} ({} of '{}')", f, fibre.member,
                     scene.fibres[static_cast<std::size_t>(fibre.group)].name);
}

/// What an equilibrium with contacts is not found for here.
void require_invertible(const std::string& file, const scene::Scene& scene) {
  const auto refuse = [&](const scene::FibreGroup& group, const char* what) {
    throw InvalidInput(fmt::format("{}: fibres '{}' {}", file, group.name, what));
  };
  for (const scene::FibreGroup& group : scene.fibres) {
    if (!scene::curvature_model(group.model))
      refuse(group, "are rods of nodes; tresse invert expects super-helices or super-clothoids");
    if (scene::parent_index(scene.fibres, static_cast<std::size_t>(&group - scene.fibres.data())) >= 0)
      refuse(group, "grow on others; tresse invert expects trunks alone");
    if (!group.holds.empty()) refuse(group, "are held at points; tresse invert expects none");
    if (group.growth.factor != 1.0) refuse(group, "grow; tresse invert expects fibres that stay as they are");
    if (group.drag > 0.0 && (!scene.simulation.wind.mean.isZero(0.0) || !scene.simulation.wind.gust.isZero(0.0)))
      refuse(group, "are in the wind; tresse invert expects still air");
  }
}

/// From a state that a run kept: its shapes are those of the scene from now on.
void start_from(const std::string& file, const dynamics::SimulationState& state, scene::Case& built) {
  for (const bodies::Obstacle& obstacle : built.world.obstacles) {
    require(obstacle.motion.at_rest() && obstacle.motion.keyframes.empty(), [&] {
      return fmt::format("{}: obstacle '{}' moves; tresse invert of a kept state expects obstacles at rest", file,
                         obstacle.name);
    });
  }
  require(state.rods.size() == built.world.fibres.size(),
          [&] { return fmt::format("{}: has {} fibres; expected those of its scene", file, state.rods.size()); });
  scene::set_out_from(built, state);
}

std::vector<Vector3> triplets(const VectorX& values) {
  std::vector<Vector3> out;
  for (Eigen::Index i = 0; i + 2 < values.size(); i += 3) out.emplace_back(values.segment<3>(i));
  return out;
}

/// The fibres of a case as strands that are at rest.
scene::Scene inverted_scene(const scene::Scene& scene, const scene::Case& built, const assembly::Kinematics& at,
                            const std::vector<VectorX>& rest) {
  scene::Scene out = scene;
  for (scene::FibreGroup& group : out.fibres) group.strands.clear();
  for (std::size_t f = 0; f < rest.size(); ++f) {
    const assembly::Fibre& fibre = built.world.fibres[f];
    const auto g = static_cast<std::size_t>(fibre.group);
    const scene::FibreGroup& before = scene.fibres[g];
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    const bool strands = !before.strands.empty();
    scene::Strand strand;
    strand.position = rod.state().root.position;
    strand.frame = rod.state().root.frame;
    strand.element_lengths =
        strands ? before.strands[static_cast<std::size_t>(fibre.member)].element_lengths : before.element_lengths;
    strand.sections = scene::sections(before, fibre.member);
    if (fibre.embedding.divided) {
      const auto piece = static_cast<std::ptrdiff_t>(fibre.embedding.piece);
      strand.sections.insert(strand.sections.begin() + piece, strand.sections[static_cast<std::size_t>(piece)]);
      strand.element_lengths.clear();
      for (int i = 0; i < rod.piece_count(); ++i) strand.element_lengths.push_back(rod.span(i).rest);
    }
    strand.natural_curvature = triplets(rest[f]);
    strand.initial_curvature = triplets(rod.curvature());
    out.fibres[g].strands.push_back(std::move(strand));
  }
  for (std::size_t g = 0; g < out.fibres.size(); ++g) {
    scene::FibreGroup& group = out.fibres[g];
    if (group.strands.empty()) {
      group.strands = scene.fibres[g].strands;
      continue;
    }
    const scene::FibreGroup first = scene::strand_group(group, 0);
    group.element_lengths = first.element_lengths;
    group.sections = first.sections;
    group.natural_curvature = first.natural_curvature;
    group.initial_curvature = first.initial_curvature;
    group.initial_curvature_rate = first.initial_curvature_rate;
    group.root.position = first.root.position;
    group.root.frame = first.root.frame;
    if (group.cap && !group.root.reference) group.root.reference = group.cap->center;
    group.grid = {};
    group.cap.reset();
    group.ring.reset();
    group.leave_out.clear();
    group.natural_curvature_onset = 0.0;
  }
  if (out.contact.law == laws::Law::coulomb) out.contact.reference = scene::ContactReference::initial;
  return out;
}

/// The scene that was written, read again: what a run of it starts from.
scene::Case build_again(const std::string& file, const scene::Scene& scene, const scene::Case& before) {
  scene::Case out = scene::build(scene);
  bool same = out.world.fibres.size() == before.world.fibres.size();
  for (std::size_t f = 0; same && f < out.world.fibres.size(); ++f) {
    same = out.state.rods[f].coordinates.size() == before.state.rods[f].coordinates.size() &&
           out.world.fibres[f].root_arm == before.world.fibres[f].root_arm;
  }
  require(same, [&] {
    return fmt::format(
        "{}: its fibres cannot be written as strands that stand and move as they do; expected roots at "
        "rest, and elements that end where their obstacle does",
        file);
  });
  return out;
}

/// What a run starts from: the forces and the gaps of closed contacts, and the others that are near.
std::vector<dynamics::WarmContact> warm_contacts(const contact::Geometry& geometry,
                                                 const std::vector<contact::Contact>& near, double tolerance,
                                                 const inverse::RestingAssembly& found) {
  std::vector<dynamics::WarmContact> out;
  std::size_t closed = 0;
  for (const contact::Contact& contact : near) {
    dynamics::WarmContact warm{.place = contact::place_of(geometry, contact), .force = Vector3::Zero()};
    if (inverse::is_closed(contact, geometry, tolerance)) {
      warm.force = found.forces[closed++];
      warm.kept_gap = contact.gap;
    }
    out.push_back(std::move(warm));
  }
  return out;
}

std::string rest_table(const std::vector<VectorX>& rest) {
  std::string out = "fibre,element,k0,k1,k2\n";
  for (std::size_t f = 0; f < rest.size(); ++f) {
    for (Eigen::Index i = 0; i + 2 < rest[f].size(); i += 3) {
      out += fmt::format("{},{}", f, i / 3);
      for (Eigen::Index k = 0; k < 3; ++k) {
        out += ',';
        files::append_number(out, rest[f][i + k]);
      }
      out += '\n';
    }
  }
  return out;
}

constexpr const char* why_loose = "its root is free, and no contact within the friction margin holds it";

/// The first of many line by line.
void tell_loose(const std::string& file, const scene::Scene& scene, const scene::Case& built,
                const inverse::RestingAssembly& found) {
  std::size_t told = 0;
  for (std::size_t f = 0; f < found.loose.size(); ++f) {
    if (found.loose[f] != 0 && told++ < told_one_by_one)
      say("{}: {} has no equilibrium: {}", file, name_of(scene, built.world, f), why_loose);
  }
  if (told > told_one_by_one) say("{}: {} fibres have no equilibrium", file, told);
}

/// A fibre that is at rest and does not stay so.
struct Unstable {
  int fibre = 0;
  std::optional<double>
      stiffness;  ///< times its own it must exceed to stay by itself; none: it is held, or its root free
};

std::vector<Unstable> unstable(const assembly::Kinematics& at, const contact::Geometry& geometry,
                               const std::vector<contact::Contact>& contacts, const inverse::RestingAssembly& found) {
  std::vector<char> held(found.rest.size(), 0);
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (found.forces[i].isZero(0.0)) continue;
    for (const int piece : {contacts[i].a, contacts[i].b}) {
      if (piece >= 0 && geometry.pieces[piece].id.is_fibre()) held[geometry.pieces[piece].id.index] = 1;
    }
  }
  std::vector<Unstable> out;
  for (const int f : inverse::unstable_fibres(at, geometry, contacts, found)) {
    Unstable& one = out.emplace_back(Unstable{.fibre = f, .stiffness = {}});
    if (held[static_cast<std::size_t>(f)] != 0 || at.rod(f).root_dof() > 0) continue;
    one.stiffness = inverse::critical_stiffness(at.rod(f), assembly::gravity_of(at.world())).scale;
  }
  return out;
}

std::string why_unstable(const Unstable& one) {
  if (!one.stiffness) return "what touches it does not keep it where it is";
  return fmt::format("its weight would topple it; it stays when it is more than {:.3g} times as stiff", *one.stiffness);
}

/// The first of many line by line.
void tell_unstable(const std::string& file, const scene::Scene& scene, const scene::Case& built,
                   const std::vector<Unstable>& list) {
  std::size_t told = 0;
  for (const Unstable& one : list) {
    if (told++ == told_one_by_one) break;
    say("{}: {} is not stable: {}", file, name_of(scene, built.world, static_cast<std::size_t>(one.fibre)),
        why_unstable(one));
  }
  if (list.size() <= told_one_by_one) return;
  double most = 0.0;
  for (const Unstable& one : list) most = std::max(most, one.stiffness.value_or(0.0));
  say("{}: {} fibres are not stable{}", file, list.size(),
      most > 0.0 ? fmt::format("; more than {:.3g} times as stiff, all that touch nothing are", most) : "");
}

int invert(const InvertArguments& arguments) {
  const std::string& file = arguments.scene.file;
  const ThreadLimit limit(arguments.threads);
  require(std::isfinite(arguments.contact_tolerance) && arguments.contact_tolerance >= 0.0,
          "--contact-tolerance: expects a share of the radius, 0 or more");
  require(arguments.options.friction_margin > 0.0 && arguments.options.friction_margin <= 1.0,
          "--friction-margin: expects a share of the friction, above 0 to 1");
  const record::RunPlan plan = record::plan_run(file, arguments.scene.overrides());
  const scene::Scene& scene = plan.scene;
  require_invertible(file, scene);
  scene::Case built = scene::build(scene);
  if (plan.start) start_from(file, *plan.start, built);
  require(built.world.free_bodies.empty(),
          [&] { return fmt::format("{}: the scene has free bodies; tresse invert expects none", file); });
  const fs::path folder(arguments.folder);
  const record::FileList outputs{folder / scene_name, folder / start_name, folder / rest_name, folder / summary_name};
  record::require_apart(outputs, plan.files);
  record::make_folder(folder);
  const files::FolderLock lock(folder);
  record::require_folder_of(folder, "an inversion of tresse", is_of_inversion);
  SlowPiece slow(arguments.quiet,
                 [] { return std::string("no natural shapes yet; Ctrl-C ends the search, nothing is written"); });
  const assembly::Kinematics at = scene::kinematics_at_start(built);
  contact::Geometry geometry;
  const std::vector<contact::Contact> near = dynamics::start_contacts(at, built.options, geometry);
  const std::vector<contact::Contact> contacts = inverse::closed_contacts(near, geometry, arguments.contact_tolerance);
  inverse::AssemblyOptions options = arguments.options;
  options.regularisation = arguments.regularisation.value_or(inverse::default_regularisation(options.guess));
  const inverse::RestingAssembly found = inverse::resting_assembly(at, geometry, contacts, options);
  const std::vector<Unstable> topple = unstable(at, geometry, contacts, found);
  const bool stable = topple.empty();
  slow.ends();

  const scene::Scene inverted = inverted_scene(scene, built, at, found.rest);
  const std::string text = scene_file::write_resolved(inverted, plan.parameters);
  scene::Case again = build_again(file, scene_file::parse_scene(text, scene_name), built);
  again.state.warm = warm_contacts(geometry, near, arguments.contact_tolerance, found);
  const std::string version = fmt::format("{} ({})", TRESSE_VERSION, TRESSE_COMMIT);
  ordered_json loose = ordered_json::array();
  for (std::size_t f = 0; f < found.loose.size(); ++f) {
    if (found.loose[f] != 0)
      loose.push_back({{"fibre", f}, {"name", name_of(scene, built.world, f)}, {"reason", why_loose}});
  }
  ordered_json not_stable = ordered_json::array();
  for (const Unstable& one : topple) {
    not_stable.push_back({{"fibre", one.fibre},
                          {"name", name_of(scene, built.world, static_cast<std::size_t>(one.fibre))},
                          {"reason", why_unstable(one)},
                          {"stiffness_factor", one.stiffness ? ordered_json(*one.stiffness) : ordered_json()}});
  }
  std::int64_t loaded = 0;
  for (const Vector3& force : found.forces) loaded += force.isZero(0.0) ? 0 : 1;
  const ordered_json summary = {{"version", version},
                                {"guess", word(options.guess)},
                                {"norm", word(options.norm)},
                                {"friction_margin", options.friction_margin},
                                {"regularisation", options.regularisation},
                                {"fibres", found.rest.size()},
                                {"equilibrium_residual", found.residual},
                                {"kkt_error", found.kkt_error},
                                {"kkt_error_asked", options.tolerance},
                                {"status", to_string(found.status)},
                                {"iterations", found.iterations},
                                {"stable", stable},
                                {"contacts", contacts.size()},
                                {"loaded_contacts", loaded},
                                {"weight_on_contacts", found.weight_on_obstacles},
                                {"strands_without_solution", loose},
                                {"strands_not_stable", not_stable}};
  lock.check();
  files::write_atomically(folder / scene_name, text);
  record::write_checkpoint(folder / start_name,
                           {.scene = text, .version = version, .state = again.state, .tally = {}, .position = {}});
  files::write_atomically(folder / rest_name, rest_table(found.rest));
  files::write_atomically(folder / summary_name, summary.dump(2) + "\n");
  tell_loose(file, scene, built, found);
  tell_unstable(file, scene, built, topple);
  const bool good = loose.empty() && found.status == Status::converged && stable;
  if (!arguments.quiet || !good) {
    say("{}: {} at rest by {}, residual {:.2g}, KKT error {:.2g}{}, {}", (folder / scene_name).string(),
        counted(static_cast<std::int64_t>(found.rest.size() - loose.size()), "fibre"),
        counted(static_cast<std::int64_t>(contacts.size()), "contact"), found.residual, found.kkt_error,
        found.status == Status::converged ? "" : fmt::format(" ({})", to_string(found.status)),
        stable ? "stable" : "not stable");
  }
  return good || !arguments.strict ? done : missed_tolerance;
}

template <typename Choice>
void add_choice(CLI::App& command, const char* name, Choice& into, const std::string& help) {
  command
      .add_option_function<std::string>(
          name,
          [name, &into](const std::string& text) {
            const std::optional<Choice> found = find_word<Choice>(text);
            require(found.has_value(), [&] {
              return fmt::format("{}: found {}; expected {}", name, text, fmt::join(Words<Choice>::list, ", "));
            });
            into = *found;
          },
          help)
      ->type_name("NAME");
}

}  // namespace

void add_invert_command(CLI::App& program, int& exit_status) {
  auto arguments = std::make_shared<InvertArguments>();
  CLI::App* command = program.add_subcommand(
      "invert", "Natural shapes and contact forces with which a scene's fibres stay where they are");
  command->footer("Example: tresse invert scenes/inclined_plane.toml -o out/still --guess zero");
  arguments->scene.add_to(*command);
  command->add_option("-o,--output", arguments->folder, "Folder for the results")->required();
  add_choice(*command, "--guess", arguments->options.guess,
             "What natural shapes are to be near: shape (default), zero, tip or uniform");
  add_choice(*command, "--norm", arguments->options.norm, "How near: energy (default), or curvature");
  command->add_option("--friction-margin", arguments->options.friction_margin,
                      "Forces take up this share of the friction, 0.9 by default");
  command->add_option("--regularisation", arguments->regularisation,
                      "Weight of the forces beside the distance, of the mean compliance of contacts; 1e-3 by default "
                      "near the shape itself, 1e-6 near other guesses");
  command->add_option("--contact-tolerance", arguments->contact_tolerance,
                      "What is nearer than this share of the radius touches, 0.01 by default; what is farther than "
                      "contact.margin never does");
  add_threads(*command, arguments->threads);
  command->add_flag("--quiet", arguments->quiet, "Remarks only");
  command->add_flag("--strict", arguments->strict,
                    "Exit status 3 where fibres are not at rest, not stable or the tolerance was missed");
  command->callback([arguments, &exit_status] { exit_status = invert(*arguments); });
}

}  // namespace tresse::app
