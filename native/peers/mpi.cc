// MPI, compiled once against each implementation: their binary interfaces differ. The launcher has made the ranks
// known to each other, so there are no addresses to exchange.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <climits>
#include <stdexcept>
#include <vector>

#include "shim.h"

namespace {

using weft::peers::guarded;

void check(int result, const char* operation) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw std::runtime_error(std::string(operation) + ": " + text);
}

struct Peer {
  int size = 0;
  MPI_Datatype element = MPI_DATATYPE_NULL;  // counts of elements reach further than counts of bytes
  uint32_t elementBytes = 1;
  std::vector<int> sendCounts, sendOffsets, receiveCounts, receiveOffsets;

  static int narrow(uint64_t elements) {
    if (elements > INT_MAX) throw std::runtime_error("MPI counts are 32-bit: more than 2147483647 elements");
    return static_cast<int>(elements);
  }

  int countOf(uint64_t bytes) const { return narrow(bytes / elementBytes); }

  void layOut(const uint64_t* bytes, std::vector<int>& counts, std::vector<int>& offsets) {
    counts.resize(size);
    offsets.resize(size);
    uint64_t before = 0;
    for (int rank = 0; rank < size; rank++) {
      counts[rank] = countOf(bytes[rank]);
      offsets[rank] = narrow(before);
      before += bytes[rank] / elementBytes;
    }
  }

  void prepare(const weft_peer_blocks& blocks) {
    if (blocks.uniform) return;
    layOut(blocks.sendBytes, sendCounts, sendOffsets);
    layOut(blocks.receiveBytes, receiveCounts, receiveOffsets);
  }

  void exchange(const weft_peer_blocks& blocks) {
    if (blocks.uniform) {
      int count = countOf(blocks.sendBytes[0]);
      check(MPI_Alltoall(blocks.source, count, element, blocks.target, count, element, MPI_COMM_WORLD), "MPI_Alltoall");
      return;
    }
    check(MPI_Alltoallv(blocks.source, sendCounts.data(), sendOffsets.data(), element, blocks.target,
                        receiveCounts.data(), receiveOffsets.data(), element, MPI_COMM_WORLD),
          "MPI_Alltoallv");
  }
};

void version(char* text, size_t capacity) {
  char all[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(all, &length);
  // "Open MPI v4.1.4, package: …" and "MPICH Version:\t4.0.2\n…": the first words say it.
  std::string line(all);
  line = line.substr(0, line.find_first_of(",\n"));
  if (auto label = line.find(" Version:"); label != std::string::npos) {
    line = line.substr(0, label + 1) + line.substr(line.find_first_not_of(" \t", label + 9));
  }
  std::snprintf(text, capacity, "%s", line.c_str());
}

void* open(const weft_peer_setup* setup, char* error) {
  return guarded(error, static_cast<void*>(nullptr), [&]() -> void* {
    int provided = 0, rank = 0, size = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (rank != setup->rank || size != setup->size) {
      MPI_Finalize();
      throw std::runtime_error("MPI sees rank " + std::to_string(rank) + " of " + std::to_string(size) + ", not rank " +
                               std::to_string(setup->rank) + " of " + std::to_string(setup->size) +
                               ": start the job with this MPI's own mpirun");
    }
    auto* peer = new Peer;
    peer->size = size;
    peer->elementBytes = setup->elementBytes;
    peer->element = setup->elementBytes == 8 ? MPI_INT64_T : MPI_INT32_T;
    return peer;
  });
}

void address(void*, const char** bytes, size_t* length) {
  *bytes = "";
  *length = 0;
}

int connect(void*, const char* const*, const size_t*, char*) { return 0; }

int exchange(void* handle, const weft_peer_blocks* blocks, double* nanoseconds, char* error) {
  return guarded(error, -1, [&] {
    auto* peer = static_cast<Peer*>(handle);
    peer->prepare(*blocks);
    check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    double start = weft::peers::nanosecondsNow();
    peer->exchange(*blocks);
    *nanoseconds = weft::peers::nanosecondsNow() - start;
    check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    return 0;
  });
}

void close(void* handle) {
  delete static_cast<Peer*>(handle);
  MPI_Finalize();
}

}  // namespace

WEFT_PEER_EXPORT const weft_peer_table* weft_peer() {
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, exchange, close};
  return &table;
}
