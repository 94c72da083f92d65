#include <tresse/rods/detail/smoothing_spline.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <tresse/rods/detail/curve_start.hpp>

namespace tresse::rods::detail {
namespace {

using Four = std::array<double, 4>;

/// Cubic B-splines on [0, 1] whose ends are four-fold knots.
class Basis {
 public:
  /// `places`: ascending from 0 to 1, each a knot unless it is too near to the one before, but for the second from
  /// either end: there are no more functions than places.
  explicit Basis(const std::vector<double>& places) : knots_(4, 0.0) {
    const double apart = 0.05 / static_cast<double>(places.size());
    for (std::size_t j = 2; j + 2 < places.size(); ++j) {
      if (places[j] - knots_.back() > apart && 1.0 - places[j] > apart) knots_.push_back(places[j]);
    }
    knots_.insert(knots_.end(), 4, 1.0);
  }

  int stretches() const { return static_cast<int>(knots_.size()) - 7; }
  int size() const { return stretches() + 3; }
  double begin(int stretch) const { return knot(stretch + 3); }
  double width(int stretch) const { return knot(stretch + 4) - knot(stretch + 3); }
  int stretch_of(double u) const {
    const auto after = std::upper_bound(knots_.begin() + 3, knots_.end() - 4, u);
    return std::max(0, static_cast<int>(after - knots_.begin()) - 4);
  }

  /// Of the four functions from `stretch` on.
  Four values(int stretch, double u) const {
    Four out{1.0};
    for (int degree = 1; degree <= 3; ++degree) raise(stretch, u, degree, out);
    return out;
  }
  Four slopes(int stretch, double u) const {
    Four square{1.0};
    for (int degree = 1; degree <= 2; ++degree) raise(stretch, u, degree, square);
    return lowered(stretch, 3, {square[0], square[1], square[2], 0.0});
  }
  /// Constant on a stretch.
  Four third_derivatives(int stretch) const {
    return lowered(stretch, 3, lowered(stretch, 2, lowered(stretch, 1, {1.0})));
  }

 private:
  double knot(int i) const { return knots_[static_cast<std::size_t>(i)]; }

  /// From the functions of one degree less, those of `degree`.
  void raise(int stretch, double u, int degree, Four& b) const {
    double carried = 0.0;
    for (int k = 0; k < degree; ++k) {
      const double from = knot(stretch + 4 + k - degree), to = knot(stretch + 4 + k);
      const auto i = static_cast<std::size_t>(k);
      const double share = b[i] / (to - from);
      b[i] = carried + (to - u) * share;
      carried = (u - from) * share;
    }
    b[static_cast<std::size_t>(degree)] = carried;
  }

  /// What coefficients of `degree` give, by what those of the derivative, one degree less, give.
  Four lowered(int stretch, int degree, const Four& of_derivative) const {
    Four out{};
    for (int k = 0; k < degree; ++k) {
      const double from = knot(stretch + 4 + k - degree), to = knot(stretch + 4 + k);
      const auto i = static_cast<std::size_t>(k);
      const double weight = degree / (to - from) * of_derivative[i];
      out[i] -= weight;
      out[i + 1] += weight;
    }
    return out;
  }

  std::vector<double> knots_;
};

/// Least squares of rows with four neighbouring entries, by rotations as they come in order of their first entries.
class RowFactor {
 public:
  explicit RowFactor(int size) : rows_(static_cast<std::size_t>(size), Four{}), right_(3, size) { right_.setZero(); }

  void add(int first, Four row, Vector3 right) {
    const int size = static_cast<int>(rows_.size());
    for (int i = first; i < std::min(first + 4, size); ++i) {
      if (row[0] != 0.0) {
        Four& own = rows_[static_cast<std::size_t>(i)];
        const double length = std::sqrt(own[0] * own[0] + row[0] * row[0]);
        const double c = own[0] / length, s = row[0] / length;
        for (std::size_t k = 0; k < 4; ++k) {
          const double before = own[k];
          own[k] = c * before + s * row[k];
          row[k] = c * row[k] - s * before;
        }
        const Vector3 before = right_.col(i);
        right_.col(i) = c * before + s * right;
        right = c * right - s * before;
      }
      std::rotate(row.begin(), row.begin() + 1, row.end());
    }
    misfit_ += right.squaredNorm();
  }

  double misfit() const { return misfit_; }
  double log_determinant() const {
    double out = 0.0;
    for (const Four& row : rows_) out += std::log(row[0] * row[0]);
    return out;
  }
  /// Variance of four neighbouring entries of the solution times `weights`, for a variance of one of the rows.
  double variance(int first, const Four& weights) const {
    constexpr double little = 1e-4;
    std::vector<double> x(rows_.size() + 3, 0.0);
    std::copy(weights.begin(), weights.end(), x.begin() + first);
    double out = 0.0;
    for (std::size_t i = static_cast<std::size_t>(first); i < rows_.size(); ++i) {
      x[i] /= rows_[i][0];
      for (std::size_t k = 1; k < 4; ++k) x[i + k] -= rows_[i][k] * x[i];
      out += x[i] * x[i];
      const double left = x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2] + x[i + 3] * x[i + 3];
      const double next = i + 1 < rows_.size() ? rows_[i + 1][0] : 1.0;
      if (i > static_cast<std::size_t>(first) + 3 && left < little * out * next * next) break;
    }
    return out;
  }
  Matrix3X solution() const {
    Matrix3X out = right_;
    for (Eigen::Index i = out.cols() - 1; i >= 0; --i) {
      const Four& row = rows_[static_cast<std::size_t>(i)];
      for (Eigen::Index k = 1; k < 4 && i + k < out.cols(); ++k)
        out.col(i) -= row[static_cast<std::size_t>(k)] * out.col(i + k);
      out.col(i) /= row[0];
    }
    return out;
  }

