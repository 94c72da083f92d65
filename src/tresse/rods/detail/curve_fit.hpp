#pragma once

#include <optional>
#include <span>
#include <vector>

#include <tresse/base/types.hpp>

// Least squares of rods::fit_curve() for given elements. All lengths are in units of the polyline's.
namespace tresse::rods::detail {

/// A curve of elements; x = s / length.
struct CurveShape {
  Pose root;
  double length = 1.0;
  VectorX turn;  ///< q = length * curvature, (3 elements) or (3 (elements + 1)) [rad]
};

/// Shape and prior of a chain of elements.
struct CurveModel {
  bool affine = false;
  std::vector<double> parts;  ///< of the elements in x

  int elements() const { return static_cast<int>(parts.size()); }
  int turns() const { return elements() + (affine ? 1 : 0); }  ///< triplets of q
  CurveModel first(int elements) const;
};

/// A place on a curve that goes from the root to the tip.
class CurveWalk {
 public:
  /// Both must outlive the walk.
  CurveWalk(const CurveModel& model, const CurveShape& shape) : model_(&model), shape_(&shape), pose_(shape.root) {}

  double x() const { return x_; }
  int element() const { return element_; }
  const Pose& pose() const { return pose_; }
  Vector3 turn() const;  ///< q here
  /// Of x in the element. [0, 1]
  double part() const;
  /// End of the element; infinite for the last.
  double element_end() const;
  /// To a place that is not behind; those beyond the last element are on its continuation.
  void advance(double x);

 private:
  Vector3 slope() const;
  void advance_within(double x);

  const CurveModel* model_;
  const CurveShape* shape_;
  Pose pose_;
  double x_ = 0.0, begin_ = 0.0;
  int element_ = 0;
};

/// A curve near points, and what is known of how near.
struct CurveState {
  CurveShape shape;
  std::vector<double> at;  ///< x of each point's foot
  Matrix3X error;          ///< (3, points) point - r(at)
  Matrix3X tangent;        ///< (3, points)
  double misfit = 0.0;     ///< sum of squares of `error`
  double roughness = 0.0;  ///< q^T P q

  double objective(double mu) const { return misfit + mu * roughness; }
};

/// What no step goes beyond, so that curves do not wander between points.
struct CurveBounds {
  double curvature = 0.0;
  double length = 0.0;
};

struct Distances {
  double largest = 0.0;
  double mean = 0.0;
};
Distances distances(const CurveState& state);

class CurveFit {
 public:
  /// What moves.
  enum class Freedom { last_turn, open_end, all };

  /// `at`: x of the points.
  CurveFit(std::span<const Vector3> points, CurveModel model, std::vector<double> at, const CurveBounds& bounds);

  void start(CurveShape shape);
  /// Points have their feet from now on; before, they stay at the x that was given.
  void find_feet();
  /// Steps at constant mu until the objective falls by less than `enough` of itself; at most `steps`.
  void descend(Freedom freedom, int steps, double enough);
  /// Alternates descend() and re-estimates of mu. Whether both came to rest; gives up once a point stays farther than
  /// `hopeless`.
  bool settle(int steps, double hopeless);

  const CurveState& state() const { return state_; }
  double mu() const { return mu_; }
  void set_mu(double mu) { mu_ = mu; }
  /// -2 log of the evidence, but for a constant; of settled states.
  double improbability() const { return improbability_; }

 private:
  void evaluate(CurveState& state) const;
  double roughness(const VectorX& turn) const;
  void gather(Freedom freedom, MatrixX& normal, VectorX& gradient) const;
  CurveShape moved(const VectorX& change, Freedom freedom) const;
  std::optional<CurveState> tried(const VectorX& change, Freedom freedom) const;
  bool step(Freedom freedom);
  void estimate();
  int first_unknown(Freedom freedom) const;

  std::span<const Vector3> points_;
  CurveModel model_;
  CurveBounds bounds_;
  VectorX prior_;           ///< diagonal of P, by triplet
  VectorX prior_beside_;    ///< beside the diagonal
  double prior_log_ = 0.0;  ///< log det P
  CurveState state_;
  bool feet_ = false;
  double mu_ = 0.0;
  double damping_ = 0.0;
  double improbability_ = 0.0;
};

}  // namespace tresse::rods::detail
