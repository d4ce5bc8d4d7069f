// Package cudatest gives tests a CUDA device that computes on the host: it builds a
// driver and an NVRTC of its own from the C of testdata, where the machine has a C and a
// C++ compiler, and opens them like the real ones.
//
// The driver is stricter than a real one: commands run as late as they may, nothing may
// be freed in use, a context must be current, and when the test ends nothing may be
// alive. It is far too slow for whole networks, and what it accepts says little about how
// a real compiler takes a kernel; tests of the gpu target compile kernels to PTX for that.
//
// Read cudatest.go first, then testdata/cuda.h.
package cudatest
