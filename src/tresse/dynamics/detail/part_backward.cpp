#include <utility>

#include <tresse/dynamics/detail/part_derivative.hpp>
#include <tresse/math/rotations.hpp>

// The transpose of the map of a part: part_forward.cpp from its end to its start. What is called `by` something is the
// derivative by it.
namespace tresse::dynamics::detail {

struct PartDerivative::Backward {
  std::vector<std::vector<VectorX>> by_displacement;  ///< (shapes) (fibres) whole
  std::vector<std::vector<VectorX>> by_velocity;      ///< (passes) (fibres) (dof)
  std::vector<rods::FieldSamples> by_carried;         ///< (fibres)
  std::vector<VectorX> by_start_velocity;             ///< (fibres) whole
  std::vector<Vector3> by_slips;                      ///< of the start
  std::vector<ContactTangent::Change> by_contacts;    ///< of the last pass, by what slips take from them

  /// Of a pass: by the impulses that a fibre lacks, whole; its motion in the shape in which the fibre was linearised,
  /// and in that of the contacts; and what works in the shape of the contacts on twists of that motion, on those of the
  /// pass and on those of the pass before.
  struct OfFibre {
    VectorX lambda;
    rods::FieldMotion motion;
    std::optional<rods::FieldMotion> at_contacts;
    std::vector<rods::PlacedWrench> on_lambda, on_velocity, on_velocity_before;
  };
  std::vector<OfFibre> fibres;
};

StateChange PartDerivative::backward(const StateChange& end, Variation& gradient) const {
  Backward on;
  on.by_displacement.resize(shapes_.size());
  on.by_velocity.resize(passes_.size());
  for (std::size_t f = 0; f < fibres(); ++f) {
    const Eigen::Index size = 6 + rods_[f]->coordinate_count();
    for (auto& of_shape : on.by_displacement) of_shape.push_back(VectorX::Zero(size));
    for (auto& of_pass : on.by_velocity) of_pass.push_back(VectorX::Zero(rods_[f]->dof()));
    on.by_carried.push_back(0.0 * carried_[f]);
    on.by_start_velocity.push_back(VectorX::Zero(size));
  }
  on.by_slips.assign(part_->slips_before, Vector3::Zero());
  slips_back(end, on);
  for (std::size_t f = 0; f < fibres(); ++f) end_back(f, end.fibres[f], on);
  for (std::size_t p = passes_.size(); p-- > 0;) {
    for (std::size_t f = 0; f < fibres(); ++f)
      advanced_back(f, part_->passes[p].velocities[f], on.by_displacement[p + 1][f], on.by_displacement[0][f],
                    on.by_velocity[p][f]);
    pass_back(p, on, gradient);
  }
  StateChange out;
  for (std::size_t f = 0; f < fibres(); ++f) {
    const rods::ChainField& field = *shapes_[0][f]->field;
    on.by_displacement[0][f] += field.change_back(x_before_[f], motion_before_[f], &on.by_carried[f]);
    VectorX by_velocity = field.force(&on.by_carried[f]);
    if (clamped_root(f)) by_velocity.head<6>().setZero();
    out.fibres.push_back({std::move(on.by_displacement[0][f]), std::move(by_velocity)});
  }
  out.slips = std::move(on.by_slips);
  return out;
}

void PartDerivative::slips_back(const StateChange& end, Backward& on) const {
  const std::size_t last = passes_.size();
  const std::vector<ContactTangent>& contacts = passes_.back().contacts;
  on.by_contacts.assign(contacts.size(), ContactTangent::Change::Zero());
  std::vector<std::vector<rods::PlacedWrench>> at_contacts(fibres()), at_start(fibres()), at_end(fibres());
  for (std::size_t i = 0; i < slips_.size(); ++i) {
    if (!slips_[i] || end.slips[i].isZero(0.0)) continue;
    const SlipTerms& slip = *slips_[i];
    const auto c = static_cast<std::size_t>(part_->slips[i].contact);
    const ContactTangent& contact = contacts[c];
    const Vector3 own = slip.along.transpose() * end.slips[i];
    on.by_contacts[c] += slip.way.by_change.transpose() * own;
    on.by_contacts[c].segment<3>(ContactTangent::turned) += slip.by_turned.transpose() * end.slips[i];
    if (const int from = contact.recorded().slip_from; from >= 0) on.by_slips[static_cast<std::size_t>(from)] += own;
    at_contacts[static_cast<std::size_t>(contact.a().fibre)].push_back(
        {&contact.a().on, slip.way.by_a.transpose() * own});
    for (const auto& [side, of] : {std::pair{&contact.a(), &slip.way.a}, std::pair{&contact.b(), &slip.way.b}}) {
      if (side->fibre < 0) continue;
      const auto f = static_cast<std::size_t>(side->fibre);
      at_start[f].push_back({&of->start, of->by_start.transpose() * own});
      at_end[f].push_back({&of->end, of->by_end.transpose() * own});
    }
  }
  for (std::size_t f = 0; f < fibres(); ++f) {
    for (const auto& [shape, wrenches] :
         {std::pair{last - 1, &at_contacts[f]}, std::pair{std::size_t{0}, &at_start[f]}, std::pair{last, &at_end[f]}}) {
      if (!wrenches->empty()) on.by_displacement[shape][f] += shapes_[shape][f]->field->force(nullptr, *wrenches);
    }
  }
}

void PartDerivative::end_back(std::size_t f, const FibreChange& end, Backward& on) const {
  const FibreTerms& from = passes_.back().fibres[f];
  const EndTerms& own = end_[f];
  const rods::ChainField &field = *shapes_[from.shape][f]->field, &to = *shapes_.back()[f]->field;
  on.by_displacement.back()[f] += end.displacement;
  VectorX lambda = end.velocity.tail(rods_[f]->dof());
  mass_[f]->solve(lambda);
  const VectorX x = whole(f, {}, lambda);
  const rods::FieldMotion motion = to.motion(x);
  const rods::FieldSamples w = to.weighted(to.samples(motion), 1.0, 0.0), minus_w = -1.0 * w;
  on.by_displacement.back()[f] += to.change_back(x, motion, &own.lost) + to.change_back(own.x, own.motion, &minus_w);
  on.by_displacement[from.shape][f] += field.change_back(from.x, from.motion, &w);
  on.by_velocity.back()[f] += field.force(&w).tail(rods_[f]->dof());
}

void PartDerivative::pass_back(std::size_t p, Backward& on, Variation& gradient) const {
  const PassTerms& pass = passes_[p];
  const VectorX off = impulses_back(p, on, gradient);
  on.fibres.assign(fibres(), {});
  for (std::size_t f = 0; f < fibres(); ++f) {
    Backward::OfFibre& own = on.fibres[f];
    pass.fibres[f].matrix->solve(on.by_velocity[p][f]);
    own.lambda = whole(f, {}, on.by_velocity[p][f]);
    own.motion = shapes_[pass.fibres[f].shape][f]->field->motion(own.lambda);
    if (pass.motions[f] && pass.fibres[f].shape != p) own.at_contacts = shapes_[p][f]->field->motion(own.lambda);
  }
  contacts_back(p, off, on);
  for (std::size_t f = 0; f < fibres(); ++f) fibre_back(p, f, on, gradient);
}

/// From the velocities after the impulses to those without them; returns the derivative by the relative velocities of
/// contacts without a change of the impulses.
VectorX PartDerivative::impulses_back(std::size_t p, Backward& on, Variation& gradient) const {
  const PassTerms& pass = passes_[p];
  std::vector<VectorX>& by_v = on.by_velocity[p];
  VectorX off = VectorX::Zero(pass.A.rows());
  if (pass.contacts.empty()) return off;
  const auto visit = [&](const auto& each) {
    for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
      std::size_t s = 0;
      for (const ContactTangent::Side* side : {&pass.contacts[c].a(), &pass.contacts[c].b()}) {
        if (side->fibre >= 0) each(3 * static_cast<Eigen::Index>(c), *side, pass.of_contacts[c].solved[s++]);
      }
    }
  };
  visit([&](Eigen::Index row, const ContactTangent::Side& side, const MatrixX& solved) {
    off.segment<3>(row) += solved.transpose() * by_v[static_cast<std::size_t>(side.fibre)];
  });
  const VectorX solution = pass.solver.transpose().solve(off);
  off = -solution;
  gradient.friction += pass.by_friction.dot(off);
  for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
    auto own = off.segment<2>(3 * static_cast<Eigen::Index>(c) + 1);
    if (pass.of_contacts[c].turning) own = (pass.of_contacts[c].turning->transpose() * own).eval();
  }
  visit([&](Eigen::Index row, const ContactTangent::Side& side, const MatrixX&) {
    by_v[static_cast<std::size_t>(side.fibre)] += side.columns * off.segment<3>(row);
  });
  return off;
}

