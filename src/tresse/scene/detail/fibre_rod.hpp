#pragma once

#include <memory>
#include <utility>

#include <tresse/scene/build.hpp>

/// Fibres of a scene as rods.
namespace tresse::scene::detail {

std::shared_ptr<const rods::RodModel> make_model(const FibreGroup& group);

/// Piece of an arc length and the local one. Where two pieces meet it is the first, which fewer unknowns move.
std::pair<int, double> piece_at(const rods::RodModel& rod, double s);

/// Gives a fibre with model and root the group's natural shape, now and as it sets in; the state that it starts in.
rods::RodState set_shape(const FibreGroup& group, assembly::Fibre& fibre);

/// A fibre's rod where it starts, its roots as they are in the state.
std::unique_ptr<rods::Rod> rod_at_start(const Case& built, std::size_t f);

/// The same fibre with element `index` in two, the first of them `length` long; 0 < length < that of the element.
FibreGroup divided(FibreGroup group, std::size_t index, double length);

}  // namespace tresse::scene::detail
