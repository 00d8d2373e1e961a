// One open device: what ibv_open_device returns, and everything that belongs to it.
#pragma once
#include <infiniband/verbs.h>

#include <atomic>

#include "address-table.h"
#include "attributes.h"
#include "counters.h"
#include "engine.h"
#include "faults.h"
#include "memory-table.h"

namespace efa {

struct Device {
  ibv_device verbs;  // first: callers hold a pointer to it
  Attributes attributes;
};

struct CompletionChannel {
  ibv_comp_channel channel;  // first: callers hold a pointer to it; its fd is the reading end
  int writing_end;
  static CompletionChannel& of(ibv_comp_channel* channel) { return *reinterpret_cast<CompletionChannel*>(channel); }
};

class Context;

/// What callers hold a pointer into.
struct OwnedVerbs : verbs_context {
  Context* owner;
};

class Context {
 public:
  explicit Context(const Device& device);
  static Context& of(ibv_context* context);

  OwnedVerbs verbs{};
  const Attributes attributes;
  Faults faults;
  Counters counters;
  MemoryTable memory;
  AddressTable addresses;
  Engine engine;

 private:
  void set_operations();
};

/// True in a child of fork. The device's thread did not come along, and its locks may be held for ever.
bool is_forked();
/// True where nothing may be closed, only let go of: in a child of fork, and in a signal handler on top of a call.
bool is_beyond_closing();

ibv_context* open_context(ibv_device* device);
int close_context(ibv_context* context);

}  // namespace efa
