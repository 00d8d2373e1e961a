#include "acknowledgements.h"

#include "../fault.h"
#include "driving.h"

namespace weft {

namespace {

constexpr uint16_t kMostTokens = 0x3FFD;  // 0 is none, and the highest two values are taken
constexpr uint32_t kAsk = Acknowledgements::kTokenBit, kAnswer = 0xC000, kTokenMask = 0x3FFF;
constexpr size_t kMailboxBytes = 64;

}  // namespace

Acknowledgements::Acknowledgements(Port& port) : port_(port), tokens_(kMostTokens + 1) {
  for (uint16_t token = kMostTokens; token > 0; token--) freeTokens_.push_back(token);
}

void Acknowledgements::prepare() {
  auto memory = std::make_shared<std::vector<uint8_t>>(kMailboxBytes);
  Span span;
  span.base = memory->data();
  span.bytes = kMailboxBytes;
  span.owner = memory;
  // Key 0 is free where the application chooses: JavaScript counts from 1.
  region_ = &port_.region(port_.addRegion(span, std::vector<uint64_t>(port_.endpointCount(), 0)));
}

Mailbox Acknowledgements::mailbox(uint32_t endpoint) const {
  int mode = port_.endpoint(endpoint).info->domain_attr->mr_mode;
  bool virtualAddresses = mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC);
  return {virtualAddresses ? reinterpret_cast<uint64_t>(region_->memory.base) : 0, fi_mr_key(region_->mr[endpoint])};
}

void Acknowledgements::note(uint32_t endpoint, uint32_t peer, uint32_t data, Operation* then) {
  if (freeNotes_.empty()) freeNotes_.push_back(&notes_.emplace_back());
  Note& note = *freeNotes_.back();
  freeNotes_.pop_back();
  const Mailbox& mailbox = port_.endpoint(endpoint).mailboxes.at(peer);
  note.then = then;
  note.completer = this;
  note.kind = OperationKind::Write;
  note.hasData = true;
  note.data = data;
  note.endpoint = endpoint;
  note.peer = peer;
  note.region = region_;
  note.buffer = region_->memory.base;
  note.descriptor = region_->descriptor[endpoint];
  note.remoteAddress = mailbox.address;
  note.remoteKey = mailbox.key;
  try {
    port_.post(note);
  } catch (const Fault& fault) {
    // Not from here: the caller may be in the middle of a completion queue.
    failed(note, fault.code, fault.text);
  }
}

ssize_t Acknowledgements::write(Endpoint& endpoint, Operation& operation) {
  if (freeTokens_.empty()) return -FI_EAGAIN;
  uint16_t token = freeTokens_.back();
  ssize_t result = port_.writeNow(endpoint, operation, FI_REMOTE_CQ_DATA, immediate(false, rank_, kAsk | token));
  if (result != 0) return result;
  freeTokens_.pop_back();
  tokens_[token] = {&operation, operation.completer};
  operation.token = token;
  operation.completer = this;
  return 0;
}

void Acknowledgements::arrived(uint32_t endpoint, uint32_t data) {
  uint32_t source = data >> 16 & 0x7FFF;
  if ((data & kAnswer) == kAsk) {
    return tell(endpoint, source, immediate(false, rank_, kAnswer | (data & kTokenMask)));
  }
  Token& token = tokens_[data & kTokenMask];
  if (!token.operation) return;  // of a write that failed
  token.acknowledged = true;
  if (token.sent) settle(token);
}

void Acknowledgements::settle(Token& token) {
  Operation& operation = *token.operation;
  operation.completer = token.completer;
  token.operation = nullptr;
  freeTokens_.push_back(operation.token);
  operation.token = 0;
  if (operation.hasData) note(operation.endpoint, operation.peer, operation.data, &operation);
  else operation.completer->completed(operation, operation.bytes);
}

void Acknowledgements::completed(Operation& operation, uint64_t) {
  if (operation.token > 0) {
    Token& token = tokens_[operation.token];
    token.sent = true;
    if (token.acknowledged) settle(token);
    return;
  }
  auto& note = static_cast<Note&>(operation);
  Operation* then = note.then;
  freeNotes_.push_back(&note);
  if (then) then->completer->completed(*then, then->bytes);
}

void Acknowledgements::failed(Operation& operation, int code, const std::string& text) {
  if (operation.token > 0) {
    // The token is not used again: its acknowledgement may still come.
    Token& token = tokens_[operation.token];
    token.operation = nullptr;
    operation.token = 0;
    operation.completer = token.completer;
    return operation.completer->failed(operation, code, text);
  }
  if (Operation* then = static_cast<Note&>(operation).then) return then->completer->failed(*then, code, text);
  port_.faults.push_back({operation.endpoint, code, "acknowledgement to rank " + std::to_string(operation.peer) + ": " + text});
}

}  // namespace weft
