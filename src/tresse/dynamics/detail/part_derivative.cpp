#include <tresse/dynamics/detail/part_derivative.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <tresse/friction/coulomb.hpp>
#include <tresse/math/rotations.hpp>

// What the map of a part is made of: docs/theory/gradients.md, "The pass".
namespace tresse::dynamics::detail {
namespace {

double damping_time_of(const rods::Rod& rod) {
  MatrixX stiffness = MatrixX::Zero(rod.dof(), rod.dof()), damping = stiffness;
  rod.add_stiffness(1.0, 0.0, stiffness);
  rod.add_stiffness(0.0, 1.0, damping);
  return damping.trace() / stiffness.trace();
}

bool stands_in(const FibreShape& shape, const rods::RodState& state, Eigen::Index nodes) {
  const rods::RodState& own = shape.rod->state();
  return shape.field->nodes() == nodes && own.coordinates == state.coordinates &&
         own.root.position == state.root.position && own.root.frame == state.root.frame;
}

}  // namespace

PartDerivative::PartDerivative(const assembly::World& world, const StepOptions& options, const assembly::Kinematics& at)
    : world_(world), options_(options), matrices_(world.fibres.size()), pool_(world.fibres.size()) {
  for (std::size_t f = 0; f < world.fibres.size(); ++f) {
    const rods::Rod& rod = at.rod(static_cast<int>(f));
    rods_.push_back(rod.clone());
    damping_times_.push_back(damping_time_of(rod));
    masses_.push_back(rod.make_step_matrix());
  }
}

void PartDerivative::refuse(const std::string& why) {
  if (refused_.empty()) refused_ = why;
}

VectorX PartDerivative::whole(std::size_t f, const Twist& root, const VectorX& v) const {
  if (!clamped_root(f)) return v;
  VectorX out(6 + v.size());
  out.head<3>() = root.linear;
  out.segment<3>(3) = root.angular;
  out.tail(v.size()) = v;
  return out;
}

/// The shape of a fibre after k passes; of all of them, that at the end.
Shapes::value_type PartDerivative::shape_of(std::size_t f, std::size_t k) {
  auto& out = shapes_[k][f];
  if (out) return out;
  const std::size_t last = part_->passes.size();
  const rods::RodState state = k == 0      ? part_->start[f]
                               : k == last ? part_->end[f]
                                           : state_after(*part_, *rods_[f], f, part_->passes[k - 1].velocities[f]);
  for (const Shapes& known : {last_start_, last_end_}) {
    if (!known.empty() && known[f] && stands_in(*known[f], state, nodes_[f])) return out = known[f];
  }
  for (const std::shared_ptr<FibreShape>& spare : pool_[f]) {
    if (spare.use_count() > 1) continue;
    spare->take(state, nodes_[f]);
    return out = spare;
  }
  return out = pool_[f].emplace_back(std::make_shared<FibreShape>(*rods_[f], state, nodes_[f]));
}

/// That of a fibre in a shape; `last`: and of the last pass, whose own is taken where it is known.
const rods::StepMatrix* PartDerivative::matrix_of(std::size_t f, std::size_t shape, bool last) {
  auto& of = factored_[f];
  for (const auto& [known_shape, matrix] : of) {
    if (known_shape == shape) return matrix;
  }
  const rods::StepMatrix* given = known_->last_pass.empty() ? nullptr : known_->last_pass[f];
  if (last && given != nullptr) return of.emplace_back(shape, given).second;
  const auto own = static_cast<std::size_t>(
      std::count_if(of.begin(), of.end(), [&](const auto& entry) { return entry.second != given; }));
  if (matrices_[f].size() <= own) matrices_[f].push_back(rods_[f]->make_step_matrix());
  const double h = part_->h, drag = assembly::implicit_drag(world_, static_cast<int>(f));
  VectorX momentum;
  if (!matrices_[f][own]->factor(*shape_of(f, shape)->rod, {h * h, h, h * drag}, VectorX::Zero(rods_[f]->dof()),
                                 momentum))
    refuse("a matrix that is not positive definite");
  return of.emplace_back(shape, matrices_[f][own].get()).second;
}

std::string PartDerivative::take(const RecordedPart& part, const KnownMatrices& known) {
  part_ = &part;
  known_ = &known;
  refused_.clear();
  passes_.clear();
  slips_.clear();
  shapes_.assign(part.passes.size() + 1, Shapes(fibres()));
  factored_.assign(fibres(), {});
  take_start();
  passes_.resize(part.passes.size());
  for (std::size_t p = 0; p < passes_.size(); ++p) take_pass(p);
  take_end();
  take_slips();
  known_ = nullptr;
  last_start_ = shapes_.front();
  last_end_ = shapes_.back();
  return refused_;
}

/// The shapes of the start and the field of velocities that is carried from there.
void PartDerivative::take_start() {
  nodes_.resize(fibres());
  roots_.resize(fibres());
  x_before_.resize(fibres());
  motion_before_.resize(fibres());
  carried_.resize(fibres());
  for (std::size_t f = 0; f < fibres(); ++f) {
    const rods::RodState& start = part_->start[f];
    rods_[f]->update(start);
    constexpr double margin = 0.02;  // of shapes in between [rad]
    nodes_[f] = std::max(rods::ChainField::nodes_for(*rods_[f], start.coordinates, margin),
                         rods::ChainField::nodes_for(*rods_[f], part_->end[f].coordinates, margin));
    const rods::ChainField& field = *shape_of(f, 0)->field;
    roots_[f] = clamped_root(f) ? start.root_velocity : Twist{};
    // What the state's own root velocity was: a prescribed one may change from part to part.
    x_before_[f] = whole(f, part_->roots_before[f], rods::generalised_velocity(*rods_[f], start));
    motion_before_[f] = field.motion(x_before_[f]);
    carried_[f] = field.samples(motion_before_[f]);
  }
}

void PartDerivative::take_pass(std::size_t p) {
  PassTerms& out = passes_[p];
  out.fibres.resize(fibres());
  for (std::size_t f = 0; f < fibres(); ++f) take_fibre(p, f, out.fibres[f]);
  take_contacts(p, out);
  take_operator(out);
  take_cases(out);
}

/// What the equation of a fibre is made of at the velocities of a pass,
///   int J^T (rho (w - w_0 - h g) + h c (w - wind)) ds + h K (eta v + q_0 + h v - q_rest).
void PartDerivative::take_fibre(std::size_t p, std::size_t f, FibreTerms& out) {
  const RecordedPass& pass = part_->passes[p];
  const double h = part_->h;
  const Eigen::Index m = rods_[f]->coordinate_count();
  out.shape = static_cast<std::size_t>(pass.shape_of[f]);
  const rods::ChainField& field = *shape_of(f, out.shape)->field;
  const VectorX& v = pass.velocities[f];
  out.x = whole(f, roots_[f], v);
  out.motion = field.motion(out.x);
  const rods::FieldSamples w = field.samples(out.motion);
  out.gained = w - carried_[f] - field.uniform(h * assembly::gravity_of(world_));
  out.resisted = w - field.uniform(part_->air);
  out.drag = h * assembly::drag_of(world_, static_cast<int>(f));
  out.forces = field.weighted(out.gained, 1.0, 0.0);
  if (out.drag != 0.0) out.forces += field.weighted(out.resisted, 0.0, out.drag);
  out.strained = (damping_times_[f] + h) * v.tail(m) + part_->start[f].coordinates - rods_[f]->rest_curvature();
  out.matrix = matrix_of(f, out.shape, part_->passes.back().shape_of[f] == pass.shape_of[f]);
}

/// The contacts of a pass, found in the shapes after the passes before it.
void PartDerivative::take_contacts(std::size_t p, PassTerms& out) {
  const RecordedPass& pass = part_->passes[p];
  out.motions.resize(fibres());
  out.motions_before.resize(fibres());
  for (const RecordedContact& contact : pass.contacts) {
    for (const RecordedSide* side : {&contact.a, &contact.b}) {
      if (side->fibre < 0) continue;
      const auto f = static_cast<std::size_t>(side->fibre);
      if (out.motions[f]) continue;
      const rods::ChainField& field = *shape_of(f, p)->field;
      out.motions[f] = out.fibres[f].shape == p ? out.fibres[f].motion : field.motion(out.fibres[f].x);
      if (p > 0) out.motions_before[f] = field.motion(passes_[p - 1].fibres[f].x);
    }
  }
  const assembly::Instant instant = p == 0 ? assembly::Instant::begin : assembly::Instant::end;
  out.contacts.reserve(pass.contacts.size());
  out.of_contacts.resize(pass.contacts.size());
  for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
    out.contacts.emplace_back(world_, *part_, pass.contacts[c], shapes_[p], instant);
    take_contact_terms(p, c, out);
    // Overlaps that are corrected slowly, contacts of a line and rebounds want another gap than none.
    double wanted = pass.contacts[c].contact.gap / part_->h;
    const ContactTangent& own = out.contacts.back();
    if (p > 0) {
      const auto before = [&](const ContactTangent::Side& side) -> ContactTangent::SideMotion {
        if (side.fibre < 0) return {};
        const auto f = static_cast<std::size_t>(side.fibre);
        return {shapes_[p][f]->field->twist(side.on, *out.motions_before[f]), {}};
      };
      wanted -= own.velocity(before(own.a()), before(own.b()))[0];
    }
    constexpr double rounding = 1e-8;
    if (std::abs(wanted - pass.contacts[c].gap_bias) > rounding * pass.largest_bias)
      refuse("an overlap at the start, a line of contacts or a rebound");
  }
}

