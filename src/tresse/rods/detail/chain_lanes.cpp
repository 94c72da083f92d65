#include <algorithm>

#include <tresse/base/assert.hpp>
#include <tresse/base/local_memory.hpp>
#include <tresse/rods/detail/chain_rod.hpp>
#include <tresse/rods/detail/helix_element.hpp>
#include <tresse/rods/detail/wrench_columns.hpp>

// What a step asks of super-helices whose elements turn by 3 rad at most, four elements at once: the sums of
// chain_dynamics.cpp with integrals that are made for the first of them. Twists are in world axes at r(0), as there.
namespace tresse::rods::detail {
namespace {

using lanes::Doubles;
using lanes::spread;
using Lanes3 = Triple<Doubles>;
constexpr int four = lanes::count;

enum class Towards { tip, root };

/// x of the elements one place, or two, earlier on the way; zero where the group begins.
template <Towards towards>
TRESSE_HOT Doubles one_back(const Doubles& x) {
  if constexpr (towards == Towards::tip) return __builtin_shufflevector(x, Doubles{}, 4, 0, 1, 2);
  return __builtin_shufflevector(x, Doubles{}, 1, 2, 3, 4);
}
template <Towards towards>
TRESSE_HOT Doubles two_back(const Doubles& x) {
  if constexpr (towards == Towards::tip) return __builtin_shufflevector(x, Doubles{}, 4, 4, 0, 1);
  return __builtin_shufflevector(x, Doubles{}, 2, 3, 4, 4);
}

/// Sums over what each element of a group has behind it on the way, and on to the next group.
template <Towards towards>
struct Behind {
  Doubles carry{};
  TRESSE_HOT Doubles operator()(const Doubles& x) {
    const Doubles pairs = x + one_back<towards>(x);
    const Doubles through = pairs + two_back<towards>(pairs);
    const Doubles behind = carry + one_back<towards>(through);
    carry += spread(through[towards == Towards::tip ? four - 1 : 0]);
    return behind;
  }
};
using Before = Behind<Towards::tip>;
using Beyond = Behind<Towards::root>;

std::array<Before, 3> starting_at(const Vector3& v) {
  return {Before{spread(v[0])}, Before{spread(v[1])}, Before{spread(v[2])}};
}
Vector3 sum_of(const std::array<Beyond, 3>& all) { return {all[0].carry[0], all[1].carry[0], all[2].carry[0]}; }
template <typename Sum>
TRESSE_HOT Lanes3 each(std::array<Sum, 3>& sums, const Lanes3& x) {
  return {sums[0](x[0]), sums[1](x[1]), sums[2](x[2])};
}

Vector3 sum(const Lanes3& v) { return {lanes::sum(v[0]), lanes::sum(v[1]), lanes::sum(v[2])}; }

TRESSE_HOT Columns<Doubles> cross_columns(const Lanes3& v) {
  return {{{Doubles{}, v[2], -v[1]}, {-v[2], Doubles{}, v[0]}, {v[1], -v[0], Doubles{}}}};
}
/// Three numbers of each of four elements, one after the other.
TRESSE_HOT Lanes3 by_threes(const double* from) {
  const Doubles a = lanes::load(from), b = lanes::load(from + four), c = lanes::load(from + 2 * four);
  return {__builtin_shufflevector(__builtin_shufflevector(a, b, 0, 3, 6, 6), c, 0, 1, 2, 5),
          __builtin_shufflevector(__builtin_shufflevector(a, b, 1, 4, 7, 7), c, 0, 1, 2, 6),
          __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 5, 5, 5), c, 0, 1, 4, 7)};
}
/// The same where there are fewer of them: the last goes on.
TRESSE_HOT Lanes3 by_threes(const double* from, int count) {
  Lanes3 out;
  for (int lane = 0; lane < four; ++lane) {
    for (int r = 0; r < 3; ++r) out[static_cast<std::size_t>(r)][lane] = from[3 * std::min(lane, count - 1) + r];
  }
  return out;
}

}  // namespace

