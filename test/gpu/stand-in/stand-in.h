#pragma once
#include <cstddef>

#include "../../../native/gpu/cuda.h"

/// What STAND_IN_FAIL asks of this call, or an error where the thread has no current context.
weft::CuResult inContext(const char* call);

/// The stand-in's own time, which its events tell: a nanosecond for each byte of work, whatever the CPU took. Work that
/// STAND_IN_SLOW names takes twice as long.
void spend(const char* work, size_t bytes);
