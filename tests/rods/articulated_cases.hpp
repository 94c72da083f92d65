#pragma once

#include <random>
#include <vector>

#include <rods/rod_cases.hpp>
#include <tresse/rods/detail/articulated_matrix.hpp>

// Data of chains to factor, and their matrix written out in long double, element against element.
namespace tresse::rods::rod_cases {

using detail::ArticulatedElement;
using detail::ChainRoot;

using Long = long double;
using LongMatrix = Eigen::Matrix<Long, Eigen::Dynamic, Eigen::Dynamic>;

/// (1; [d]x) applied to a velocity: its wrench at the origin.
inline Eigen::Matrix<double, 6, Eigen::Dynamic> wrench_of(const Vector3& d, const MatrixX& velocity) {
  Eigen::Matrix<double, 6, Eigen::Dynamic> out(6, velocity.cols());
  out << velocity, math::cross_matrix(d) * velocity;
  return out;
}

/// Adds one point of mass `weight` at d that moves by V.linear + V.angular x d + P c.
template <int W>
void add_point(const Vector3& d, const Eigen::Matrix<double, 3, W>& P, double weight, ArticulatedElement<W>& to) {
  Eigen::Matrix<double, 3, 6> rigid;
  rigid << Matrix3::Identity(), -math::cross_matrix(d);
  to.inertia += weight * wrench_of(d, rigid);
  to.coupling += weight * wrench_of(d, P);
  to.own += weight * P.transpose() * P;
}

template <int W>
ArticulatedElement<W> nothing() {
  ArticulatedElement<W> out;
  out.twist.setZero();
  out.inertia.setZero();
  out.coupling.setZero();
  out.own.setZero();
  out.local.setZero();
  return out;
}

/// What a real super-helix is made of, by quadrature of its jacobian; `local` is dt^2 K.
inline std::vector<ArticulatedElement<3>> helix_elements(const Case& c, double dt) {
  const int n = c.rod->piece_count();
  const Vector3 origin = c.state.root.position;
  std::vector<ArticulatedElement<3>> out(n, nothing<3>());
  Matrix3X jacobian(3, c.rod->dof());
  const auto own = [&](int piece, double u) -> Matrix3 {
    const int columns = c.rod->jacobian(piece, u, jacobian);
    return jacobian.middleCols<3>(columns - 3);
  };
  integrate(c, [&](int piece, double u, double weight) {
    const Vector3 d = c.rod->section(c.rod->piece_begin(piece) + u).position - origin;
    add_point<3>(d, own(piece, u), weight * c.densities[piece], out[piece]);
  });
  for (const Disc& disc : discs_of(c)) {
    ArticulatedElement<3>& e = out[disc.piece];
    const Matrix3 inertia = inertia_of(*c.rod, disc);
    const Matrix3 turning = turning_of(*c.rod, disc).middleCols<3>(c.rod->root_dof() + 3 * disc.piece);
    e.inertia.bottomRightCorner<3, 3>() += inertia;
    e.coupling.bottomRows<3>() += inertia * turning;
    e.own += turning.transpose() * inertia * turning;
  }
  MatrixX stiffness = MatrixX::Zero(c.rod->dof(), c.rod->dof());
  c.rod->add_stiffness(dt * dt, dt, stiffness);
  const int root = c.rod->root_dof();
  for (int i = 0; i < n; ++i) {
    const double l = c.lengths[i];
    const RodSection start = c.rod->section(c.rod->piece_begin(i));
    const RodSection end = c.rod->section(c.rod->piece_begin(i + 1));
    const Matrix3 angular = l * start.frame * math::rotation_exp_integral(l * c.state.coordinates.segment<3>(3 * i));
    out[i].twist << own(i, l) + math::cross_matrix(end.position - origin) * angular, angular;
    out[i].local = stiffness.block<3, 3>(root + 3 * i, root + 3 * i);
  }
  return out;
}

/// Elements of affine curvature with random shapes: within one the frame turns by the integral of the curvature about
/// fixed random axes, so that c moves points by a random field that starts as s^2.
inline std::vector<ArticulatedElement<6>> affine_elements(int n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1.0, 1.0);
  const auto vector = [&] { return Vector3(u(random), u(random), u(random)); };
  const auto& rule = math::gauss_legendre(12);
  std::vector<ArticulatedElement<6>> out(n, nothing<6>());
  Vector3 d = Vector3::Zero();
  Matrix3 frame = Matrix3::Identity();
  for (auto& e : out) {
    const double l = 0.02 * (1.0 + 0.5 * u(random));
    const Matrix3 bend = math::cross_matrix(-Vector3::UnitX() + 0.3 * vector());
    const Matrix3 turn = math::rotation_exp(0.5 * vector());
    const auto gradient = [&](double s) {  // dr/dc, the start node's part and the end node's
      Eigen::Matrix<double, 3, 6> P;
      P << frame * bend * turn * (s * s / 2.0 - s * s * s / (6.0 * l)), frame * bend * turn * (s * s * s / (6.0 * l));
      return P;
    };
    const auto point = [&](double s) -> Vector3 { return d + frame * Vector3(s, 0.2 * s * s / l, -0.1 * s * s / l); };
    for (std::size_t g = 0; g < rule.nodes.size(); ++g) {
      const double s = rule.nodes[g] * l;
      add_point<6>(point(s), gradient(s), 5e-3 * rule.weights[g] * l, e);
    }
    Eigen::Matrix<double, 3, 6> angular;
    angular << 0.5 * l * frame * turn, 0.5 * l * frame * turn;
    e.twist << gradient(l) + math::cross_matrix(point(l)) * angular, angular;
    const Matrix3 stiffness = 1e-10 * Vector3(0.8, 1.0, 2.0).asDiagonal();
    e.local << l / 3.0 * stiffness, l / 6.0 * stiffness, l / 6.0 * stiffness, l / 3.0 * stiffness;
    e.inertia.bottomRightCorner<3, 3>() += 1e-9 * Matrix3::Identity();
    d = point(l);
    frame = frame * math::rotation_exp(0.4 * vector());
  }
  return out;
}

