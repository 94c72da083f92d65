#include <tresse/math/rotations.hpp>
#include <tresse/rods/detail/articulated_limb.hpp>
#include <tresse/rods/detail/articulated_step_matrix.hpp>
#include <tresse/rods/detail/dense_chain_matrix.hpp>

// A chain as the articulated factor wants it, and the choice between that and the dense one.
namespace tresse::rods::detail {

template <typename Shape>
void ChainRod<Shape>::articulate(const StepTerms& terms, ArticulatedMatrix<Shape::width>& out) const {
  sample();
  const double stiffness = terms.stiffness + terms.damping * made_->damping_time();
  out.elements().resize(elements().size());
  for (int i = 0; i < count(); ++i) {
    const Element& from = elements()[i];
    const Link& link = links_[i];
    ArticulatedElement<width>& e = out.elements()[i];
    e.twist << link.X_linear, link.X_angular;
    Inertia inertia;
    add_inertia(shapes_[i].moments(), joints_[i], from.density, inertia);
    const Matrix3 first = math::cross_matrix(inertia.first);
    e.inertia << inertia.mass * Matrix3::Identity(), -first, first,
        inertia.second.trace() * Matrix3::Identity() - inertia.second;
    e.coupling = own_wrench(i, from.density);
    e.own = from.density * shapes_[i].moments().P_P;
    e.local.setZero();
    Shape::add_stiffness(from.length, stiffness * from.stiffness, e.local);
    e.weight = 1.0 + terms.drag / from.density;
  }
}

template <typename Shape>
std::unique_ptr<StepMatrix> ChainModel<Shape>::make_step_matrix() const {
  // Where the recursion is quicker for sure; both are as accurate. Measured in docs/measured/speed_rods.md.
  constexpr int many = 16;
  if (piece_count() < many) return std::make_unique<DenseChainMatrix<Shape>>();
  return std::make_unique<ArticulatedStepMatrix<Shape>>();
}

template <typename Shape>
bool ArticulatedStepMatrix<Shape>::factor(const Rod& rod, const StepTerms& terms, const VectorX& velocity,
                                          VectorX& momentum) {
  static_cast<const ChainRod<Shape>&>(rod).articulate(terms, this->factor_);
  momentum.resize(rod.dof());
  const bool good = this->factor_.factor(rod.root_dof() > 0 ? ChainRoot::free : ChainRoot::fixed);
  this->factor_.spread(velocity);
  this->factor_.mass_times(velocity, momentum);
  return good;
}

template <typename Shape>
std::unique_ptr<LimbMatrix> ChainModel<Shape>::make_limb_matrix(std::span<const LimbPlace> places) const {
  return std::make_unique<ArticulatedLimb<Shape>>(places);
}

template <typename Shape>
bool ArticulatedLimb<Shape>::factor(const Rod& rod, const StepTerms& terms, std::span<const Matrix6> attached) {
  const auto& chain = static_cast<const ChainRod<Shape>&>(rod);
  chain.articulate(terms, matrix_);
  matrix_.attachments().resize(places_.size());
  for (std::size_t i = 0; i < places_.size(); ++i) {
    matrix_.attachments()[i] = {places_[i].piece, chain.piece_twist(places_[i].piece, places_[i].u), attached[i]};
  }
  switch (rod.root_condition()) {
    case RootCondition::clamped:
      return matrix_.factor(ChainRoot::fixed);
    case RootCondition::free:
      return matrix_.factor(ChainRoot::free);
    default:
      return matrix_.factor(ChainRoot::carried);
  }
}

template void ChainRod<HelixShape>::articulate(const StepTerms&, ArticulatedMatrix<3>&) const;
template void ChainRod<ClothoidShape>::articulate(const StepTerms&, ArticulatedMatrix<6>&) const;
template std::unique_ptr<StepMatrix> ChainModel<HelixShape>::make_step_matrix() const;
template std::unique_ptr<StepMatrix> ChainModel<ClothoidShape>::make_step_matrix() const;
template std::unique_ptr<LimbMatrix> ChainModel<HelixShape>::make_limb_matrix(std::span<const LimbPlace>) const;
template std::unique_ptr<LimbMatrix> ChainModel<ClothoidShape>::make_limb_matrix(std::span<const LimbPlace>) const;
template class ArticulatedLimb<HelixShape>;
template class ArticulatedLimb<ClothoidShape>;
template class ArticulatedStepMatrix<HelixShape>;
template class ArticulatedStepMatrix<ClothoidShape>;

}  // namespace tresse::rods::detail