 private:
  std::vector<Four> rows_;
  Matrix3X right_;
  double misfit_ = 0.0;
};

class Smoother {
 public:
  Smoother(std::span<const Vector3> points, const std::vector<double>& at) : points_(points), basis_(at) {
    for (const double u : at) {
      first_.push_back(basis_.stretch_of(u));
      rows_.push_back(basis_.values(first_.back(), u));
    }
    for (int i = 0; i < basis_.stretches(); ++i) {
      Four row = basis_.third_derivatives(i);
      for (double& x : row) x *= std::sqrt(basis_.width(i));
      rough_.push_back(row);
    }
    double data = 0.0, rough = 0.0;
    for (const Four& row : rows_) data += square(row);
    for (const Four& row : rough_) rough += square(row);
    scale_ = std::sqrt(data / rough);
  }

  const Basis& basis() const { return basis_; }

  /// At a lambda of 10^x relative to the size of the two sums.
  RowFactor at(double x) const {
    RowFactor out(basis_.size());
    const double weight = scale_ * std::pow(10.0, 0.5 * x);
    std::size_t j = 0;
    for (int i = 0; i < basis_.stretches(); ++i) {
      for (; j < rows_.size() && first_[j] == i; ++j) out.add(i, rows_[j], points_[j]);
      Four row = rough_[static_cast<std::size_t>(i)];
      for (double& entry : row) entry *= weight;
      out.add(i, row, Vector3::Zero());
    }
    return out;
  }

  /// -2 log of the evidence in a coordinate, but for a constant; the coordinates have the same noise.
  double improbability(double x) const {
    const RowFactor factor = at(x);
    const double free = static_cast<double>(points_.size()) - 3.0;
    return free * std::log(std::max(factor.misfit(), smallest)) + factor.log_determinant() -
           basis_.stretches() * x * std::log(10.0);
  }

  double best() const {
    constexpr double least = -9.0, most = 15.0, stride = 3.0;
    double out = least, value = improbability(least);
    for (double x = least + stride; x <= most; x += stride) {
      if (const double other = improbability(x); other < value) {
        out = x;
        value = other;
      }
    }
    for (double step = 0.5 * stride; step > 0.3; step *= 0.5) {
      for (const double x : {out - step, out + step}) {
        if (const double other = improbability(x); other < value) {
          out = x;
          value = other;
          break;
        }
      }
    }
    return out;
  }

 private:
  static constexpr double smallest = 1e-300;
  static double square(const Four& row) {
    return row[0] * row[0] + row[1] * row[1] + row[2] * row[2] + row[3] * row[3];
  }

  std::span<const Vector3> points_;
  Basis basis_;
  std::vector<int> first_;  ///< (n) the stretches of the points
  std::vector<Four> rows_, rough_;
  double scale_ = 1.0;
};

Vector3 combined(const Matrix3X& spline, int first, const Four& weights) {
  Vector3 out = Vector3::Zero();
  for (int k = 0; k < 4; ++k) out += weights[static_cast<std::size_t>(k)] * spline.col(first + k);
  return out;
}

}  // namespace

SmoothCurve smoothing_spline(std::span<const Vector3> points) {
  if (points.size() == 2) {
    const Vector3 third = (points[1] - points[0]) / 3.0;
    return {{{{points[0], points[0] + third, points[1] - third, points[1]}}}, {0.0, 0.0}};
  }
  // About zero, so that coordinates far from it cost nothing.
  std::vector<Vector3> row;
  for (const Vector3& point : points) row.emplace_back(point - points.front());
  const Smoother smoother(row, places_of(bends_of(points)));
  const RowFactor factor = smoother.at(points.size() == 3 ? 0.0 : smoother.best());
  const Matrix3X spline = factor.solution();
  const Basis& basis = smoother.basis();
  const double freedoms = 3.0 * std::max(static_cast<double>(points.size()) - 3.0, 1.0);
  const double noise = std::sqrt(factor.misfit() / freedoms);
  SmoothCurve out;
  for (int i = 0; i < basis.stretches(); ++i) {
    const double from = basis.begin(i), third = basis.width(i) / 3.0, to = from + basis.width(i);
    const Four slopes = basis.slopes(i, from), last = basis.slopes(i, to);
    const Vector3 begin = points.front() + combined(spline, i, basis.values(i, from));
    const Vector3 end = points.front() + combined(spline, i, basis.values(i, to));
    const Vector3 slope = combined(spline, i, slopes), last_slope = combined(spline, i, last);
    out.pieces.push_back({{begin, begin + third * slope, end - third * last_slope, end}});
    out.wobble.push_back(noise * std::sqrt(factor.variance(i, slopes)) / slope.norm());
    if (i + 1 == basis.stretches())
      out.wobble.push_back(noise * std::sqrt(factor.variance(i, last)) / last_slope.norm());
  }
  return out;
}

}  // namespace tresse::rods::detail
