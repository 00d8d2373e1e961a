#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "../gpu/span.h"
#include "backlog.h"
#include "chaos.h"
#include "library.h"

namespace weft {

class Acknowledgements;
class Port;
class ReceivePool;

struct EndpointOptions {
  bool directed = false;      // receives name their sender
  bool acknowledged = false;  // targets acknowledge writes, because the provider does not say when they are delivered
  size_t peersExpected = 0;
  bool localShm = false;  // efa: ranks of one host may use shared memory
};

/// Where a peer takes immediates that carry no data.
struct Mailbox {
  uint64_t address = 0, key = 0;
};

/// One NIC: fabric, domain, completion queue, address vector and endpoint, closed in the reverse order.
struct alignas(64) Endpoint {
  Endpoint(uint32_t index, const fi_info* wanted, const EndpointOptions& options);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // What every message uses comes first, on two cache lines.
  fid_cq* cq = nullptr;
  fid_ep* ep = nullptr;
  struct Queue {
    size_t inFlight = 0, limit = 0;  // the limit as the provider says
  };
  Queue sends, receives;
  bool directed, acknowledged;          // see EndpointOptions
  uint32_t unusualBits = 0, usual = 0;  // an arrival whose bits differ from the usual is more than a count
  std::vector<fi_addr_t> peers;         // by rank
  std::unique_ptr<ReceivePool> pool;    // where an arriving immediate takes a posted receive (FI_RX_CQ_DATA)
  size_t injectBytes = 0;               // as the provider says
  unsigned looks = 0;                   // while posts wait, since they were last tried
  const uint32_t index;                 // of its port
  Backlog backlog;
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;
  fid_av* av = nullptr;
  fid_eq* eq = nullptr;  // of efa, which aborts the process if it cannot report an error here
  size_t maxMessageBytes = 0, maxWriteBytes = 0;
  std::optional<bool> emulatedWrites;  // where the provider says whether it makes writes of sends
  std::vector<Mailbox> mailboxes;      // by rank, where writes are acknowledged

  /// As errors name it: the channel, and the NIC where libfabric knows it.
  std::string label() const;
  bool recalls() const, reads() const;  // receives can be cancelled; peers can be read from
  /// After a look at the queue: whether waiting posts are to be tried although no completion made room for them. A
  /// refusal costs as much as a post, and completions that come make room: then rarely.
  bool retryDue(bool completions) {
    looks += completions ? 1 : kEmptyLook;
    if (looks < kLooksBetweenRetries) [[likely]] return false;
    looks = 0;
    return true;
  }
  Queue& queueOf(const Operation& operation) {
    return operation.kind == OperationKind::Recv ? receives : sends;
  }

 private:
  static constexpr unsigned kLooksBetweenRetries = 128, kEmptyLook = 8;
  void open(const EndpointOptions& options);
  void enable();
  void openEvents();
  void readLimits();
  void close();
};

/// A buffer registered with every endpoint of a port.
struct Region {
  Span memory;
  std::vector<fid_mr*> mr;  // by endpoint
  std::vector<void*> descriptor;
  size_t inFlight = 0;
  ~Region();
};

struct RemoteRegion {
  std::vector<uint64_t> address, key;  // by endpoint
};

/// Immediates: [1 bit plan/user][15 bits source rank][16 bits slot or user value].
constexpr uint32_t kUserBit = 1u << 31;
constexpr uint32_t immediate(bool user, uint32_t source, uint32_t value) {
  return (user ? kUserBit : 0) | source << 16 | value;
}

struct Arrival {
  uint32_t endpoint;
  uint32_t data;
};

/// Arrivals of one (source, slot) of plans. Cumulative, so that a fast sender's next iteration is never lost.
struct Counter {
  static constexpr uint64_t kNobody = ~0ull;
  uint64_t arrived = 0;   // since the port was opened
  uint64_t consumed = 0;  // by waits that were met
  uint64_t wanted = kNobody;  // the value of `arrived` at which `step` is told
  uint32_t step = 0;
};

struct PortFault {
  uint32_t endpoint;
  int code;
  std::string text;
};

/// All endpoints of one rank, driven by one thread at a time.
class Port {
 public:
  Port();
  ~Port();

  uint32_t open(const fi_info* info, const EndpointOptions& options);
  /// When all endpoints are open: the address of one of them, as peers need it.
  std::vector<uint8_t> name(uint32_t endpoint);
  /// Learns every rank's address on one endpoint, this one's included.
  void connect(uint32_t endpoint, uint32_t rank, const std::vector<std::vector<uint8_t>>& everyone);
  void close();

  /// Registers `memory` with every endpoint; `keys[e]` is the key asked for where the application chooses. A GPU's
  /// memory is named to the provider by its address or, where there is one, by its DMABUF, whose descriptor the
  /// provider may need as long as the region lives.
  uint32_t addRegion(Span memory, const std::vector<uint64_t>& keys, int dmabuf = -1);
  /// False while operations use it.
  bool removeRegion(uint32_t id);
  uint32_t addRemote(RemoteRegion remote);
  void removeRemote(uint32_t id);

