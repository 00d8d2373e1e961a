#include "plan-reading.h"

#include <cmath>

#include "fault.h"

namespace weft {

namespace {

constexpr uint32_t kVersion = 1, kMostWindow = 1 << 16;
constexpr size_t kHeaderFields = 13, kStepFields = 12;

Fault malformed() { return {"plan", EINVAL, "the plan is malformed"}; }

template <typename Array>
Array typed(const Napi::Object& from, const char* name, napi_typedarray_type type) {
  auto value = from.Get(name);
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != type) throw malformed();
  return value.As<Array>();
}

size_t whole(double number, double most = 9007199254740991.0) {
  if (!(number >= 0 && number <= most) || number != std::floor(number)) throw malformed();
  return static_cast<size_t>(number);
}

}  // namespace

// The layout is described in src/plan/encode.ts. Nothing of it is taken on trust.
Plan readPlan(const Napi::Object& encoded) {
  auto header = typed<Napi::Uint32Array>(encoded, "header", napi_uint32_array);
  auto steps = typed<Napi::Float64Array>(encoded, "steps", napi_float64_array);
  auto after = typed<Napi::Uint32Array>(encoded, "after", napi_uint32_array);
  if (header.ElementLength() < kHeaderFields || header[0] != kVersion) {
    throw Fault("plan", EINVAL, "this addon reads plans of version 1");
  }
  Plan plan;
  plan.rank = header[1];
  plan.world = header[2];
  plan.channels = header[3];
  plan.window = header[4];
  plan.delivered = header[5] == 0;
  plan.chunkBytes = static_cast<size_t>(header[8]) << 32 | header[7];
  const size_t count = header[6];
  if (plan.chunkBytes == 0 || plan.window == 0 || plan.window > kMostWindow || plan.rank >= plan.world ||
      steps.ElementLength() != count * kStepFields) {
    throw malformed();
  }
  plan.steps.resize(count);
  for (uint32_t i = 0; i < plan.steps.size(); i++) {
    const double* raw = steps.Data() + i * kStepFields;
    PlanStep& step = plan.steps[i];
    step.kind = static_cast<PlanStep::Kind>(whole(raw[0], PlanStep::Copy));
    step.channel = static_cast<uint32_t>(whole(raw[1], UINT32_MAX));
    step.peer = static_cast<uint32_t>(whole(raw[2], UINT32_MAX));
    step.buffer = static_cast<uint32_t>(whole(raw[3], UINT32_MAX));
    step.offset = whole(raw[4]);
    step.bytes = whole(raw[5]);
    step.remoteOffset = whole(raw[6]);
    step.slot = static_cast<uint32_t>(whole(raw[7], UINT16_MAX));
    const size_t start = whole(raw[8], static_cast<double>(after.ElementLength()));
    step.after = static_cast<uint32_t>(whole(raw[9], static_cast<double>(after.ElementLength() - start)));
    for (size_t k = start; k < start + step.after; k++) {
      if (after[k] >= count) throw malformed();
      plan.steps[after[k]].dependents.push_back(i);
    }
  }
  return plan;
}

bool within(const Span& memory, size_t offset, size_t bytes) {
  return offset <= memory.bytes && bytes <= memory.bytes - offset;
}

void checkPlan(const Plan& plan, Port& port, const std::array<Span, 2>& host, const std::array<Span, 2>& device) {
  if (plan.channels > port.endpointCount()) throw Fault("plan", EINVAL, "the plan uses more channels than are open");
  for (uint32_t channel = 0; channel < plan.channels; channel++) {
    if (plan.world > port.endpoint(channel).peers.size()) throw Fault("plan", EINVAL, "the plan has more ranks than are connected");
  }
  for (const PlanStep& step : plan.steps) {
    bool good = true;
    if (step.kind == PlanStep::Copy) {
      // From the device's source to the host's, or from the host's target to the device's.
      bool out = step.buffer == 2;
      good = (out || step.buffer == 1) && within((out ? device : host)[!out], step.offset, step.bytes) &&
             within((out ? host : device)[!out], step.remoteOffset, step.bytes);
    } else if (step.kind == PlanStep::Wait) {
      good = step.peer < plan.world && within(host[1], step.offset, step.bytes);
    } else {
      good = step.buffer <= 1 && step.channel < plan.channels && step.peer < plan.world &&
             within(host[step.buffer], step.offset, step.bytes);
    }
    if (!good) throw Fault("plan", EINVAL, "a step is outside the plan's channels, ranks or buffers");
  }
}

}  // namespace weft
