#include <tresse/inverse/stiffness.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <Eigen/Cholesky>

#include <tresse/base/errors.hpp>

namespace tresse::inverse {
namespace {

/// What the weight does in a pose: g = K^-1 G of the model, and its derivative by the curvatures.
struct Weight {
  VectorX g;             // (m) [1/m]
  MatrixX by_curvature;  // (m, m) [-]
};

class Poses {
 public:
  Poses(rods::Rod& rod, std::span<const PoseAtRest> poses) : rod_(rod), poses_(poses) {
    require(rod.root_condition() == rods::RootCondition::clamped,
            "stiffness: the root is not clamped; expected a clamped one");
    const Eigen::Index m = rod.curvature().size();
    require(rod.linear_elasticity() && m == rod.dof(),
            "stiffness: the model's coordinates are not curvatures; expected a super-helix or a super-clothoid");
    for (const PoseAtRest& pose : poses) {
      require(pose.curvature.size() == m, [&] {
        return "stiffness: a pose has " + std::to_string(pose.curvature.size()) + " curvatures; expected " +
               std::to_string(m);
      });
      require(pose.curvature.allFinite() && pose.gravity.allFinite(),
              "stiffness: a pose has numbers that are not finite");
    }
    MatrixX elastic(m, m);
    rod.elastic_metric(elastic);
    elastic_ = elastic;
    solver_.compute(elastic);
  }

  Eigen::Index size() const { return elastic_.rows(); }

  Weight weight(std::size_t pose, const VectorX& curvature) {
    const rods::RodState& state = rod_.state();
    rod_.update(rod_.shaped(state.root, {}, curvature, VectorX::Zero(curvature.size())));
    const Vector3& gravity = poses_[pose].gravity;
    VectorX force(size());
    rod_.gravity_force(gravity, force);
    MatrixX hessian(size(), size());
    rod_.potential_hessian(gravity, hessian);
    return {solver_.solve(-force), solver_.solve(hessian - elastic_)};
  }

