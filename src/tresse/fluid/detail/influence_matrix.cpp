#include <tresse/fluid/detail/influence_matrix.hpp>

#include <algorithm>
#include <cmath>

#include <tresse/base/blocks.hpp>
#include <tresse/base/lanes.hpp>
#include <tresse/fluid/stokeslet_segments.hpp>
#include <tresse/math/gauss_legendre.hpp>

namespace tresse::fluid::detail {
namespace {

using lanes::Doubles;

/// A symmetric matrix for each of four points: xx, xy, xz, yy, yz, zz.
using Six = std::array<Doubles, 6>;

struct Points {
  std::array<Doubles, 3> x;
  Doubles epsilon_squared;  ///< of what moves there [m^2]
};

struct Integrals {
  Doubles t01, t11, t03, t13, t23, t33;
};

/// How many of Gauss's points a segment needs to 1e-11 whose middle is so far away, squared and over the squared
/// length. 0: it is near.
int points_for(double distance_squared) {
  const struct {
    double from;  // lengths, squared
    int points;
  } rules[] = {{256.0, 3}, {36.0, 4}, {6.25, 6}, {1.44, 12}};
  for (const auto& rule : rules) {
    if (distance_squared >= rule.from) return rule.points;
  }
  return 0;
}

Integrals integrals(const Segment& segment, const Points& at, const std::array<Doubles, 3>& x0, const Vector3& v,
                    Doubles epsilon_squared) {
  const Doubles square = x0[0] * x0[0] + x0[1] * x0[1] + x0[2] * x0[2] + epsilon_squared;
  const Doubles along = x0[0] * v[0] + x0[1] * v[1] + x0[2] * v[2];
  const double length_squared = v.squaredNorm();
  const Doubles from_middle = square + along + lanes::spread(0.25 * length_squared);
  const int points = points_for(lanes::least(from_middle) / length_squared);
  Integrals out{};
  if (points == 0) {
    for (int k = 0; k < lanes::count; ++k) {
      const SegmentIntegrals own =
          segment_integrals(segment, {at.x[0][k], at.x[1][k], at.x[2][k]}, std::sqrt(epsilon_squared[k]));
      out.t01[k] = own.t01;
      out.t11[k] = own.t11;
      out.t03[k] = own.t03;
      out.t13[k] = own.t13;
      out.t23[k] = own.t23;
      out.t33[k] = own.t33;
    }
    return out;
  }
  const math::GaussRule& rule = math::gauss_legendre(points);
  for (int k = 0; k < points; ++k) {
    const double a = rule.nodes[static_cast<std::size_t>(k)];
    const Doubles inverse =
        lanes::spread(1.0) / lanes::sqrt(square + (2.0 * a) * along + lanes::spread(a * a * length_squared));
    const Doubles first = rule.weights[static_cast<std::size_t>(k)] * inverse;
    const Doubles third = first * inverse * inverse;
    const Doubles third_a = a * third, third_aa = a * third_a;
    out.t01 += first;
    out.t11 += a * first;
    out.t03 += third;
    out.t13 += third_a;
    out.t23 += third_aa;
    out.t33 += a * third_aa;
  }
  return out;
}

/// Velocities at four points, over (8 pi viscosity), of unit densities at the ends of a segment.
void influence(const Segment& segment, double epsilon_squared, const Points& at, Six& from_begin, Six& from_end) {
  const Vector3 v = segment.begin - segment.end;
  const std::array<Doubles, 3> x0{at.x[0] - segment.begin[0], at.x[1] - segment.begin[1], at.x[2] - segment.begin[2]};
  const Doubles squared = 0.5 * (at.epsilon_squared + lanes::spread(epsilon_squared));
  const Integrals t = integrals(segment, at, x0, v, squared);
  const double length = v.norm();
  const Doubles end_trace = t.t11 + squared * t.t13;
  const Doubles begin_trace = t.t01 + squared * t.t03 - end_trace;
  const Doubles begin_own = t.t03 - t.t13, begin_mixed = t.t13 - t.t23, begin_along = t.t23 - t.t33;
  int k = 0;
  for (int r = 0; r < 3; ++r) {
    for (int c = r; c < 3; ++c, ++k) {
      const Doubles own = x0[r] * x0[c];
      const Doubles mixed = x0[r] * v[c] + x0[c] * v[r];
      const double along = v[r] * v[c];
      from_end[k] = length * (t.t13 * own + t.t23 * mixed + t.t33 * along);
      from_begin[k] = length * (begin_own * own + begin_mixed * mixed + begin_along * along);
      if (r != c) continue;
      from_end[k] += length * end_trace;
      from_begin[k] += length * begin_trace;
    }
  }
}

/// Calls visit(node, velocities at four points of a unit density at that node), without the factor 1 / (8 pi
/// viscosity).
template <typename Visit>
void for_each_node(const Chains& chains, const Points& at, const Visit& visit) {
  for (int chain = 0; chain < chains.count(); ++chain) {
    const auto c = static_cast<std::size_t>(chain);
    const double squared = chains.epsilon[c] * chains.epsilon[c];
    Six before{};
    for (int node = chains.begin[c]; node < chains.begin[c + 1]; ++node) {
      if (node + 1 == chains.begin[c + 1]) {
        visit(node, before);
        break;
      }
      const auto n = static_cast<std::size_t>(node);
      Six from_begin, from_end;
      influence({chains.nodes[n], chains.nodes[n + 1]}, squared, at, from_begin, from_end);
      for (std::size_t k = 0; k < before.size(); ++k) from_begin[k] += before[k];
      visit(node, from_begin);
      before = from_end;
    }
  }
}

int chain_of(const Chains& chains, int node) {
  return static_cast<int>(std::upper_bound(chains.begin.begin(), chains.begin.end(), node) - chains.begin.begin()) - 1;
}

}  // namespace

void InfluenceMatrix::assemble(const Chains& chains, bool in_the_mean) {
  nodes_ = static_cast<Eigen::Index>(chains.nodes.size());
  numbers_.resize(static_cast<std::size_t>((nodes_ + four - 1) / four * four * nodes_ * six));
  if (in_the_mean) {
    assemble_in_the_mean(chains);
  } else {
    assemble_at_nodes(chains);
  }
}

void InfluenceMatrix::assemble_at_nodes(const Chains& chains) {
  for_blocks(nodes_, four, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    Points points{};
    for (Eigen::Index k = 0; k < four; ++k) {
      const Eigen::Index node = std::min(begin + k, end - 1);
      for (int d = 0; d < 3; ++d) points.x[d][k] = chains.nodes[static_cast<std::size_t>(node)][d];
      const double epsilon = chains.epsilon[static_cast<std::size_t>(chain_of(chains, static_cast<int>(node)))];
      points.epsilon_squared[k] = epsilon * epsilon;
    }
    for_each_node(chains, points, [&](int node, const Six& of) {
      double* to = &numbers_[at(begin, node)];
      for (const Doubles& part : of) {
        lanes::store(part, to);
        to += four;
      }
    });
  });
}

