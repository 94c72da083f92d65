#include <tresse/observe/watch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <tresse/assembly/contact_problem.hpp>
#include <tresse/base/local_memory.hpp>

namespace tresse::observe {
namespace {

using dynamics::ContactReport;
using dynamics::WarmContact;

constexpr double overlap_told = 0.1;         // of the radius
constexpr double jam_told = 0.01;            // of the radius
constexpr double hold_error_told = 0.1;      // of the radius
constexpr double largest_hold_strain = 0.2;  // that the spring of a hold may stand for
constexpr double deep_overlap_told = 0.5;    // of the radius
constexpr double gap_told = 1.0;             // radii that a pressed contact opens by in one step
constexpr double same_place = 20.0;          // radii along a fibre within which a contact is looked for again
constexpr double largest_strain = 0.5;       // of a fibre's surface: far beyond linear elasticity
constexpr std::int64_t few_cut_steps = 20;
constexpr double cut_share = 0.1;

std::string length_in_words(double metres) {
  if (metres < 1e-3) return fmt::format("{:.3g} um", 1e6 * metres);
  if (metres < 1.0) return fmt::format("{:.3g} mm", 1e3 * metres);
  return fmt::format("{:.3g} m", metres);
}

/// The largest of 1, 2, 5 times a power of ten that `value` reaches.
double rounded_down(double value) {
  const double power = std::pow(10.0, std::floor(std::log10(value)));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= value * (1.0 + 1e-9)) return digit * power;
  }
  return power;
}

/// A time step with which something that travels `radii` in this one would travel one; half at least, a tenth at most.
double shorter_step(double dt, double radii) { return rounded_down(dt / std::clamp(radii, 2.0, 10.0)); }

/// The least that remarks so far called for; 0: none. [s]
double advised_step(const WatchTally& tally) {
  double least = 0.0;
  for (const TroubleTally& count : tally) {
    if (count.advised > 0.0 && (least == 0.0 || count.advised < least)) least = count.advised;
  }
  return least;
}

double radius_of(const assembly::World& world, BodyId body) {
  return body.is_fibre() ? world.fibres[body.index].model->contact_radius()
                         : bodies::radius(world.obstacles[body.index].shape);
}

double radius_of(const assembly::World& world, const ContactReport& contact) {
  const double a = radius_of(world, contact.a.body);
  return contact.b.body.is_fibre() ? std::min(a, radius_of(world, contact.b.body)) : a;
}

/// How far two bodies slide along each other in a step. [radii]
double travel(const WatchedStep& step, const ContactReport& contact) {
  return step.dt * contact.slip / radius_of(step.at.world(), contact);
}

/// A point of a body's centreline or axis, and its derivative by the arc length of the material; none on a point.
struct AxisPoint {
  Vector3 position;
  Vector3 tangent;
};

/// One of two bodies that pressed on each other, where it is at the step's end.
struct Axis {
  const rods::Rod* rod = nullptr;  ///< nullptr: a tube of an obstacle
  geometry::PreparedCurve curve = geometry::SegmentEvaluator({Vector3::Zero(), Vector3::Zero()});  ///< of the tube
  double length = 0.0;
  double radius = 0.0;
  bool loop = false;  ///< where it ends another one goes on as it does

  AxisPoint at(double s) const {
    if (!rod) return {geometry::position(curve, s), geometry::jet(curve, s).first};
    const rods::RodSection section = rod->section(s);
    return {section.position, section.stretch * section.frame.col(0)};
  }
  bool within(double s) const { return loop || length == 0.0 || (s > 0.0 && s < length); }
  double held(double s) const { return loop ? s : std::clamp(s, 0.0, length); }
};

/// Of the fibre, or of that tube of the obstacle.
Axis axis_of(const WatchedStep& step, BodyId id, int part) {
  if (id.is_fibre()) {
    const rods::Rod& rod = step.at.rod(id.index);
    return {.rod = &rod, .length = rod.length(), .radius = rod.contact_radius()};
  }
  const bodies::Obstacle& body = step.at.world().obstacles[id.index];
  const bodies::Parts parts = bodies::parts(body.shape);
  const bodies::Tube& tube = parts.tubes[static_cast<std::size_t>(part)];
  const Pose pose = assembly::obstacle_pose(step.at, id.index, step.report.time);
  Axis out{
      .curve = geometry::prepare(assembly::moved(body, pose, tube.axis)), .radius = tube.radius, .loop = parts.loop};
  out.length = geometry::domain(out.curve).end;
  return out;
}

