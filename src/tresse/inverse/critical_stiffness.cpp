#include <tresse/inverse/critical_stiffness.hpp>

#include <algorithm>
#include <memory>

#include <Eigen/Eigenvalues>

#include <tresse/base/errors.hpp>
#include <tresse/inverse/rest_shape.hpp>

namespace tresse::inverse {

CriticalStiffness critical_stiffness(const rods::Rod& rod, const Vector3& gravity) {
  require(rod.root_condition() == rods::RootCondition::clamped,
          "inverse: critical stiffness of a root that is not clamped; expected a clamped one");
  const RestingRod resting = resting_rod(rod, {.gravity = gravity});
  std::unique_ptr<rods::Rod> at = resting.model->make_rod();
  at->update(rod.state());
  const Eigen::Index n = at->coordinate_count();
  MatrixX hessian(n, n), elastic(n, n);
  at->potential_hessian(gravity, hessian);
  at->elastic_metric(elastic);
  const MatrixX rest = hessian - elastic;
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX> both(rest, elastic);
  const double least_rest = Eigen::SelfAdjointEigenSolver<MatrixX>(rest, Eigen::EigenvaluesOnly).eigenvalues()[0];
  const double least_elastic = Eigen::SelfAdjointEigenSolver<MatrixX>(elastic, Eigen::EigenvaluesOnly).eigenvalues()[0];
  return {.scale = std::max(0.0, -both.eigenvalues()[0]),
          .sufficient = std::max(0.0, -least_rest / least_elastic),
          .mode = both.eigenvectors().col(0)};
}

}  // namespace tresse::inverse
