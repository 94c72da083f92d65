#pragma once

/// For the few functions of hot paths that the compiler, seeing many callers, would rather not inline.
#define TRESSE_HOT [[gnu::always_inline]] inline
