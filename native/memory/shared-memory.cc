#include "shared-memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../fault.h"

namespace weft {

SharedMemory::SharedMemory(size_t bytes) : bytes_(bytes) {
  fd_ = memfd_create("weft", MFD_CLOEXEC);
  if (fd_ < 0) throwErrno("memfd_create");
  if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) {
    int code = errno;
    close(fd_);
    errno = code;
    throwErrno("ftruncate");
  }
  map(MAP_SHARED);
}

SharedMemory::SharedMemory(const std::string& path, size_t bytes) : bytes_(bytes) {
  fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd_ < 0) throwErrno("open");
  struct stat status;
  if (fstat(fd_, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    close(fd_);
    throw Fault("open", EINVAL, "the other process shares fewer bytes than requested");
  }
  // Its owner has prepared it: this fills page tables only.
  map(MAP_SHARED | MAP_POPULATE);
}

void SharedMemory::prepare(const std::atomic<bool>& aborted) {
  for (size_t i = 0; i < bytes_ && !aborted.load(std::memory_order_relaxed); i += 4096) {
    static_cast<volatile uint8_t*>(data_)[i] = 0;
  }
}

void SharedMemory::map(int flags) {
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, fd_, 0);
  if (mapped == MAP_FAILED) {
    int code = errno;
    close(fd_);
    errno = code;
    throwErrno("mmap");
  }
  data_ = static_cast<uint8_t*>(mapped);
}

SharedMemory::~SharedMemory() {
  munmap(data_, bytes_);
  close(fd_);
}

std::string SharedMemory::path() const { return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_); }

}  // namespace weft
