#include <tresse/rods/detail/clothoid_shape.hpp>

#include <utility>

#include <tresse/math/gauss_legendre.hpp>

namespace tresse::rods::detail {
namespace {

using Lanes3 = Triple<NodeLanes>;
using Lanes33 = std::array<Lanes3, 3>;  // rows
using Lanes36 = std::array<std::array<NodeLanes, 6>, 3>;

const NodeLanes& node_weights() {
  static const NodeLanes out = Eigen::Map<const NodeLanes>(math::gauss_legendre(clothoid_nodes).weights.data());
  return out;
}

/// The discs that are on a piece, as parts of it, when the pieces before had `taken`.
std::span<const double> parts_of(const ClothoidPiece& piece, std::size_t taken, std::array<double, 2>& parts) {
  std::size_t count = 0;
  for (; taken + count < ClothoidShape::disc_places.size(); ++count) {
    const double part = (ClothoidShape::disc_places[taken + count] * piece.element_length - piece.begin) / piece.length;
    if (part > 1.0) break;
    parts[count] = part;
  }
  return {parts.data(), count};
}

/// The Gauss points of a piece; returns R there.
Lanes33 fill(const ClothoidPiece& piece, const ClothoidSeries& series, PointBatch<6>& out) {
  out.weight = piece.length * node_weights();
  series.position_at_nodes(out.p);
  Lanes33 R;
  series.frame_at_nodes(R);
  Lanes36 b;
  series.b_at_nodes(b);
  for (std::size_t k = 0; k < 6; ++k) {
    for (std::size_t r = 0; r < 3; ++r) out.P[r][k] = R[r][0] * b[0][k] + R[r][1] * b[1][k] + R[r][2] * b[2][k];
  }
  return R;
}

ElementPoint<6> point_of(const ClothoidState& s) { return {s.position, s.frame, s.frame * s.b, s.frame * s.a}; }

}  // namespace

void ClothoidShape::set(double length, const ElementDiscs& discs, const Local& c) {
  length_ = length;
  of_section_ = discs;
  c_ = c;
  end_ = at(length);
  integrated_ = biases_.known = false;
  biases_.expected = std::exchange(biases_.used, false);
}

ElementPoint<6> ClothoidShape::at(double u) const {
  ClothoidState state;
  for_each_clothoid_piece(length_, c_, u,
                          [&](const ClothoidPiece& piece) { state = ClothoidSeries(piece, state, false).end(); });
  return point_of(state);
}

FirstMoments<6> ClothoidShape::point(double u) const {
  const ElementPoint<6> out = at(u);
  return {out.position, out.linear};
}

/// Calls visit(piece, series, parts of the discs on it) for the pieces of the series.
template <typename Visit>
void ClothoidShape::for_each_series(double u, Visit&& visit) const {
  constexpr double rounding = 1e-12;
  std::array<double, 2> parts;
  std::size_t taken = 0;
  ClothoidState state;
  for_each_clothoid_piece(length_, c_, u, [&](const ClothoidPiece& piece) {
    const ClothoidSeries series(piece, state, true);
    const std::span<const double> discs = parts_of(piece, taken, parts);
    taken += discs.size();
    visit(piece, series, discs);
    if (piece.begin + piece.length < u * (1.0 - rounding)) state = series.end();
  });
}

/// Collects what biases_ holds, series by series.
class ClothoidShape::BiasWalk {
 public:
  explicit BiasWalk(const ClothoidShape& shape) : shape_(shape), into_(shape.biases_) {
    if (!into_.expected) return;
    into_.second.clear();
    into_.discs.assign(1, Vector3::Zero());
  }
  void pass(const ClothoidSeries& series, const Lanes33& R, std::span<const double> discs) {
    Lanes3 moving;
    series.bias_at_nodes(shape_.rate_, bias_, moving, discs, &into_.discs);
    into_.second.push_back(transposed_times(R, moving));
  }
  void end() {
    into_.end = {shape_.end_.frame * bias_.linear, shape_.end_.frame * bias_.angular};
    into_.known = true;
  }