/// The nearest points of two axes around where they touched.
struct Nearest {
  double s_a = 0.0;
  double s_b = 0.0;
  Vector3 apart;  ///< from a to b (3) [m]
};

/// Gauss-Newton on half the squared distance. Nothing where it leads more than `reach` away.
std::optional<Nearest> nearest_around(const Axis& a, double s_a, const Axis& b, double s_b, double reach) {
  constexpr int rounds = 20;
  double x = s_a;
  double y = s_b;
  for (int i = 0; i < rounds; ++i) {
    const AxisPoint p = a.at(x);
    const AxisPoint q = b.at(y);
    const Vector3 apart = q.position - p.position;
    const auto squared = [](const Vector3& v) { return v.isZero(0.0) ? 1.0 : v.squaredNorm(); };  // a point stays
    const double p2 = squared(p.tangent);
    const double q2 = squared(q.tangent);
    const double pq = p.tangent.dot(q.tangent);
    const double determinant = std::max(p2 * q2 - pq * pq, 1e-3 * p2 * q2);  // parallel axes: any point of the valley
    const double along_a = p.tangent.dot(apart);
    const double along_b = -q.tangent.dot(apart);
    const double next_x = a.held(x + (q2 * along_a + pq * along_b) / determinant);
    const double next_y = b.held(y + (p2 * along_b + pq * along_a) / determinant);
    const double moved = std::abs(next_x - x) + std::abs(next_y - y);
    x = next_x;
    y = next_y;
    if (std::abs(x - s_a) > reach || std::abs(y - s_b) > reach) return {};
    if (moved < 1e-3 * a.radius) break;
  }
  return Nearest{x, y, b.at(y).position - a.at(x).position};
}

/// The bodies and places of a contact that pressed at the end of the step before.
ContactReport report_of(const assembly::Kinematics& at, const contact::Place& place) {
  const auto point = [&](int number, int element, double s) -> BodyPoint {
    const BodyId body = assembly::body_of_number(at.world(), number);
    return {body, body.is_fibre() ? -1 : element, body.is_fibre() ? s + at.rod(body.index).piece_begin(element) : s};
  };
  ContactReport out;
  out.a = point(place.body_a, place.element_a, place.s_a);
  out.b = point(place.body_b, place.element_b, place.s_b);
  return out;
}

/// How two bodies that pressed on each other parted within a step.
struct Parted {
  bool turned = false;  ///< they stand the other way round
  double by = 0.0;      ///< along their normal: the gap, or all the way through each other [m]

  static Parted of(bool turned, double distance, double touching) {
    return {turned, turned ? distance + touching : distance - touching};
  }
};

/// Nothing where it cannot be told, or where one slid off the other's end. `force`: of a on b (3)
std::optional<Parted> parted(const WatchedStep& step, const Vector3& force, const ContactReport& pair) {
  const BodyId other = pair.b.body;
  if (!other.is_fibre() && bodies::surface_of(step.at.world().obstacles[other.index].shape)) {
    return {};  // which side of a sheet is right is the contact's to know
  }
  const Axis a = axis_of(step, pair.a.body, pair.a.part);
  if (!other.is_fibre() && pair.b.part < 0) {
    const bodies::Obstacle& body = step.at.world().obstacles[other.index];
    const bodies::HalfSpace plane = bodies::parts(body.shape).planes.front();
    const Pose pose = assembly::obstacle_pose(step.at, other.index, step.report.time);
    const double height =
        (pose.frame * plane.normal).dot(a.at(pair.a.s).position - assembly::moved(body, pose, plane.point));
    return Parted::of(height < 0.0, std::abs(height), a.radius);
  }
  const Axis b = axis_of(step, other, pair.b.part);
  const double reach = 2.0 * same_place * radius_of(step.at.world(), pair);
  const auto nearest = nearest_around(a, pair.a.s, b, pair.b.s, reach);
  if (!nearest || !a.within(nearest->s_a) || !b.within(nearest->s_b)) return {};
  return Parted::of(nearest->apart.dot(force) < 0.0, nearest->apart.norm(), a.radius + b.radius);
}

