#pragma once
// Operations of JavaScript. Posting and polling take their arguments from, and leave their results in, two typed arrays
// shared with JavaScript: an empty call costs 20 ns, eight arguments another 70.
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "port.h"

namespace weft {

class Operations final : public Completer {
 public:
  static constexpr size_t kCommandWords = 10, kRecordWords = 4;

  /// The arrays must outlive this object, and this object the port its operations are in flight on.
  Operations(const double* command, uint32_t* records, size_t recordWords)
      : command_(command), records_(records), capacity_(recordWords / kRecordWords) {}

  /// Posts what the command array says. Returns the operation's id, or -1 when it is complete already.
  int32_t post(Port& port);
  /// Looks at the queues up to `spins` times, until there is something to tell. Returns the number of records.
  int32_t poll(Port& port, uint32_t spins);
  /// False where it is not in flight, or cannot be recalled.
  bool cancel(Port& port, size_t id);
  /// The provider's words that a record named; empty when there are none.
  std::string takeText(uint32_t key);

  // Called by Port::drain. Steps belong to plans, and no plan runs while JavaScript polls.
  void settled(Operation& operation, uint64_t bytes);
  void reached(uint32_t) {}

 private:
  struct Record {
    uint32_t kind, id, low, high;
  };

  void fill(Operation& operation, Port& port);
  Operation& take();
  void release(uint32_t id);
  uint32_t keep(const std::string& text);
  void tell(size_t index, const Record& record);
  void completed(Operation& operation, uint64_t bytes) override { settled(operation, bytes); }
  void failed(Operation& operation, int code, const std::string& text) override;

  const double* command_;
  uint32_t* records_;
  size_t capacity_;
  unsigned empty_ = 0;
  std::deque<Operation> operations_;  // a deque: operations in flight must not move
  std::vector<uint32_t> free_;
  std::deque<Record> pending_;
  std::unordered_map<uint32_t, std::string> texts_;
  uint32_t nextText_ = 0;
};

}  // namespace weft
