#pragma once

#include <utility>

#include <tresse/base/types.hpp>

namespace tresse::assembly {

/// What two bodies do to each other where they touch. A world has one law.
class ContactLaw {
 public:
  virtual ~ContactLaw() = default;

  /// The cone that holds the force of a contact between two materials, by its slope: the tangential force is at most so
  /// many times the normal one. Symmetric; >= 0 [-]
  virtual double friction(int material_a, int material_b) const = 0;
  /// The same of what slides, at most friction(). Symmetric; >= 0 [-]
  virtual double kinetic_friction(int material_a, int material_b) const = 0;
  /// Speed at which they part after an impact, of that at which they met. Symmetric; 0 to 1 [-]
  virtual double restitution(int material_a, int material_b) const = 0;

 protected:
  ContactLaw() = default;
  ContactLaw(const ContactLaw&) = default;
  ContactLaw& operator=(const ContactLaw&) = default;
  ContactLaw(ContactLaw&&) = default;
  ContactLaw& operator=(ContactLaw&&) = default;
};

/// Coulomb's law, exactly: bertails2018hdr eq. (3.3); and Newton's of impacts: docs/theory/friction_kinds.md.
class Coulomb final : public ContactLaw {
 public:
  /// Coefficients by pair of materials, symmetric (materials, materials) [-]. Without `restitution` nothing bounces,
  /// without `kinetic` what slides has the friction of what sticks.
  explicit Coulomb(MatrixX friction, MatrixX restitution = {}, MatrixX kinetic = {})
      : friction_(std::move(friction)), restitution_(std::move(restitution)), kinetic_(std::move(kinetic)) {}
  double friction(int material_a, int material_b) const override { return friction_(material_a, material_b); }
  double kinetic_friction(int material_a, int material_b) const override {
    return kinetic_.size() == 0 ? friction_(material_a, material_b) : kinetic_(material_a, material_b);
  }
  double restitution(int material_a, int material_b) const override {
    return restitution_.size() == 0 ? 0.0 : restitution_(material_a, material_b);
  }

 private:
  MatrixX friction_;
  MatrixX restitution_;
  MatrixX kinetic_;
};

}  // namespace tresse::assembly