template <typename Shape>
void ChainRod<Shape>::gather_joints(const std::array<const Joint*, four>& joints, Triple<Doubles>& offset,
                                    Columns<Doubles>& frame) {
  constexpr std::size_t count = 12;
  static_assert(sizeof(Joint) == count * sizeof(double));
  std::array<Doubles, count> numbers;
  for (std::size_t k = 0; k < count; k += four) {
    const auto part = [&](std::size_t lane) { return lanes::load(joints[lane]->offset.data() + k); };
    const auto four_of_each = lanes::transposed({part(0), part(1), part(2), part(3)});
    std::copy(four_of_each.begin(), four_of_each.end(), numbers.begin() + static_cast<std::ptrdiff_t>(k));
  }
  for (std::size_t r = 0; r < 3; ++r) {
    offset[r] = numbers[r];
    for (std::size_t c = 0; c < 3; ++c) frame[c][r] = numbers[3 + 3 * c + r];
  }
}

/// Gathers elements 4 g to 4 g + 3.
template <typename Shape>
void ChainRod<Shape>::gather(int g, HelixGroup& out) const {
  const int first = four * g, present = std::min(four, count() - first);
  const auto number = [&](int lane) { return static_cast<std::size_t>(first + std::min(lane, present - 1)); };
  const std::array<std::size_t, four> at = {number(0), number(1), number(2), number(3)};
  const auto of_elements = [&](const auto& member) {
    return Doubles{member(elements()[at[0]]), member(elements()[at[1]]), member(elements()[at[2]]),
                   member(elements()[at[3]])};
  };
  out.length = of_elements([](const Element& e) { return e.length; });
  static_assert(sizeof(ElementDiscs) == four * sizeof(double));
  const auto discs = [&](std::size_t lane) { return lanes::load(elements()[at[lane]].discs.start.data()); };
  out.discs = lanes::transposed({discs(0), discs(1), discs(2), discs(3)});
  for (int lane = present; lane < four; ++lane) {
    out.length[lane] = 0.0;
    for (Doubles& of_section : out.discs) of_section[lane] = 0.0;
  }
  out.density = of_elements([](const Element& e) { return e.density; });
  for (int r = 0; r < 3; ++r) {
    const auto of = [&](std::size_t lane) { return joints_[at[lane] + 1].offset[r]; };
    out.next[static_cast<std::size_t>(r)] = Doubles{of(0), of(1), of(2), of(3)};
  }
  const std::array<const Joint*, four> joints = {&joints_[at[0]], &joints_[at[1]], &joints_[at[2]], &joints_[at[3]]};
  gather_joints(joints, out.offset, out.frame);
  const auto threes = [&](const double* from) { return present == four ? by_threes(from) : by_threes(from, present); };
  out.w = threes(state_.coordinates.data() + 3 * first);
  out.rate = threes(state_.rates.data() + 3 * first);
  const double* twist = twists_.data() + root_dof() + 3 * first;
  for (std::size_t r = 0; r < 3; ++r) {
    const auto row = static_cast<Eigen::Index>(r);
    const Lanes3 linear = threes(twist + row * twists_.rows()), angular = threes(twist + (row + 3) * twists_.rows());
    for (std::size_t k = 0; k < 3; ++k) {
      out.linear[k][r] = linear[k];
      out.angular[k][r] = angular[k];
    }
  }
}