void add(TroubleTally& count, std::int64_t now, double measure) {
  if (count.steps++ == 0) count.first_step = now;
  count.in_a_row = count.last_step == now - 1 ? count.in_a_row + 1 : 1;
  count.last_step = now;
  if (measure > count.worst) {
    count.worst = measure;
    count.worst_step = now;
  }
}

bool remark_due(Trouble kind, const TroubleTally& tally, std::int64_t step) {
  if (kind == Trouble::cut_steps) {
    return tally.told == 0 && tally.steps >= few_cut_steps &&
           static_cast<double>(tally.steps) >= cut_share * static_cast<double>(step);
  }
  return static_cast<double>(tally.steps) >= std::pow(10.0, static_cast<double>(tally.told));
}

}  // namespace

const char* to_string(Trouble kind) {
  switch (kind) {
    case Trouble::penetration:
      return "penetration";
    case Trouble::deep_penetration:
      return "deep-penetration";
    case Trouble::passed_through:
      return "passed-through";
    case Trouble::contact_lost:
      return "contact-lost";
    case Trouble::runaway:
      return "runaway";
    case Trouble::energy:
      return "energy";
    case Trouble::cut_steps:
      return "cut-steps";
    case Trouble::hold_missed:
      return "hold-missed";
    case Trouble::motion_unsolved:
      return "motion-unsolved";
    case Trouble::step_error:
      return "step-error";
    case Trouble::jammed:
      return "jammed";
    case Trouble::touched:
      return "touched";
  }
  return "unknown";
}

std::string pair_name(const ContactReport& contact, const assembly::World& world) {
  const auto name = [&](const BodyPoint& point) {
    if (point.body.is_fibre()) return fmt::format("fibre {} at {:.4g} m", point.body.index, point.s);
    const bodies::Obstacle& obstacle = world.obstacles[point.body.index];
    const std::string part = bodies::part_name(obstacle.shape, point.part);
    return part.empty() ? fmt::format("'{}'", obstacle.name) : fmt::format("{} of '{}'", part, obstacle.name);
  };
  return name(contact.a) + " and " + name(contact.b);
}

std::string liveliest_fibre(const assembly::Kinematics& at) {
  const assembly::World& world = at.world();
  if (world.fibres.empty() && at.bodies.empty()) return world.grains ? "the grains" : "a surface";
  std::size_t liveliest = 0;
  double most = -1.0;
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const double kinetic = at.rod(static_cast<int>(f)).energies(assembly::gravity_of(world)).kinetic;
    if (kinetic <= most) continue;
    most = kinetic;
    liveliest = f;
  }
  std::string out = fmt::format("fibre {}", liveliest);
  for (std::size_t k = 0; k < at.bodies.size(); ++k) {
    const assembly::FreeBody& body = world.free_bodies[k];
    const double kinetic = bodies::kinetic_energy(body.solid, at.bodies[k]);
    if (kinetic <= most) continue;
    most = kinetic;
    out = fmt::format("'{}'", world.obstacles[body.obstacle].name);
  }
  return out;
}

std::vector<Remark> Watch::look(const WatchedStep& step, WatchTally& tally) {
  seen_ = {};
  look_at_overlaps(step);
  look_at_jams(step);
  look_at_lost_contacts(step);
  look_at_crossing(step);
  look_at_touch(step);
  look_at_fibres(step);
  look_at_energy(step);
  look_at_cuts(step, tally);
  look_at_holds(step);
  look_at_motion(step);
  look_at_error(step);
  std::vector<Remark> remarks;
  for (std::size_t i = 0; i < trouble_count; ++i) {
    if (!(seen_[i].measure > 0.0)) continue;
    const auto kind = static_cast<Trouble>(i);
    TroubleTally& count = tally[i];
    add(count, step.report.step, seen_[i].measure);
    if (!remark_due(kind, count, step.report.step)) continue;
    ++count.told;
    if (seen_[i].time_step > 0.0)
      count.advised = count.advised > 0.0 ? std::min(count.advised, seen_[i].time_step) : seen_[i].time_step;
    remarks.push_back({step.report.step, step.report.time, kind, seen_[i].message});
  }
  for (Remark& remark : remarks) {
    const TroubleTally& count = tally[static_cast<std::size_t>(remark.kind)];
    if (count.advised > 0.0) remark.message += fmt::format("try time_step {:g} s", advised_step(tally));
    if (count.steps > 1 && remark.kind != Trouble::cut_steps)
      remark.message += fmt::format(" ({} such steps so far, {} in a row)", count.steps, count.in_a_row);
  }
  return remarks;
}