/// `off`: by the relative velocities of contacts without a change of the impulses. Notes the wrenches of the fibres.
void PartDerivative::contacts_back(std::size_t p, const VectorX& off, Backward& on) const {
  const PassTerms& pass = passes_[p];
  const auto motion_of = [&](const ContactTangent::Side& side) {
    if (side.fibre < 0) return ContactTangent::SideMotion{};
    const auto f = static_cast<std::size_t>(side.fibre);
    const rods::ChainField& field = *shapes_[p][f]->field;
    const Backward::OfFibre& of = on.fibres[f];
    return ContactTangent::SideMotion{field.twist(side.on, of.at_contacts ? *of.at_contacts : of.motion),
                                      field.twist_slope(side.on, of.lambda)};
  };
  for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
    const ContactTangent& contact = pass.contacts[c];
    const ContactTerms& terms = pass.of_contacts[c];
    const Vector3 own = off.segment<3>(3 * static_cast<Eigen::Index>(c));
    ContactTangent::Change by_change = contact.work_by_change(motion_of(contact.a()), motion_of(contact.b()));
    by_change += terms.by_change.transpose() * own;
    if (p + 1 == passes_.size()) by_change += on.by_contacts[c];
    if (const int from = contact.recorded().slip_from; from >= 0)
      on.by_slips[static_cast<std::size_t>(from)] += terms.by_slip.transpose() * own;
    for (const ContactTangent::Side* side : {&contact.a(), &contact.b()}) {
      if (side->fibre < 0) continue;
      const auto f = static_cast<std::size_t>(side->fibre);
      Backward::OfFibre& of = on.fibres[f];
      const ContactTangent::Rows<6> by = contact.velocity_by(*side);
      of.on_lambda.push_back({&side->on, side->wrench});
      of.on_velocity.push_back({&side->on, by.transpose() * own, side->change_by.transpose() * by_change});
      if (p == 0) continue;
      of.on_velocity_before.push_back({&side->on, -own[0] * by.row(0).transpose()});
      on.by_velocity[p - 1][f] -= own[0] * side->columns.col(0);
    }
  }
}

