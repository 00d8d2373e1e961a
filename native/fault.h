#pragma once
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace weft {

/// The one thing the addon throws: which call failed, its (positive) error number, and the library's words for it.
struct Fault : std::runtime_error {
  Fault(std::string operation, int code, std::string text)
      : std::runtime_error(operation + ": " + text),
        operation(std::move(operation)),
        code(code),
        text(std::move(text)) {}
  std::string operation;
  int code;
  std::string text;
};

/// A Fault from errno.
[[noreturn]] inline void throwErrno(const char* operation) {
  int code = errno;
  throw Fault(operation, code, std::strerror(code));
}

}  // namespace weft
