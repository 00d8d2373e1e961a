#pragma once
#include <cstddef>
#include <optional>
#include <string>

/// Runs a kernel of kernels/pattern.cu or kernels/tokens.cu here and now. The bytes of work it did; none if there is no
/// kernel of that name.
std::optional<size_t> runKernel(const std::string& name, unsigned grid, unsigned block, void** parameters);
