// Completion queues: the device's thread adds, the application's threads poll.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>

#include "address-table.h"
#include "newer-abi.h"
#include "spin.h"

namespace efa {

class Engine;
class QueuePair;

struct Completion {
  uint64_t wr_id;
  QueuePair* qp;
  ibv_wc_opcode opcode;
  uint16_t status;
  uint16_t ah;
  uint32_t byte_len;
  uint32_t immediate;
  uint32_t src_qp;
  uint8_t flags;  // ibv_wc_flags
  bool unsolicited;
  bool frees_receive;  // took a posted receive
  Gid source;
};

class CompletionQueue;

/// What callers hold pointers to.
struct VerbsCompletionQueue {
  ibv_cq_ex ex{};
  CompletionQueue* owner = nullptr;
};
struct OwnedExtension {
  CqExtension functions{};
  CompletionQueue* owner = nullptr;
};

class CompletionQueue {
 public:
  explicit CompletionQueue(Engine& engine) : engine_(&engine) {}

  VerbsCompletionQueue verbs;
  OwnedExtension extension;
  ibv_cq_ex& ex = verbs.ex;

  static CompletionQueue& of(void* cq) { return *static_cast<VerbsCompletionQueue*>(cq)->owner; }
  static CompletionQueue& of_extension(void* extension) { return *static_cast<OwnedExtension*>(extension)->owner; }

  void push(const Completion& completion);
  /// Takes the next completion into `current`. When there is none, gives the device a turn; false if that brought none.
  bool advance();
  /// Completions of a queue pair that is gone never come out.
  void purge(const QueuePair* qp);
  void request_notification();

  Completion current{};

 private:
  void notify();

  Engine* const engine_;
  std::atomic<size_t> count_{0};
  Spin lock_;
  std::deque<Completion> entries_;
  bool armed_ = false;
};

/// With `efa` null the queue has no extension. Null with errno set when it cannot be made.
ibv_cq_ex* create_completion_queue(ibv_context* context, const ibv_cq_init_attr_ex& attr, const CqInitAttr* efa);
int destroy_completion_queue(ibv_cq* cq);
int poll_completions(ibv_cq* cq, int entries, ibv_wc* into);

}  // namespace efa
