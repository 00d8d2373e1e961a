#pragma once

namespace weft {

/// On JavaScript's thread, before a library is opened on another: makes malloc's heap large enough that it neither
/// grows nor shrinks meanwhile. UCX, below MPICH and often Open MPI, tries its memory hooks as it opens: it moves the
/// end of the heap (sbrk) by a page and back. If malloc has grown the heap in between, the way back takes away a page
/// that is in use.
void reserveHeap();

}  // namespace weft
