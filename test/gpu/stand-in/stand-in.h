#pragma once
#include <cstddef>

#include "../../../native/gpu/cuda.h"

/// What STAND_IN_FAIL asks of this call, or an error where the thread has no current context.
weft::CuResult inContext(const char* call);

#define ANSWER(expression) \
  if (weft::CuResult result = (expression)) return result

/// A number from the environment.
size_t setting(const char* name, size_t otherwise);

/// Adds a line to STAND_IN_LOG.
void tell(const char* call, int value);

/// The stand-in's own time, which its events tell: a nanosecond for each byte of work, whatever the CPU took. Work that
/// STAND_IN_SLOW names takes twice as long.
void spend(const char* work, size_t bytes);
