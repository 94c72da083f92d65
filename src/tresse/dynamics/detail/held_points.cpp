#include <tresse/dynamics/detail/held_points.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/assembly/contact_problem.hpp>

namespace tresse::dynamics::detail {

HeldPoints::HeldPoints(const assembly::World& world, const StepOptions& options, assembly::FreeMotion& motion)
    : world_(world), options_(options), motion_(motion) {}

void HeldPoints::begin(double end) {
  end_ = end;
  free_.resize(motion_.forest.trees.size());
  if (!world_.holds.empty()) motion_.holds = assembly::find_holds(world_, motion_.forest, end);
}

void HeldPoints::note_offsets(const assembly::Kinematics& start, const std::vector<Vector3>& forces) {
  motion_.offsets.assign(world_.holds.size(), {});
  for (const assembly::TreeHold& tree : motion_.holds) {
    for (const int i : tree.holds) {
      const double most = 1e-3 * start.rod(world_.holds[i].fibre).length();
      motion_.offsets[i] =
          assembly::hold_offset(start, i, end_ - motion_.dt, forces[i], motion_.dt / options_.dt, most);
    }
  }
}

bool HeldPoints::iterated() const {
  return std::any_of(motion_.holds.begin(), motion_.holds.end(), [&](const assembly::TreeHold& tree) {
    return !tree.holds.empty() && !model_of(world_.holds[tree.holds.front()]).linear_elasticity();
  });
}

bool HeldPoints::cannot_give_way(const assembly::Kinematics& start, const contact::Geometry& geometry,
                                 const contact::Contact& contact, double radii) const {
  const auto fixed = [&](int index, double s) {
    if (index < 0 || !geometry.pieces[index].id.moves()) return true;
    if (geometry.pieces[index].id.kind == BodyKind::rigid_body) return false;
    const contact::Piece& piece = geometry.pieces[index];
    const double near = radii * piece.radius;
    const double along = contact::material_at(piece, s);
    if (along < near && clamped(world_.fibres[piece.body])) return true;
    const std::vector<int>& holds = motion_.holds[motion_.forest.tree_of[piece.body]].holds;
    return std::any_of(holds.begin(), holds.end(), [&](int i) {
      const assembly::Hold& hold = world_.holds[i];
      const double at = assembly::held_arc_length(start, hold);
      // What slides goes across the normal alone.
      constexpr double across = 1e-2;
      const Vector3 way = assembly::hold_pose(hold, end_).frame * hold.pose.frame.transpose() * hold.slide;
      return hold.fibre == piece.body && hold.compliance == 0.0 && std::abs(along - at) < near &&
             std::abs(way.dot(contact.frame.col(0))) < across;
    });
  };
  return fixed(contact.a, contact.s_a) && fixed(contact.b, contact.s_b);
}

void HeldPoints::linearise(const assembly::Kinematics& at, int t) {
  if (held(t)) assembly::linearise_holds(at, motion_, t, end_);
}

void HeldPoints::keep(const assembly::Kinematics& at, const std::vector<VectorX>* reached) {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (held(t)) assembly::keep_holds(at, motion_, t, end_, reached);
  }
}

void HeldPoints::note_free(int t) {
  if (held(t)) free_[t] = assembly::tree_velocity(world_, motion_.forest.trees[t], motion_.velocities);
}

void HeldPoints::let_go(int t) {
  if (!held(t)) return;
  assembly::set_rod_velocities(world_, motion_.forest.trees[t], motion_.roots[t], free_[t], true, motion_.velocities);
}