/// The points of Gauss's rule on a segment are in lanes; the hat functions of its two nodes weigh their velocities.
void InfluenceMatrix::assemble_in_the_mean(const Chains& chains) {
  std::fill(numbers_.begin(), numbers_.end(), 0.0);
  constexpr int points = 8;
  const math::GaussRule& rule = math::gauss_legendre(points);
  constexpr Eigen::Index one = 1;
  for_blocks(nodes_, one, [&](Eigen::Index, Eigen::Index begin, Eigen::Index) {
    const int target = static_cast<int>(begin);
    const auto chain = static_cast<std::size_t>(chain_of(chains, target));
    for (const int first : {target - 1, target}) {
      if (first < chains.begin[chain] || first + 1 >= chains.begin[chain + 1]) continue;
      const Vector3& from = chains.nodes[static_cast<std::size_t>(first)];
      const Vector3 along = chains.nodes[static_cast<std::size_t>(first) + 1] - from;
      for (int k = 0; k < points; k += lanes::count) {
        Points places{};
        Doubles weight{};
        places.epsilon_squared = lanes::spread(chains.epsilon[chain] * chains.epsilon[chain]);
        for (int lane = 0; lane < lanes::count; ++lane) {
          const double a = rule.nodes[static_cast<std::size_t>(k + lane)];
          for (int d = 0; d < 3; ++d) places.x[d][lane] = from[d] + a * along[d];
          weight[lane] =
              rule.weights[static_cast<std::size_t>(k + lane)] * along.norm() * (first == target ? 1.0 - a : a);
        }
        for_each_node(chains, places, [&](int node, const Six& of) {
          double* to = &numbers_[at(begin, node)];
          for (const Doubles& part : of) {
            *to += lanes::sum(weight * part);
            to += four;
          }
        });
      }
    }
  });
  // What is off is the rule's.
  for (Eigen::Index i = 0; i < nodes_; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      for (Eigen::Index part = 0; part < six; ++part) {
        double& one_way = numbers_[at(i, j) + static_cast<std::size_t>(four * part)];
        double& other = numbers_[at(j, i) + static_cast<std::size_t>(four * part)];
        one_way = other = 0.5 * (one_way + other);
      }
    }
  }
}

void InfluenceMatrix::times(const VectorX& x, VectorX& out) const {
  out.resize(x.size());
  constexpr Eigen::Index block = 8 * four;
  for_blocks(nodes_, block, [&](Eigen::Index, Eigen::Index begin, Eigen::Index end) {
    for (Eigen::Index target = begin; target < end; target += four) {
      Doubles u{}, v{}, w{};
      const double* from = &numbers_[at(target, 0)];
      for (const double* f = x.data(); f != x.data() + x.size(); f += 3, from += six * four) {
        const Doubles xy = lanes::load(from + four), xz = lanes::load(from + 2 * four),
                      yz = lanes::load(from + 4 * four);
        u += lanes::load(from) * f[0] + xy * f[1] + xz * f[2];
        v += xy * f[0] + lanes::load(from + 3 * four) * f[1] + yz * f[2];
        w += xz * f[0] + yz * f[1] + lanes::load(from + 5 * four) * f[2];
      }
      for (Eigen::Index k = 0; k < std::min(four, end - target); ++k)
        out.segment<3>(3 * (target + k)) = Vector3(u[k], v[k], w[k]);
    }
  });
}

Eigen::MatrixXf InfluenceMatrix::written_out(Eigen::Index begin, Eigen::Index end) const {
  const Eigen::Index n = end - begin;
  constexpr std::size_t place[3][3] = {{0, 4, 8}, {4, 12, 16}, {8, 16, 20}};
  Eigen::MatrixXf out(3 * n, 3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      const double* from = &numbers_[at(begin + i, begin + j)];
      for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) out(3 * i + r, 3 * j + c) = static_cast<float>(from[place[r][c]]);
      }
    }
  }
  return out;
}

}  // namespace tresse::fluid::detail
