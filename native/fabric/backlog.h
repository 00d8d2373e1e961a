#pragma once
// Posts that met back-pressure and are tried again.
#include <algorithm>
#include <vector>

#include "operation.h"

namespace weft {

/// One queue for each peer, so that one which refuses, perhaps for good, holds up nobody else, and one for receives. Each
/// keeps its order.
class Backlog {
 public:
  using Key = uint32_t;
  static Key keyOf(const Operation& operation) {
    return operation.kind == OperationKind::Recv ? kReceives : kFirstPeer + operation.peer;
  }

  bool empty() const { return open_.empty(); }
  bool has(Key key) const { return key < queues_.size() && queues_[key].first; }
  /// Null where nothing waits.
  Operation* oldest(Key key) const { return key < queues_.size() ? queues_[key].first : nullptr; }
  /// The queues that are not empty, in no order.
  const std::vector<Key>& open() const { return open_; }
  /// Whether so many posts to peers wait that more would only cost cache: two for each peer keep all of them busy.
  bool full() const { return sends_ >= enough_; }

  void push(Operation& operation) {
    Key key = keyOf(operation);
    if (key >= queues_.size()) {
      queues_.resize(key + 1);
      enough_ = std::max(enough_, 2 * queues_.size());
    }
    Queue& queue = queues_[key];
    operation.next = nullptr;
    if (queue.first) queue.last->next = &operation;
    else queue.first = &operation, open_.push_back(key);
    queue.last = &operation;
    sends_ += key != kReceives;
  }

  /// Takes the oldest of this queue out.
  void pop(Key key) {
    Queue& queue = queues_[key];
    queue.first = queue.first->next;
    sends_ -= key != kReceives;
    if (!queue.first) open_.erase(std::find(open_.begin(), open_.end(), key));
  }

  /// False where the operation does not wait.
  bool remove(Operation& operation) {
    Key key = keyOf(operation);
    if (!has(key)) return false;
    Queue& queue = queues_[key];
    if (queue.first == &operation) return pop(key), true;
    Operation* before = queue.first;
    while (before && before->next != &operation) before = before->next;
    if (!before) return false;
    before->next = operation.next;
    if (queue.last == &operation) queue.last = before;
    sends_ -= key != kReceives;
    return true;
  }

 private:
  struct Queue {
    Operation *first = nullptr, *last = nullptr;
  };
  static constexpr Key kReceives = 0, kFirstPeer = 1;
  std::vector<Key> open_;
  std::vector<Queue> queues_;  // by key
  size_t sends_ = 0, enough_ = 8;
};

}  // namespace weft
