{
  "targets": [
    {
      "target_name": "weft",
      "sources": [
        "native/addon.cc",
        "native/library.cc",
        "native/info.cc",
        "native/memory.cc",
        "native/pattern.cc",
        "native/endpoint.cc",
        "native/executor.cc",
        "native/executor-waiting.cc",
        "native/copier.cc",
        "native/span.cc",
        "native/plan-run.cc",
        "native/operations.cc",
        "native/port.cc",
        "native/regions.cc",
        "native/port-binding.cc",
        "native/nccl.cc",
        "native/peer.cc",
        "native/peer-thread.cc",
        "native/sequence.cc",
        "native/block-copy.cc",
        "native/process.cc",
        "native/cuda.cc",
        "native/cuda-owners.cc",
        "native/cuda-kernels.cc",
        "native/gpu-pattern.cc",
        "native/gpu-timing.cc",
        "native/gpu-info.cc",
        "native/device-memory.cc"
      ],
      "include_dirs": ["<!@(node -p \"require('node-addon-api').include\")"],
      "defines": ["NAPI_VERSION=8", "NAPI_CPP_EXCEPTIONS", "NODE_ADDON_API_DISABLE_DEPRECATED"],
      "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17"],
      "cflags_cc": ["-std=c++20", "-O3", "-Wall", "-Wextra", "-fexceptions", "-fvisibility=hidden", "-flto"],
      "ldflags": ["-flto", "-O3"],
      "libraries": ["-ldl"]
    }
  ]
}
