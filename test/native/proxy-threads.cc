// The proxy's heart with real threads, for ThreadSanitizer. Prints one line per case; exits with 1 at the first that fails.
// Built and run by threads.test.ts.
#include <deque>
#include <memory>
#include <random>
#include <thread>

#include "../../native/fault.h"
#include "../../native/memory/pattern.h"
#include "../../native/proxy/proxy-program.h"
#include "../../native/proxy/proxy.h"
#include "threads.h"

using namespace weft;

namespace {

/// A board in ordinary memory.
struct BoardStore : Store {
  BoardStore(uint32_t shift, uint32_t producers) : Store(shift), delivered(producers), pushed(producers) {
    board = {view, delivered.data(), pushed.data(), producers};
  }
  std::vector<queue::Delivered> delivered;
  std::vector<queue::Pushed> pushed;
  queue::Board board;
};

/// Copies memory in the place of a fabric: some transfers at once, others later and out of order.
class Loopback : public Poster {
 public:
  Loopback(uint8_t* from, uint8_t* to, const std::vector<ProxyTransfer>& transfers)
      : from_(from), to_(to), transfers_(transfers) {}
  void begin(uint32_t transfer) override {
    const auto& [offset, bytes] = transfers_[transfer];
    std::copy_n(from_ + offset, bytes, to_ + offset);
    if (random_() % 3 == 0) proxy->delivered(transfer);
    else held_.push_back(transfer);
  }
  void poll() {
    if (held_.empty()) return;
    size_t which = random_() % held_.size();
    uint32_t transfer = held_[which];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
    proxy->delivered(transfer);
  }
  Proxy* proxy = nullptr;

 private:
  uint8_t* from_;
  uint8_t* to_;
  const std::vector<ProxyTransfer>& transfers_;
  std::deque<uint32_t> held_;
  std::minstd_rand random_{7};
};

/// Producers fill, ask and wait; what arrives is what they filled.
void proxied(const char* name, uint32_t producers, bool blocking, unsigned spins) {
  constexpr uint64_t kIterations = 20;
  std::vector<ProxyTransfer> transfers;
  uint64_t end = 0;
  for (uint64_t bytes : {8u, 100u, 4096u, 1u, 64u, 777u, 2048u, 32u}) {
    transfers.push_back({end, bytes});
    end += (bytes + 63) / 64 * 64;
  }
  std::vector<uint8_t> source(end), target(end);
  BoardStore store(3, producers);
  std::vector<uint64_t> samples(producers * kIterations), seen(transfers.size() * kIterations);
  ProxyProgram program{store.board, source.data(), transfers.data(), transfers.size(), kIterations, 1,
                       blocking,    1,             99,               samples.data(),   seen.data()};
  Proxy proxy(store.board, static_cast<uint32_t>(transfers.size()));
  proxy.trace(transfers.size() * kIterations);
  Loopback loopback(source.data(), target.data(), transfers);
  loopback.proxy = &proxy;
  std::vector<std::thread> threads;
  std::atomic<int> ended{0};
  for (uint32_t p = 0; p < producers; p++) threads.emplace_back([&, p] { ended += runProxyProgram(program, p, spins); });
  while (proxy.deliveredCount() < transfers.size() * kIterations) {
    if (proxy.take(loopback) == 0) std::this_thread::yield();
    loopback.poll();
  }
  for (auto& thread : threads) thread.join();
  expect(ended == static_cast<int>(producers), std::string(name) + ": a producer gave up");
  for (const auto& [offset, bytes] : transfers) {
    expect(verifyPattern(target.data() + offset, bytes, 99, offset).wrong == 0, std::string(name) + ": wrong data");
  }
  for (const RequestTimes& times : proxy.times()) {
    expect(times.pushed <= times.popped && times.popped <= times.delivered, std::string(name) + ": times run backwards");
  }
  std::printf("ok %s\n", name);
}

/// A proxy that ends lets go of producers that push and of those that wait.
void endedProxyLetsGo() {
  BoardStore store(2, 4);
  std::vector<ProxyTransfer> transfers(64, ProxyTransfer{0, 0});
  std::vector<uint64_t> samples(4);
  ProxyProgram program{store.board, nullptr, transfers.data(), 64, 1, 1, 1, 0, 0, samples.data(), nullptr};
  Proxy proxy(store.board, 64);
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (uint32_t p = 0; p < 4; p++) threads.emplace_back([&, p] { refused += !runProxyProgram(program, p, 0); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  proxy.end();
  for (auto& thread : threads) thread.join();
  expect(refused == 4, "producers went on without a proxy");
  std::printf("ok an ended proxy lets go\n");
}

/// A second Sender of a producer waits for what it asked for itself, though the first one's is long delivered.
void secondSenderWaits() {
  BoardStore store(2, 2);
  std::vector<ProxyTransfer> transfers(3);
  Proxy proxy(store.board, 3);
  std::atomic<int> stage{0};
  class Held : public Poster {
   public:
    void begin(uint32_t) override {}
  } held;
  using Look = queue::Sender::Look;
  std::thread asker([&] {
    queue::Sender first(store.board, 1, 0);
    expect(first.putNbi(0, 0) && first.quiet(), "the first sender was let go");
    queue::Sender second(store.board, 1, 0);
    expect(second.look() == Look::Quiet, "a sender that asked for nothing waits");
    expect(second.putNbi(1, 0) && second.look() == Look::Waiting, "a second sender does not wait");
    stage = 1;
    expect(second.quiet(), "the second sender was let go");
    expect(queue::Sender(store.board, 0, 0).look() == Look::Quiet, "another producer waits, too");
    stage = 2;
  });
  while (proxy.take(held) == 0) std::this_thread::yield();
  proxy.delivered(0);
  while (proxy.take(held) == 0) std::this_thread::yield();
  while (stage == 0) std::this_thread::yield();
  expect(stage == 1, "a quiet ended before the delivery");
  std::atomic_ref wanted(store.board.delivered[1].wanted);
  while (wanted.load() == 0) std::this_thread::yield();
  (void)proxy.woke();
  proxy.delivered(1);
  expect(proxy.woke() && !proxy.woke(), "who was woken is not told, or twice");
  asker.join();
  expect(stage == 2, "the asker did not end");
  std::printf("ok a second sender waits for its own\n");
}

void badRequestsAreRefused() {
  BoardStore store(2, 1);
  Proxy proxy(store.board, 4);
  std::vector<ProxyTransfer> transfers(4);
  Loopback loopback(nullptr, nullptr, transfers);
  loopback.proxy = &proxy;
  queue::Producer producer(store.view);
  producer.push(queue::toElement({9, 0, 0}));
  try {
    proxy.take(loopback);
    expect(false, "a transfer that does not exist was begun");
  } catch (const Fault& fault) {
    expect(fault.code == EINVAL, fault.text);
  }
  std::printf("ok bad requests are refused\n");
}

}  // namespace

int main() {
  proxied("one producer, blocking", 1, true, 0);
  proxied("one producer, NBI", 1, false, 100);
  proxied("five producers, blocking", 5, true, 10);
  proxied("eight producers, NBI", 8, false, 0);
  endedProxyLetsGo();
  secondSenderWaits();
  badRequestsAreRefused();
  std::printf("done\n");
}
