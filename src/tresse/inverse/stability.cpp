#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include <Eigen/Cholesky>

#include <tresse/inverse/detail/touching_fibres.hpp>
#include <tresse/inverse/fibre_system.hpp>

namespace tresse::inverse {
namespace {

using detail::FibrePart;
using detail::for_each_fibre;
using detail::TouchingFibres;

/// Minus the derivative of all forces on a rod in its unknowns, measured as a system has them.
MatrixX measured_hessian(const rods::Rod& rod, const VectorX& rest, const Loads& loads, const FibrePart& part) {
  constexpr double turn = 1e-5;  // of a root, and of a rod from end to end [rad]
  const auto moved = rod.clone();
  moved->set_rest_curvature(rest);
  const rods::RodState& still = rod.state();
  MatrixX out(rod.dof(), rod.dof());
  VectorX motion = VectorX::Zero(rod.dof()), elastic(rod.dof());
  const auto forces = [&](Eigen::Index k, double step) {
    motion[k] = step;
    moved->update(moved->advanced(still, motion, 1.0, still.root, {}));
    motion[k] = 0.0;
    moved->elastic_force(elastic);
    return VectorX(generalised_load(*moved, loads) + elastic);
  };
  for (Eigen::Index k = 0; k < rod.dof(); ++k) {
    const bool moves = part.root > 0 && k < 3;
    const double step = moves ? turn * rod.length() : (k < part.root ? turn : turn / rod.length());
    out.col(k) = (forces(k, -step) - forces(k, step)) / (2.0 * step);
  }
  out = (0.5 * (out + out.transpose())).eval();
  const Eigen::Index own = rod.coordinate_count();
  const auto measure_rows = [&](MatrixX& matrix) {
    for (Eigen::Index k = 0; k < part.root; ++k) matrix.row(k) *= part.root_scale[k];
    MatrixX lower = matrix.bottomRows(own);
    part.stiffness.whiten(lower);
    matrix.bottomRows(own) = lower;
  };
  measure_rows(out);
  MatrixX turned = out.transpose();
  measure_rows(turned);
  return turned;
}

constexpr double springs = 1e6;  // of loaded contacts, of the mean stiffness of contacts

/// Hessians of single fibres, tied by stiff springs where they touch.
struct Tied {
  const TouchingFibres& fibres;
  const std::vector<MatrixX>& blocks;
  double spring = 0.0;
  std::vector<std::vector<int>> contacts;  ///< (fibres)
};

std::vector<std::vector<int>> contacts_by_fibre(const friction::FactoredProblem& rows) {
  std::vector<std::vector<int>> out(rows.body_begin.size() - 1);
  for (std::size_t i = 0; i < rows.contacts.size(); ++i) {
    for (const friction::ContactRows& side : rows.contacts[i])
      if (side.body >= 0) out[static_cast<std::size_t>(side.body)].push_back(static_cast<int>(i));
  }
  return out;
}

/// Some fibres, ascending, and whether their Hessian is known to be positive definite.
struct Cluster {
  std::vector<int> fibres;
  bool stable = false;
};

/// With the springs between these fibres and those to obstacles alone; springs to other fibres can only add.
bool is_definite(const Tied& tied, const std::vector<int>& fibres) {
  const friction::FactoredProblem& rows = tied.fibres.rows;
  std::vector<int> begin{0};
  for (const int f : fibres)
    begin.push_back(begin.back() + static_cast<int>(tied.blocks[static_cast<std::size_t>(f)].rows()));
  MatrixX whole = MatrixX::Zero(begin.back(), begin.back());
  const auto place = [&](int f) {
    const auto found = std::ranges::lower_bound(fibres, f);
    return found != fibres.end() && *found == f ? static_cast<int>(found - fibres.begin()) : -1;
  };
  std::vector<int> inside;
  for (std::size_t k = 0; k < fibres.size(); ++k) {
    const auto f = static_cast<std::size_t>(fibres[k]);
    whole.block(begin[k], begin[k], tied.blocks[f].rows(), tied.blocks[f].cols()) = tied.blocks[f];
    for (const int i : tied.contacts[f]) {
      const auto& pair = rows.contacts[static_cast<std::size_t>(i)];
      const bool all =
          std::ranges::all_of(pair, [&](const auto& side) { return side.body < 0 || place(side.body) >= 0; });
      if (all) inside.push_back(i);
    }
  }
  std::ranges::sort(inside);
  inside.erase(std::unique(inside.begin(), inside.end()), inside.end());
  for (const int i : inside) {
    const auto& pair = rows.contacts[static_cast<std::size_t>(i)];
    for (const friction::ContactRows& a : pair) {
      for (const friction::ContactRows& b : pair) {
        if (a.body < 0 || b.body < 0) continue;
        whole.block(begin[static_cast<std::size_t>(place(a.body))], begin[static_cast<std::size_t>(place(b.body))],
                    a.columns, b.columns) += tied.spring * (rows_of(rows, a).transpose() * rows_of(rows, b));
      }
    }
  }
  return Eigen::LLT<MatrixX>(whole).info() == Eigen::Success;
}

/// Adds the fibres that these touch.
std::vector<int> grown(const Tied& tied, const std::vector<int>& fibres) {
  std::vector<int> out = fibres;
  for (const int f : fibres) {
    for (const int i : tied.contacts[static_cast<std::size_t>(f)]) {
      for (const friction::ContactRows& side : tied.fibres.rows.contacts[static_cast<std::size_t>(i)])
        if (side.body >= 0) out.push_back(side.body);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Clusters that share fibres become one.
void merge(std::vector<Cluster>& clusters, std::size_t fibre_count) {
  std::vector<int> owner(fibre_count, -1);
  for (std::size_t k = 0; k < clusters.size(); ++k) {
    std::vector<int> own = clusters[k].fibres;
    for (std::size_t n = 0; n < own.size(); ++n) {
      int& other = owner[static_cast<std::size_t>(own[n])];
      if (other >= 0 && other != static_cast<int>(k)) {
        Cluster& taken = clusters[static_cast<std::size_t>(other)];
        for (const int f : taken.fibres) {
          owner[static_cast<std::size_t>(f)] = static_cast<int>(k);
          own.push_back(f);
        }
        taken.fibres.clear();
        clusters[k].stable = false;
      }
      owner[static_cast<std::size_t>(own[n])] = static_cast<int>(k);
    }
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
    clusters[k].fibres = std::move(own);
  }
  std::erase_if(clusters, [](const Cluster& cluster) { return cluster.fibres.empty(); });
}

/// No direction of negative curvature is met by conjugate gradients.
bool seems_definite(const Tied& tied) {
  FibreSystem matrix(tied.fibres.rows, tied.blocks);
  if (!matrix.factor(std::vector<Matrix3>(tied.fibres.rows.contacts.size(), tied.spring * Matrix3::Identity())))
    return false;
  std::mt19937 random(1);
  VectorX b(tied.fibres.rows.body_begin.back());
  for (double& x : b) x = static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 0.5;
  constexpr double tolerance = 1e-6;
  constexpr int most = 3000;
  return matrix.solve(b, tolerance, most).positive;
}

/// Those of `fibres` that are not stable alone.
std::vector<int> weak(const std::vector<int>& fibres, const std::vector<char>& alone) {
  std::vector<int> out;
  std::ranges::copy_if(fibres, std::back_inserter(out), [&](int f) { return alone[static_cast<std::size_t>(f)] == 0; });
  return out;
}

/// Fibres that are stable by themselves stay so with springs. The others are looked at with those that they touch,
/// and with those that these touch, until together they are stable. Such clusters share no fibre, and springs between
/// them only add: then all is stable. Where a cluster touches no others any more, or is too large to be looked at by
/// itself, those of its fibres that are not stable alone are left.
std::vector<int> not_definite(const Tied& tied) {
  constexpr int most = 3000;  // unknowns of a cluster
  std::vector<char> alone(tied.blocks.size(), 0);
  for_each_fibre(alone.size(), [&](std::size_t f) {
    alone[f] = Eigen::LLT<MatrixX>(tied.blocks[f]).info() == Eigen::Success ? 1 : 0;
  });
  std::vector<Cluster> clusters;
  for (std::size_t f = 0; f < alone.size(); ++f)
    if (alone[f] == 0) clusters.push_back({.fibres = {static_cast<int>(f)}});
  const auto unknowns = [&](const std::vector<int>& fibres) {
    Eigen::Index out = 0;
    for (const int f : fibres) out += tied.blocks[static_cast<std::size_t>(f)].rows();
    return out;
  };
  std::vector<int> left;
  for (;;) {
    bool all = true;
    for (Cluster& cluster : clusters) {
      if (cluster.stable) continue;
      if (unknowns(cluster.fibres) > most) {
        if (seems_definite(tied)) return left;
        for (const Cluster& open : clusters) {
          const std::vector<int> more = open.stable ? std::vector<int>() : weak(open.fibres, alone);
          left.insert(left.end(), more.begin(), more.end());
        }
        return left;
      }
      cluster.stable = is_definite(tied, cluster.fibres);
      if (cluster.stable) continue;
      std::vector<int> more = grown(tied, cluster.fibres);
      if (more.size() == cluster.fibres.size()) {
        const std::vector<int> those = weak(cluster.fibres, alone);
        left.insert(left.end(), those.begin(), those.end());
        cluster.fibres.clear();
        cluster.stable = true;  // nothing more is to be found out
        continue;
      }
      all = false;
      cluster.fibres = std::move(more);
    }
    if (all) return left;
    merge(clusters, alone.size());
  }
}

}  // namespace

std::vector<int> unstable_fibres(const assembly::Kinematics& at, const contact::Geometry& geometry,
                                 const std::vector<contact::Contact>& contacts, const RestingAssembly& found) {
  std::vector<contact::Contact> loaded;
  std::vector<Vector3> forces;
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    if (found.forces[i].isZero(0.0)) continue;
    loaded.push_back(contacts[i]);
    forces.push_back(found.forces[i]);
  }
  TouchingFibres fibres = detail::touching_fibres(at, geometry, loaded, {});
  detail::scale_roots(at, 1.0, fibres);
  const std::vector<Loads> loads = detail::loads_of(at, geometry, loaded, forces);
  std::vector<MatrixX> blocks(loads.size());
  constexpr double nothing = 1e-7;  // more than what differences leave of a motion that costs nothing
  for_each_fibre(blocks.size(), [&](std::size_t f) {
    blocks[f] = measured_hessian(at.rod(static_cast<int>(f)), found.rest[f], loads[f], fibres.parts[f]);
    blocks[f].diagonal().array() += nothing;
  });
  const double spring = loaded.empty() ? 0.0 : springs / fibres.mean_diagonal;
  std::vector<int> out =
      not_definite({.fibres = fibres, .blocks = blocks, .spring = spring, .contacts = contacts_by_fibre(fibres.rows)});
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());  // several clusters may have grown into the same one
  return out;
}

}  // namespace tresse::inverse
