#pragma once
// Where a provider does not say when a write is delivered, its target does, with an immediate of its own. The value of a
// plan's immediate then means:
//   0 … 0x3FFF    a chunk of this slot
//   0x4000 | slot all chunks of the transfer with this slot have arrived (executors send and count them)
//   0x8000 | n    the write of token n: acknowledge it
//   0xC000 | n    the write of token n has arrived
// The two highest values are the executor's own, as everywhere. Writes outside plans carry tokens. One that also carries
// an immediate of the user sends that after the acknowledgement: both do not fit 32 bits.
#include <cstdint>
#include <deque>
#include <vector>

#include "port.h"

namespace weft {

class Acknowledgements final : public Completer {
 public:
  static constexpr uint32_t kMostSlot = 0x3FFF;
  static constexpr uint32_t kTransferBit = 0x4000;
  static constexpr uint32_t kTokenBit = 0x8000;

  explicit Acknowledgements(Port& port);
  /// Registers the mailbox with every endpoint of the port.
  void prepare();
  /// What peers on this endpoint need to know, to append to its address.
  Mailbox mailbox(uint32_t endpoint) const;
  void connect(uint32_t rank) { rank_ = rank; }

  static constexpr bool isToken(uint32_t data) { return (data & kTokenBit) && (data & 0xFFFE) != 0xFFFE; }

  /// Sends an immediate without data.
  void tell(uint32_t endpoint, uint32_t peer, uint32_t data) { note(endpoint, peer, data, nullptr); }
  /// Posts a write that its target acknowledges; as fi_writemsg, and -FI_EAGAIN also when all tokens are in use.
  ssize_t write(Endpoint& endpoint, Operation& operation);
  /// A token came, or the acknowledgement of one.
  void arrived(uint32_t endpoint, uint32_t data);

 private:
  struct Token {
    Operation* operation = nullptr;
    Completer* completer = nullptr;  // the operation's own
    bool sent = false, acknowledged = false;
  };
  struct Note : Operation {
    Operation* then = nullptr;  // completes with this one
  };

  void note(uint32_t endpoint, uint32_t peer, uint32_t data, Operation* then);
  void settle(Token& token);
  void completed(Operation& operation, uint64_t bytes) override;
  void failed(Operation& operation, int code, const std::string& text) override;

  Port& port_;
  uint32_t rank_ = 0;
  Region* region_ = nullptr;
  std::deque<Note> notes_;  // a deque: what is in flight must not move
  std::vector<Note*> freeNotes_;
  std::vector<Token> tokens_;
  std::vector<uint16_t> freeTokens_;
};

}  // namespace weft