/// The overlap is that of the state before the step: contacts of the step itself are those of its passes, whose
/// overlaps the solve takes away.
void Watch::look_at_overlaps(const WatchedStep& step) {
  const auto& deepest = step.report.deepest;
  if (!deepest) return;
  const double radius = radius_of(step.at.world(), *deepest);
  const double depth = -deepest->gap / radius;
  if (!(depth > overlap_told)) return;
  const auto same = [&](const ContactReport& contact) { return contact.bodies() == deepest->bodies(); };
  const auto& jammed = step.report.jammed;
  if (jammed && same(*jammed) && std::abs(jammed->a.s - deepest->a.s) < radius) return;  // look_at_jams() tells
  double slip = 0.0;
  for (const ContactReport& contact : step.contacts) {
    if (same(contact)) slip = std::max(slip, contact.slip);
  }
  const double radii = step.dt * slip / radius;
  const std::string others =
      step.report.overlaps > 1 ? fmt::format(", and {} others like it", step.report.overlaps - 1) : "";
  const std::string slides = radii > 1.0 ? fmt::format("they slide {:.2g} radii a step: ", radii) : "";
  const std::string message =
      fmt::format("{}: {} deep, {:.2g} of the radius{}; {}", pair_name(*deepest, step.at.world()),
                  length_in_words(-deepest->gap), depth, others, slides);
  seen(Trouble::penetration) = {depth, message, shorter_step(step.dt, radii)};
  if (depth > deep_overlap_told) seen(Trouble::deep_penetration) = seen(Trouble::penetration);
}

void Watch::look_at_jams(const WatchedStep& step) {
  const auto& jammed = step.report.jammed;
  if (!jammed) return;
  const double depth = -jammed->gap / radius_of(step.at.world(), *jammed);
  if (!(depth > jam_told)) return;
  seen(Trouble::jammed) = {
      depth,
      fmt::format(
          "{}: {} deep without a force; the fibre is straight, cannot stretch, and so cannot give way along its "
          "axis; bend it a little, or use the model \"discrete-elastic-rod\"",
          pair_name(*jammed, step.at.world()), length_in_words(-jammed->gap)),
      0.0};
}

void Watch::note_contacts(const WatchedStep& step) {
  known_.clear();
  for (std::size_t i = 0; i < step.contacts.size(); ++i)
    known_.add(step.contacts[i].bodies(), step.contacts[i].a.s, static_cast<int>(i));
  known_.sort();
}

/// The contact of this step that stands for one that pressed before: the nearest along a. Null: there is none.
const ContactReport* Watch::same_contact(const WatchedStep& step, const ContactReport& pressed) const {
  const double reach = same_place * radius_of(step.at.world(), pressed.a.body);
  const ContactReport* best = nullptr;
  for (const contact::PairIndex::Entry& entry : known_.near(pressed.bodies(), pressed.a.s, reach)) {
    if (!best || std::abs(entry.s_a - pressed.a.s) < std::abs(best->a.s - pressed.a.s))
      best = &step.contacts[static_cast<std::size_t>(entry.index)];
  }
  return best;
}

/// A contact that carried the mean force of all or more at the end of the last step, and that this step's friction
/// problem no longer knows, or knows the other way round.
void Watch::look_at_lost_contacts(const WatchedStep& step) {
  double total = 0.0;
  int loaded = 0;
  for (const WarmContact& pressed : step.before.warm) {
    const double force = pressed.force.norm();
    total += force;
    loaded += force > 0.0 ? 1 : 0;
  }
  if (loaded == 0) return;
  const double typical = total / loaded * (1.0 - 1e-9);
  note_contacts(step);
  for (const WarmContact& pressed : step.before.warm) {
    const double force = pressed.force.norm();
    if (force < typical) continue;
    const ContactReport pair = report_of(step.at, pressed.place);
    const double radius = radius_of(step.at.world(), pair);
    const ContactReport* known = same_contact(step, pair);
    // Within a fibre's width of the old place a normal cannot have turned as far as this.
    const bool suspect =
        !known || (std::abs(known->a.s - pair.a.s) < 2.0 * radius && known->normal.dot(pressed.force) < -0.5 * force);
    if (!suspect) continue;
    const auto found = parted(step, pressed.force, pair);
    if (!found || (!found->turned && found->by <= gap_told * radius)) continue;
    const double radii = found->by / radius;
    note_parting(found->turned ? Trouble::passed_through : Trouble::contact_lost, radii,
                 fmt::format("{}: pressed together by {:.2g} N, {} by {}, {:.2g} radii, within a step; ",
                             pair_name(pair, step.at.world()), force,
                             found->turned ? "they went through each other" : "they sprang apart",
                             length_in_words(found->by), radii),
                 step.dt);
  }
}