template <typename Shape>
const HelixGroups& ChainRod<Shape>::gathered() const {
  HelixGroups& out = memory_->groups.local();
  if (out.state == state_number_ && state_number_ != 0) return out;
  const auto wanted = static_cast<std::size_t>(groups());
  out.groups.resize(std::max(out.groups.size(), wanted));
  out.integrals.resize(out.groups.size());
  out.discs.resize(out.groups.size());
  std::array<Doubles, 6> c;
  for (std::size_t g = 0; g < wanted; ++g) {
    HelixGroup& e = out.groups[g];
    gather(static_cast<int>(g), e);
    out.integrals[g].set(e.length, e.w);
    const Doubles u = HelixDiscs<Doubles>::inner_place * e.length;
    math::stumpff_series<6, Doubles>(u * u * dot(e.w, e.w), c);
    out.discs[g].set(u, e.w, c, e.discs);
  }
  out.state = state_number_;
  return out;
}

/// Three numbers of each element of a group, where they belong.
template <typename Shape>
void ChainRod<Shape>::scatter(int g, const Triple<lanes::Doubles>& from, double* out) const {
  const int begin = four * g, end = std::min(begin + four, count());
  for (int i = begin; i < end; ++i) {
    for (int k = 0; k < 3; ++k) out[3 * i + k] = from[static_cast<std::size_t>(k)][i - begin];
  }
}

/// upper_gram().
template <typename Shape>
void ChainRod<Shape>::gram_in_lanes(bool by_mass, double scale, Eigen::Ref<MatrixX> out) const {
  struct Block {
    Columns<Doubles> force, torque;  // the wrenches of unit rates
    Columns<Doubles> own;            // the diagonal block, its upper triangle
  };
  const auto write = [&](int i, const Block& block) {
    const int lane = i % four;
    Eigen::Matrix<double, 6, 3> wrenches;
    Matrix3 own;
    for (int k = 0; k < 3; ++k) {
      const auto column = static_cast<std::size_t>(k);
      for (int r = 0; r < 3; ++r) {
        const auto row = static_cast<std::size_t>(r);
        wrenches(r, k) = block.force[column][row][lane];
        wrenches(r + 3, k) = block.torque[column][row][lane];
        if (r <= k) own(r, k) = own(k, r) = block.own[column][row][lane];
      }
    }
    const int at = root_dof() + 3 * i;
    // Up to three rows more than asked for: the diagonal block, which is written next.
    fill_columns(twists_.data(), twists_.rows(), wrenches, at, out.col(at).data(), out.outerStride());
    out.block<3, 3>(at, at) = own;
  };
  Beyond mass_beyond;
  std::array<Beyond, 3> first_beyond;
  std::array<Beyond, 6> second_beyond;
  const HelixGroups& all = gathered();
  HelixMoments<Doubles> m;
  for (int g = groups() - 1; g >= 0; --g) {
    const HelixGroup& e = all.groups[static_cast<std::size_t>(g)];
    all.integrals[static_cast<std::size_t>(g)].moments(m);
    all.discs[static_cast<std::size_t>(g)].add_to(m);
    const Doubles density = by_mass ? scale * e.density : spread(scale);
    const Doubles mass = density * e.length;
    const Lanes3 p = times(e.frame, m.p);
    const Lanes3 arm = p + 0.5 * e.length * e.offset;
    const Doubles m_beyond = mass_beyond(mass);
    const Lanes3 first = each(first_beyond, density * (e.length * e.offset + p));
    // int d d^T of what lies beyond, and with it the rotational inertia.
    Columns<Doubles> turning;
    std::size_t at = 0;
    const Columns<Doubles> half = {times(e.frame, m.p_p[0]), times(e.frame, m.p_p[1]), times(e.frame, m.p_p[2])};
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t k = r; k < 3; ++k, ++at) {
        const Doubles turned = half[0][r] * e.frame[0][k] + half[1][r] * e.frame[1][k] + half[2][r] * e.frame[2][k];
        const Doubles second = density * ((e.offset[r] * arm[k] + e.offset[k] * arm[r]) + turned);
        turning[r][k] = turning[k][r] = -second_beyond[at](second);
      }
    }
    const Doubles trace = (turning[0][0] + turning[1][1]) + turning[2][2];
    for (std::size_t k = 0; k < 3; ++k) turning[k][k] -= trace;
    Block block;
    for (std::size_t k = 0; k < 3; ++k) {
      block.force[k] = m_beyond * e.linear[k] - cross(first, e.angular[k]);
      block.torque[k] = cross(first, e.linear[k]) + times(turning, e.angular[k]);
      for (std::size_t r = 0; r <= k; ++r) {
        block.own[k][r] =
            density * m.P_P[k][r] + (dot(e.linear[r], block.force[k]) + dot(e.angular[r], block.torque[k]));
      }
    }
    for (std::size_t k = 0; k < 3; ++k) {
      const Lanes3 force = density * times(e.frame, m.P[k]);
      const Lanes3 own = density * times(e.frame, m.p_cross_P[k]);
      block.force[k] += force;
      block.torque[k] += cross(e.offset, force) + own;
    }
    for (int i = std::min(four * (g + 1), count()) - 1; i >= four * g; --i) write(i, block);
  }
  if (root_dof() > 0) {
    Inertia rod;
    const auto sum = [](const Beyond& of) { return of.carry[0]; };
    rod.mass = sum(mass_beyond);
    rod.first = sum_of(first_beyond);
    const auto& s = second_beyond;
    rod.second << sum(s[0]), sum(s[1]), sum(s[2]), sum(s[1]), sum(s[3]), sum(s[4]), sum(s[2]), sum(s[4]), sum(s[5]);
    out.topLeftCorner<6, 6>() = rigid_form(rod);
  }
}