 private:
  const ClothoidShape& shape_;
  Biases& into_;
  ClothoidBias bias_;
};

void ClothoidShape::sample(const Local& rate) {
  biases_.known = biases_.known && rate == rate_;
  rate_ = rate;
  if (integrated_) return;
  samples_.clear();
  discs_.clear();
  discs_.push_back({Matrix3::Identity(), Gradient<6>::Zero(), about_axes(of_section_.start)});
  const Vector3 inertia = about_axes(of_section_.spread) / static_cast<double>(disc_places.size());
  BiasWalk biases(*this);
  for_each_series(length_,
                  [&](const ClothoidPiece& piece, const ClothoidSeries& series, std::span<const double> discs) {
                    const Lanes33 R = fill(piece, series, samples_.emplace_back());
                    for (const double part : discs) {
                      const ClothoidState at = series.at(part);
                      discs_.push_back({at.frame, at.a, inertia});
                    }
                    if (biases_.expected) biases.pass(series, R, discs);
                  });
  if (biases_.expected) biases.end();
  integrate_moments();
  integrated_ = true;
}

const ClothoidShape::Biases& ClothoidShape::biases() const {
  biases_.used = true;
  if (biases_.known) return biases_;
  biases_.expected = true;
  BiasWalk walk(*this);
  for_each_series(length_, [&](const ClothoidPiece&, const ClothoidSeries& series, std::span<const double> discs) {
    Lanes33 R;
    series.frame_at_nodes(R);
    walk.pass(series, R, discs);
  });
  walk.end();
  return biases_;
}

void ClothoidShape::points(int parts, std::vector<PointBatch<6>>& out, std::vector<SectionDisc<6>>& discs) const {
  if (parts == 1 && integrated_ && samples_.size() == 1) {  // the same points
    out = samples_;
    discs.assign(discs_.begin() + 1, discs_.end());
    return;
  }
  out.clear();
  discs.clear();
  const Vector3 inertia = about_axes(of_section_.spread) / static_cast<double>(disc_places.size());
  std::array<double, 2> places;
  ClothoidState state;
  const Vector3 slope = (c_.tail<3>() - c_.head<3>()) / length_;
  for (int k = 0; k < parts; ++k) {
    const double begin = length_ * k / parts, end = k + 1 == parts ? length_ : length_ * (k + 1) / parts;
    const ClothoidPiece piece{begin, end - begin, length_, c_.head<3>() + begin * slope, slope};
    const ClothoidSeries series(piece, state, true);
    fill(piece, series, out.emplace_back());
    for (const double part : parts_of(piece, discs.size(), places)) {
      const ClothoidState at = series.at(part);
      discs.push_back({at.frame, at.a, inertia});
    }
    if (k + 1 < parts) state = series.end();
  }
}

EndBias ClothoidShape::bias(double u) const {
  ClothoidState state;
  ClothoidBias bias;
  Lanes3 unused;
  for_each_clothoid_piece(length_, c_, u, [&](const ClothoidPiece& piece) {
    const ClothoidSeries series(piece, state, true);
    series.bias_at_nodes(rate_, bias, unused);
    state = series.end();
  });
  return {state.frame * bias.linear, state.frame * bias.angular};
}

void ClothoidShape::integrate_moments() {
  NodeLanes length = NodeLanes::Zero();
  Lanes3 p = zero_lanes<NodeLanes>();
  Lanes33 p_p = {zero_lanes<NodeLanes>(), zero_lanes<NodeLanes>(), zero_lanes<NodeLanes>()};
  ElementMoments<6>& out = moments_;
  out.P_P.setZero();
  out.P.setZero();
  out.p_cross_P.setZero();
  for (const PointBatch<6>& s : samples_) {
    length += s.weight;
    Lanes3 wp;
    for (std::size_t r = 0; r < 3; ++r) {
      wp[r] = s.weight * s.p[r];
      p[r] += wp[r];
      for (std::size_t q = 0; q <= r; ++q) p_p[q][r] += wp[r] * s.p[q];
    }
    for (std::size_t k = 0; k < 6; ++k) {
      const Lanes3 column = {s.P[0][k], s.P[1][k], s.P[2][k]};
      const Lanes3 weighted = {s.weight * column[0], s.weight * column[1], s.weight * column[2]};
      const int at = static_cast<int>(k);
      out.P.col(at) += sum(weighted);
      out.p_cross_P.col(at) += sum(cross(wp, column));
      for (std::size_t j = 0; j <= k; ++j) {
        out.P_P(static_cast<int>(j), at) +=
            (weighted[0] * s.P[0][j] + weighted[1] * s.P[1][j] + weighted[2] * s.P[2][j]).sum();
      }
    }
  }
  out.length = length.sum();
  out.p = sum(p);
  for (int k = 0; k < 3; ++k) {
    for (int r = 0; r <= k; ++r) {
      out.p_p(r, k) = out.p_p(k, r) = p_p[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)].sum();
    }
  }
  out.P_P.triangularView<Eigen::StrictlyLower>() = out.P_P.transpose();
  for (const SectionDisc<6>& disc : discs_) add_disc(disc);
}

void ClothoidShape::add_disc(const SectionDisc<6>& disc) {
  const Vector3 about_start(0.0, disc.inertia[2], disc.inertia[1]);  // int y^2 and int z^2
  const Gradient<6> angular = disc.inertia.asDiagonal() * disc.turning;
  moments_.p_p += disc.frame * about_start.asDiagonal() * disc.frame.transpose();
  moments_.p_cross_P += disc.frame * angular;
  moments_.P_P += disc.turning.transpose() * angular;
}

