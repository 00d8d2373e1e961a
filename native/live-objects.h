#pragma once
#include <cstdlib>
#include <mutex>
#include <set>

namespace weft {

/// Objects whose `atExit` must still run when the process ends: process.exit() runs neither finalizers nor Node's
/// clean-up hooks.
template <typename T>
class LiveObjects {
 public:
  static LiveObjects& all() {
    static auto* list = new LiveObjects;  // never destroyed: exit handlers of other libraries may still run
    return *list;
  }
  void add(T* object) {
    std::lock_guard lock(gate_);
    objects_.insert(object);
  }
  void remove(T* object) {
    std::lock_guard lock(gate_);
    objects_.erase(object);
  }

 private:
  LiveObjects() {
    std::atexit([] { all().end(); });
  }
  void end() {
    std::lock_guard lock(gate_);
    for (T* object : objects_) object->atExit();
  }

  std::mutex gate_;
  std::set<T*> objects_;
};

}  // namespace weft