 private:
  rods::Rod& rod_;
  std::span<const PoseAtRest> poses_;
  MatrixX elastic_;
  Eigen::LDLT<MatrixX> solver_;
};

/// Equations F(z, x) = 0 in measured curvatures z and parameters x: F = C z - D c + y o (C g(z)), with x = (y, c). C
/// takes differences of poses; D tells what natural curvatures are left in them.
struct Linearised {
  VectorX value;       // F
  MatrixX by_data;     // dF/dz
  MatrixX by_unknown;  // dF/dx
};

/// y of each curvature: (twist, 1, 2) in turn.
VectorX spread(const Vector3& y, Eigen::Index m) {
  VectorX out(m);
  for (Eigen::Index i = 0; i < m; ++i) out[i] = y[i % 3];
  return out;
}

/// One equation for each curvature and pose but the first: z_p - z_0 + y o (g_p - g_0).
Linearised differences(Poses& poses, std::size_t count, const VectorX& z, const VectorX& x) {
  const Eigen::Index m = poses.size();
  const auto others = static_cast<Eigen::Index>(count) - 1;
  const VectorX y = spread(x.head<3>(), m);
  const Weight first = poses.weight(0, z.head(m));
  Linearised out{VectorX(others * m), MatrixX::Zero(others * m, z.size()), MatrixX::Zero(others * m, 3)};
  const MatrixX identity = MatrixX::Identity(m, m);
  for (Eigen::Index p = 0; p < others; ++p) {
    const VectorX own = z.segment((p + 1) * m, m);
    const Weight there = poses.weight(static_cast<std::size_t>(p) + 1, own);
    const VectorX change = there.g - first.g;
    out.value.segment(p * m, m) = own - z.head(m) + y.cwiseProduct(change);
    out.by_data.block(p * m, 0, m, m) = -identity - y.asDiagonal() * first.by_curvature;
    out.by_data.block(p * m, (p + 1) * m, m, m) = identity + y.asDiagonal() * there.by_curvature;
    for (Eigen::Index i = 0; i < m; ++i) out.by_unknown(p * m + i, i % 3) = change[i];
  }
  return out;
}

/// One for each curvature: z - c + y o g.
Linearised from_uniform(Poses& poses, const VectorX& z, const VectorX& x) {
  const Eigen::Index m = poses.size();
  const VectorX y = spread(x.head<3>(), m);
  const Weight there = poses.weight(0, z);
  Linearised out{z - spread(x.tail<3>(), m) + y.cwiseProduct(there.g), MatrixX::Identity(m, m), MatrixX::Zero(m, 6)};
  out.by_data += y.asDiagonal() * there.by_curvature;
  for (Eigen::Index i = 0; i < m; ++i) {
    out.by_unknown(i, i % 3) = there.g[i];
    out.by_unknown(i, 3 + i % 3) = -1.0;
  }
  return out;
}

/// Gauss and Helmert's method: least |z - measured| with F(z, x) = 0. `told`: unknowns that the data tell of; the
/// others stay.
template <typename Equations>
MeasuredStiffness solve(const Equations& at, const VectorX& measured, VectorX x,
                        const std::vector<Eigen::Index>& told) {
  constexpr int most = 50;
  constexpr double tolerance = 1e-12;
  MeasuredStiffness out;
  VectorX z = measured;
  MatrixX covariance;
  double squares = 0.0;
  Eigen::Index equations = 0;
  for (; out.iterations < most; ++out.iterations) {
    const Linearised now = at(z, x);
    equations = now.value.size();
    MatrixX by_told(equations, static_cast<Eigen::Index>(told.size()));
    for (std::size_t k = 0; k < told.size(); ++k)
      by_told.col(static_cast<Eigen::Index>(k)) = now.by_unknown.col(told[k]);
    // F + B (z' - z) + A dx = 0 with z' = measured + v: least |v|.
    const VectorX off = now.value + now.by_data * (measured - z);
    const Eigen::LDLT<MatrixX> weight(now.by_data * now.by_data.transpose());
    const MatrixX weighted = weight.solve(by_told);
    const Eigen::LDLT<MatrixX> normal(by_told.transpose() * weighted);
    const VectorX step = -normal.solve(weighted.transpose() * off);
    const VectorX v = -now.by_data.transpose() * weight.solve(off + by_told * step);
    const double moved = (measured + v - z).norm();
    z = measured + v;
    double change = 0.0;
    for (std::size_t k = 0; k < told.size(); ++k) {
      const double by = step[static_cast<Eigen::Index>(k)];
      change = std::max(change, std::abs(by) / std::max(std::abs(x[told[k]]), std::abs(by)));
      x[told[k]] += by;
    }
    squares = v.squaredNorm();
    covariance = normal.solve(MatrixX::Identity(normal.rows(), normal.rows()));
    if (!z.allFinite() || !x.allFinite()) {
      out.status = Status::not_finite;
      break;
    }
    if ((change <= tolerance || std::isnan(change)) && moved <= tolerance * z.norm()) {
      out.status = Status::converged;
      break;
    }
  }
  const Eigen::Index freedom = equations - static_cast<Eigen::Index>(told.size());
  out.noise =
      freedom > 0 ? std::sqrt(squares / static_cast<double>(freedom)) : std::numeric_limits<double>::quiet_NaN();
  out.ratio.setConstant(std::numeric_limits<double>::quiet_NaN());
  out.deviation.setConstant(std::numeric_limits<double>::infinity());
  for (std::size_t k = 0; k < told.size(); ++k) {
    if (told[k] >= 3) continue;
    const auto own = static_cast<Eigen::Index>(k);
    out.ratio[told[k]] = 1.0 / x[told[k]];
    out.deviation[told[k]] = out.noise * std::sqrt(covariance(own, own)) / (x[told[k]] * x[told[k]]);
  }
  return out;
}

/// The closed form: each unknown's own least squares. Components that do next to nothing beside the largest are not
/// told of.
VectorX start_of(const Linearised& at_zero, std::vector<Eigen::Index>& told) {
  const MatrixX& A = at_zero.by_unknown;
  constexpr double nothing = 1e-6;  // no measurement tells as little
  const double largest = A.leftCols<3>().colwise().norm().maxCoeff();
  require(largest > 0.0, "stiffness: gravity does the same in every pose; expected poses that differ in it");
  VectorX x = VectorX::Zero(A.cols());
  for (Eigen::Index c = 0; c < 3; ++c) {
    const bool uniform = A.cols() > 3;
    const VectorX own = A.col(c);
    // Where natural curvatures are unknown, only what differs from their mean tells.
    const double mean = uniform ? own.dot(A.col(3 + c)) / A.col(3 + c).squaredNorm() : 0.0;
    const VectorX rest = uniform ? VectorX(own - mean * A.col(3 + c)) : own;
    const bool tells = rest.norm() > nothing * largest;
    if (tells) {
      x[c] = -rest.dot(at_zero.value) / rest.squaredNorm();
      told.push_back(c);
    }
  }
  for (Eigen::Index c = 3; c < A.cols(); ++c) {
    const VectorX left = at_zero.value + A.leftCols<3>() * x.head<3>();
    x[c] = -A.col(c).dot(left) / A.col(c).squaredNorm();
    told.push_back(c);
  }
  return x;
}

}  // namespace

MeasuredStiffness stiffness_of_poses(rods::Rod& rod, std::span<const PoseAtRest> poses) {
  require(poses.size() >= 2, "stiffness: fewer than two poses; a natural shape that is unknown needs two");
  Poses all(rod, poses);
  VectorX measured(all.size() * static_cast<Eigen::Index>(poses.size()));
  for (std::size_t p = 0; p < poses.size(); ++p)
    measured.segment(static_cast<Eigen::Index>(p) * all.size(), all.size()) = poses[p].curvature;
  const auto equations = [&](const VectorX& z, const VectorX& x) { return differences(all, poses.size(), z, x); };
  std::vector<Eigen::Index> told;
  const VectorX start = start_of(equations(measured, VectorX::Zero(3)), told);
  return solve(equations, measured, start, told);
}

MeasuredStiffness stiffness_of_uniform(rods::Rod& rod, const PoseAtRest& pose) {
  Poses poses(rod, {&pose, 1});
  const auto equations = [&](const VectorX& z, const VectorX& x) { return from_uniform(poses, z, x); };
  std::vector<Eigen::Index> told;
  const VectorX start = start_of(equations(pose.curvature, VectorX::Zero(6)), told);
  return solve(equations, pose.curvature, start, told);
}

}  // namespace tresse::inverse
