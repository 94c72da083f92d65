#include <utility>

#include <tresse/dynamics/detail/part_derivative.hpp>
#include <tresse/math/rotations.hpp>

// The map of a part, from changes of its start to those of its end.
namespace tresse::dynamics::detail {

const rods::FieldMotion& PartDerivative::along_at(Along& along, std::size_t shape, std::size_t f) const {
  auto& out = along.motion[shape][f];
  if (!out) out = shapes_[shape][f]->field->motion(along.displacement[shape][f]);
  return *out;
}

ContactTangent::Change PartDerivative::contact_change(const ContactTangent& contact, std::size_t shape,
                                                      Along& along) const {
  ContactTangent::Change out = ContactTangent::Change::Zero();
  for (const ContactTangent::Side* side : {&contact.a(), &contact.b()}) {
    if (side->fibre < 0) continue;
    const auto f = static_cast<std::size_t>(side->fibre);
    out += side->change_by * shapes_[shape][f]->field->twist(side->on, along_at(along, shape, f));
  }
  return out;
}

/// The way over h with velocities v, to a displacement at its end: of a free root the rotation is composed.
VectorX PartDerivative::advanced(std::size_t f, const VectorX& displacement, const VectorX& v,
                                 const VectorX& v_change) const {
  const double h = part_->h;
  VectorX out = displacement;
  out.tail(v_change.size()) += h * v_change;
  if (clamped_root(f)) return out;
  const Vector3 turn = h * v.segment<3>(3);
  out.segment<3>(3) = math::rotation_exp(turn) * displacement.segment<3>(3) +
                      math::rotation_exp_integral(turn) * (h * v_change.segment<3>(3));
  return out;
}

/// Its transpose; adds.
void PartDerivative::advanced_back(std::size_t f, const VectorX& v, const VectorX& by, VectorX& displacement,
                                   VectorX& v_change) const {
  const double h = part_->h;
  displacement += by;
  v_change += h * by.tail(v_change.size());
  if (clamped_root(f)) return;
  const Vector3 turn = h * v.segment<3>(3), by_turn = by.segment<3>(3);
  displacement.segment<3>(3) += math::rotation_exp(turn).transpose() * by_turn - by_turn;
  v_change.segment<3>(3) += h * (math::rotation_exp_integral(turn).transpose() * by_turn - by_turn);
}

StateChange PartDerivative::forward(const Variation& variation, const StateChange& start) const {
  Along along;
  along.displacement.assign(shapes_.size(), std::vector<VectorX>(fibres()));
  along.motion.assign(shapes_.size(), std::vector<std::optional<rods::FieldMotion>>(fibres()));
  std::vector<rods::FieldSamples> carried(fibres());
  for (std::size_t f = 0; f < fibres(); ++f) {
    along.displacement[0][f] = start.fibres[f].displacement;
    const rods::ChainField& field = *shapes_[0][f]->field;
    const rods::FieldMotion& by = along_at(along, 0, f);
    carried[f] = field.samples_change(motion_before_[f], field.change(x_before_[f], by), by) +
                 field.samples(field.motion(start.fibres[f].velocity));
  }
  std::vector<VectorX> velocities;
  for (std::size_t p = 0; p < passes_.size(); ++p) {
    velocities = pass_forward(p, variation, start, carried, along, velocities);
    for (std::size_t f = 0; f < fibres(); ++f)
      along.displacement[p + 1][f] =
          advanced(f, along.displacement[0][f], part_->passes[p].velocities[f], velocities[f]);
  }
  StateChange out;
  for (std::size_t f = 0; f < fibres(); ++f) out.fibres.push_back(end_forward(f, along, velocities[f]));
  slips_forward(start, along, out.slips);
  return out;
}

/// Minus the rate of change of what a fibre's equation lacks, at the same velocities and impulses of contacts.
VectorX PartDerivative::fibre_forward(std::size_t p, std::size_t f, const Variation& variation,
                                      const rods::FieldSamples& carried, Along& along, OfContacts& contacts) const {
  const double h = part_->h;
  const FibreTerms& terms = passes_[p].fibres[f];
  const rods::ChainField& field = *shapes_[terms.shape][f]->field;
  const rods::FieldMotion& by = along_at(along, terms.shape, f);
  static const FibreVariation none;
  const FibreVariation& own = variation.fibres.empty() ? none : variation.fibres[f];
  const rods::Rod& rod = *rods_[f];
  const Eigen::Index m = rod.coordinate_count();
  rods::FieldMotion turn = field.change(terms.x, by);
  const rods::FieldSamples w_change = field.samples_change(terms.motion, turn, by);
  rods::FieldSamples changes = field.weighted(w_change - carried, 1.0, 0.0);
  if (!variation.gravity.isZero(0.0)) changes -= field.weighted(field.uniform(h * variation.gravity), 1.0, 0.0);
  if (own.density != 0.0) changes += field.weighted(terms.gained, own.density, 0.0);
  if (terms.drag != 0.0) changes += field.weighted(w_change - field.uniform(variation.wind), 0.0, terms.drag);
  if (own.drag != 0.0) changes += field.weighted(terms.resisted, 0.0, h * own.drag);
  const bool same = terms.shape == p;  // as that of the contacts
  VectorX out =
      field
          .force_change(&terms.forces, &changes,
                        same ? rods::ChainField::Wrenches(contacts.wrenches) : rods::ChainField::Wrenches(), by)
          .tail(rod.dof());
  if (!contacts.wrenches.empty()) {
    const rods::ChainField& there = *shapes_[p][f]->field;
    const rods::FieldMotion& by_there = along_at(along, p, f);
    if (!same) out += there.force_change(nullptr, nullptr, contacts.wrenches, by_there).tail(rod.dof());
    contacts.turn = same ? std::move(turn) : there.change(terms.x, by_there);
    if (p > 0) contacts.turn_before = there.change(passes_[p - 1].fibres[f].x, by_there);
  }
  VectorX elastic = VectorX::Zero(rod.dof());
  auto of = elastic.tail(m);
  of = own.damping_time * part_->passes[p].velocities[f].tail(m) + along.displacement[0][f].tail(m);
  for (Eigen::Index i = 0; i < m; ++i) of[i] += own.stiffness[i % 3] * terms.strained[i];
  if (own.natural.size() > 0) of -= own.natural;
  rod.add_stiffness_times(h, elastic, out);
  return -out;
}

/// How the velocities of a pass change.
std::vector<VectorX> PartDerivative::pass_forward(std::size_t p, const Variation& variation, const StateChange& start,
                                                  const std::vector<rods::FieldSamples>& carried, Along& along,
                                                  const std::vector<VectorX>& before) const {
  const PassTerms& pass = passes_[p];
  std::vector<ContactTangent::Change> changes;
  std::vector<OfContacts> of_contacts(fibres());
  for (const ContactTangent& contact : pass.contacts) {
    const ContactTangent::Change& change = changes.emplace_back(contact_change(contact, p, along));
    for (const auto& [side, slid] : {std::pair{&contact.a(), change[ContactTangent::slid_a]},
                                     std::pair{&contact.b(), change[ContactTangent::slid_b]}}) {
      if (side->fibre < 0) continue;
      of_contacts[static_cast<std::size_t>(side->fibre)].wrenches.push_back(
          {&side->on, -side->wrench, -contact.wrench_change(*side, change), slid});
    }
  }
  std::vector<VectorX> out;
  for (std::size_t f = 0; f < fibres(); ++f) {
    out.push_back(fibre_forward(p, f, variation, carried[f], along, of_contacts[f]));
    pass.fibres[f].matrix->solve(out[f]);
  }
  if (pass.contacts.empty()) return out;
  VectorX off(pass.A.rows());
  for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
    const ContactTangent& contact = pass.contacts[c];
    const ContactTerms& terms = pass.of_contacts[c];
    const auto row = 3 * static_cast<Eigen::Index>(c);
    auto own = off.segment<3>(row);
    own = terms.by_change * changes[c];
    if (const int from = contact.recorded().slip_from; from >= 0)
      own += terms.by_slip * start.slips[static_cast<std::size_t>(from)];
    for (const ContactTangent::Side* side : {&contact.a(), &contact.b()}) {
      if (side->fibre < 0) continue;
      const auto f = static_cast<std::size_t>(side->fibre);
      const rods::ChainField& field = *shapes_[p][f]->field;
      const ContactTangent::Rows<6> by = contact.velocity_by(*side);
      own += by * field.twist(side->on, of_contacts[f].turn) + side->columns.transpose() * out[f];
      if (p > 0)
        own[0] -=
            by.row(0).dot(field.twist(side->on, of_contacts[f].turn_before)) + side->columns.col(0).dot(before[f]);
    }
    if (terms.turning) own.tail<2>() = (*terms.turning * own.tail<2>()).eval();
  }
  const VectorX impulse = pass.solver.solve(-off - variation.friction * pass.by_friction);
  for (std::size_t c = 0; c < pass.contacts.size(); ++c) {
    const Vector3 r = impulse.segment<3>(3 * static_cast<Eigen::Index>(c));
    std::size_t s = 0;
    for (const ContactTangent::Side* side : {&pass.contacts[c].a(), &pass.contacts[c].b()}) {
      if (side->fibre >= 0) out[static_cast<std::size_t>(side->fibre)] += pass.of_contacts[c].solved[s++] * r;
    }
  }
  return out;
}

