// Kernels by name, from the PTX beside the addon or from a text.
#include <dlfcn.h>

#include <cerrno>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <utility>

#include "cuda-owners.h"
#include "../fault.h"

namespace weft {

namespace {

constexpr size_t kLogBytes = 4096;

std::mutex gate;
auto& modules = *new std::map<std::pair<int, std::string>, CuModule>;  // leaked: they end with their contexts

/// kernels/ptx of the checkout or package that this addon is the build/Release/weft.node of.
std::string kernelFolder() {
  Dl_info where;
  if (!dladdr(reinterpret_cast<void*>(&kernelFolder), &where) || !where.dli_fname) {
    throw Fault("kernel", ENOENT, "the addon cannot determine its own path");
  }
  std::string file = where.dli_fname;
  return file.substr(0, file.rfind('/') + 1) + "../../kernels/ptx/";
}

std::string readKernels(const std::string& name) {
  std::string path = kernelFolder() + name + ".ptx";
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) throw Fault("kernel", ENOENT, path + " cannot be read");
  return text.str();
}

CuModule load(const std::string& image) {
  std::string log(kLogBytes, '\0');
  int keys[] = {cu::kJitErrorLog, cu::kJitErrorLogBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  const Cuda& cuda = Cuda::get();
  CuModule module;
  CuResult result = cuda.cuModuleLoadDataEx(&module, image.c_str(), 2, keys, values);
  if (result == cu::kSuccess) return module;
  std::string words = log.c_str();
  throw Fault("cuModuleLoadDataEx", result, cudaText(cuda, result) + (words.empty() ? "" : " (" + words + ")"));
}

}  // namespace

CuFunction kernel(const GpuContext& context, const std::string& file, const std::string& function) {
  std::lock_guard lock(gate);
  CudaCurrent current(context);
  auto key = std::make_pair(context.device(), file);
  auto found = modules.find(key);
  if (found == modules.end()) found = modules.emplace(key, load(readKernels(file))).first;
  CuFunction handle;
  WEFT_CU(cuModuleGetFunction, &handle, found->second, function.c_str());
  return handle;
}

CuFunction loadKernel(const GpuContext& context, const std::string& ptx, const std::string& function) {
  CudaCurrent current(context);
  CuModule module = load(ptx);
  CuFunction handle;
  WEFT_CU(cuModuleGetFunction, &handle, module, function.c_str());
  return handle;
}

}  // namespace weft
