#include "plan-reading.h"

#include <cmath>

#include "fault.h"

namespace weft {

namespace {

constexpr uint32_t kVersion = 2, kMostWindow = 1 << 16, kMostParts = 1 << 20, kMostChunks = 1u << 31;
constexpr size_t kMostTime = 86'400'000'000'000;  // a day, in nanoseconds
constexpr size_t kHeaderFields = 13, kStepFields = 13, kPartFields = 3;

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

// Rows of three numbers.
struct Rows {
  const double* data;
  size_t count;
  const double* operator[](size_t row) const { return data + row * kPartFields; }
};

void readParts(Plan& plan, PlanStep& step, const Rows& rows, size_t start, size_t count) {
  if (count > kMostParts) throw Fault("plan", EINVAL, "a step has more than 1048576 parts");
  step.firstPart = static_cast<uint32_t>(plan.parts.size());
  step.parts = static_cast<uint32_t>(count);
  for (size_t i = start; i < start + count; i++) {
    plan.parts.push_back({whole(rows[i][0]), whole(rows[i][1]), whole(rows[i][2])});
  }
}

// Rows of parts, each followed by those of its addends.
void readSums(Plan& plan, PlanStep& step, const Rows& rows, size_t start, size_t count) {
  step.dtype = static_cast<SumDtype>(step.channel);
  if (step.channel > static_cast<uint32_t>(SumDtype::Int32)) throw Fault("plan", EINVAL, "a sum is of an unknown dtype");
  step.firstPart = static_cast<uint32_t>(plan.sums.size());
  for (size_t i = start, end = start + count; i < end;) {
    const double* row = rows[i++];
    const size_t addends = whole(row[2], static_cast<double>(end - i));
    if (addends == 0) throw Fault("plan", EINVAL, "a sum has nothing to add");
    if (++step.parts > kMostParts) throw Fault("plan", EINVAL, "a step has more than 1048576 parts");
    plan.sums.push_back({whole(row[0]), whole(row[1]), static_cast<uint32_t>(plan.addends.size()), static_cast<uint32_t>(addends)});
    for (size_t end = i + addends; i < end; i++) {
      plan.addends.push_back({static_cast<uint32_t>(whole(rows[i][0], UINT32_MAX)), static_cast<float>(rows[i][2]), whole(rows[i][1])});
    }
  }
  if (step.parts == 0) throw Fault("plan", EINVAL, "a sum has no parts");
}

void readRows(Plan& plan, PlanStep& step, const Rows& rows, const double* raw) {
  const size_t start = whole(raw[11], static_cast<double>(rows.count));
  const size_t count = whole(raw[12], static_cast<double>(rows.count - start));
  if (step.kind == PlanStep::Sum) return readSums(plan, step, rows, start, count);
  bool divisible = step.kind == PlanStep::Write || step.kind == PlanStep::Read || step.kind == PlanStep::Wait ||
                   step.kind == PlanStep::Copy;
  if (count > 0 && !divisible) throw malformed();
  readParts(plan, step, rows, start, count);
}

}  // namespace

// The layout is described in src/plan/encode.ts. Nothing of it is taken on trust.
Plan readPlan(const Napi::Object& encoded) {
  auto header = typed<Napi::Uint32Array>(encoded, "header", napi_uint32_array);
  auto steps = typed<Napi::Float64Array>(encoded, "steps", napi_float64_array);
  auto after = typed<Napi::Uint32Array>(encoded, "after", napi_uint32_array);
  auto parts = typed<Napi::Float64Array>(encoded, "parts", napi_float64_array);
  if (header.ElementLength() < kHeaderFields || header[0] != kVersion) {
    throw Fault("plan", EINVAL, "this addon reads plans of version 2");
  }
  Plan plan;
  plan.rank = header[1];
  plan.world = header[2];
  plan.channels = header[3];
  plan.window = header[4];
  plan.delivered = header[5] == 0;
  plan.chunkBytes = static_cast<size_t>(header[8]) << 32 | header[7];
  const size_t count = header[6];
  // Even a plan without steps meets the others in barriers, over the first channel.
  if (plan.chunkBytes == 0 || plan.window == 0 || plan.window > kMostWindow || plan.rank >= plan.world || plan.channels == 0 ||
      steps.ElementLength() != count * kStepFields || parts.ElementLength() % kPartFields != 0) {
    throw malformed();
  }
  const Rows rows{parts.Data(), parts.ElementLength() / kPartFields};
  if (rows.count > UINT32_MAX) throw malformed();
  plan.steps.resize(count);
  for (uint32_t i = 0; i < plan.steps.size(); i++) {
    const double* raw = steps.Data() + i * kStepFields;
    PlanStep& step = plan.steps[i];
    step.kind = static_cast<PlanStep::Kind>(whole(raw[0], PlanStep::Sum));
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
      if (after[k] >= i) throw Fault("plan", EINVAL, "a step comes after one that is not earlier");
      plan.steps[after[k]].dependents.push_back(i);
    }
    readRows(plan, step, rows, raw);
  }
  return plan;
}

bool within(const Span& memory, size_t offset, size_t bytes) {
  return offset <= memory.bytes && bytes <= memory.bytes - offset;
}

