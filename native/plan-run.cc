#include "plan-run.h"

#include <optional>

#include "binding.h"

namespace weft {

namespace {

Napi::Value verifiedResult(Napi::Env env, const std::vector<double>& samples, const Mismatch& early) {
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples));
  result.Set("early", toObject(env, early));
  return result;
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

}  // namespace

PlanRun::PlanRun(Napi::Object job, Port& port, std::function<void(bool)> onEnd)
    : deferred_(job.Env()), onEnd_(std::move(onEnd)), job_(readPlanJob(job, port)) {
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
  job_.executor->abort();
  thread_.join();
}

void PlanRun::work() {
  try {
    std::optional<CudaCurrent> current;
    if (job_.context) current.emplace(*job_.context);
    samples_ = job_.executor->run(job_.options);
  } catch (const std::exception& caught) {
    fault_ = std::make_unique<Fault>(toFault(caught, "plan"));
  }
  if (job_.board) job_.board->end();
  if (orphaned_.load()) return;  // the call would be lost, and what it carries with it
  auto told = told_.BlockingCall([this](Napi::Env env, Napi::Function) { settle(env); });
  if (told != napi_closing) told_.Release();
}

void PlanRun::settle(Napi::Env env) {
  thread_.join();
  leaving_.Remove(env);
  onEnd_(fault_ != nullptr);
  settleWith(deferred_, env, [&] {
    if (fault_) throw *fault_;
    return result(env);
  });
}

Napi::Value PlanRun::result(Napi::Env env) const {
  if (job_.proxy) return proxyResult(env, samples_, *job_.proxy);
  if (job_.verifying) return verifiedResult(env, samples_, job_.verifying->early());
  bool watched = job_.options.silenceNanoseconds > 0;
  if (!watched && !job_.marking) return toArray(env, samples_);
  auto result = Napi::Object::New(env);
  result.Set("samples", toArray(env, samples_));
  if (watched) result.Set("silences", silenceNumbers(env, job_.executor->silences()));
  if (job_.marking) result.Set("marks", toArray(env, job_.marking->marks()));
  return result;
}

}  // namespace weft
