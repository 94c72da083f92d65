#include <tresse/friction/cone_contact.hpp>

#include <cmath>
#include <limits>

#include <Eigen/Eigenvalues>

namespace tresse::friction {
namespace {

/// r_T and r_N of a sliding contact for one alpha, and what Newton's method needs of them.
template <int dimension>
struct ConeSlide {
  using Tangent = typename PreparedCone<dimension>::Tangent;

  ConeSlide(const PreparedCone<dimension>& the_contact, const ConeVector<dimension>& q)
      : contact(the_contact),
        loaded(-q[0] / the_contact.W(0, 0)),
        b(the_contact.axes.transpose() *
          (q.template tail<dimension - 1>() + loaded * the_contact.W.template block<dimension - 1, 1>(1, 0))) {}

  void evaluate(double alpha) {
    const Tangent inverse = (contact.schur.array() + alpha).inverse();
    tangential = -inverse.cwiseProduct(b);
    by_alpha = -inverse.cwiseProduct(tangential);
    normal = loaded - contact.row.dot(tangential);
    length = tangential.norm();
    limit = contact.mu * normal;
  }
  bool in_cone() const { return length <= limit; }
  /// The zero of limit / length - 1, were it linear in alpha.
  double next(double alpha) const {
    const double limit_by_alpha = -contact.mu * contact.row.dot(by_alpha);
    const double length_by_alpha = tangential.dot(by_alpha) / length;
    return alpha - (limit - length) / (limit_by_alpha - limit * length_by_alpha / length);
  }

  const PreparedCone<dimension>& contact;
  double loaded;                 ///< r_N without friction
  Tangent b;                     ///< along the axes, as what follows
  Tangent tangential, by_alpha;  ///< r_T and its derivative
  double normal = 0.0, length = 0.0, limit = 0.0;
};

/// Where `slide`, evaluated at alpha = 0 and outside the cone there, comes to lie on the cone.
template <int dimension>
double alpha_on_cone(ConeSlide<dimension>& slide) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double rounding = 2.0 * std::numeric_limits<double>::epsilon();
  constexpr int most_steps = 400;
  constexpr int steps_a_bisection = 8;  // Newton's steps mostly get there in six
  constexpr double towards_zero = 1e-3;
  double low = 0.0, high = infinity;
  double alpha = slide.next(0.0);
  for (int step = 1; step <= most_steps; ++step) {
    const bool bracketed = alpha > low && alpha < high;
    if (high < infinity && (!bracketed || step % steps_a_bisection == 0))
      alpha = low > 0.0 ? std::sqrt(low) * std::sqrt(high) : towards_zero * high;
    else if (!bracketed)
      alpha = 2.0 * (low + slide.contact.schur.maxCoeff());
    slide.evaluate(alpha);
    (slide.in_cone() ? high : low) = alpha;
    const double next = slide.next(alpha);
    if (std::abs(slide.limit - slide.length) <= rounding * slide.length || next == alpha ||
        high - low <= rounding * low)
      break;
    alpha = next;
  }
  return alpha;
}

}  // namespace

template <int dimension>
std::optional<PreparedCone<dimension>> prepare_cone(const Eigen::Matrix<double, dimension, dimension>& W, double mu) {
  using Real = long double;  // elimination loses the digits that cancel
  constexpr int tangents = dimension - 1;
  if (!W.allFinite() || !std::isfinite(mu) || !(mu >= 0.0) || !(W(0, 0) > 0.0)) return std::nullopt;
  const auto exact = W.template cast<Real>().eval();
  const Eigen::Matrix<Real, tangents, 1> coupling = exact.template block<tangents, 1>(1, 0);
  const Eigen::Matrix<Real, tangents, tangents> schur =
      exact.template block<tangents, tangents>(1, 1) - coupling * coupling.transpose() / exact(0, 0);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix<Real, tangents, tangents>> eigen(schur);
  const double rounding = std::numeric_limits<double>::epsilon() * W.diagonal().tail(tangents).maxCoeff();
  if (eigen.info() != Eigen::Success || !(eigen.eigenvalues().minCoeff() > rounding)) return std::nullopt;
  PreparedCone<dimension> out;
  out.W = W;
  out.mu = mu;
  out.schur = eigen.eigenvalues().template cast<double>();
  out.axes = eigen.eigenvectors().template cast<double>();
  out.row = (eigen.eigenvectors().transpose() * coupling / exact(0, 0)).template cast<double>();
  return out;
}

template <int dimension>
ConeSolution<dimension> solve_cone(const PreparedCone<dimension>& contact, const ConeVector<dimension>& q) {
  constexpr int tangents = dimension - 1;
  ConeSolution<dimension> out;
  if (q[0] >= 0.0) {
    out.velocity = q;
    return out;
  }
  ConeSlide<dimension> slide(contact, q);
  if (contact.mu == 0.0) {
    out.state = ContactCase::slide;
    out.impulse[0] = slide.loaded;
    out.velocity.template tail<tangents>() = contact.axes * slide.b;
    return out;
  }
  slide.evaluate(0.0);
  if (slide.in_cone()) {
    out.state = ContactCase::stick;
    out.impulse << slide.normal, contact.axes * slide.tangential;
    return out;
  }
  out.state = ContactCase::slide;
  const double alpha = alpha_on_cone(slide);
  // On the cone to the last bit by the normal part, in which differences of large numbers are lost and do no harm.
  out.impulse << slide.length / contact.mu, contact.axes * slide.tangential;
  out.velocity.template tail<tangents>() = -alpha * out.impulse.template tail<tangents>();
  return out;
}

template std::optional<PreparedCone<2>> prepare_cone(const Eigen::Matrix<double, 2, 2>&, double);
template std::optional<PreparedCone<3>> prepare_cone(const Eigen::Matrix<double, 3, 3>&, double);
template std::optional<PreparedCone<6>> prepare_cone(const Eigen::Matrix<double, 6, 6>&, double);
template ConeSolution<2> solve_cone(const PreparedCone<2>&, const ConeVector<2>&);
template ConeSolution<3> solve_cone(const PreparedCone<3>&, const ConeVector<3>&);
template ConeSolution<6> solve_cone(const PreparedCone<6>&, const ConeVector<6>&);

}  // namespace tresse::friction
