#include <tresse/rods/chain_field.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include <Eigen/Geometry>

#include <tresse/base/errors.hpp>
#include <tresse/math/gauss_legendre.hpp>
#include <tresse/math/stumpff.hpp>
#include <tresse/rods/detail/chain_rod.hpp>

namespace tresse::rods {
namespace {

/// Legendre's polynomials of orders 0 to n at 2 u - 1.
VectorX legendre(double u, Eigen::Index n) {
  const double t = 2.0 * u - 1.0;
  VectorX P(n + 1);
  P[0] = 1.0;
  P[1] = t;
  for (Eigen::Index k = 1; k < n; ++k) {
    const auto order = static_cast<double>(k);
    P[k + 1] = ((2.0 * order + 1.0) * t * P[k] - order * P[k - 1]) / (order + 1.0);
  }
  return P;
}

/// The polynomials that are 1 at one of n Gauss points and 0 at the others, by their Legendre series.
class PointPolynomials {
 public:
  explicit PointPolynomials(Eigen::Index n) : weights_(n), at_points_(n, n) {
    const math::GaussRule& rule = math::gauss_legendre(static_cast<int>(n));
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto node = static_cast<std::size_t>(j);
      weights_[j] = rule.weights[node];
      at_points_.col(j) = legendre(rule.nodes[node], n).head(n);
    }
  }
  /// int_0^u of each.
  VectorX integrals_to(double u) const {
    const Eigen::Index n = weights_.size();
    const VectorX there = legendre(u, n);
    VectorX series(n);
    series[0] = u;
    series.tail(n - 1) = 0.5 * (there.tail(n - 1) - there.head(n - 1));
    return (at_points_.transpose() * series).cwiseProduct(weights_);
  }

 private:
  VectorX weights_;
  MatrixX at_points_;  ///< (orders, points)
};

constexpr Eigen::Index most_nodes = 60;

/// Those of n points. Computed once per n, then shared; thread-safe.
const PointPolynomials& point_polynomials(Eigen::Index n) {
  static std::array<std::once_flag, most_nodes + 1> flags;
  static std::array<std::unique_ptr<const PointPolynomials>, most_nodes + 1> all;
  const auto at = static_cast<std::size_t>(n);
  std::call_once(flags[at], [&] { all[at] = std::make_unique<const PointPolynomials>(n); });
  return *all[at];
}

struct DiscPlace {
  double share;
  bool at_start;
};

/// Where the discs of a model's elements are, and what they weigh: calls visit(elements, disc places).
template <typename Visit>
bool with_chain(const RodModel& model, const Visit& visit) {
  using detail::ChainModel, detail::HelixShape, detail::ClothoidShape;
  if (const auto* helix = dynamic_cast<const ChainModel<HelixShape>*>(&model)) {
    constexpr double inner = detail::HelixDiscs<double>::inner_place;
    visit(helix->elements(), std::vector<DiscPlace>{{0.0, true}, {inner, false}});
    return true;
  }
  if (const auto* clothoid = dynamic_cast<const ChainModel<ClothoidShape>*>(&model)) {
    const auto& places = ClothoidShape::disc_places;
    visit(clothoid->elements(), std::vector<DiscPlace>{{0.0, true}, {places[0], false}, {places[1], false}});
    return true;
  }
  return false;
}

}  // namespace

bool ChainField::possible(const RodModel& model) {
  return with_chain(model, [](const auto&, const auto&) {});
}

ChainField::ChainField(const Rod& rod, Eigen::Index nodes)
    : coordinates_(rod.coordinate_count()), width_(rod.coordinate_count() == 3 * rod.piece_count() ? 3 : 6) {
  require(possible(*rod.model()), "gradients: a rod of nodes; expected super-helices or super-clothoids");
  lengths_.resize(rod.piece_count());
  for (int i = 0; i < rod.piece_count(); ++i) lengths_[i] = rod.span(i).rest;
  take(rod, nodes > 0 ? nodes : nodes_for(rod, rod.state().coordinates, 0.0));
}

void ChainField::take(const Rod& rod, Eigen::Index nodes) {
  origin_ = rod.state().root.position;
  if (nodes != nodes_) {
    nodes_ = nodes;
    rule_ = &rule_of(rod, nodes);
    points_per_element_ = static_cast<Eigen::Index>(rule_->shares.size());
    take_masses(rod);
  }
  if (width_ == 3) {
    take_helices(rod);
  } else {
    take_points(rod);
  }
}

