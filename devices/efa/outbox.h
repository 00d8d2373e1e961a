// Messages on their way out over one link: cut into segments, shuffled, gathered into batches for one system call.
#pragma once
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "engine.h"
#include "newer-abi.h"
#include "wire.h"
#include "work-request.h"

namespace efa {

struct Message {
  WorkRequest work;
  FrameKind kind;
  bool in_use = false;
  uint8_t refusals = 0;    // times the target had no receive for it
  uint8_t window_count = 0;
  uint32_t id = 0;         // ours; of read data the requester's
  uint32_t next = 0;       // first segment not yet in the window
  uint32_t segments = 0;
  uint32_t lost = 0;       // segments that wait to be sent again
  uint32_t received = 0;   // bytes of a read that have come
  std::array<uint32_t, 16> window{};  // segments that may be sent next
};

/// Order is not promised: with shuffling on, any of the next segments of any of the first messages may leave next.
/// Small messages do not wait behind large ones: providers send their grants and acknowledgements that way, and a link
/// on which those queue behind data stands still in the other direction.
/// Message data is read from the caller's memory when a batch is written; it belongs to the device until the message
/// is acknowledged.
class Outbox {
 public:
  explicit Outbox(Context& context) : context_(context) {}

  void hello(const Hello& hello);
  void acknowledge(uint32_t message, Status status) { acks_.push_back({message, status}); }
  /// Sends the message at `due`.
  void post(const WorkRequest& work, uint64_t due);
  void post_read_data(const Frame& request);
  /// Sends a whole message once more.
  void repeat(Message& message, uint64_t due);

  /// The message a target speaks of; null when it is not one of ours.
  Message* find(uint32_t id);
  void release(Message& message);

  /// Moves what is due to the queue.
  void release_delayed(uint64_t now);
  uint64_t next_due() const;

  /// Bytes to write next, an empty span when there is nothing. Call `written` with what was.
  std::pair<iovec*, size_t> batch();
  void written(size_t bytes);

  bool is_empty() const { return vector_at_ == vectors_.size() && acks_.empty() && queue_.empty() && active_.empty(); }
  size_t outstanding() const { return outstanding_; }
  template <typename F>
  void each_outstanding(F&& visit) {
    for (auto& message : messages_) {
      if (message->in_use && message->kind != FrameKind::read_data) visit(*message);
    }
  }

 private:
  static constexpr size_t kBatchFrames = 64;
  static constexpr size_t kBatchBytes = 128 * 1024;
  static constexpr size_t kActive = 16;
  static constexpr uint64_t kSmallBytes = 256;
  static constexpr int64_t kWhole = -1;
  struct Delayed {
    uint64_t due;
    Message* message;
    int64_t segment;  // kWhole: the message
  };

  Message& allocate(FrameKind kind, uint64_t bytes);
  void enqueue(Message& message);
  void build_batch();
  void build_control();
  Message* pick();
  uint32_t take_segment(Message& message);
  bool lose(Message& message, uint32_t segment);
  void append(Message& message, uint32_t segment);
  void gather(const WorkRequest& work, uint64_t offset, uint64_t length);
  Frame& add_frame(FrameKind kind);

  Context& context_;
  std::vector<std::unique_ptr<Message>> messages_;
  std::vector<uint32_t> free_;
  size_t outstanding_ = 0;

  std::deque<Message*> queue_;
  std::vector<Message*> active_;
  std::vector<Delayed> delayed_;

  std::vector<Ack> acks_;
  std::vector<Ack> batch_acks_;
  std::vector<Hello> hello_;
  Hello batch_hello_{};

  std::array<Frame, kBatchFrames + 2> frames_;
  size_t frame_count_ = 0;
  std::vector<iovec> vectors_;
  size_t vector_at_ = 0;
  size_t batch_bytes_ = 0;
  std::vector<Message*> finished_;  // read data whose last segment is in the batch
};

}  // namespace efa
