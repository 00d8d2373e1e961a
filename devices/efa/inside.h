// Marks a thread that is inside the library with a lock held. A signal handler may run on top of it, end the process
// and so close everything: closing must then leave things as they are, since waiting for that lock would be for ever.
#pragma once

namespace efa {

class Inside {
 public:
  Inside() { enter(); }
  ~Inside() { leave(); }
  Inside(const Inside&) = delete;
  /// For a lock that is held from one call to another.
  static void enter() { depth_++; }
  static void leave() { depth_--; }
  static bool is_interrupted() { return depth_ != 0; }

 private:
  static inline thread_local int depth_ = 0;
};

}  // namespace efa
