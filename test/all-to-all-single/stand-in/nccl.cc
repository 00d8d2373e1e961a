// A stand-in for NCCL, for machines without a GPU: one rank exchanges with itself in the stand-in driver's memory, and
// two ranks are refused in NCCL's words, as they are on one GPU. It shows that Weft calls NCCL rightly; what NCCL does
// is for tests on a GPU to show.
//   STAND_IN_NCCL=nothing   exchanges move nothing
#include <cstddef>
#include <cstdlib>
#include <cstring>

struct Id {
  char internal[128];
};
struct Comm {
  int rank, size;
};

namespace {
constexpr int kInvalidArgument = 4, kInvalidUsage = 5;
constexpr char kName[] = "the group of this test";
const char* lastError = "";
bool idle() {
  const char* asked = std::getenv("STAND_IN_NCCL");
  return asked && !std::strcmp(asked, "nothing");
}
size_t bytesOf(int type) { return type < 2 ? 1 : type < 4 || type == 7 ? 4 : type == 6 || type == 9 ? 2 : 8; }
struct {
  const void* from;
  size_t bytes;
} sent;
}  // namespace

extern "C" {
int ncclGetVersion(int* version) { return *version = 22800, 0; }
const char* ncclGetErrorString(int result) { return result == kInvalidUsage ? "invalid usage" : "invalid argument"; }
const char* ncclGetLastError(Comm*) { return lastError; }
int ncclGetUniqueId(Id* id) { return std::memcpy(id->internal, kName, sizeof(kName)), 0; }

int ncclCommInitRank(Comm** comm, int size, Id id, int rank) {
  if (std::strcmp(id.internal, kName) != 0) return kInvalidArgument;
  if (size > 1) {
    lastError = "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 19000";
    return kInvalidUsage;
  }
  *comm = new Comm{rank, size};
  return 0;
}
int ncclCommDestroy(Comm* comm) { return delete comm, 0; }
int ncclGroupStart() { return 0; }
int ncclGroupEnd() { return 0; }
int ncclSend(const void* from, size_t count, int type, int, Comm*, void*) {
  sent = {from, count * bytesOf(type)};
  return 0;
}
int ncclRecv(void* to, size_t count, int type, int, Comm*, void*) {
  if (count * bytesOf(type) != sent.bytes) return kInvalidArgument;
  if (!idle()) std::memcpy(to, sent.from, sent.bytes);
  return 0;
}
// Of one rank: the sum is its own number, and everybody's part is its own.
int ncclAllGather(const void* from, void* to, size_t count, int type, Comm*, void*) {
  if (!idle() && from != to) std::memcpy(to, from, count * bytesOf(type));
  return 0;
}
int ncclAllReduce(const void* from, void* to, size_t count, int type, int, Comm* comm, void* stream) {
  return ncclAllGather(from, to, count, type, comm, stream);
}
int ncclReduceScatter(const void* from, void* to, size_t count, int type, int, Comm* comm, void* stream) {
  return ncclAllGather(from, to, count, type, comm, stream);
}
int ncclBroadcast(const void* from, void* to, size_t count, int type, int, Comm* comm, void* stream) {
  return ncclAllGather(from, to, count, type, comm, stream);
}
#ifdef WITH_ALLTOALL
int ncclAlltoAll(const void* from, void* to, size_t count, int type, Comm* comm, void*) {
  if (!idle()) std::memcpy(to, from, count * bytesOf(type) * comm->size);
  return 0;
}
#endif
}
