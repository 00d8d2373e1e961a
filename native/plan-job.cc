#include "plan-job.h"

#include <array>

#include "binding.h"
#include "gpu/span.h"
#include "plan-reading.h"
#include "proxy/transfer-board.h"
#include "sizes.h"

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

std::vector<uint32_t> readMarks(const Napi::Value& from) {
  auto steps = words(from, "marks");
  return {steps.Data(), steps.Data() + steps.ElementLength()};
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
  checkSamples("plan", options.iterations / options.batch);
  auto sabotage = job.Get("sabotage");
  if (sabotage.IsObject()) {
    auto wrong = sabotage.As<Napi::Object>();
    bool flip = wrong.Get("kind").As<Napi::String>().Utf8Value() == "flip";
    options.sabotage = {flip ? Sabotage::Flip : Sabotage::Drop, field(wrong, "offset")};
  }
  return options;
}

// What executors of all kinds are made of.
struct Ingredients {
  Port& port;
  Region& source;
  Region& target;
  Plan plan;
  RemoteBuffers remotes;
  std::unique_ptr<CopyLanes> copies;

  template <typename Kind, typename... More>
  std::unique_ptr<Kind> make(More&&... more) {
    return std::make_unique<Kind>(port, std::move(plan), &source, &target, std::move(remotes), std::forward<More>(more)...);
  }
};

RemoteBuffers readBuffersOfPeers(const Napi::Object& from, const Port& port, const Plan& plan) {
  RemoteBuffers remotes{readRemotes(from.Get("remotes"), port, plan), {}};
  if (plan.has(PlanStep::Read)) {
    auto readable = from.Get("readable");
    if (!readable.IsArray()) throw Fault("plan", EINVAL, "the plan reads, and the ranks did not exchange their source buffers");
    remotes.sources = readRemotes(readable, port, plan);
  }
  return remotes;
}

// A served plan: producers ask for its transfers, through a board or as threads and kernels of the run.
void makeServed(PlanJob& job, Ingredients& of, const Napi::Value& board, const Napi::Value& proxied) {
  if (of.copies) throw Fault("plan", EINVAL, "a plan that is served neither copies nor adds in GPU memory");
  if (board.IsObject()) {
    job.board = TransferBoard::of(board);
    job.executor = of.make<ServingExecutor>(job.board);
    return;
  }
  ProxyJob how = readProxy(proxied.As<Napi::Object>());
  if (!job.context) job.context = how.context;  // a kernel that asks for host memory
  auto proxy = of.make<ProxyExecutor>(std::move(how));
  job.proxy = proxy.get();
  job.executor = std::move(proxy);
}

void makeVerifying(PlanJob& job, Ingredients& of, const Napi::Value& expected) {
  const Span& target = of.target.memory;
  if (target.context) throw Fault("plan", EINVAL, "only host memory can be looked at while a plan runs");
  auto verifying = of.make<VerifyingExecutor>(std::move(of.copies), readExpected(expected, target));
  job.verifying = verifying.get();
  job.executor = std::move(verifying);
}

void makeMarking(PlanJob& job, Ingredients& of, const Napi::Value& marks) {
  auto marking = of.make<MarkingExecutor>(std::move(of.copies), readMarks(marks));
  job.marking = marking.get();
  job.executor = std::move(marking);
}

}  // namespace

PlanJob readPlanJob(const Napi::Object& from, Port& port) {
  PlanJob job;
  job.options = readOptions(from);
  Region& source = port.region(static_cast<uint32_t>(field(from, "source")));
  Region& target = port.region(static_cast<uint32_t>(field(from, "target")));
  Plan plan = readPlan(from.Get("plan").As<Napi::Object>());
  std::array<Span, 2> host{source.memory, target.memory}, device = readDevice(from);
  checkPlan(plan, port, host, device);
  job.context = device[0].context ? device[0].context : source.memory.context;
  auto copies = lanesOf(plan, host, device);
  auto remotes = readBuffersOfPeers(from, port, plan);
  Ingredients of{port, source, target, std::move(plan), std::move(remotes), std::move(copies)};
  auto proxied = from.Get("proxy"), board = from.Get("board"), expected = from.Get("expected"), marks = from.Get("marks");
  if (board.IsObject() || proxied.IsObject()) makeServed(job, of, board, proxied);
  else if (expected.IsTypedArray()) makeVerifying(job, of, expected);
  else if (marks.IsTypedArray()) makeMarking(job, of, marks);
  else job.executor = of.make<Executor>(std::move(of.copies));
  return job;
}

}  // namespace weft
