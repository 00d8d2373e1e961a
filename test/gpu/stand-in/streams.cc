// Streams and events of the stand-in. All work is over when it has been asked for, so nothing is ever waited for.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "stand-in.h"

using namespace weft;

namespace {

std::atomic<uint64_t> nanoseconds{0};

}  // namespace

namespace weft {

struct CuStreamTag {};
struct CuEventTag {
  uint64_t recorded = 0;
};

}  // namespace weft

void spend(const char* work, size_t bytes) {
  const char* slow = std::getenv("STAND_IN_SLOW");
  nanoseconds += bytes * (slow && std::strcmp(slow, work) == 0 ? 2 : 1);
}

extern "C" {

CuResult cuStreamCreate(CuStream* stream, unsigned) {
  ANSWER(inContext("cuStreamCreate"));
  *stream = new CuStreamTag;
  return 0;
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  delete stream;
  return 0;
}
CuResult cuStreamQuery(CuStream) { return inContext("cuStreamQuery"); }
CuResult cuStreamSynchronize(CuStream) { return inContext("cuStreamSynchronize"); }

CuResult cuEventCreate(CuEvent* event, unsigned) {
  ANSWER(inContext("cuEventCreate"));
  *event = new CuEventTag;
  return 0;
}
CuResult cuEventDestroy_v2(CuEvent event) {
  delete event;
  return 0;
}
CuResult cuEventRecord(CuEvent event, CuStream) {
  ANSWER(inContext("cuEventRecord"));
  event->recorded = nanoseconds;
  return 0;
}
CuResult cuEventQuery(CuEvent) { return inContext("cuEventQuery"); }
CuResult cuEventSynchronize(CuEvent) { return inContext("cuEventSynchronize"); }
CuResult cuEventElapsedTime(float* milliseconds, CuEvent start, CuEvent end) {
  *milliseconds = static_cast<float>(end->recorded - start->recorded) / 1e6f;
  return 0;
}

}  // extern "C"