ElementForce<6> ClothoidShape::force(const LineForce<double>& line) const {
  Lanes3 resultant = zero_lanes<NodeLanes>();
  Lanes3 torque = zero_lanes<NodeLanes>();
  Local generalised = Local::Zero();
  const Biases& biases = this->biases();
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    const PointBatch<6>& s = samples_[i];
    const Lanes3 from_position = times(line.position, s.p);
    const Lanes3 from_rate = times(line.rate, gradient_times(s.P, rate_));
    Lanes3 f;
    for (std::size_t r = 0; r < 3; ++r) {
      f[r] = (from_position[r] + from_rate[r] - biases.second[i][r] * line.density + line.constant[r]) * s.weight;
      resultant[r] += f[r];
    }
    torque += cross(s.p, f);
    for (std::size_t k = 0; k < 6; ++k) {
      generalised[static_cast<int>(k)] += (s.P[0][k] * f[0] + s.P[1][k] * f[1] + s.P[2][k] * f[2]).sum();
    }
  }
  ElementForce<6> out{sum(resultant), sum(torque), generalised};
  for (std::size_t k = 0; k < discs_.size(); ++k) {
    const SectionDisc<6>& disc = discs_[k];
    const auto in_axes = [&disc](const Triple<double>& v) -> Vector3 { return disc.frame.transpose() * vector(v); };
    const Vector3 own = disc.turning * rate_, carried = in_axes(line.spin);
    const Vector3 spin = carried + own;
    const Vector3 spin_rate = in_axes(line.spin_rate) + carried.cross(own) + biases.discs[k];
    const Vector3 turned = disc.inertia.cwiseProduct(spin_rate) + spin.cross(disc.inertia.cwiseProduct(spin));
    const Vector3 couple = -line.density * turned - disc.inertia.cwiseProduct(in_axes(line.air));
    out.torque += disc.frame * couple;
    out.generalised += disc.turning.transpose() * couple;
  }
  return out;
}

/// With W(s) = (density (l - s) + beyond_mass) pull the weight beyond s and m(s) its moment about r(s) with that of
/// `beyond_moment`, the variation of the potential is int (R dkappa) . m ds. The variation of that, in the moving
/// frame:
///   H_ij = int dkappa_j . (m x a_i) + (W . a_i) a_jx - W_x (a_i . a_j) ds
///          + [(pull . a_i) (a_j . y) - (pull . y) (a_i . a_j)] at the end, y = beyond_moment.
Square<6> ClothoidShape::pull_hessian(const ElementPull& pull) const {
  const NodeLanes nodes = Eigen::Map<const NodeLanes>(math::gauss_legendre(clothoid_nodes).nodes.data());
  // The integral of the position over the whole element comes first, that from s to the end is what is left of it.
  Vector3 integral = Vector3::Zero();
  ClothoidState state;
  Lanes3 unused;
  for_each_clothoid_piece(length_, c_, length_, [&](const ClothoidPiece& piece) {
    const ClothoidSeries series(piece, state, false);
    integral += series.position_integral_at_nodes(unused);
    state = series.end();
  });
  const Vector3 end_moment =
      (pull.beyond_mass * end_.position + end_.frame * pull.beyond_moment).cross(pull.pull);  // about the start
  Square<6> out = Square<6>::Zero();
  Vector3 before = Vector3::Zero();  // int of the position up to the piece
  state = {};
  for_each_clothoid_piece(length_, c_, length_, [&](const ClothoidPiece& piece) {
    const ClothoidSeries series(piece, state, true);
    Lanes3 p;
    Lanes33 R;
    Lanes36 a;
    Lanes3 past;
    series.position_at_nodes(p);
    series.frame_at_nodes(R);
    series.a_at_nodes(a);
    const Vector3 whole = series.position_integral_at_nodes(past);
    for (int g = 0; g < clothoid_nodes; ++g) {
      const auto vector = [g](const Lanes3& v) { return Vector3(v[0][g], v[1][g], v[2][g]); };
      Matrix3 frame;
      Gradient<6> A;
      for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 3; ++k) frame(r, k) = R[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)][g];
        for (int k = 0; k < 6; ++k) A(r, k) = a[static_cast<std::size_t>(r)][static_cast<std::size_t>(k)][g];
      }
      const double s = piece.begin + nodes[g] * piece.length;
      const double mass = pull.density * (length_ - s) + pull.beyond_mass;
      const Vector3 arm = pull.density * (integral - before - vector(past)) - mass * vector(p);
      const Vector3 m = frame.transpose() * (arm.cross(pull.pull) + end_moment);
      const Vector3 W = mass * (frame.transpose() * pull.pull);
      const double weight = piece.length * node_weights()[g];
      const Gradient<6> turned = weight * (m.cross(Vector3::UnitX()) * A.row(0) + m.cross(Vector3::UnitY()) * A.row(1) +
                                           m.cross(Vector3::UnitZ()) * A.row(2));  // m x a_i
      const double part = s / length_;
      out.leftCols<3>() += (1.0 - part) * turned.transpose();
      out.rightCols<3>() += part * turned.transpose();
      out += weight * ((A.transpose() * W) * A.row(0) - W.x() * (A.transpose() * A));
    }
    before += whole;
    state = series.end();
  });
  const Vector3 y = pull.beyond_moment;
  const Vector3 g = state.frame.transpose() * pull.pull;
  out += (state.a.transpose() * g) * (state.a.transpose() * y).transpose() - g.dot(y) * (state.a.transpose() * state.a);
  return 0.5 * (out + out.transpose());
}

}  // namespace tresse::rods::detail
