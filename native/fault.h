#pragma once
#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

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

/// What was caught where exceptions must not go further; of `operation` unless the exception itself says of what.
inline Fault toFault(const std::exception& caught, const char* operation) {
  if (auto* fault = dynamic_cast<const Fault*>(&caught)) return *fault;
  // Of a thread that could not be made.
  if (auto* error = dynamic_cast<const std::system_error*>(&caught)) return {"task", error->code().value(), error->what()};
  if (dynamic_cast<const std::bad_alloc*>(&caught)) return {"memory", ENOMEM, "there is not enough memory"};
  bool logic = dynamic_cast<const std::logic_error*>(&caught) != nullptr;
  return {operation, logic ? EINVAL : EIO, caught.what()};
}

/// A Fault from errno.
[[noreturn]] inline void throwErrno(const char* operation) {
  int code = errno;
  throw Fault(operation, code, std::strerror(code));
}

}  // namespace weft
