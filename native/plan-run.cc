#include "plan-run.h"

#include <array>
#include <optional>

#include "binding.h"
#include "gpu/span.h"
#include "plan-reading.h"
#include "proxy/transfer-board.h"

namespace weft {

namespace {

constexpr uint32_t kMostProducers = 1024, kMostTransfers = 1 << 24;

std::vector<const RemoteRegion*> readRemotes(const Napi::Value& from, const Port& port, const Plan& plan) {
  if (!from.IsArray()) throw Fault("plan", EINVAL, "a remote region is needed for every rank");
  auto ids = from.As<Napi::Array>();
  if (ids.Length() != plan.world) throw Fault("plan", EINVAL, "a remote region is needed for every rank");
  std::vector<const RemoteRegion*> remotes;
  for (uint32_t i = 0; i < ids.Length(); i++) remotes.push_back(&port.remote(static_cast<uint32_t>(size(ids.Get(i), "remote"))));
  return remotes;
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
  auto transfers = list(from.Get("transfers"), "transfers", kMostTransfers);
  for (uint32_t i = 0; i < transfers.Length(); i++) {
    auto steps = list(transfers.Get(i), "the steps of a transfer", kMostTransfers);
    job.steps.emplace_back();
    for (uint32_t k = 0; k < steps.Length(); k++) job.steps.back().push_back(static_cast<uint32_t>(size(steps.Get(k), "step")));
  }
  if (job.producers > job.steps.size()) throw Fault("proxy", EINVAL, "there are more producers than transfers");
  return job;
}

// Four numbers each: offset, bytes, seed, position.
std::vector<Expected> readExpected(const Napi::Value& from, const Span& target) {
  auto numbers = doubles(from, "what is expected");
  auto whole = [&](double number) { return size(from.Env(), number, "a number of what is expected"); };
  std::vector<Expected> expected(numbers.ElementLength() / 4);
  for (size_t i = 0; i < expected.size(); i++) {
    const double* raw = numbers.Data() + i * 4;
    expected[i] = {whole(raw[0]), whole(raw[1]), whole(raw[2]), whole(raw[3])};
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

std::vector<uint32_t> readMarks(const Napi::Value& from) {
  auto steps = words(from, "marks");
  return {steps.Data(), steps.Data() + steps.ElementLength()};
}

// Of each silence: start, duration, whether in a barrier, how many are open; of each of those: peer, channel, outgoing.
Napi::Value silenceNumbers(Napi::Env env, const std::vector<Silence>& silences) {
  std::vector<double> numbers;
  for (const Silence& one : silences) {
    numbers.insert(numbers.end(), {static_cast<double>(one.start), static_cast<double>(one.nanoseconds),
                                   one.barrier ? 1.0 : 0.0, static_cast<double>(one.open.size())});
    for (const Silence::Open& open : one.open) {
      numbers.insert(numbers.end(), {static_cast<double>(open.peer), static_cast<double>(open.channel), open.outgoing ? 1.0 : 0.0});
    }
  }
  return toArray(env, numbers);
}

Napi::Value proxyResult(Napi::Env env, const std::vector<double>& samples, const ProxyExecutor& proxy) {
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples));
  result.Set("trace", toArray(env, proxy.trace()));
  result.Set("clockUncertainty", proxy.clock().uncertainty);
  return result;
}

// What the plan does in device memory, or null: in that behind the staging buffers, or in that which the fabric reaches.
std::unique_ptr<CopyLanes> lanesOf(const Plan& plan, const std::array<Span, 2>& host, const std::array<Span, 2>& device) {
  bool staged = plan.has(PlanStep::Copy);
  DeviceWork work;
  std::map<uint32_t, size_t> numberOf;
  for (uint32_t i = 0; i < plan.steps.size(); i++) {
    const PlanStep& step = plan.steps[i];
    if (step.kind == PlanStep::Sum && (step.buffer == 3 || host[1].context)) {
      staged = step.buffer == 3;
      numberOf[i] = work.sums.size();
      work.sums.push_back({step.dtype, step.firstPart, step.parts});
    }
    if (step.kind != PlanStep::Copy || step.parts == 0) continue;
    numberOf[i] = work.copies.size();
    auto first = plan.parts.begin() + step.firstPart;
    auto& list = work.copies.emplace_back();
    for (auto part = first; part != first + step.parts; part++) {
      list.push_back({part->offset, part->remoteOffset, part->bytes});
    }
  }
  if (!staged && work.sums.empty()) return nullptr;
  if (!work.sums.empty()) {
    work.parts = plan.sums;
    work.addends = plan.addends;
  }
  return std::make_unique<CopyLanes>(host, staged ? device : host, std::move(work), std::move(numberOf));
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
  auto copies = lanesOf(plan, host, device);
  RemoteBuffers remotes{readRemotes(job.Get("remotes"), port, plan), {}};
  if (plan.has(PlanStep::Read)) {
    auto readable = job.Get("readable");
    if (!readable.IsArray()) throw Fault("plan", EINVAL, "the plan reads, and the ranks did not exchange their source buffers");
    remotes.sources = readRemotes(readable, port, plan);
  }
  auto proxied = job.Get("proxy"), board = job.Get("board"), expected = job.Get("expected"), marks = job.Get("marks");
  if (copies && (board.IsObject() || proxied.IsObject())) {
    throw Fault("plan", EINVAL, "a plan that is served neither copies nor adds in GPU memory");
  }
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
  } else if (marks.IsTypedArray()) {
    auto marking = std::make_unique<MarkingExecutor>(port, std::move(plan), &source, &target, std::move(remotes),
                                                     std::move(copies), readMarks(marks));
    marking_ = marking.get();
    executor_ = std::move(marking);
  } else {
    executor_ = std::make_unique<Executor>(port, std::move(plan), &source, &target, std::move(remotes), std::move(copies));
  }
  told_ = Napi::ThreadSafeFunction::New(job.Env(), Napi::Function(), "weft plan", 0, 1);
  // Node frees `told_` when the environment ends: the thread must be over by then.
  leaving_ = job.Env().AddCleanupHook(std::function<void()>([this] { end(); }));
  try {
    thread_ = std::thread([this] { work(); });
  } catch (...) {
    leaving_.Remove(job.Env());
    told_.Release();
    throw;
  }
}

PlanRun::~PlanRun() { end(); }

void PlanRun::end() {
  if (!thread_.joinable()) return;
  orphaned_.store(true);
  executor_->abort();
  thread_.join();
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
  if (orphaned_.load()) return;  // the call would be lost, and what it carries with it
  auto told = told_.BlockingCall([this](Napi::Env env, Napi::Function) { settle(env); });
  if (told != napi_closing) told_.Release();
}

void PlanRun::settle(Napi::Env env) {
  thread_.join();
  leaving_.Remove(env);
  onEnd_(fault_ != nullptr);
  if (fault_) {
    deferred_.Reject(toError(env, *fault_).Value());
    return;
  }
  deferred_.Resolve(result(env));
}

Napi::Value PlanRun::result(Napi::Env env) const {
  if (proxy_) return proxyResult(env, samples_, *proxy_);
  if (verifying_) return verifiedResult(env, samples_, verifying_->early());
  bool watched = options_.silenceNanoseconds > 0;
  if (!watched && !marking_) return toArray(env, samples_);
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples_));
  if (watched) result.Set("silences", silenceNumbers(env, executor_->silences()));
  if (marking_) result.Set("marks", toArray(env, marking_->marks()));
  return result;
}

}  // namespace weft
