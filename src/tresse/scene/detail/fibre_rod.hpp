#pragma once

#include <memory>
#include <utility>

#include <tresse/scene/build.hpp>

/// Fibres of a scene as rods.
namespace tresse::scene::detail {

std::unique_ptr<rods::Rod> make_rod(const FibreGroup& group);

/// Gives a fibre with a root the model of `rod`, which is the group's, and the group's natural shape, now and as it
/// sets in; the state that it starts in.
rods::RodState set_shape(const FibreGroup& group, const rods::Rod& rod, assembly::Fibre& fibre);

/// The state in which a fibre starts: a clamped root is where its motion has it at time zero.
rods::RodState start_of(const Case& built, std::size_t f);

/// The same fibre with element `index` in two, the first of them `length` long; 0 < length < that of the element.
FibreGroup divided(FibreGroup group, std::size_t index, double length);

}  // namespace tresse::scene::detail
