// Every call of the driver that driver.cc does not define itself: it succeeds and does nothing.
#include "../../../native/gpu/cuda.h"

namespace weft {

#define SUCCEED(name, symbol, parameters)                                           \
  extern "C" __attribute__((weak)) CuResult standIn_##name parameters asm(symbol); \
  CuResult standIn_##name parameters { return 0; }
WEFT_CUDA_REQUIRED(SUCCEED)
WEFT_CUDA_OPTIONAL(SUCCEED)

}  // namespace weft
