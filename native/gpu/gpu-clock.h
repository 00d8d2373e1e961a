#pragma once
#include "cuda-owners.h"

namespace weft {

/// How a GPU's timer relates to CLOCK_MONOTONIC.
struct ClockRelation {
  double offset = 0;       // GPU time − CPU time, nanoseconds
  double uncertainty = 0;  // ± nanoseconds: half of the shortest exchange, and a step of the timer
};

/// Calls a kernel from the CPU and has it answer with its time, many times; the shortest exchange counts, whose answer
/// lies somewhere between the CPU's two looks at its clock. Takes some milliseconds.
ClockRelation relateClocks(const GpuContextPtr& context);

/// For the time between two relations. The clocks drift apart by little meanwhile; half of it is part of what is not known.
ClockRelation between(const ClockRelation& before, const ClockRelation& after);

}  // namespace weft
