#include "plan-run.h"

#include <array>
#include <cmath>
#include <optional>

#include "binding.h"
#include "gpu/span.h"
#include "proxy/transfer-board.h"

namespace weft {

namespace {

constexpr uint32_t kVersion = 1;
constexpr size_t kHeaderFields = 13, kStepFields = 12;
constexpr uint32_t kMostProducers = 1024, kMostWindow = 1 << 16;

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

bool hasCopies(const Plan& plan) {
  for (const PlanStep& step : plan.steps) {
    if (step.kind == PlanStep::Copy) return true;
  }
  return false;
}

// The buffers behind the staging buffers, where the job names them.
std::array<Span, 2> readDevice(const Napi::Object& job) {
  auto device = job.Get("device");
  if (!device.IsObject()) return {};
  auto buffers = device.As<Napi::Object>();
  return {spanOf(buffers.Get("source")), spanOf(buffers.Get("target"))};
}

ProxyJob readProxy(const Napi::Object& from) {
  ProxyJob job;
  job.producers = static_cast<uint32_t>(field(from, "producers"));
  job.block = static_cast<uint32_t>(field(from, "block"));
  job.shift = static_cast<uint32_t>(field(from, "shift"));
  job.blocking = from.Get("blocking").ToBoolean();
  job.fill = from.Get("fill").ToBoolean();
  job.trace = from.Get("trace").ToBoolean();
  job.seed = field(from, "seed");
  if (from.Get("gpu").IsNumber()) job.context = GpuContext::of(static_cast<int>(field(from, "gpu")));
  if (job.producers == 0 || job.producers > kMostProducers || job.block == 0 || job.block > 1024) {
    throw Fault("proxy", EINVAL, "a proxy serves 1 to 1024 producers");
  }
  auto transfers = from.Get("transfers").As<Napi::Array>();
  for (uint32_t i = 0; i < transfers.Length(); i++) {
    auto steps = transfers.Get(i).As<Napi::Array>();
    job.steps.emplace_back();
    for (uint32_t k = 0; k < steps.Length(); k++) job.steps.back().push_back(static_cast<uint32_t>(size(steps.Get(k), "step")));
  }
  if (job.producers > job.steps.size()) throw Fault("proxy", EINVAL, "there are more producers than transfers");
  return job;
}

// Four numbers each: offset, bytes, seed, position.
std::vector<Expected> readExpected(const Napi::Value& from, const Span& target) {
  auto numbers = from.As<Napi::Float64Array>();
  std::vector<Expected> expected(numbers.ElementLength() / 4);
  for (size_t i = 0; i < expected.size(); i++) {
    const double* raw = numbers.Data() + i * 4;
    expected[i] = {static_cast<size_t>(raw[0]), static_cast<size_t>(raw[1]), static_cast<uint64_t>(raw[2]),
                   static_cast<uint64_t>(raw[3])};
    if (!within(target, expected[i].offset, expected[i].bytes)) {
      throw Fault("plan", EINVAL, "what is expected lies outside the target buffer");
    }
  }
  return expected;
}

Napi::Value verifiedResult(Napi::Env env, const std::vector<double>& samples, const Mismatch& early) {
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples));
  result.Set("early", toObject(env, early));
  return result;
}

// Of each silence: start, duration, whether in a barrier, how many are open; of each of those: peer, channel, outgoing.
Napi::Value watchedResult(Napi::Env env, const std::vector<double>& samples, const std::vector<Silence>& silences) {
  std::vector<double> numbers;
  for (const Silence& one : silences) {
    numbers.insert(numbers.end(), {static_cast<double>(one.start), static_cast<double>(one.nanoseconds),
                                   one.barrier ? 1.0 : 0.0, static_cast<double>(one.open.size())});
    for (const Silence::Open& open : one.open) {
      numbers.insert(numbers.end(), {static_cast<double>(open.peer), static_cast<double>(open.channel), open.outgoing ? 1.0 : 0.0});
    }
  }
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples));
  result.Set("silences", toArray(env, numbers));
  return result;
}

Napi::Value proxyResult(Napi::Env env, const std::vector<double>& samples, const ProxyExecutor& proxy) {
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples));
  result.Set("trace", toArray(env, proxy.trace()));
  result.Set("clockUncertainty", proxy.clock().uncertainty);
  return result;
}