  /// Posts now, or queues behind earlier posts that met back-pressure. Throws a Fault on any other refusal.
  /// True when the operation is complete already (an injected send, an empty read): its completer will not be called.
  bool post(Operation& operation);
  /// Hands a write to the provider, with completion and these flags besides.
  static ssize_t writeNow(Endpoint& endpoint, Operation& operation, uint64_t flags, uint32_t data);
  /// Asks the provider to end a receive, or takes a queued operation back. Its completer hears ECANCELED. False where
  /// the operation cannot be recalled.
  bool cancel(Operation& operation);
  /// One look at every completion queue, and one try for every queued post. Returns how many entries it saw. Calls
  /// `driver.settled(operation, bytes)` directly for the driver's own operations, and `driver.reached(step)` when a
  /// counter reaches the value that the step waits for.
  template <typename Driver>
  size_t drain(Driver& driver);

  /// Looks for errors that belong to no operation. Once in a while is enough.
  [[gnu::cold]] void readEvents();

  Endpoint& endpoint(uint32_t index) { return *endpoints_.at(index); }
  size_t endpointCount() const { return endpoints_.size(); }
  Region& region(uint32_t id);
  const RemoteRegion& remote(uint32_t id) const;

  /// The reference stays good while the port lives.
  Counter& counter(uint32_t source, uint32_t slot) {
    if (source < counters_.size() && slot < counters_[source].size()) {
      if (Counter* known = counters_[source][slot]) return *known;
    }
    return addCounter(source, slot);
  }

  /// Null where the provider itself says when writes are delivered.
  Acknowledgements* acknowledgements() { return acknowledgements_.get(); }

  std::deque<Arrival> userArrivals;
  std::deque<PortFault> faults;
  std::atomic<bool> busy{false};  // an executor drives this port
  std::unique_ptr<Chaos> chaos;   // tests only

 private:
  /// Completions that a look takes. Each makes room for a post, and over sockets a look costs system calls: with 16 per
  /// look, four channels of small messages took 4 to 7 % longer.
  static constexpr ssize_t kBatch = 64;
  static constexpr ssize_t kNothingToDo = 2;

  /// kNothingToDo where there is nothing to post. Another number above 0: taken, and its completer knows or will know.
  ssize_t tryPost(Endpoint& endpoint, Operation& operation);
  ssize_t tryWrite(Endpoint& endpoint, Operation& operation);
  template <typename Driver>
  void complete(Endpoint& endpoint, const fi_cq_data_entry& entry, Driver& driver);

  /// Queues it behind the earlier posts of its kind.
  void wait(Endpoint& endpoint, Operation& operation);
  /// Tries a queued post, the oldest of its queue. -FI_EAGAIN where it waits on; a number below 0 where it failed for
  /// good, which its completer knows.
  ssize_t repost(Endpoint& endpoint, Operation& operation);
  /// Where `completed` made room for a queued post, tries that. One, because a provider that holds as much as it can
  /// takes a lock to refuse more, which shm's peers need to get on.
  void madeRoom(Endpoint& endpoint, const Operation& completed);

  // Rare: marked cold to keep them out of the loop that inlines the rest.
  /// Queues what met back-pressure, and throws for any other refusal.
  [[gnu::cold]] void refused(Endpoint& endpoint, Operation& operation, ssize_t result);
  /// Tries all queued posts, each queue until a refusal. How many failed for good.
  [[gnu::cold]] size_t retry(Endpoint& endpoint);
  /// What no longer waits and yet is not in flight: nothing to do, a pool's, or failed.
  [[gnu::cold]] void takenOtherwise(Operation& operation, ssize_t result);
  /// Handles a negative result of fi_cq_read; how many entries it read.
  [[gnu::cold]] size_t readError(Endpoint& endpoint, ssize_t answer);
  [[gnu::cold]] void misdirected(Operation& operation, uint32_t source, uint64_t bytes);
  [[gnu::cold]] ssize_t receivePooled(Endpoint& endpoint, Operation& operation);
  /// Registers what acknowledgements and receive pools need, once, when all endpoints are open.
  void prepare();
  template <typename Driver>
  [[gnu::cold]] void arrivedUnusual(Endpoint& endpoint, const fi_cq_data_entry& entry, Driver& driver);
  template <typename Driver>
  void count(uint32_t data, Driver& driver);
  [[gnu::cold]] Counter& addCounter(uint32_t source, uint32_t slot);
  template <typename Driver>
  [[gnu::cold]] size_t letThrough(Driver& driver);

  std::unique_ptr<Acknowledgements> acknowledgements_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  std::unordered_map<uint32_t, std::unique_ptr<Region>> regions_;
  std::unordered_map<uint32_t, RemoteRegion> remotes_;
  uint32_t nextRegion_ = 0, nextRemote_ = 0;
  bool prepared_ = false;
  GpuContextPtr context_;  // of the GPU whose memory was registered, if any was: for the thread that closes
  std::vector<std::vector<Counter*>> counters_;  // [source][slot], null until first used
  std::deque<Counter> madeCounters_;
};

}  // namespace weft