void Watch::note_parting(Trouble kind, double radii, std::string message, double dt) {
  Sighting& sighting = seen(kind);
  if (radii > sighting.measure) sighting = {radii, std::move(message), shorter_step(dt, radii)};
}

void Watch::look_at_crossing(const WatchedStep& step) {
  const auto& crossing = step.report.crossing;
  if (!crossing) return;
  const double way = (crossing->point_b - crossing->point_a).norm();  // of a mesh the point is not known
  const double radii = way > 0.0 ? way / radius_of(step.at.world(), *crossing) : 1.0;
  note_parting(Trouble::passed_through, radii,
               fmt::format("{}: they went through each other within a step; ", pair_name(*crossing, step.at.world())),
               step.dt);
}

void Watch::look_at_touch(const WatchedStep& step) {
  const auto& touch = step.report.touch;
  if (!touch) return;
  note_parting(Trouble::touched, 1.0,
               fmt::format("{}: the barrier is not proved to have kept them apart within a step; ",
                           pair_name(*touch, step.at.world())),
               step.dt);
}

namespace {

/// The (twist, k1, k2) beyond the natural one that strains the surface most [1/m], and how far the surface is from its
/// axis [m].
std::pair<double, double> worst_bend(const rods::Rod& rod) {
  const VectorX change = rod.curvature() - rod.rest_curvature();
  const Vector3 reach = rod.surface_reach();
  Vector3 bend = Vector3::Zero();
  for (Eigen::Index i = 0; i + 2 < change.size(); i += 3) bend = bend.cwiseMax(change.segment<3>(i).cwiseAbs());
  int worst = 0;
  bend.cwiseProduct(reach).maxCoeff(&worst);
  return {bend[worst], reach[worst]};
}

}  // namespace

void Watch::look_at_fibres(const WatchedStep& step) {
  Sighting& worst = seen(Trouble::runaway);
  for (std::size_t f = 0; f < step.at.world().fibres.size(); ++f) {
    const rods::Rod& rod = step.at.rod(static_cast<int>(f));
    const rods::RodState& state = rod.state();
    const auto [bend, reach] = worst_bend(rod);
    const double strain = bend * reach;
    LocalMemory<64 * sizeof(Vector3)> memory;
    auto ends = memory.matrix<Matrix3X>(3, rod.piece_count() + 1);
    rod.end_velocities(rods::generalised_velocity(rod, state), ends);
    const double flight = step.dt * std::sqrt(ends.colwise().squaredNorm().maxCoeff()) / rod.length();
    const double measure = std::max(strain / largest_strain, flight);
    if (measure <= std::max(1.0, worst.measure)) continue;
    worst.measure = measure;
    worst.message = flight > strain / largest_strain
                        ? fmt::format("fibre {} flies {:.2g} of its length in a step; ", f, flight)
                        : fmt::format("fibre {} is bent or twisted by {:.2g} 1/m, {:.2g} over its {}; ", f, bend,
                                      strain, reach == rod.contact_radius() ? "radius" : "half thickness");
    worst.message += "it is about to diverge: ";
    worst.time_step = shorter_step(step.dt, 10.0);
  }
}

void Watch::look_at_energy(const WatchedStep& step) {
  if (!(step.energy_rise > 0.0)) return;
  seen(Trouble::energy) = {
      step.energy_rise,
      fmt::format("energy rose by {:.2g} of its scale without work from outside; {} moves most; {}", step.energy_rise,
                  liveliest_fibre(step.at), step.carried ? "" : "scheme \"carried\" gains none in free motion; "),
      shorter_step(step.dt, 2.0)};
}

