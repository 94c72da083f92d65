#pragma once

#include <algorithm>
#include <vector>

#include <tresse/base/status.hpp>
#include <tresse/statics/detail/contact_model.hpp>

namespace tresse::statics::detail {

struct Balance {
  double force = 0.0;  ///< |gradient - contact forces| / scale [-]
  double gap = 0.0;    ///< largest |gap| of a touch with a force, or overlap, over the longest fibre [-]
  double floor = 0.0;  ///< what roundings of the coordinates make of `force` [-]
  double residual() const { return std::max(force, gap); }
};

struct ContactNewtonResult {
  Status status = Status::max_iterations;
  int iterations = 0;
  double overlap = 0.0;  ///< [m]
};

/// Sequential quadratic programming on the shapes that do not overlap, from where the model is.
class ContactNewton {
 public:
  ContactNewton(ContactModel& model, const EquilibriumOptions& options, double margin)
      : model_(model), options_(options), margin_(margin) {}

  ContactNewtonResult minimise();
  Balance balance(double overlap) const;
  /// The largest of the forces that balance, in the K^-1 norm. [sqrt J]
  double scale() const;

 private:
  struct Step {
    VectorX direction;
    VectorX force;       ///< (touches)
    double slope = 0.0;  ///< of the merit along it, <= 0 [J]
  };
  /// Where a line search starts.
  struct Origin {
    std::vector<rods::RodState> states;
    std::vector<Touch> touches;
    std::vector<TouchPlace> places;  ///< of the touches
    double overlap = 0.0;
    double residual = 0.0;
  };
  Step quadratic_step(const MatrixX& hessian, const VectorX& gradient, const MatrixX& rows, const VectorX& gaps) const;
  MatrixX definite(MatrixX hessian, VectorX& gradient, const MatrixX& rows, const VectorX& gaps) const;
  VectorX free_reach(const MatrixX& hessian, const VectorX& gradient) const;
  bool line_search(const MatrixX& hessian, double overlap, const VectorX& reach);
  bool passed_through(const Origin& origin) const;
  bool accept(const Origin& origin, const Step& step, double length);
  void set_forces(const VectorX& force);
  void tidy();
  VectorX no_reach() const { return VectorX::Zero(static_cast<Eigen::Index>(model_.potentials().size())); }

  ContactModel& model_;
  EquilibriumOptions options_;
  double margin_;
  double weight_ = 0.0;  ///< of the overlap in the merit [N]
};

}  // namespace tresse::statics::detail
