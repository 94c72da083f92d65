#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <tresse/friction/problem.hpp>

#include "support/coulomb_law.hpp"

/// Generated frictional contact problems in factored form.
namespace tresse_test {

struct FibreCase {
  int contacts = 1;
  bool stiff = false;           ///< compliances spread over six decades, as along a rod
  bool mixed_friction = false;  ///< a coefficient of its own for every contact
};

/// Contacts of one fibre of 36 unknowns with fixed obstacles: nearly every second one almost the same as its neighbour
/// (the two ends of adjacent pieces against one tooth), some open (q_N > 0), friction 0 to 0.5.
inline tresse::friction::FactoredProblem single_fibre(const FibreCase& wanted, unsigned seed) {
  using Eigen::MatrixXd;
  constexpr int m = 36;
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  const auto fill = [&](auto&& x) {
    for (Eigen::Index k = 0; k < x.size(); ++k) x.data()[k] = normal(generator);
  };
  const int n = wanted.contacts;
  MatrixXd a(m, m), h(3 * n, m);
  fill(a);
  fill(h);
  MatrixXd mass = a * a.transpose() / m + 0.05 * MatrixXd::Identity(m, m);
  if (wanted.stiff) {
    const Eigen::ArrayXd k = Eigen::ArrayXd::LinSpaced(m, 0.0, (m - 1.0) / m);
    const Eigen::VectorXd decades = (-6.0 * k * std::log(10.0)).exp();
    mass = decades.asDiagonal() * mass * decades.asDiagonal();
    h = h * (-4.5 * k * std::log(10.0)).exp().matrix().asDiagonal();
  }
  Eigen::VectorXd q(3 * n);
  fill(q);
  tresse::friction::FactoredProblem out;
  out.mu.resize(n);
  const double common = uniform(generator) < 0.1 ? 0.0 : 0.5 * uniform(generator);
  for (int i = 0; i < n; ++i) out.mu[i] = wanted.mixed_friction ? 0.5 * uniform(generator) : common;
  for (int i = 0; i < n; ++i) q[3 * i] = uniform(generator) < 0.3 ? 2.0 * std::abs(q[3 * i]) : -std::abs(q[3 * i]);
  for (int i = 0; i + 1 < n; i += 2) {
    if (uniform(generator) > 0.7) continue;
    const double apart = uniform(generator) < 0.2 ? 0.0 : std::pow(10.0, -2.0 - 10.0 * uniform(generator));
    const double faster = uniform(generator) < 0.5 ? apart : std::pow(10.0, -1.0 - 8.0 * uniform(generator));
    for (int k = 0; k < 3; ++k) {
      for (int c = 0; c < m; ++c) h(3 * i + 3 + k, c) = h(3 * i + k, c) + apart * normal(generator);
      q[3 * i + 3 + k] = q[3 * i + k] + faster * normal(generator);
    }
    out.mu[i + 1] = out.mu[i];
  }
  const MatrixXd x = mass.llt().matrixL().solve(h.transpose()).transpose();
  out.q = q;
  out.body_begin = {0, m};
  for (int i = 0; i < n; ++i) {
    out.contacts.push_back({tresse::friction::ContactRows{0, m, static_cast<int>(out.rows.size())}, {}});
    for (int k = 0; k < 3; ++k)
      for (int c = 0; c < m; ++c) out.rows.push_back(x(3 * i + k, c));
  }
  return out;
}

/// Contacts between neighbours in a row of bodies of `unknowns` each; `isolated` bodies start a new island.
inline tresse::friction::FactoredProblem chain(int bodies, int contacts_per_pair, int unknowns, double mu,
                                               unsigned seed, int island_length = 1 << 30) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  tresse::friction::FactoredProblem out;
  for (int b = 0; b <= bodies; ++b) out.body_begin.push_back(b * unknowns);
  for (int b = 0; b + 1 < bodies; ++b) {
    if (b % island_length == island_length - 1) continue;
    for (int k = 0; k < contacts_per_pair; ++k) {
      std::array<tresse::friction::ContactRows, 2> sides;
      for (int side = 0; side < 2; ++side) {
        sides[static_cast<std::size_t>(side)] = {b + side, unknowns, static_cast<int>(out.rows.size())};
        for (int e = 0; e < 3 * unknowns; ++e) out.rows.push_back(normal(generator));
      }
      out.contacts.push_back(sides);
    }
  }
  const auto n = static_cast<Eigen::Index>(out.contacts.size());
  out.q.resize(3 * n);
  for (double& x : out.q) x = normal(generator);
  for (Eigen::Index i = 0; i < n; ++i) out.q[3 * i] -= 0.7;
  out.mu = Eigen::VectorXd::Constant(n, mu);
  return out;
}

