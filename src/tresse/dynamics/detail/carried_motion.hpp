#pragma once

#include <vector>

#include <tresse/dynamics/detail/balance.hpp>
#include <tresse/dynamics/detail/part.hpp>

namespace tresse::dynamics::detail {

/// The motion of trees whose velocity is that of their material, carried from shape to shape (Scheme::carried, and
/// passes after the first of the other schemes but Scheme::nonlinear): docs/theory/energy.md, "Carried velocity". It
/// works on a part, which must outlive it, and remembers the fields of velocity that it sampled.
class CarriedMotion {
 public:
  explicit CarriedMotion(Part& part);

  /// Begins a part.
  void begin();
  /// Notes in which of `shapes` (fibres) a tree is linearised.
  void note_shapes(int tree, const std::vector<rods::RodState>& shapes);
  /// Samples how the material of a tree moves at the start, unless that is known. Moves its rods of Part::linearised.
  void sample_start(int tree);
  /// The motion of a tree without contact, with the inertial force of the move from the start's shape to that of the
  /// linearisation, which `v_at` (fibres) reached (none: that is the start):
  ///   (M + h D + h^2 K + h C) v = int J^T rho (w + h g) ds + h (elastic force of the start + air),
  /// J and M in the shape of the linearisation, w the velocity of the material at the start.
  void assemble(int tree, const std::vector<VectorX>* v_at);
  /// Gives the end the velocities whose field is nearest to that of a pass, which belongs to the shape that it was
  /// linearised in. They have at most its energy.
  void carry_to_end(const std::vector<VectorX>& velocities);

  /// (fibres) shapes in which the trees were linearised.
  const std::vector<rods::RodState>& shapes() const { return shapes_; }
  /// Goes back to those of an earlier pass.
  void set_shapes(std::vector<rods::RodState> shapes);
  /// The factored mass of a tree at the end that carry_to_end() last went to; null: it is singular there.
  const assembly::TreeMatrix* mass_at_end(int tree) const {
    const auto t = static_cast<std::size_t>(tree);
    return weighed_[t] != 0 ? &masses_[t] : nullptr;
  }
  /// Of a fibre of a carried tree over this part, by the equations that were solved. After carry_to_end().
  const FibreBalance& balance(int fibre) const { return balances_[static_cast<std::size_t>(fibre)]; }

 private:
  void momentum_of(const assembly::Kinematics& at, int tree, const std::vector<rods::MaterialMotion>& material,
                   double h, VectorX& out) const;
  void add_impulse(int tree, const std::vector<VectorX>* v_at, VectorX& into) const;
  bool linearised_at_start(int tree) const;
  void sample_pass(int tree, const std::vector<VectorX>& velocities);
  void carry_to_end(int tree, const std::vector<VectorX>& velocities);
  void begin_balance(const assembly::Kinematics& at, int tree);
  void end_balance(int tree);

  Part& part_;
  std::vector<rods::RodState> sampled_;             ///< (fibres) states of the start that were sampled
  std::vector<rods::MaterialMotion> start_fields_;  ///< (fibres) at the start, once it is asked for
  std::vector<char> knows_start_;                   ///< (trees) whether it was
  std::vector<rods::RodState> shapes_;              ///< (fibres) of the last pass; Scheme::carried only
  std::vector<VectorX> pass_velocities_;            ///< (fibres) of the pass that was sampled last
  std::vector<rods::MaterialMotion> pass_fields_;   ///< (fibres) their field, in the shape of the pass
  std::vector<char> knows_pass_;                    ///< (trees) whether it is that of shapes_
  std::vector<assembly::TreeMatrix> masses_;        ///< (trees) of the shapes at the end; Scheme::carried only
  std::vector<char> weighed_;                       ///< (trees) whether these are masses alone
  std::vector<VectorX> end_velocities_;             ///< (fibres) carried there
  std::vector<FibreBalance> balances_;              ///< (fibres)
};

}  // namespace tresse::dynamics::detail
