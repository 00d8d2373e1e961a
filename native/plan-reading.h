#pragma once
// From what JavaScript hands over to a plan that can be run.
#include <napi.h>

#include <array>

#include "fabric/port.h"
#include "gpu/span.h"
#include "plan/executor.h"

namespace weft {

/// Throws a Fault where the arrays are not of their types, or a number is not what its place allows.
Plan readPlan(const Napi::Object& encoded);

/// Whether all of it lies in the memory.
bool within(const Span& memory, size_t offset, size_t bytes);

/// Throws a Fault where a step leaves the plan's channels, ranks or buffers. `host` and `device` are source and target.
void checkPlan(const Plan& plan, Port& port, const std::array<Span, 2>& host, const std::array<Span, 2>& device);

}  // namespace weft
