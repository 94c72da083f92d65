#pragma once

namespace tresse::scene {

/// Where a value stood in the scene file, so that a check made after parsing can still point at it. line 0: not from a
/// file.
struct Location {
  int line = 0;  ///< from 1; 0: not from a file; -n: the n-th value that was given beside the file
  int column = 0;
};

}  // namespace tresse::scene
