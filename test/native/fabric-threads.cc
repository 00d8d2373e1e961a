// Two ranks of one process over libfabric's shm, each run by an executor on a thread of its own, for ThreadSanitizer:
// plans that end, plans that another thread aborts, producers that a proxy serves through its queue, memory that is
// registered on another thread, ports that close on another. Prints one line per case; exits with 1 at the first that
// fails. Built and run by scripts/test-sanitize.mjs, against the sources of the addon.
#include <unistd.h>

#include <chrono>
#include <thread>

#include "../../native/fabric/close-port.h"
#include "../../native/fault.h"
#include "../../native/memory/mapping.h"
#include "../../native/memory/pattern.h"
#include "../../native/proxy/proxy-executor.h"
#include "threads.h"

using namespace weft;

namespace {

constexpr size_t kBytes = 1 << 20;
constexpr uint32_t kPieces = 4;

fi_info* offerOfShm() {
  const Library& library = Library::open("libfabric.so.1");
  fi_info* hints = library.dupinfo(nullptr);
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_MSG | FI_RMA | FI_DIRECTED_RECV;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->av_type = FI_AV_TABLE;
  hints->fabric_attr->prov_name = strdup("shm");
  fi_info* found = nullptr;
  check(library.getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &found), "fi_getinfo");
  library.freeinfo(hints);
  return found;
}

Span spanOf(const std::shared_ptr<Mapping>& mapping) { return {mapping->data(), mapping->bytes(), nullptr, mapping}; }

/// A rank with its buffers, which are prepared and registered on a thread that is not the executor's.
struct Rank {
  std::unique_ptr<Port> port = std::make_unique<Port>();
  std::shared_ptr<Mapping> source = std::make_shared<Mapping>(kBytes), target = std::make_shared<Mapping>(kBytes);
  uint32_t sourceId = 0, targetId = 0;
  std::vector<RemoteRegion> remotes;

  void prepare(const std::atomic<bool>& aborted, std::atomic<size_t>& prepared) {
    for (const auto& mapping : {source, target}) mapping->prepare(false, prepared, aborted);
    sourceId = port->addRegion(spanOf(source), {1});
    targetId = port->addRegion(spanOf(target), {2});
  }
};

struct Pair {
  Rank ranks[2];

  Pair() {
    fi_info* offer = offerOfShm();
    std::vector<std::vector<uint8_t>> names;
    for (Rank& rank : ranks) rank.port->open(offer, {true, false, 2, false});
    for (Rank& rank : ranks) names.push_back(rank.port->name(0));
    for (uint32_t i = 0; i < 2; i++) ranks[i].port->connect(0, i, names);
    Library::get().freeinfo(offer);
    std::atomic<bool> aborted{false};
    std::atomic<size_t> prepared{0};
    for (Rank& rank : ranks) std::thread([&] { rank.prepare(aborted, prepared); }).join();
    expect(prepared.load() == kBytes, "all bytes are prepared");
    bool virtualAddresses = ranks[0].port->endpoint(0).info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    for (Rank& rank : ranks) {
      for (Rank& other : ranks) {
        uint64_t base = virtualAddresses ? reinterpret_cast<uint64_t>(other.target->data()) : 0;
        rank.remotes.push_back({{base}, {fi_mr_key(other.port->region(other.targetId).mr[0])}});
      }
    }
  }

  ~Pair() {
    for (Rank& rank : ranks) expect(closeWithin(std::move(rank.port), std::chrono::seconds(5)), "the port closes");
  }

  template <typename Kind, typename... More>
  std::unique_ptr<Executor> executor(uint32_t rank, Plan plan, More&&... more) {
    Rank& own = ranks[rank];
    RemoteBuffers remotes{{&own.remotes[0], &own.remotes[1]}, {}};
    return std::make_unique<Kind>(*own.port, std::move(plan), &own.port->region(own.sourceId),
                                  &own.port->region(own.targetId), std::move(remotes), std::forward<More>(more)...);
  }
};

