#pragma once
// With FI_RX_CQ_DATA an arriving immediate takes a posted receive, whichever comes first. A receive that somebody waits
// for would be lost to it, and a message could end in a receive posted for immediates. So all posted receives of such an
// endpoint are alike and belong to this pool. Messages are copied from them to the receives that ask for them, by sender.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "port.h"

namespace weft {

class ReceivePool final : public Completer {
 public:
  ReceivePool(Port& port, Endpoint& endpoint, size_t count) : port_(port), endpoint_(endpoint), operations_(count) {}

  /// Enough for the usual window of every peer and for acknowledgements, where the device can hold that.
  static size_t sizeFor(const fi_info& info, size_t peers) {
    return std::min<size_t>(info.rx_attr->size, std::max<size_t>(512, 24 * peers));
  }

  size_t size() const { return operations_.size(); }
  /// Each of the receives must hold the largest message.
  size_t bytesNeeded() const { return size() * endpoint_.maxMessageBytes; }
  /// Posts all receives, into the part of `region` that starts at `offset`.
  void start(Region& region, size_t offset);
  bool owns(const Operation& operation) const { return operation.completer == this; }

  /// Takes a message that came already, or waits for one.
  void expect(Operation& receive);
  /// False when it is not waiting.
  bool forget(Operation& receive);
  /// An immediate took this receive.
  void consumed(Operation& posted);

 private:
  struct Message {
    Operation* posted;
    uint64_t bytes;
  };

  void completed(Operation& posted, uint64_t bytes) override;
  void failed(Operation& posted, int code, const std::string& text) override;
  void post(Operation& posted);
  void hand(Operation& receive, const Message& message);

  Port& port_;
  Endpoint& endpoint_;
  std::vector<Operation> operations_;  // never resized: what is in flight must not move
  std::unordered_map<uint32_t, std::deque<Operation*>> expected_;  // by sender
  std::unordered_map<uint32_t, std::deque<Message>> early_;
};

}  // namespace weft
