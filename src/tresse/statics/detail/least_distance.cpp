#include <tresse/statics/detail/least_distance.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <tresse/math/dense_qr.hpp>

namespace tresse::statics::detail {
namespace {

/// The active rows as columns, and their factor.
class ActiveSet {
 public:
  ActiveSet(const MatrixX& G, const VectorX& h) : G_(G), h_(h) {}

  const std::vector<Eigen::Index>& rows() const { return rows_; }
  bool holds(Eigen::Index row) const { return std::find(rows_.begin(), rows_.end(), row) != rows_.end(); }
  void add(Eigen::Index row) {
    rows_.push_back(row);
    factor();
  }
  void drop(std::size_t place) {
    rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(place));
    factor();
  }
  /// Splits `normal` into what the active rows span, N r, and the rest z.
  void split(const VectorX& normal, VectorX& z, VectorX& r) const {
    const auto count = static_cast<Eigen::Index>(rows_.size());
    if (count == 0) {
      z = normal;
      r.resize(0);
      return;
    }
    VectorX head = (q_.transpose() * normal).eval();
    z = normal - q_ * head;
    const VectorX again = q_.transpose() * z;  // once more, for full precision where little is left
    z -= q_ * again;
    head += again;
    r = upper_.topLeftCorner(count, count).triangularView<Eigen::Upper>().solve(head);
  }
  /// The point of least norm on all active rows, and its multipliers.
  void solve(VectorX& y, VectorX& multiplier) const {
    const auto count = static_cast<Eigen::Index>(rows_.size());
    VectorX wanted(count);
    for (Eigen::Index k = 0; k < count; ++k) wanted[k] = h_[rows_[static_cast<std::size_t>(k)]];
    const auto upper = upper_.topLeftCorner(count, count).triangularView<Eigen::Upper>();
    const VectorX along = upper.transpose().solve(wanted);
    y = q_ * along;
    multiplier = upper.solve(along);
  }

 private:
  void factor() {
    const auto count = static_cast<Eigen::Index>(rows_.size());
    if (count == 0) return;
    MatrixX columns(G_.cols(), count);
    for (Eigen::Index k = 0; k < count; ++k) columns.col(k) = G_.row(rows_[static_cast<std::size_t>(k)]).transpose();
    math::ThinQr qr = math::thin_qr(columns);
    q_ = std::move(qr.q);
    upper_ = std::move(qr.r);
  }

  const MatrixX& G_;
  const VectorX& h_;
  std::vector<Eigen::Index> rows_;
  MatrixX q_;
  MatrixX upper_;
};

/// The row that y violates most, counted in distance; -1: none beyond rounding.
Eigen::Index most_violated(const MatrixX& G, const VectorX& h, const VectorX& y, const ActiveSet& active) {
  constexpr double rounding = 1e-13;
  Eigen::Index worst = -1;
  double most = 0.0;
  for (Eigen::Index i = 0; i < G.rows(); ++i) {
    if (active.holds(i)) continue;
    const double size = std::max(G.row(i).norm(), 1e-300);
    const double missing = (h[i] - G.row(i).dot(y)) / size;
    if (missing <= rounding * (std::abs(h[i]) / size + y.norm())) continue;
    if (missing > most) {
      most = missing;
      worst = i;
    }
  }
  return worst;
}

}  // namespace

LeastDistance least_distance(const MatrixX& G, const VectorX& h) {
  constexpr double dependent = 1e-9;  // part of a normal that the active ones do not span
  LeastDistance out;
  out.point = VectorX::Zero(G.cols());
  out.multiplier = VectorX::Zero(G.rows());
  ActiveSet active(G, h);
  VectorX z;
  VectorX r;
  const Eigen::Index limit = 50 * (G.rows() + G.cols()) + 100;
  Eigen::Index entering = -1;
  double dual = 0.0;  // multiplier of the entering row
  for (Eigen::Index turn = 0; turn < limit; ++turn) {
    if (entering < 0) {
      entering = most_violated(G, h, out.point, active);
      dual = 0.0;
    }
    if (entering < 0) {
      out.feasible = true;
      break;
    }
    const VectorX normal = G.row(entering).transpose();
    active.split(normal, z, r);
    double partial = std::numeric_limits<double>::infinity();
    std::size_t leaving = 0;
    for (std::size_t k = 0; k < active.rows().size(); ++k) {
      const double rate = r[static_cast<Eigen::Index>(k)];
      const double ratio = rate > 0.0 ? out.multiplier[active.rows()[k]] / rate : partial;
      if (ratio >= partial) continue;
      partial = ratio;
      leaving = k;
    }
    const bool spanned =
        z.norm() <= dependent * normal.norm() || static_cast<Eigen::Index>(active.rows().size()) == G.cols();
    const double full =
        spanned ? std::numeric_limits<double>::infinity() : (h[entering] - normal.dot(out.point)) / z.squaredNorm();
    const double length = std::min(partial, full);
    if (!std::isfinite(length)) return out;  // a conflict
    for (std::size_t k = 0; k < active.rows().size(); ++k) {
      double& multiplier = out.multiplier[active.rows()[k]];
      multiplier = std::max(0.0, multiplier - length * r[static_cast<Eigen::Index>(k)]);
    }
    dual += length;
    if (!spanned) out.point += length * z;
    if (partial < full) {
      out.multiplier[active.rows()[leaving]] = 0.0;
      active.drop(leaving);
      continue;
    }
    out.multiplier[entering] = dual;
    active.add(entering);
    entering = -1;
  }
  if (!out.feasible || active.rows().empty()) return out;
  VectorX last;
  active.solve(out.point, last);  // free of what the steps piled up
  for (std::size_t k = 0; k < active.rows().size(); ++k)
    out.multiplier[active.rows()[k]] = std::max(0.0, last[static_cast<Eigen::Index>(k)]);
  return out;
}

}  // namespace tresse::statics::detail
