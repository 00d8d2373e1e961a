#pragma once
#include <string>

#include "peer.h"

namespace weft {

/// NCCL behind the interface of the other peers, opened at `path` through our own declarations of its stable
/// interface. CUDA's driver must be open. Tensors are copied to the GPU before each run and back after it;
/// neither is timed. Throws a Fault ("dlopen", "dlsym").
const weft_peer_table& openNccl(const std::string& path);

}  // namespace weft
