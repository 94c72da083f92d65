#include <tresse/math/gmres.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include <Eigen/Jacobi>

namespace tresse::math {

GmresResult gmres(const std::function<void(const VectorX&, VectorX&)>& apply, const VectorX& b, double tolerance,
                  int max_iterations, VectorX& x) {
  const Eigen::Index n = b.size();
  const Eigen::Index most = std::min<Eigen::Index>(max_iterations, n);
  x.setZero(n);
  const double size = b.norm();
  if (!(size > 0.0) || most < 1) return {0, size > 0.0 ? 1.0 : 0.0};
  MatrixX basis(n, most + 1);                          // orthonormal
  MatrixX hessenberg = MatrixX::Zero(most + 1, most);  // of A in it, made triangular by the rotations
  VectorX rhs = VectorX::Zero(most + 1);
  std::vector<Eigen::JacobiRotation<double>> rotations;
  basis.col(0) = b / size;
  rhs[0] = size;
  GmresResult result;
  VectorX next;
  Eigen::Index k = 0;
  bool exhausted = false;  // the space holds the solution
  while (k < most && !exhausted) {
    apply(basis.col(k), next);
    const double before = next.norm();
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough for orthogonality to rounding
      const VectorX along = basis.leftCols(k + 1).transpose() * next;
      next.noalias() -= basis.leftCols(k + 1) * along;
      hessenberg.col(k).head(k + 1) += along;
    }
    const double left = next.norm();
    constexpr double rounding = 1e-15;
    exhausted = left <= rounding * before;
    hessenberg(k + 1, k) = exhausted ? 0.0 : left;
    if (!exhausted) basis.col(k + 1) = next / left;
    for (Eigen::Index i = 0; i < k; ++i) hessenberg.col(k).applyOnTheLeft(i, i + 1, rotations[i].adjoint());
    Eigen::JacobiRotation<double> rotation;
    rotation.makeGivens(hessenberg(k, k), hessenberg(k + 1, k));
    rotations.push_back(rotation);
    hessenberg.col(k).applyOnTheLeft(k, k + 1, rotation.adjoint());
    rhs.applyOnTheLeft(k, k + 1, rotation.adjoint());
    ++k;
    result = {static_cast<int>(k), std::abs(rhs[k]) / size};
    if (result.residual <= tolerance) break;
  }
  x.noalias() = basis.leftCols(k) * hessenberg.topLeftCorner(k, k).triangularView<Eigen::Upper>().solve(rhs.head(k));
  return result;
}

}  // namespace tresse::math