/// inertial_and_external_force().
template <typename Shape>
void ChainRod<Shape>::force_in_lanes(const RodLoads& loads, Eigen::Ref<VectorX> out) const {
  struct Forces {
    Lanes3 resultant, torque, generalised;
  };
  LocalMemory<16 * sizeof(Forces)> memory;
  const std::span forces_of = memory.template array<Forces>(static_cast<std::size_t>(groups()));
  const bool free = root_condition() == RootCondition::free;
  const Twist prescribed = prescribed_twist(loads);
  std::array<Before, 3> spins = starting_at(state_.root_velocity.angular);
  std::array<Before, 3> accelerations = starting_at(free ? Vector3::Zero() : loads.root_acceleration.linear);
  std::array<Before, 3> spin_rates = starting_at(free ? Vector3::Zero() : loads.root_acceleration.angular);
  const Lanes3 gravity = spread(loads.gravity);
  const Lanes3 wind = spread(prescribed.linear - loads.wind), turning_air = spread(prescribed.angular);
  const Doubles drag = spread(loads.drag);
  const HelixGroups& all = gathered();
  HelixForce<Doubles> f;
  std::array<Doubles, 8> c;
  for (int g = 0; g < groups(); ++g) {
    const HelixGroup& e = all.groups[static_cast<std::size_t>(g)];
    math::stumpff_series<8, Doubles>(e.length * e.length * dot(e.w, e.w), c);
    const Lanes3 bend = times(e.frame, helix_second(e.length, e.w, e.rate, c));
    const Lanes3 twist = times(e.frame, helix_angular_rate(e.length, e.w, e.rate, c));
    const Lanes3 curl = times(e.angular, e.rate);
    const Lanes3 across = times(e.linear, e.rate) - cross(e.next, curl);  // of its end, beside the rigid motion
    const Lanes3 step = e.next - e.offset;
    const Lanes3 spin = each(spins, curl);
    const Lanes3 spin_rate = each(spin_rates, cross(spin, curl) + twist);
    const Lanes3 rigid = cross(spin_rate, step) + cross(spin, cross(spin, step));
    const Lanes3 relative = spread(2.0) * cross(spin, across) + bend;
    const Lanes3 acceleration = each(accelerations, rigid + relative);

    const Lanes3 own_spin = transposed_times(e.frame, spin);
    const Lanes3 own_rate = transposed_times(e.frame, spin_rate);
    const Lanes3 air = transposed_times(e.frame, turning_air);
    LineForce<Doubles> line;
    line.density = e.density;
    line.spin = own_spin;
    line.spin_rate = own_rate;
    line.air = drag * air;
    line.constant =
        transposed_times(e.frame, e.density * (gravity - acceleration) - drag * (wind + cross(turning_air, e.offset)));
    // -density ([spin_rate]x + [spin]x^2) - [air]x
    line.position = cross_columns(Lanes3{} - (line.air + e.density * own_rate));
    const Doubles square = e.density * dot(own_spin, own_spin);
    for (std::size_t k = 0; k < 3; ++k) {
      const Lanes3 column = e.density * own_spin[k] * own_spin;
      line.position[k] = line.position[k] - column;
      line.position[k][k] += square;
    }
    line.rate = cross_columns(-2.0 * e.density * own_spin);
    all.integrals[static_cast<std::size_t>(g)].force(line, e.rate, f);
    all.discs[static_cast<std::size_t>(g)].add_to(f, line, e.w, e.rate);
    const Lanes3 resultant = times(e.frame, f.resultant);
    forces_of[static_cast<std::size_t>(g)] = {resultant, cross(e.offset, resultant) + times(e.frame, f.torque),
                                              f.generalised};
  }
  std::array<Beyond, 3> forces, torques;
  for (int g = groups() - 1; g >= 0; --g) {
    const Forces& own = forces_of[static_cast<std::size_t>(g)];
    const HelixGroup& e = all.groups[static_cast<std::size_t>(g)];
    const Lanes3 force = each(forces, own.resultant), torque = each(torques, own.torque);
    const Lanes3 of_group = own.generalised + (transposed_times(e.linear, force) + transposed_times(e.angular, torque));
    scatter(g, of_group, out.data() + root_dof());
  }
  if (root_dof() > 0) {
    out.template head<3>() = sum_of(forces);
    out.template segment<3>(3) = sum_of(torques);
  }
}