Plan emptyPlan(uint32_t rank) {
  Plan plan;
  plan.rank = rank;
  plan.world = 2;
  plan.channels = 1;
  plan.window = 8;
  plan.chunkBytes = 16384;
  return plan;
}

void add(Plan& plan, PlanStep::Kind kind, uint32_t peer, uint32_t piece) {
  PlanStep step;
  step.kind = kind;
  step.peer = peer;
  step.slot = piece;
  step.bytes = kBytes / kPieces;
  step.offset = step.remoteOffset = piece * step.bytes;
  plan.steps.push_back(step);
}

/// Every piece to the other rank, and as many from it.
Plan exchange(uint32_t rank) {
  Plan plan = emptyPlan(rank);
  for (uint32_t piece = 0; piece < kPieces; piece++) {
    add(plan, PlanStep::Write, 1 - rank, piece);
    add(plan, PlanStep::Wait, 1 - rank, piece);
  }
  return plan;
}

RunOptions options(uint64_t iterations) {
  RunOptions options;
  options.iterations = iterations;
  options.timeoutNanoseconds = 60'000'000'000;
  return options;
}

/// The code of the Fault that ended the run, or 0.
int run(Executor& executor, const RunOptions& how) {
  try {
    expect(executor.run(how).size() == how.iterations / how.batch, "a sample for every iteration");
    return 0;
  } catch (const Fault& fault) {
    return fault.code;
  }
}

void runBoth(Executor& first, Executor& second, const RunOptions& how, int code) {
  int codes[2] = {-1, -1};
  std::thread threads[2] = {std::thread([&] { codes[0] = run(first, how); }), std::thread([&] { codes[1] = run(second, how); })};
  if (code == ECANCELED) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first.abort();
    second.abort();
  }
  for (auto& thread : threads) thread.join();
  expect(codes[0] == code && codes[1] == code, "runs end with " + std::to_string(codes[0]) + " and " + std::to_string(codes[1]));
}

void exchanges() {
  Pair pair;
  for (uint64_t turn = 0; turn < 3; turn++) {
    for (uint32_t rank = 0; rank < 2; rank++) fillPattern(pair.ranks[rank].source->data(), kBytes, turn + rank, 0);
    auto first = pair.executor<Executor>(0, exchange(0), nullptr), second = pair.executor<Executor>(1, exchange(1), nullptr);
    runBoth(*first, *second, options(20), 0);
    for (uint32_t rank = 0; rank < 2; rank++) {
      expect(verifyPattern(pair.ranks[rank].target->data(), kBytes, turn + 1 - rank, 0).wrong == 0, "all bytes arrive");
    }
  }
  std::printf("plans exchange\n");
}

void aborts() {
  std::vector<std::unique_ptr<Executor>> aborted;  // what they left in flight goes after the ports
  Pair pair;
  for (uint32_t rank = 0; rank < 2; rank++) aborted.push_back(pair.executor<Executor>(rank, exchange(rank), nullptr));
  runBoth(*aborted[0], *aborted[1], options(1u << 30), ECANCELED);
  std::printf("another thread aborts plans\n");
}

void proxied(bool blocking) {
  Pair pair;
  Plan writes = emptyPlan(0), waits = emptyPlan(1);
  ProxyJob job;
  job.producers = 2;
  job.shift = 4;
  job.blocking = blocking;
  job.fill = true;
  job.seed = 5;
  for (uint32_t piece = 0; piece < kPieces; piece++) {
    add(writes, PlanStep::Write, 1, piece);
    add(waits, PlanStep::Wait, 0, piece);
    job.steps.push_back({piece});
  }
  auto first = pair.executor<ProxyExecutor>(0, std::move(writes), std::move(job));
  auto second = pair.executor<Executor>(1, std::move(waits), nullptr);
  runBoth(*first, *second, options(20), 0);
  expect(verifyPattern(pair.ranks[1].target->data(), kBytes, 5, 0).wrong == 0, "what producers filled arrives");
  std::printf("a proxy serves producers%s\n", blocking ? " that wait" : "");
}

}  // namespace

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  alarm(300);
  exchanges();
  aborts();
  proxied(false);
  proxied(true);
  std::printf("done\n");
}