std::vector<assembly::HoldImpulse> HeldPoints::impulses(const assembly::Kinematics& at,
                                                        const contact::Geometry& geometry,
                                                        const std::vector<contact::Contact>& contacts,
                                                        const VectorX& impulse) const {
  std::vector<assembly::HoldImpulse> out;
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    if (!held(t)) continue;
    const VectorX contact = assembly::contact_impulse(at, geometry, contacts, impulse, motion_, t);
    const auto own = assembly::hold_impulses(world_, motion_, t, contact);
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

std::vector<Vector3> HeldPoints::forces(const std::vector<assembly::HoldImpulse>& impulses) const {
  std::vector<Vector3> out(world_.holds.size(), Vector3::Zero());
  for (const assembly::HoldImpulse& held : impulses) out[held.hold] = held.linear / motion_.stage;
  return out;
}

double HeldPoints::work(const assembly::Kinematics& end, const assembly::HoldImpulse& impulse,
                        const std::vector<VectorX>& velocities) const {
  const assembly::Hold& hold = world_.holds[impulse.hold];
  const auto work = [&](const Twist& velocity) {
    return (impulse.linear.dot(velocity.linear) + impulse.angular.dot(velocity.angular)) / options_.theta;
  };
  const assembly::HoldOffset& offset = motion_.offsets[impulse.hold];
  const double length = end.rod(hold.fibre).length();
  const double undone = std::min((offset.off - offset.left).norm(), lost * length);
  const Vector3 force = impulse.linear / motion_.stage;
  const double stores = 0.5 * hold.compliance * force.squaredNorm();
  const double back = force.norm() * undone + offset.stored - stores;
  const double led = work(assembly::led_velocity(hold, end_ - motion_.dt, end_));
  const double done = work(assembly::held_velocity(end, hold, velocities[hold.fibre]));
  return led + std::min(done - led, back);
}

HeldPoints::Miss HeldPoints::miss(const assembly::Kinematics& end,
                                  const std::vector<assembly::HoldImpulse>& impulses) const {
  Miss out;
  for (const assembly::HoldImpulse& held : impulses) {
    const Vector3& left = motion_.offsets[held.hold].left;
    const double error = assembly::hold_error(end, held, end_, motion_.stage, left);
    out.farthest = std::max(out.farthest, error);
    out.relative = std::max(out.relative, error / end.rod(world_.holds[held.hold].fibre).length());
  }
  return out;
}

std::vector<int> HeldPoints::lost_trees(const assembly::Kinematics& end,
                                        const std::vector<assembly::HoldImpulse>& impulses) const {
  constexpr double far = 0.01;  // of the length
  std::vector<int> out;
  for (const assembly::HoldImpulse& held : impulses) {
    const int fibre = world_.holds[held.hold].fibre;
    const double error = assembly::hold_error(end, held, end_, motion_.stage, motion_.offsets[held.hold].left);
    if (error > far * end.rod(fibre).length()) out.push_back(motion_.forest.tree_of[fibre]);
  }
  return out;
}

bool HeldPoints::relax(bool slow, std::vector<VectorX>& velocities, std::vector<VectorX>& predicted) {
  for (int t = 0; t < static_cast<int>(motion_.holds.size()); ++t) {
    const assembly::Tree& tree = motion_.forest.trees[t];
    if (!held(t) || tree.fibres.size() > 1) continue;
    Relaxation& own = relaxed_[t];
    VectorX& v = velocities[tree.fibres.front()];
    if (own.towards.size() == 0) own.towards.setZero(v.size());
    const VectorX change = v - own.towards;
    double share = 1.0;
    if (slow && own.change.size() > 0) {
      constexpr double least = 0.05;
      const assembly::TreeMatrix& matrix = motion_.matrices[t];
      const VectorX turn = change - own.change;
      const double size = matrix.squared_norm(turn);
      const double along = 0.5 * (matrix.squared_norm(turn + own.change) - size - matrix.squared_norm(own.change));
      if (size > 0.0) share = std::clamp(-own.share * along / size, least, 1.0);
    }
    own = {own.towards + share * change, own.corrected ? VectorX() : change, share};
    if (share == 1.0) continue;
    if (predicted.empty()) predicted = velocities;
    v = own.towards;
  }
  return !predicted.empty();
}

}  // namespace tresse::dynamics::detail