/// How the relative velocity of a contact, bias included, depends on how it changes, and on the slip that it takes
/// back.
void PartDerivative::take_contact_terms(std::size_t p, std::size_t c, PassTerms& out) const {
  const ContactTangent& contact = out.contacts[c];
  ContactTerms& own = out.of_contacts[c];
  const RecordedContact& of = contact.recorded();
  const double h = part_->h;
  const auto motion_of = [&](const ContactTangent::Side& side, std::size_t pass,
                             const std::vector<std::optional<rods::FieldMotion>>& motions) {
    ContactTangent::SideMotion motion;
    if (side.fibre < 0) return motion;
    const auto f = static_cast<std::size_t>(side.fibre);
    const rods::ChainField& field = *shapes_[p][f]->field;
    motion.twist = field.twist(side.on, *motions[f]);
    motion.slope = field.twist_slope(side.on, passes_[pass].fibres[f].x);
    return motion;
  };
  own.by_change =
      contact.velocity_by_change(motion_of(contact.a(), p, out.motions), motion_of(contact.b(), p, out.motions));
  if (p > 0) {
    own.by_change.row(0) -= contact
                                .velocity_by_change(motion_of(contact.a(), p - 1, out.motions_before),
                                                    motion_of(contact.b(), p - 1, out.motions_before))
                                .row(0);
  }
  own.by_change(0, ContactTangent::gap) += 1.0 / h;
  if (!of.slip) return;
  const Matrix3 axes = of.contact.frame.transpose();
  const Vector3 slip = *of.slip, normal = of.contact.frame.col(0);
  const double size = slip.norm();
  Matrix3 by_slip, by_turned;
  if (!(size > h * options_.push_out_speed)) {
    by_slip = axes / h;
    by_turned = by_slip * math::cross_matrix(slip);
  } else {
    const Vector3 unit = slip / size;
    by_slip = options_.push_out_speed / size * axes * (Matrix3::Identity() - unit * unit.transpose());
    by_turned = options_.push_out_speed * axes * math::cross_matrix(unit);
  }
  // The slip keeps to the surface.
  own.by_slip = by_slip * (Matrix3::Identity() - normal * normal.transpose());
  own.by_change.middleCols<3>(ContactTangent::turned) += by_turned - by_slip * normal * normal.cross(slip).transpose();
}