/// Errors of integrals from an element's start are below 1e-10 of their size: through n points, of degree n - 1, on
/// exp(i turn s) they are (n!)^2 / (2 n)! turn^n / n! at most before they are integrated.
Eigen::Index ChainField::nodes_for(const Rod& rod, const VectorX& coordinates, double margin) {
  double turn = 0.0;
  const int width = rod.coordinate_count() == 3 * rod.piece_count() ? 3 : 6;
  for (int i = 0; i < rod.piece_count(); ++i) {
    for (int k = 0; k < width; k += 3)
      turn = std::max(turn, rod.span(i).rest * coordinates.segment<3>(3 * i + k).norm());
  }
  require(turn <= most_turn, "gradients: an element turns by more than 12 rad; expected more elements");
  turn += margin;
  if (turn <= 0.1) return 5;
  if (turn <= 0.25) return 6;
  const double more = std::ceil(4.0 * (turn - 0.25));
  return std::min(most_nodes, Eigen::Index{7} + static_cast<Eigen::Index>(more));
}

/// Computed once per kind and n, then shared; thread-safe.
const ChainField::Rule& ChainField::rule_of(const Rod& rod, Eigen::Index nodes) {
  static std::array<std::array<std::once_flag, most_nodes + 1>, 2> flags;
  static std::array<std::array<Rule, most_nodes + 1>, 2> all;
  const std::size_t kind = rod.coordinate_count() == 3 * rod.piece_count() ? 0 : 1;
  const auto at = static_cast<std::size_t>(nodes);
  std::call_once(flags[kind][at], [&] {
    Rule& out = all[kind][at];
    const math::GaussRule& rule = math::gauss_legendre(static_cast<int>(nodes));
    out.shares = rule.nodes;
    with_chain(*rod.model(), [&](const auto&, const std::vector<DiscPlace>& discs) {
      for (const DiscPlace& disc : discs) out.shares.push_back(disc.share);
    });
    out.integrals.resize(nodes, static_cast<Eigen::Index>(out.shares.size()));
    for (Eigen::Index p = 0; p < out.integrals.cols(); ++p)
      out.integrals.col(p) = point_polynomials(nodes).integrals_to(out.shares[static_cast<std::size_t>(p)]);
    out.whole = Eigen::Map<const VectorX>(rule.weights.data(), nodes);
  });
  return all[kind][at];
}

void ChainField::take_masses(const Rod& rod) {
  const Eigen::Index n = elements(), gauss = gauss_points(), discs_in_all = (points_per_element_ - nodes_) * n;
  frames_.resize(gauss, 9);
  offsets_.resize(gauss, 3);
  axes_.resize(discs_in_all, 6);
  mass_.resize(gauss);
  length_weight_.resize(gauss);
  disc_.resize(discs_in_all, 2);
  disc_density_.resize(discs_in_all);
  with_chain(*rod.model(), [&](const auto& elements, const std::vector<DiscPlace>& discs) {
    for (Eigen::Index i = 0; i < n; ++i) {
      const auto& element = elements[static_cast<std::size_t>(i)];
      for (Eigen::Index p = 0; p < nodes_; ++p) {
        length_weight_[p * n + i] = rule_->whole[p] * lengths_[i];
        mass_[p * n + i] = element.density * rule_->whole[p] * lengths_[i];
      }
      for (std::size_t d = 0; d < discs.size(); ++d) {
        const Eigen::Index at = static_cast<Eigen::Index>(d) * n + i;
        const double share = discs[d].at_start ? 1.0 : 1.0 / static_cast<double>(discs.size() - 1);
        const std::array<double, 2>& spread = discs[d].at_start ? element.discs.start : element.discs.spread;
        disc_.row(at) << share * spread[0], share * spread[1];
        disc_density_[at] = element.density;
      }
    }
  });
}

/// A disc at an element's start stands there, not at the end of the one before.
void ChainField::take_points(const Rod& rod) {
  const Eigen::Index n = elements();
  for (Eigen::Index i = 0; i < n; ++i) {
    const double begin = rod.piece_begin(static_cast<int>(i));
    for (Eigen::Index p = 0; p < points_per_element_; ++p) {
      const RodSection section = rod.section(begin + rule_->shares[static_cast<std::size_t>(p)] * lengths_[i]);
      if (p < nodes_) {
        frames_.row(p * n + i) = Eigen::Map<const Eigen::Array<double, 1, 9>>(section.frame.data());
        offsets_.row(p * n + i) = (section.position - origin_).transpose();
      } else {
        axes_.row((p - nodes_) * n + i) = Eigen::Map<const Eigen::Array<double, 1, 6>>(section.frame.data() + 3);
      }
    }
  }
}

