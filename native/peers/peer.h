#pragma once
/* The one interface between Weft and a library it is compared with. Each shim of this folder is a shared library that
 * exports `weft_peer`; the addon opens it at run time. All calls on a peer come from one thread, in this order: open,
 * address, connect, run (any number of times), close. A call that fails writes its reason into `error`. */
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_PEER_INTERFACE 3
#define WEFT_PEER_ERROR_BYTES 1024

typedef struct weft_peer_setup {
  int rank, size;
  /* CUDA's number of this rank's GPU, for libraries that use one. */
  int gpu;
  /* The interface to use, or empty for the library's own choice. */
  const char* networkInterface;
  uint64_t timeoutMs;
  /* Of the two buffers that collectives will name. */
  uint64_t sourceBytes, targetBytes;
} weft_peer_setup;

typedef enum weft_peer_kind {
  WEFT_PEER_ALLTOALLV,
  WEFT_PEER_ALLREDUCE,
  WEFT_PEER_ALLGATHER,
  WEFT_PEER_REDUCE_SCATTER,
  WEFT_PEER_BROADCAST
} weft_peer_kind;

/* Numbers that are added; WEFT_PEER_OPAQUE are elements that are only moved. */
typedef enum weft_peer_type {
  WEFT_PEER_OPAQUE,
  WEFT_PEER_FLOAT32,
  WEFT_PEER_FLOAT16,
  WEFT_PEER_BFLOAT16,
  WEFT_PEER_INT32
} weft_peer_type;

/* One collective; of the source, all but an allgather reads while it is timed. Blocks lie one after the other, in the order of ranks, a rank's own block among them. */
typedef struct weft_peer_collective {
  weft_peer_kind kind;
  weft_peer_type type;
  /* 1, 2, 4 or 8; divides all sizes. */
  uint32_t elementBytes;
  const void* source;
  void* target;
  /* Not of alltoallv. What each rank has (allreduce, broadcast), gives (allgather) or gets (reduce-scatter). */
  uint64_t bytes;
  /* Of broadcast: it sends from its source and leaves its target alone. */
  int root;
  /* Of alltoallv only. */
  const uint64_t* sendBytes;    /* by target rank */
  const uint64_t* receiveBytes; /* by source rank */
  /* Every block of every rank has the same size. The same on all ranks: it decides which collective is called. */
  int uniform;
} weft_peer_collective;

typedef struct weft_peer_table {
  uint32_t interfaceVersion;
  /* The library and its version; may be asked before anything else. */
  void (*version)(char* text, size_t capacity);
  /* Null when it fails. */
  void* (*open)(const weft_peer_setup* setup, char* error);
  /* What the other ranks need to reach this one; lives as long as the peer. May be empty. */
  void (*address)(void* peer, const char** bytes, size_t* length);
  /* With every rank's address. 0, or -1 when it fails. */
  int (*connect)(void* peer, const char* const* addresses, const size_t* lengths, char* error);
  /* All ranks meet, then carry out the collective `iterations` times in a row, then meet again. Each `batch` of them,
   * which divides the iterations, is timed on this rank's clock. 0, or -1 when it fails. */
  int (*run)(void* peer, const weft_peer_collective* collective, uint64_t iterations, uint64_t batch,
             double* nanoseconds, char* error);
  void (*close)(void* peer);
} weft_peer_table;

typedef const weft_peer_table* (*weft_peer_entry)(void);

#ifdef __cplusplus
}
#endif
