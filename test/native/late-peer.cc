// A library that moves the end of the heap and back while it opens, as UCX does, and takes its time to close: the
// process may end meanwhile.
#include <cstdlib>
#include <unistd.h>

#include "../../native/peers/shim.h"

namespace {

int opened;

void version(char* text, size_t capacity) { std::snprintf(text, capacity, "late"); }
int setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::atoi(value) : 0;
}
void* open(const weft_peer_setup*, char*) {
  for (int i = 0; i < setting("HEAP_MOVES"); i++) {
    sbrk(4096);
    usleep(200);
    sbrk(-4096);
  }
  return &opened;
}
void address(void*, const char** bytes, size_t* length) { *bytes = "", *length = 0; }
int connect(void*, const char* const*, const size_t*, char*) { return 0; }
int run(void*, const weft_peer_collective*, uint64_t, uint64_t, double*, char*) { return 0; }
void close(void*) { usleep(static_cast<useconds_t>(setting("CLOSE_US"))); }

}  // namespace

WEFT_PEER_EXPORT const weft_peer_table* weft_peer() {
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, run, close};
  return &table;
}
