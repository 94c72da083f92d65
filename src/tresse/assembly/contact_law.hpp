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

 protected:
  ContactLaw() = default;
  ContactLaw(const ContactLaw&) = default;
  ContactLaw& operator=(const ContactLaw&) = default;
  ContactLaw(ContactLaw&&) = default;
  ContactLaw& operator=(ContactLaw&&) = default;
};

/// Coulomb's law, exactly: bertails2018hdr eq. (3.3).
class Coulomb final : public ContactLaw {
 public:
  /// `friction`: coefficient by pair of materials, symmetric (materials, materials) [-].
  explicit Coulomb(MatrixX friction) : friction_(std::move(friction)) {}
  double friction(int material_a, int material_b) const override { return friction_(material_a, material_b); }

 private:
  MatrixX friction_;
};

}  // namespace tresse::assembly
