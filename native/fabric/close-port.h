#pragma once
#include <chrono>
#include <memory>

#include "port.h"

namespace weft {

/// Closes a port on a thread of its own. False when that takes longer than `limit`: EFA of libfabric 1.17 waits for ever
/// for answers of a NIC that fell silent. The port is then left to its thread, and everything that is in flight on it
/// must be left alone, too; the process ends without the exit handlers of libraries.
bool closeWithin(std::unique_ptr<Port> port, std::chrono::milliseconds limit);

}  // namespace weft
