#pragma once

#include <cstdio>
#include <cstdlib>

/// Our own invariants: checked in debug and sanitizer builds, free in Release. Never for input.
#ifdef TRESSE_ASSERTIONS
#define TRESSE_ASSERT(condition) \
  ((condition)                   \
       ? static_cast<void>(0)    \
       : (std::fprintf(stderr, "%s:%d: broken invariant: %s\n", __FILE__, __LINE__, #condition), std::abort()))
#else
#define TRESSE_ASSERT(condition) static_cast<void>(sizeof(condition))
#endif