/// Contacts between bodies nearby in a ring that most are, and some anywhere, of them a tenth with obstacles.
inline tresse::friction::FactoredProblem tangle(int bodies, int contacts, int unknowns, double mu, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> any(0, bodies - 1);
  tresse::friction::FactoredProblem out;
  for (int b = 0; b <= bodies; ++b) out.body_begin.push_back(b * unknowns);
  for (int i = 0; i < contacts; ++i) {
    const int a = i < bodies ? i : any(generator);  // the first ones close the ring
    int b = i % 50 == 49 ? any(generator) : (a + 1 + i % 3) % bodies;
    if (i < bodies) b = (a + 1) % bodies;
    if (b == a || (i >= bodies && i % 10 == 0)) b = -1;
    std::array<tresse::friction::ContactRows, 2> sides;
    for (std::size_t side = 0; side < 2; ++side) {
      const int body = side == 0 ? a : b;
      if (body < 0) continue;
      sides[side] = {body, unknowns, static_cast<int>(out.rows.size())};
      for (int e = 0; e < 3 * unknowns; ++e) out.rows.push_back(normal(generator));
    }
    out.contacts.push_back(sides);
  }
  out.q.resize(3 * contacts);
  for (double& x : out.q) x = normal(generator);
  for (Eigen::Index i = 0; i < contacts; ++i) out.q[3 * i] -= 0.7;
  out.mu = Eigen::VectorXd::Constant(contacts, mu);
  return out;
}

/// Contacts beside others of the same two bodies, whose rows and free velocities differ by little: sweeps shift the
/// load from one to the other for thousands of sweeps.
inline tresse::friction::FactoredProblem with_near_copies(tresse::friction::FactoredProblem p, double apart,
                                                          unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> near(-apart, apart);
  const auto n = static_cast<std::size_t>(p.mu.size());
  std::vector<double> q(p.q.begin(), p.q.end()), mu(p.mu.begin(), p.mu.end());
  constexpr std::size_t every = 10;
  for (std::size_t i = 0; i < n; i += every) {
    for (int copy = 0; copy < 2; ++copy) {
      auto sides = p.contacts[i];
      for (auto& side : sides) {
        const std::ptrdiff_t from = side.offset;
        side.offset = static_cast<std::ptrdiff_t>(p.rows.size());
        for (int k = 0; side.body >= 0 && k < 3 * side.columns; ++k)
          p.rows.push_back(p.rows[static_cast<std::size_t>(from + k)] * (1.0 + near(random)));
      }
      p.contacts.push_back(sides);
      for (std::size_t k = 0; k < 3; ++k) q.push_back(q[3 * i + k] * (1.0 + near(random)));
      mu.push_back(mu[i]);
    }
  }
  p.q = Eigen::Map<const Eigen::VectorXd>(q.data(), static_cast<Eigen::Index>(q.size()));
  p.mu = Eigen::Map<const Eigen::VectorXd>(mu.data(), static_cast<Eigen::Index>(mu.size()));
  return p;
}

/// W with its zeros.
inline Eigen::MatrixXd dense(const tresse::friction::FrictionProblem& p) {
  Eigen::MatrixXd W = Eigen::MatrixXd::Zero(p.q.size(), p.q.size());
  for (int i = 0; i < p.W.rows; ++i)
    for (int k = p.W.row_begin[static_cast<std::size_t>(i)]; k < p.W.row_begin[static_cast<std::size_t>(i) + 1]; ++k)
      W.block<3, 3>(3 * i, 3 * p.W.column[static_cast<std::size_t>(k)]) = p.W.block[static_cast<std::size_t>(k)];
  return W;
}

/// Largest violation of the law after bringing impulses and velocities to one unit by each contact's mean compliance w
/// (r sqrt(w), u / sqrt(w); 1 where it has none), over the problem's largest norm: a contact that carries 1e-20 of it
/// is judged by that scale, not by its own, in which everything is rounding. u is formed here from the dense matrix.
inline double worst_violation(const Eigen::MatrixXd& W, const Eigen::VectorXd& q, const Eigen::VectorXd& mu,
                              const Eigen::VectorXd& r) {
  const Eigen::VectorXd u = W * r + q;
  double worst = 0.0, qq = 0.0, rr = 0.0, uu = 0.0;
  for (Eigen::Index i = 0; i < mu.size(); ++i) {
    const double compliance = W.block<3, 3>(3 * i, 3 * i).trace() / 3.0;
    const double s = compliance > 0.0 ? std::sqrt(compliance) : 1.0;
    worst = std::max(worst, coulomb_violation(u.segment<3>(3 * i) / s, r.segment<3>(3 * i) * s, mu[i]));
    qq += (q.segment<3>(3 * i) / s).squaredNorm();
    rr += (r.segment<3>(3 * i) * s).squaredNorm();
    uu += (u.segment<3>(3 * i) / s).squaredNorm();
  }
  const double size = std::max({qq, rr, uu});
  return size > 0.0 ? worst / std::sqrt(size) : 0.0;
}

}  // namespace tresse_test
