#pragma once
// What the programs for ThreadSanitizer share.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../native/gpu/queue-run.h"

namespace weft {

inline void expect(bool holds, const std::string& what) {
  if (holds) return;
  std::printf("FAILED %s\n", what.c_str());
  std::exit(1);
}

/// A queue in ordinary memory.
struct Store {
  explicit Store(uint32_t shift) : cells(1u << shift), gate{}, tickets{} {
    view = {cells.data(), &gate, &tickets, shift};
  }
  std::vector<queue::Cell> cells;
  queue::Gate gate;
  queue::Tickets tickets;
  queue::View view;
};

}  // namespace weft