namespace {

void checkParts(const Plan& plan, const PlanStep& step, const std::array<Span, 2>& host, const std::array<Span, 2>& device) {
  const bool copy = step.kind == PlanStep::Copy, out = step.buffer >= 2;
  const size_t side = step.kind == PlanStep::Wait ? 1 : step.buffer % 2;
  // What the parts' own offsets count in; the other buffer of a transfer is another rank's.
  const Span& own = (copy && out ? device : host)[side];
  size_t sum = 0;
  for (uint32_t i = 0; i < step.parts; i++) {
    const PlanPart& part = plan.parts[step.firstPart + i];
    bool good = within(own, part.offset, part.bytes) &&
                (!copy || within((out ? host : device)[side], part.remoteOffset, part.bytes));
    if (!good) throw Fault("plan", EINVAL, "a part of a step is outside its buffer");
    if (part.bytes > step.bytes - sum) throw Fault("plan", EINVAL, "the parts of a step are longer than the step");
    sum += part.bytes;
  }
  if (sum != step.bytes) throw Fault("plan", EINVAL, "the parts of a step are shorter than the step");
}

// `memory` has the buffers that are added.
void checkSum(const Plan& plan, const PlanStep& step, const std::array<Span, 2>& memory) {
  if (memory[0].context != memory[1].context) throw Fault("plan", EINVAL, "a sum needs both buffers in one memory");
  if (memory[0].context && step.dtype == SumDtype::Int32) throw Fault("plan", EINVAL, "a sum of int32 needs buffers in host memory");
  const size_t each = bytesOf(step.dtype);
  for (uint32_t i = 0; i < step.parts; i++) {
    const SumPart& part = plan.sums[step.firstPart + i];
    bool good = within(memory[1], part.into, part.bytes), whole = part.into % each == 0 && part.bytes % each == 0, apart = true;
    for (uint32_t k = 0; k < part.addends; k++) {
      const Addend& addend = plan.addends[part.firstAddend + k];
      good = good && addend.buffer <= 1 && within(memory[addend.buffer], addend.offset, part.bytes);
      whole = whole && addend.offset % each == 0;
      bool beside = addend.buffer == 0 || addend.offset == part.into ||
                    (addend.offset < part.into ? part.into - addend.offset : addend.offset - part.into) >= part.bytes;
      apart = apart && beside;
      if (step.dtype == SumDtype::Int32 && addend.weight != 1) throw Fault("plan", EINVAL, "a sum of int32 has weights");
    }
    if (!good) throw Fault("plan", EINVAL, "a part of a sum is outside its buffer");
    if (!whole) throw Fault("plan", EINVAL, "a part of a sum does not begin and end between two numbers");
    if (!apart) throw Fault("plan", EINVAL, "a part of a sum overlaps what it adds");
  }
}

bool isWithin(const Plan& plan, const PlanStep& step, const std::array<Span, 2>& host, const std::array<Span, 2>& device) {
  if (step.kind == PlanStep::Join) return true;
  if (step.kind == PlanStep::Sum) return step.buffer == 1 || step.buffer == 3;
  if (step.kind == PlanStep::Copy) {
    // From the device's source or target to the host's, or from the host's target to the device's.
    const bool out = step.buffer >= 2;
    const size_t side = step.buffer % 2;
    if (step.buffer == 0 || step.buffer > 3 || host[0].context || host[1].context) return false;
    return step.parts > 0 || (within((out ? device : host)[side], step.offset, step.bytes) &&
                              within((out ? host : device)[side], step.remoteOffset, step.bytes));
  }
  if (step.peer >= plan.world) return false;
  if (step.kind == PlanStep::Wait) return step.channel <= plan.channels && (step.parts > 0 || within(host[1], step.offset, step.bytes));
  return step.buffer <= 1 && step.channel < plan.channels && (step.parts > 0 || within(host[step.buffer], step.offset, step.bytes));
}

}  // namespace

void checkPlan(const Plan& plan, Port& port, const std::array<Span, 2>& host, const std::array<Span, 2>& device) {
  if (plan.channels > port.endpointCount()) throw Fault("plan", EINVAL, "the plan uses more channels than are open");
  for (uint32_t channel = 0; channel < plan.channels; channel++) {
    if (plan.world > port.endpoint(channel).peers.size()) throw Fault("plan", EINVAL, "the plan has more ranks than are connected");
  }
  const PlanStep* sum = nullptr;
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Read && step.channel < plan.channels && !port.endpoint(step.channel).reads()) {
      throw Fault("read", FI_EOPNOTSUPP, "the plan reads, and this provider cannot read from peers");
    }
    if (!isWithin(plan, step, host, device)) throw Fault("plan", EINVAL, "a step is outside the plan's channels, ranks or buffers");
    if (step.kind == PlanStep::Join && step.offset > kMostTime) throw Fault("plan", EINVAL, "a step waits for more than a day");
    if (step.kind == PlanStep::Sum) {
      if (sum && sum->buffer != step.buffer) throw Fault("plan", EINVAL, "the sums of a plan are not all in one memory");
      sum = &step;
      checkSum(plan, step, step.buffer == 3 ? device : host);
    } else if (step.parts > 0) {
      checkParts(plan, step, host, device);
    }
    if (step.kind <= PlanStep::Wait && chunksOf(plan, step) >= kMostChunks) throw Fault("plan", EINVAL, "a step has more than 2147483647 chunks");
  }
}

}  // namespace weft