/// The W of the contacts, and what it is made of.
void PartDerivative::take_operator(PassTerms& out) const {
  const auto n = static_cast<Eigen::Index>(out.contacts.size());
  out.W.setZero(3 * n, 3 * n);
  const auto sides_of = [](const ContactTangent& contact) {
    std::vector<const ContactTangent::Side*> sides;
    for (const ContactTangent::Side* side : {&contact.a(), &contact.b()}) {
      if (side->fibre >= 0) sides.push_back(side);
    }
    return sides;
  };
  for (std::size_t c = 0; c < out.contacts.size(); ++c) {
    for (const ContactTangent::Side* side : sides_of(out.contacts[c])) {
      const auto f = static_cast<std::size_t>(side->fibre);
      MatrixX solved = side->columns;
      for (int k = 0; k < 3; ++k) out.fibres[f].matrix->solve(solved.col(k));
      out.of_contacts[c].solved.push_back(std::move(solved));
    }
  }
  for (std::size_t c = 0; c < out.contacts.size(); ++c) {
    for (std::size_t d = 0; d < out.contacts.size(); ++d) {
      const auto sides = sides_of(out.contacts[d]);
      for (const ContactTangent::Side* of : sides_of(out.contacts[c])) {
        for (std::size_t s = 0; s < sides.size(); ++s) {
          if (sides[s]->fibre != of->fibre) continue;
          out.W.block<3, 3>(3 * static_cast<Eigen::Index>(c), 3 * static_cast<Eigen::Index>(d)) +=
              of->columns.transpose() * out.of_contacts[d].solved[s];
        }
      }
    }
  }
}