FibreChange PartDerivative::end_forward(std::size_t f, Along& along, const VectorX& v_change) const {
  const FibreTerms& from = passes_.back().fibres[f];
  const EndTerms& end = end_[f];
  const rods::ChainField &field = *shapes_[from.shape][f]->field, &to = *shapes_.back()[f]->field;
  const rods::FieldMotion &by = along_at(along, from.shape, f), &there = along_at(along, passes_.size(), f);
  const rods::FieldSamples change = field.samples_change(from.motion, field.change(from.x, by), by) +
                                    field.samples(field.motion(whole(f, {}, v_change))) -
                                    to.samples_change(end.motion, to.change(end.x, there), there);
  const rods::FieldSamples forces = to.weighted(change, 1.0, 0.0);
  VectorX own = to.force_change(&end.lost, &forces, {}, there).tail(rods_[f]->dof());
  mass_[f]->solve(own);
  return {along.displacement.back()[f], whole(f, {}, own)};
}

void PartDerivative::slips_forward(const StateChange& start, Along& along, std::vector<Vector3>& out) const {
  const std::size_t last = passes_.size();
  out.assign(slips_.size(), Vector3::Zero());
  for (std::size_t i = 0; i < slips_.size(); ++i) {
    if (!slips_[i]) continue;
    const SlipTerms& slip = *slips_[i];
    const ContactTangent& contact = passes_.back().contacts[static_cast<std::size_t>(part_->slips[i].contact)];
    const ContactTangent::Change change = contact_change(contact, last - 1, along);
    Vector3 own = slip.way.by_change * change;
    const int from = contact.recorded().slip_from;
    if (from >= 0) own += start.slips[static_cast<std::size_t>(from)];
    const auto a = static_cast<std::size_t>(contact.a().fibre);
    own += slip.way.by_a * shapes_[last - 1][a]->field->twist(contact.a().on, along_at(along, last - 1, a));
    for (const auto& [side, of] : {std::pair{&contact.a(), &slip.way.a}, std::pair{&contact.b(), &slip.way.b}}) {
      if (side->fibre < 0) continue;
      const auto f = static_cast<std::size_t>(side->fibre);
      own += of->by_start * shapes_.front()[f]->field->twist(of->start, along_at(along, 0, f)) +
             of->by_end * shapes_.back()[f]->field->twist(of->end, along_at(along, last, f));
    }
    out[i] = slip.along * own + slip.by_turned * change.segment<3>(ContactTangent::turned);
  }
}

}  // namespace tresse::dynamics::detail