RunOptions readOptions(const Napi::Object& job) {
  RunOptions options;
  options.iterations = field(job, "iterations");
  options.batch = field(job, "batch");
  options.timeoutNanoseconds = field(job, "timeoutMs") * 1000000u;
  options.expectedNanoseconds = field(job, "expectedMs") * 1000000u;
  if (job.Get("silenceMs").IsNumber()) options.silenceNanoseconds = field(job, "silenceMs") * 1000000u;
  options.spinsBeforeYield = static_cast<unsigned>(field(job, "spinsBeforeYield"));
  if (options.batch == 0 || options.iterations % options.batch != 0) {
    throw Fault("plan", EINVAL, "iterations must be a multiple of the batch");
  }
  auto sabotage = job.Get("sabotage");
  if (sabotage.IsObject()) {
    auto wrong = sabotage.As<Napi::Object>();
    bool flip = wrong.Get("kind").As<Napi::String>().Utf8Value() == "flip";
    options.sabotage = {flip ? Sabotage::Flip : Sabotage::Drop, field(wrong, "offset")};
  }
  return options;
}

}  // namespace

PlanRun::PlanRun(Napi::Object job, Port& port, std::function<void(bool)> onEnd)
    : deferred_(job.Env()), onEnd_(std::move(onEnd)), options_(readOptions(job)) {
  Region& source = port.region(static_cast<uint32_t>(field(job, "source")));
  Region& target = port.region(static_cast<uint32_t>(field(job, "target")));
  Plan plan = readPlan(job.Get("plan").As<Napi::Object>());
  std::array<Span, 2> host{source.memory, target.memory}, device = readDevice(job);
  checkPlan(plan, port, host, device);
  context_ = device[0].context ? device[0].context : source.memory.context;
  auto copies = hasCopies(plan) ? std::make_unique<CopyLanes>(host, device) : nullptr;
  std::vector<const RemoteRegion*> remotes;
  auto ids = job.Get("remotes").As<Napi::Array>();
  for (uint32_t i = 0; i < ids.Length(); i++) remotes.push_back(&port.remote(static_cast<uint32_t>(size(ids.Get(i), "remote"))));
  if (remotes.size() != plan.world) throw Fault("plan", EINVAL, "a remote region is needed for every rank");
  auto proxied = job.Get("proxy"), board = job.Get("board"), expected = job.Get("expected");
  if (board.IsObject()) {
    board_ = TransferBoard::of(board);
    executor_ = std::make_unique<ServingExecutor>(port, std::move(plan), &source, &target, std::move(remotes), board_);
  } else if (proxied.IsObject()) {
    ProxyJob how = readProxy(proxied.As<Napi::Object>());
    if (!context_) context_ = how.context;  // a kernel that asks for host memory
    auto proxy = std::make_unique<ProxyExecutor>(port, std::move(plan), &source, &target, std::move(remotes), std::move(how));
    proxy_ = proxy.get();
    executor_ = std::move(proxy);
  } else if (expected.IsTypedArray()) {
    if (target.memory.context) throw Fault("plan", EINVAL, "only host memory can be looked at while a plan runs");
    auto verifying = std::make_unique<VerifyingExecutor>(port, std::move(plan), &source, &target, std::move(remotes),
                                                         std::move(copies), readExpected(expected, target.memory));
    verifying_ = verifying.get();
    executor_ = std::move(verifying);
  } else {
    executor_ = std::make_unique<Executor>(port, std::move(plan), &source, &target, std::move(remotes), std::move(copies));
  }
  told_ = Napi::ThreadSafeFunction::New(job.Env(), Napi::Function(), "weft plan", 0, 1);
  try {
    thread_ = std::thread([this] { work(); });
  } catch (...) {
    told_.Release();
    throw;
  }
}

PlanRun::~PlanRun() {
  if (thread_.joinable()) {
    executor_->abort();
    thread_.join();
  }
}

void PlanRun::work() {
  try {
    std::optional<CudaCurrent> current;
    if (context_) current.emplace(*context_);
    samples_ = executor_->run(options_);
  } catch (const Fault& fault) {
    fault_ = std::make_unique<Fault>(fault);
  } catch (const std::system_error& error) {
    fault_ = std::make_unique<Fault>(toFault(error));
  } catch (const std::exception& error) {
    fault_ = std::make_unique<Fault>("plan", EIO, error.what());
  }
  if (board_) board_->end();
  told_.BlockingCall([this](Napi::Env env, Napi::Function) { settle(env); });
  told_.Release();
}

void PlanRun::settle(Napi::Env env) {
  thread_.join();
  onEnd_(fault_ != nullptr);
  if (fault_) {
    deferred_.Reject(toError(env, *fault_).Value());
    return;
  }
  deferred_.Resolve(proxy_       ? proxyResult(env, samples_, *proxy_)
                    : verifying_ ? verifiedResult(env, samples_, verifying_->early())
                    : options_.silenceNanoseconds > 0 ? watchedResult(env, samples_, executor_->silences())
                                                      : toArray(env, samples_));
}

}  // namespace weft
