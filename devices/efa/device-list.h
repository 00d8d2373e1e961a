#pragma once
#include <vector>

#include "context.h"

namespace efa {

/// Devices of $SYSFS_PATH that have an emulation folder. They live as long as the process.
std::vector<Device*> list_devices();

}  // namespace efa