void PartDerivative::fibre_back(std::size_t p, std::size_t f, Backward& on, Variation& gradient) const {
  const double h = part_->h;
  const PassTerms& pass = passes_[p];
  const FibreTerms& terms = pass.fibres[f];
  const Backward::OfFibre& of = on.fibres[f];
  const rods::ChainField& field = *shapes_[terms.shape][f]->field;
  const rods::Rod& rod = *rods_[f];
  const Eigen::Index m = rod.coordinate_count();
  FibreVariation& own = gradient.fibres[f];
  const rods::FieldSamples w = field.samples(of.motion), by_mass = field.weighted(w, 1.0, 0.0);
  on.by_carried[f] += by_mass;
  gradient.gravity += h * rods::ChainField::sum(by_mass);
  own.density -= dot(by_mass, terms.gained);
  own.drag -= h * field.length_product(w, terms.resisted);
  rods::FieldSamples resisted = -1.0 * by_mass;
  if (terms.drag != 0.0) {
    const rods::FieldSamples by_drag = field.weighted(w, 0.0, terms.drag);
    gradient.wind += rods::ChainField::sum(by_drag);
    resisted -= by_drag;
  }
  const rods::FieldSamples forces = -1.0 * terms.forces;
  const bool same = !of.at_contacts;  // shape of the contacts, if there are any
  const rods::ChainField::Wrenches none;
  VectorX& by = on.by_displacement[terms.shape][f];
  by += field.change_back(of.lambda, of.motion, &forces, same ? rods::ChainField::Wrenches(of.on_lambda) : none);
  by += field.change_back(terms.x, terms.motion, &resisted, same ? rods::ChainField::Wrenches(of.on_velocity) : none);
  if (!of.on_lambda.empty()) {
    const rods::ChainField& there = *shapes_[p][f]->field;
    VectorX& by_there = on.by_displacement[p][f];
    if (!same) {
      by_there += there.change_back(of.lambda, *of.at_contacts, nullptr, of.on_lambda);
      by_there += there.change_back(terms.x, *pass.motions[f], nullptr, of.on_velocity);
    }
    if (p > 0)
      by_there +=
          there.change_back(passes_[p - 1].fibres[f].x, *pass.motions_before[f], nullptr, of.on_velocity_before);
  }
  VectorX elastic = VectorX::Zero(rod.dof());
  rod.add_stiffness_times(-h, on.by_velocity[p][f], elastic);
  const auto strain = elastic.tail(m);
  for (Eigen::Index i = 0; i < m; ++i) own.stiffness[i % 3] += strain[i] * terms.strained[i];
  own.damping_time += strain.dot(part_->passes[p].velocities[f].tail(m));
  own.natural -= strain;
  on.by_displacement[0][f].tail(m) += strain;
}

}  // namespace tresse::dynamics::detail