/// gravity_force().
template <typename Shape>
void ChainRod<Shape>::gravity_in_lanes(const Vector3& gravity, Eigen::Ref<VectorX> out) const {
  const Lanes3 pull = spread(gravity);
  Beyond mass_beyond;
  std::array<Beyond, 3> first_beyond;
  HelixGroup e;
  HelixIntegrals<Doubles> integrals;
  Lanes3 p;
  Columns<Doubles> P;
  for (int g = groups() - 1; g >= 0; --g) {
    gather(g, e);
    integrals.set_first(e.length, e.w);
    integrals.first_moments(p, P);
    const Doubles mass = mass_beyond(e.density * e.length);
    const Lanes3 first = each(first_beyond, e.density * (e.length * e.offset + times(e.frame, p)));
    const Lanes3 own = e.density * transposed_times(P, transposed_times(e.frame, pull));
    const Lanes3 beyond = transposed_times(e.linear, mass * pull) + transposed_times(e.angular, cross(first, pull));
    scatter(g, own + beyond, out.data() + root_dof());
  }
  if (root_dof() > 0) {
    out.head<3>() = mass_beyond.carry[0] * gravity;
    out.segment<3>(3) = sum_of(first_beyond).cross(gravity);
  }
}

/// What movement() adds up over the elements.
template <typename Shape>
void ChainRod<Shape>::move_in_lanes() const {
  struct Sums {
    Lanes3 velocity{}, angular{}, position{}, linear{}, rotational{}, first{};
    Doubles square{}, kinetic{};
  } sums;
  std::array<Before, 3> linears = starting_at(state_.root_velocity.linear);
  std::array<Before, 3> spins = starting_at(state_.root_velocity.angular);
  const HelixGroups& all = gathered();
  HelixMoments<Doubles> m;
  for (int g = 0; g < groups(); ++g) {
    const HelixGroup& e = all.groups[static_cast<std::size_t>(g)];
    all.integrals[static_cast<std::size_t>(g)].moments(m);
    all.discs[static_cast<std::size_t>(g)].add_to(m);
    const Lanes3 curl = times(e.angular, e.rate);
    const Lanes3 across = times(e.linear, e.rate) - cross(e.next, curl);
    const Lanes3 spin = each(spins, curl);
    const Lanes3 linear = each(linears, cross(spin, e.next - e.offset) + across);
    // HelixShape::momentum(), in the frame of the element's start.
    const Lanes3 v = transposed_times(e.frame, linear), o = transposed_times(e.frame, spin);
    const Doubles trace = (m.p_p[0][0] + m.p_p[1][1]) + m.p_p[2][2];
    const Lanes3 own = e.length * v + (cross(o, m.p) + times(m.P, e.rate));
    const Lanes3 own_angular = cross(m.p, v) + (trace * o - times(m.p_p, o) + times(m.p_cross_P, e.rate));
    const Lanes3 generalised = transposed_times(m.P, v) + (transposed_times(m.p_cross_P, o) + times(m.P_P, e.rate));
    const Doubles square = (dot(v, own) + dot(o, own_angular)) + dot(e.rate, generalised);

    const Lanes3 place = spread(state_.root.position) + e.offset;
    const Lanes3 velocity = times(e.frame, own);
    const Lanes3 angular = cross(place, velocity) + times(e.frame, own_angular);
    const Lanes3 position = e.length * place + times(e.frame, m.p);
    sums.velocity += velocity;
    sums.angular += angular;
    sums.position += position;
    sums.linear += e.density * velocity;
    sums.rotational += e.density * angular;
    sums.first += e.density * position;
    sums.square += square;
    sums.kinetic += 0.5 * e.density * square;
  }
  movement_.motion = {sum(sums.velocity), sum(sums.angular), sum(sums.position), lanes::sum(sums.square)};
  movement_.kinetic = lanes::sum(sums.kinetic);
  movement_.linear = sum(sums.linear);
  movement_.rotational = sum(sums.rotational);
  movement_.first_moment = sum(sums.first);
}

