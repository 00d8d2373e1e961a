#pragma once

/// Runs a kernel of kernels/pattern.cu here and now; false if there is none of that name.
bool runKernel(const char* name, unsigned grid, unsigned block, void** parameters);
