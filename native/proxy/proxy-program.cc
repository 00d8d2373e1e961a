#include "proxy-program.h"

#include <cstring>

#include "../clock.h"
#include "../memory/pattern.h"

namespace weft {

namespace {

void prepare(const ProxyProgram& program, const ProxyTransfer& transfer, uint64_t iteration) {
  uint8_t* data = program.source + transfer.offset;
  if (program.fill) fillPattern(data, transfer.bytes, program.seed, transfer.offset);
  else if (transfer.bytes >= kStampBytes) std::memcpy(data, &iteration, kStampBytes);
}

}  // namespace

bool runProxyProgram(const ProxyProgram& program, uint32_t producer, unsigned spins) {
  queue::Sender sender(program.board, producer, spins);
  uint64_t* sample = program.samples + producer * (program.iterations / program.batch);
  uint64_t start = 0;
  for (uint64_t iteration = 0; iteration < program.iterations; iteration++) {
    uint64_t* seen = program.seen ? program.seen + iteration * program.transferCount : nullptr;
    if (iteration % program.batch == 0) start = monotonicNanoseconds();
    uint64_t last = 0;
    for (uint64_t transfer = producer; transfer < program.transferCount; transfer += program.board.producers) {
      prepare(program, program.transfers[transfer], iteration);
      if (!sender.putNbi(transfer, monotonicNanoseconds())) return false;
      last = transfer;
      if (!program.blocking) continue;
      if (!sender.quiet()) return false;
      if (seen) seen[transfer] = monotonicNanoseconds();
    }
    if (!program.blocking && !sender.quiet()) return false;
    uint64_t now = monotonicNanoseconds();
    if (seen && !program.blocking) seen[last] = now;
    if ((iteration + 1) % program.batch == 0) *sample++ = now - start;
  }
  return true;
}

}  // namespace weft