/// point_rows(), of helices that turn however much. Element by element: the rigid twists of its coordinates times the
/// wrenches of unit forces at those points that lie beyond; then each point's own element.
template <typename Shape>
void ChainRod<Shape>::rows_in_lanes(std::span<const RodPoint> points, std::span<FourRows> rows,
                                    std::span<Vector3> prescribed) const {
  const std::size_t count = points.size();
  // Where there are fewer points than lanes, the first again.
  const auto point = [&](int lane) -> const RodPoint& {
    return points[static_cast<std::size_t>(lane) < count ? static_cast<std::size_t>(lane) : 0];
  };
  Doubles u{};
  Lanes3 w, offset, aside;
  Columns<Doubles> frame, directions;
  bool on_axis = true;
  std::array<const Joint*, four> joints;
  for (int lane = 0; lane < four; ++lane) {
    const RodPoint& at = point(lane);
    check_piece(at.piece);
    joints[static_cast<std::size_t>(lane)] = &joints_[static_cast<std::size_t>(at.piece)];
    u[lane] = at.u;
    on_axis = on_axis && at.arm.isZero(0.0);
    for (int r = 0; r < 3; ++r) {
      const auto row = static_cast<std::size_t>(r);
      w[row][lane] = state_.coordinates[3 * at.piece + r];
      aside[row][lane] = at.arm[r];
      for (std::size_t c = 0; c < 3; ++c) directions[c][row][lane] = at.directions(r, static_cast<int>(c));
    }
  }
  gather_joints(joints, offset, frame);
  std::array<Doubles, 6> stumpff;
  const Doubles x = u * u * dot(w, w);
  math::stumpff_series<6, Doubles>(x, stumpff);
  for (int lane = 0; lane < four; ++lane) {
    if (x[lane] <= math::stumpff_switch) continue;
    const auto own = helix_stumpff<6>(u[lane], coordinates(point(lane).piece));
    for (std::size_t k = 0; k < own.size(); ++k) stumpff[k][lane] = own[k];
  }
  const HelixPoint<Doubles> h = helix_point(u, w, stumpff);
  Lanes3 d = offset + times(frame, h.p);
  if (!on_axis) d += aside;
  std::array<Lanes3, 6> wrench;  // of each force and torque component, by direction
  std::array<Lanes3, 3> own;     // of each coordinate of the point's element, by direction
  for (std::size_t c = 0; c < 3; ++c) {
    const Lanes3 torque = cross(d, directions[c]);
    const Lanes3 local = transposed_times(frame, directions[c]);
    for (std::size_t r = 0; r < 3; ++r) {
      wrench[r][c] = directions[c][r];
      wrench[r + 3][c] = torque[r];
      own[r][c] = local[0] * h.P[0][r] + local[1] * h.P[1][r] + local[2] * h.P[2][r];
    }
    if (on_axis) continue;
    // dtheta = T dw of the section, T = u (I + u c_2 [w]x + u^2 c_3 [w]x^2)
    const Lanes3 moment = u * transposed_times(frame, cross(aside, directions[c]));
    const Lanes3 turned = cross(w, moment);
    const Lanes3 by_turn = moment + (u * u * stumpff[3] * cross(w, turned) - u * stumpff[2] * turned);
    for (std::size_t r = 0; r < 3; ++r) own[r][c] += by_turn[r];
  }
  const Twist& root = state_.root_velocity;
  const bool moving = root_dof() == 0 && !(root.linear.isZero(0.0) && root.angular.isZero(0.0));
  for (std::size_t k = 0; k < count; ++k) {
    const int lane = static_cast<int>(k);
    prescribed[k].setZero();
    if (!moving) continue;
    const Vector3 arm(d[0][lane], d[1][lane], d[2][lane]);
    prescribed[k] = points[k].directions.transpose() * (root.linear + root.angular.cross(arm));
  }

  lanes::Mask beyond;  // the element under way, or before it
  std::size_t i = 0;
  const auto fill_to = [&](std::size_t end) {
    for (; i < end; ++i) {
      const double* twist = twists_.data() + i;
      const Eigen::Index next = twists_.rows();
      for (std::size_t c = 0; c < 3; ++c) {
        const Doubles row =
            (wrench[0][c] * twist[0] + wrench[1][c] * twist[next] + wrench[2][c] * twist[2 * next]) +
            (wrench[3][c] * twist[3 * next] + wrench[4][c] * twist[4 * next] + wrench[5][c] * twist[5 * next]);
        lanes::store(row, rows[i].data() + place_in_rows(0, static_cast<Eigen::Index>(c)));
      }
    }
  };
  int piece = point(0).piece;
  for (int lane = 1; lane < four; ++lane) piece = std::min(piece, point(lane).piece);
  for (; i < rows.size(); ++piece) {
    fill_to(static_cast<std::size_t>(root_dof() + 3 * piece));  // of all of which every point is beyond
    for (int lane = 0; lane < four; ++lane) beyond[lane] = point(lane).piece > piece ? -1 : 0;
    for (Lanes3& rows_of : wrench) {
      for (Doubles& of_direction : rows_of.components) of_direction = lanes::select(beyond, of_direction, Doubles{});
    }
    fill_to(static_cast<std::size_t>(touched(piece)));
  }
  for (std::size_t k = 0; k < count; ++k) {
    const auto begin = static_cast<std::size_t>(root_dof() + 3 * points[k].piece);
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) {
        const Eigen::Index at = place_in_rows(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(c));
        rows[begin + r][at] = own[r][c][static_cast<int>(k)];
      }
    }
  }
}

template class ChainRod<HelixShape>;

}  // namespace tresse::rods::detail