void Watch::look_at_holds(const WatchedStep& step) {
  for (std::size_t i = 0; i < step.report.holds.size(); ++i) {
    const assembly::Hold& hold = step.at.world().holds[i];
    const rods::Rod& rod = step.at.rod(hold.fibre);
    const double at = assembly::held_arc_length(step.at, hold);
    Sighting& sighting = seen(Trouble::hold_missed);
    // A fibre that cannot stretch hangs on a spring, which stands for a small stretch.
    const double stretch = hold.compliance * step.report.holds[i].force.norm();
    const double stretched = stretch / rod.contact_radius();
    if (stretch > largest_hold_strain * at && stretched > sighting.measure) {
      sighting = {
          stretched,
          fmt::format("'{}' stretches fibre {} by {:.2g} of its length up to there, which its model cannot; use the "
                      "model \"discrete-elastic-rod\"",
                      hold.name, hold.fibre, stretch / at),
          0.0};
    }
    const double radii = step.report.holds[i].error / rod.contact_radius();
    if (!(radii > hold_error_told) || radii <= sighting.measure) continue;
    sighting = {radii,
                fmt::format("fibre {} at {:.4g} m is {} off where '{}' wants it: out of its reach, or led too "
                            "fast; ",
                            hold.fibre, at, length_in_words(step.report.holds[i].error), hold.name),
                shorter_step(step.dt, 2.0)};
  }
}

namespace {

/// "fibre 3 at 0.12 m": where a fibre of nodes turns back between two of its edges, farther than its elements can tell;
/// empty where none does.
std::string sharpest_fold(const assembly::Kinematics& at) {
  double sharpest = std::cos(2.5);  // [rad]
  std::string out;
  for (std::size_t f = 0; f < at.world().fibres.size(); ++f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    if (rod.linear_elasticity()) continue;
    const auto tangent = [&](int piece) { return geometry::derivative(rod.piece(piece), 0.0).normalized(); };
    for (int i = 1; i < rod.piece_count(); ++i) {
      const double cosine = tangent(i - 1).dot(tangent(i));
      if (cosine >= sharpest) continue;
      sharpest = cosine;
      out = fmt::format("fibre {} at {:.4g} m", f, rod.piece_begin(i));
    }
  }
  return out;
}

}  // namespace

void Watch::look_at_motion(const WatchedStep& step) {
  if (step.report.motion_status == Status::converged) return;
  Sighting& sighting = seen(Trouble::motion_unsolved);
  sighting = {std::max(1.0, static_cast<double>(step.report.motion_iterations)),
              fmt::format("the implicit motion of a fibre without contact was not solved in {} Newton steps ({}); ",
                          step.report.motion_iterations, to_string(step.report.motion_status)),
              shorter_step(step.dt, 2.0)};
  if (const std::string fold = sharpest_fold(step.at); !fold.empty()) {
    sighting.message += fmt::format("{} is folded back between two edges, which takes more elements to follow", fold);
    sighting.time_step = 0.0;
  }
}

void Watch::look_at_error(const WatchedStep& step) {
  if (!step.step_error || !(step.report.step_error > *step.step_error)) return;
  const double times = step.report.step_error / *step.step_error;
  seen(Trouble::step_error) = {
      times,
      fmt::format("cut in {}, the step still puts a point off by an estimated {}, {:.2g} times step_error; ",
                  step.report.parts, length_in_words(step.report.step_error), times),
      shorter_step(step.dt, std::max(2.0, std::sqrt(times)))};
}

void Watch::look_at_cuts(const WatchedStep& step, const WatchTally& tally) {
  const int parts = step.report.parts;
  if (parts <= 1 || step.step_error) return;  // that asks for parts
  const auto fastest = std::max_element(step.contacts.begin(), step.contacts.end(),
                                        [](const auto& p, const auto& q) { return p.slip < q.slip; });
  const double radii = fastest == step.contacts.end() ? 0.0 : travel(step, *fastest);
  const std::int64_t cut = tally[static_cast<std::size_t>(Trouble::cut_steps)].steps + 1;
  std::string message = fmt::format("{} of {} steps had to be cut, this one in {}; ", cut, step.report.step, parts);
  if (radii > 1.0)
    message += fmt::format("{} slide {:.2g} radii a step; ", pair_name(*fastest, step.at.world()), radii);
  seen(Trouble::cut_steps) = {static_cast<double>(parts), message, shorter_step(step.dt, std::max(radii, 2.0))};
}

}  // namespace tresse::observe