/// The same of helices, all elements at once: with s the arc length and w the curvature, the frame is
/// I + s c_1 [w] + s^2 c_2 [w]^2 and the place s I + s^2 c_2 [w] + s^3 c_3 [w]^2 times the tangent, from the start's.
void ChainField::take_helices(const Rod& rod) {
  const Eigen::Index n = elements();
  FieldRows<3> w(n, 3), begin(n, 3);
  FieldRows<9> frame(n, 9);
  for (Eigen::Index i = 0; i < n; ++i) {
    const RodSection section = rod.section(rod.piece_begin(static_cast<int>(i)));
    frame.row(i) = Eigen::Map<const Eigen::Array<double, 1, 9>>(section.frame.data());
    begin.row(i) = (section.position - origin_).transpose();
    w.row(i) = rod.state().coordinates.segment<3>(3 * i).transpose();
  }
  const Eigen::ArrayXd square = w.square().rowwise().sum();
  const double longest = lengths_.maxCoeff(), largest = longest * longest * square.maxCoeff();
  Eigen::ArrayXd s(n), c1(n), c2(n), c3(n);
  for (Eigen::Index p = 0; p < points_per_element_; ++p) {
    s = rule_->shares[static_cast<std::size_t>(p)] * lengths_;
    if (largest <= math::stumpff_switch) {
      std::array<Eigen::ArrayXd, 4> c;
      math::stumpff_series<4, Eigen::ArrayXd>(s.square() * square, c);
      c1 = s * c[1];
      c2 = s.square() * c[2];
      c3 = s.cube() * c[3];
    } else {
      for (Eigen::Index i = 0; i < n; ++i) {
        const std::array<double, 4> c = math::stumpff<4>(s[i] * s[i] * square[i]);
        c1[i] = s[i] * c[1];
        c2[i] = s[i] * s[i] * c[2];
        c3[i] = s[i] * s[i] * s[i] * c[3];
      }
    }
    // Columns of I + c1 [w] + c2 (w w^T - |w|^2 I), turned by the frame of the start.
    for (Eigen::Index k = 0; k < 3; ++k) {
      const Eigen::Index k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      FieldRows<3> local(n, 3);
      local.col(k) = 1.0 + c2 * (w.col(k).square() - square);
      local.col(k1) = c1 * w.col(k2) + c2 * w.col(k) * w.col(k1);
      local.col(k2) = -c1 * w.col(k1) + c2 * w.col(k) * w.col(k2);
      if (p >= nodes_ && k == 0) continue;
      for (Eigen::Index r = 0; r < 3; ++r) {
        double* to = p < nodes_ ? &frames_(p * n, 3 * k + r) : &axes_((p - nodes_) * n, 3 * (k - 1) + r);
        Eigen::Map<Eigen::ArrayXd>(to, n) =
            frame.col(r) * local.col(0) + frame.col(3 + r) * local.col(1) + frame.col(6 + r) * local.col(2);
      }
    }
    if (p >= nodes_) continue;
    FieldRows<3> way(n, 3);
    way.col(0) = s + c3 * (w.col(0).square() - square);
    way.col(1) = c2 * w.col(2) + c3 * w.col(0) * w.col(1);
    way.col(2) = -c2 * w.col(1) + c3 * w.col(0) * w.col(2);
    for (Eigen::Index r = 0; r < 3; ++r)
      offsets_.col(r).segment(p * n, n) =
          begin.col(r) + frame.col(r) * way.col(0) + frame.col(3 + r) * way.col(1) + frame.col(6 + r) * way.col(2);
  }
}

FieldPlace ChainField::place(const Rod& rod, int element, double u) const {
  const double length = lengths_[element], share = u / length;
  const RodSection section = rod.section(rod.piece_begin(element) + u);
  FieldPlace out;
  out.element = element;
  out.weights = length * point_polynomials(nodes_).integrals_to(share);
  out.values.resize(width_ / 3);
  if (width_ == 3) {
    out.values << 1.0;
  } else {
    out.values << 1.0 - share, share;
  }
  out.offset = section.position - origin_;
  out.frame = section.frame;
  for (Eigen::Index k = 0; k < out.values.size(); ++k)
    out.curvature += out.values[k] * rod.state().coordinates.segment<3>(3 * (element + k));
  return out;
}

}  // namespace tresse::rods
