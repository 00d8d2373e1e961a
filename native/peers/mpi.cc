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

int narrow(uint64_t elements) {
  if (elements > INT_MAX) throw std::runtime_error("MPI counts are 32-bit: more than 2147483647 elements");
  return static_cast<int>(elements);
}

/// The type of an element. Numbers that are not added travel as integers of their size.
MPI_Datatype typeOf(const weft_peer_collective& collective) {
  bool adds = collective.kind == WEFT_PEER_ALLREDUCE || collective.kind == WEFT_PEER_REDUCE_SCATTER;
  if (adds && collective.type == WEFT_PEER_FLOAT32) return MPI_FLOAT;
  if (adds && collective.type != WEFT_PEER_INT32) throw std::runtime_error("MPI cannot add 16-bit floating-point numbers");
  switch (collective.elementBytes) {
    case 1: return MPI_BYTE;
    case 2: return MPI_INT16_T;
    case 4: return MPI_INT32_T;
    default: return MPI_INT64_T;
  }
}

struct Peer {
  int rank = 0, size = 0;
  std::vector<int> sendCounts, sendOffsets, receiveCounts, receiveOffsets;

  void layOut(const uint64_t* bytes, uint32_t elementBytes, std::vector<int>& counts, std::vector<int>& offsets) {
    counts.resize(size);
    offsets.resize(size);
    uint64_t before = 0;
    for (int peer = 0; peer < size; peer++) {
      counts[peer] = narrow(bytes[peer] / elementBytes);
      offsets[peer] = narrow(before);
      before += bytes[peer] / elementBytes;
    }
  }

  void prepare(const weft_peer_collective& one) {
    weft::peers::placeOwnBlock(one, rank);
    if (one.kind != WEFT_PEER_ALLTOALLV || one.uniform) return;
    layOut(one.sendBytes, one.elementBytes, sendCounts, sendOffsets);
    layOut(one.receiveBytes, one.elementBytes, receiveCounts, receiveOffsets);
  }

  void exchange(const weft_peer_collective& one, MPI_Datatype type) {
    if (one.uniform) {
      int count = narrow(one.sendBytes[0] / one.elementBytes);
      check(MPI_Alltoall(one.source, count, type, one.target, count, type, MPI_COMM_WORLD), "MPI_Alltoall");
      return;
    }
    check(MPI_Alltoallv(one.source, sendCounts.data(), sendOffsets.data(), type, one.target, receiveCounts.data(),
                        receiveOffsets.data(), type, MPI_COMM_WORLD),
          "MPI_Alltoallv");
  }

  void perform(const weft_peer_collective& one, MPI_Datatype type) {
    int count = narrow(one.bytes / one.elementBytes);
    switch (one.kind) {
      case WEFT_PEER_ALLTOALLV: return exchange(one, type);
      case WEFT_PEER_ALLREDUCE:
        return check(MPI_Allreduce(one.source, one.target, count, type, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
      case WEFT_PEER_ALLGATHER:
        return check(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, one.target, count, type, MPI_COMM_WORLD), "MPI_Allgather");
      case WEFT_PEER_REDUCE_SCATTER:
        return check(MPI_Reduce_scatter_block(one.source, one.target, count, type, MPI_SUM, MPI_COMM_WORLD),
                     "MPI_Reduce_scatter_block");
      case WEFT_PEER_BROADCAST: {
        void* buffer = rank == one.root ? const_cast<void*>(one.source) : one.target;
        return check(MPI_Bcast(buffer, count, type, one.root, MPI_COMM_WORLD), "MPI_Bcast");
      }
    }
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
    int provided = 0, rank = 0, size = 0, over = 0;
    MPI_Finalized(&over);
    if (over) throw std::runtime_error("MPI was closed in this process and cannot be opened again");
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
    peer->rank = rank;
    peer->size = size;
    return peer;
  });
}

void address(void*, const char** bytes, size_t* length) {
  *bytes = "";
  *length = 0;
}

int connect(void*, const char* const*, const size_t*, char*) { return 0; }

int run(void* handle, const weft_peer_collective* collective, uint64_t iterations, uint64_t batch, double* nanoseconds,
        char* error) {
  return guarded(error, -1, [&] {
    auto* peer = static_cast<Peer*>(handle);
    MPI_Datatype type = typeOf(*collective);
    peer->prepare(*collective);
    check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    weft::peers::timeBatches(iterations, batch, nanoseconds, [&](uint64_t count) {
      for (uint64_t i = 0; i < count; i++) peer->perform(*collective, type);
    });
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
  static const weft_peer_table table = {WEFT_PEER_INTERFACE, version, open, address, connect, run, close};
  return &table;
}
