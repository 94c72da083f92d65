#pragma once

#include <tresse/scene/build.hpp>

namespace tresse::scene::detail {

/// Finds where fibres come out of the obstacles that their roots are embedded in, and divides the element there where
/// the two sides of that place must bend apart. Throws InvalidInput for a fibre that comes out nowhere.
void add_embeddings(const Scene& scene, Case& out);

}  // namespace tresse::scene::detail
