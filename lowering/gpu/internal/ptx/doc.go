// Package ptx compiles the CUDA C of kernels to PTX by clang, on machines without NVIDIA's
// toolkit: it brings the words of CUDA C and functions of mathematics, which clang takes from
// that toolkit else. It knows nothing of graphs, devices or drivers; a program with a toolkit's
// compiler (NVRTC, nvcc) does not need it, and uses the functions that come with that. Read
// ptx.go first, then common.h.
package ptx