/// What is said of each impulse: nothing moves where it sticks, it is on the cone and against the slip where it slides.
void PartDerivative::take_cases(PassTerms& out) {
  out.A = out.W;
  out.by_friction.setZero(out.W.rows());
  for (std::size_t c = 0; c < out.contacts.size(); ++c) {
    const auto row = 3 * static_cast<Eigen::Index>(c);
    const RecordedContact& of = out.contacts[c].recorded();
    const Vector3 r = of.impulse, u = of.velocity;
    if (friction::classify(r, of.mu) != friction::ContactCase::slide) continue;
    const double scale = out.W.block<3, 3>(row, row).trace() / 3.0;  // rows in the units of the others
    const Eigen::Vector2d slip = u.tail<2>();
    const double speed = slip.norm();
    if (of.mu > 0.0 && !(speed > 0.0)) refuse("a contact at the edge of its cone that does not slide");
    const Eigen::Vector2d along = speed > 0.0 ? Eigen::Vector2d(slip / speed) : Eigen::Vector2d::Zero();
    Eigen::Matrix2d turning = Eigen::Matrix2d::Zero();
    if (speed > 0.0) turning = scale * of.mu * r[0] / speed * (Eigen::Matrix2d::Identity() - along * along.transpose());
    out.A.middleRows<2>(row + 1) = turning * out.W.middleRows<2>(row + 1);
    out.A.block<2, 2>(row + 1, row + 1) += scale * Eigen::Matrix2d::Identity();
    out.A.block<2, 1>(row + 1, row) += scale * of.mu * along;
    out.by_friction.segment<2>(row + 1) = scale * of.mu * r[0] * along;
    out.of_contacts[c].turning = turning;
  }
  if (out.A.rows() > 0) out.solver.compute(out.A);
}

/// The velocities at the end: those whose field is nearest to that of the last pass,
///   int J^T rho (w - w_end) ds = 0.
void PartDerivative::take_end() {
  end_.resize(fibres());
  mass_.resize(fibres());
  for (std::size_t f = 0; f < fibres(); ++f) {
    const Shapes::value_type end = shape_of(f, passes_.size());
    const FibreTerms& from = passes_.back().fibres[f];
    EndTerms& own = end_[f];
    own.x = whole(f, roots_[f], rods::generalised_velocity(*end->rod, part_->end[f]));
    own.motion = end->field->motion(own.x);
    own.lost = end->field->weighted(
        shapes_[from.shape][f]->field->samples(from.motion) - end->field->samples(own.motion), 1.0, 0.0);
    mass_[f] = known_->end.empty() ? nullptr : known_->end[f];
    if (mass_[f] != nullptr) continue;
    mass_[f] = masses_[f].get();
    VectorX momentum;
    if (!masses_[f]->factor(*end->rod, {}, VectorX::Zero(end->rod->dof()), momentum))
      refuse("a mass matrix that is singular");
  }
}

/// What contacts that stick have slipped, as note_slips() has it: the slip and the way, along the surface.
void PartDerivative::take_slips() {
  slips_.assign(part_->slips.size(), std::nullopt);
  for (std::size_t i = 0; i < slips_.size(); ++i) {
    const RecordedSlip& slip = part_->slips[i];
    if (slip.contact < 0) continue;
    const ContactTangent& contact = passes_.back().contacts[static_cast<std::size_t>(slip.contact)];
    SlipTerms own{contact.way(shapes_.front(), shapes_.back())};
    const Vector3 normal = contact.recorded().contact.frame.col(0);
    own.along -= normal * normal.transpose();
    own.by_turned =
        normal.dot(own.way.value) * math::cross_matrix(normal) - normal * normal.cross(slip.slip).transpose();
    slips_[i] = std::move(own);
  }
}

}  // namespace tresse::dynamics::detail