enum class Terms { mass, implicit };

/// A or M from its definition, the pairs of elements one by one: what i moves of j and of all beyond j, i before j.
template <int W>
LongMatrix written_out(const std::vector<ArticulatedElement<W>>& elements, bool free, Terms terms) {
  const int root = free ? 6 : 0;
  const int n = static_cast<int>(elements.size());
  LongMatrix out = LongMatrix::Zero(root + W - 3 + 3 * n, root + W - 3 + 3 * n);
  Eigen::Matrix<Long, 6, 6> beyond = Eigen::Matrix<Long, 6, 6>::Zero();
  for (int j = n - 1; j >= 0; --j) {
    const auto& e = elements[j];
    const Long weight = terms == Terms::mass ? 1.0L : static_cast<Long>(e.weight);
    const int at = root + 3 * j;
    const Eigen::Matrix<Long, 6, W> twist = e.twist.template cast<Long>();
    const Eigen::Matrix<Long, 6, W> wrench = weight * e.coupling.template cast<Long>() + beyond * twist;
    const auto add = [&](int row, const auto& block) {
      out.block(row, at, block.rows(), W) += block;
      out.block(at, row, W, block.rows()) += block.transpose();
    };
    for (int i = 0; i < j; ++i)
      add(root + 3 * i, (elements[i].twist.template cast<Long>().transpose() * wrench).eval());
    if (free) add(0, wrench);
    out.block(at, at, W, W) += twist.transpose() * beyond * twist + weight * e.own.template cast<Long>();
    if (terms == Terms::implicit) out.block(at, at, W, W) += e.local.template cast<Long>();
    beyond += weight * e.inertia.template cast<Long>();
  }
  if (free) out.topLeftCorner(6, 6) += beyond;
  return out;
}

/// A = U U^T, entry by entry.
inline LongMatrix long_reverse_cholesky(LongMatrix a) {
  for (Eigen::Index j = a.cols() - 1; j >= 0; --j) {
    a.col(j).tail(a.rows() - j - 1).setZero();
    a.col(j).head(j + 1) /= std::sqrt(a(j, j));
    for (Eigen::Index k = 0; k < j; ++k) a.col(k).head(k + 1) -= a(k, j) * a.col(j).head(k + 1);
  }
  return a;
}

/// Largest difference of two upper factors, each row against that row's length, which is sqrt(A_ii).
inline double factor_error(const MatrixX& found, const LongMatrix& expected) {
  Long worst = 0.0L;
  for (Eigen::Index i = 0; i < found.rows(); ++i)
    worst = std::max(worst, (found.cast<Long>() - expected).row(i).cwiseAbs().maxCoeff() / expected.row(i).norm());
  return static_cast<double>(worst);
}

}  // namespace tresse::rods::rod_cases
