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
  map();
  // Touched here, so that no first use is ever timed.
  for (size_t i = 0; i < bytes_; i += 4096) static_cast<volatile uint8_t*>(data_)[i] = 0;
}

SharedMemory::SharedMemory(const std::string& path, size_t bytes) : bytes_(bytes) {
  fd_ = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd_ < 0) throwErrno("open");
  struct stat status;
  if (fstat(fd_, &status) != 0 || static_cast<size_t>(status.st_size) < bytes) {
    close(fd_);
    throw Fault("open", EINVAL, "the other process shares fewer bytes than requested");
  }
  map();
}

void SharedMemory::map() {
  void* mapped = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
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
