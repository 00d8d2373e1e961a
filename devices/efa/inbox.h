// What arrives over one link: frames, checked and put into registered memory.
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "address-table.h"
#include "completion-queue.h"
#include "newer-abi.h"
#include "wire.h"
#include "work-request.h"

namespace efa {

class Link;

class Inbox {
 public:
  explicit Inbox(Link& link) : link_(link) {}

  /// Handles the whole frames at the start of `bytes` and returns how many bytes they took. Fails the link on
  /// anything that is not ours.
  size_t take(const uint8_t* bytes, size_t length);
  /// Bytes of a frame that is not whole yet.
  std::vector<uint8_t> rest;

  /// The fault `early_immediate`: data that waits while its completion is already out.
  uint64_t next_due() const { return held_.empty() ? UINT64_MAX : held_.front().due; }
  void release_held(uint64_t now);


 private:
  struct Partial {
    uint32_t received = 0;
    Status status = kOk;
    bool announced = false;
  };
  struct Held {
    uint64_t due;
    Frame frame;
    std::vector<uint8_t> data;
  };

  bool handle(const Frame& frame, const uint8_t* data);
  bool on_hello(const Frame& frame, const uint8_t* data);
  void on_send(const Frame& frame, const uint8_t* data);
  void on_write(const Frame& frame, const uint8_t* data);
  void on_read_request(const Frame& frame);
  void on_read_data(const Frame& frame, const uint8_t* data);
  void on_acks(const Frame& frame, const uint8_t* data);

  void hold(const Frame& frame, const uint8_t* data);
  void place_write(const Frame& frame, const uint8_t* data, bool announced);
  Status announce(const Frame& frame);
  /// What a message gives its receiver to poll.
  Completion arrival(const Frame& frame, ibv_wc_opcode opcode) const;
  Status check_rdma(const Frame& frame, uint32_t cap) const;
  bool scatter(const ibv_sge* sge, size_t count, uint64_t offset, const uint8_t* data, uint32_t length);

  Link& link_;
  bool greeted_ = false;
  uint32_t source_qp_ = 0;
  Gid source_{};
  std::unordered_map<uint32_t, Partial> partial_;
  std::vector<Held> held_;
};

}  // namespace efa
