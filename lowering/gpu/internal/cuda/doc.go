// Package cuda binds NVIDIA's CUDA driver to the interfaces of package device: memory from
// a pool, programs from source (by NVRTC, where it is installed) or from PTX that is kept,
// streams with pinned transfers, and CUDA graphs that replay what was recorded.
//
// The libraries are loaded at run time; nothing here needs cgo, a toolkit or a header, and
// numbers of the driver's interface are those of the CUDA Driver API and NVRTC manuals
// (CUDA 11.4 to 13). It prints no kernels, knows nothing of graphs of operators, and sets no
// state of the device: contexts are the devices' primary ones, which other libraries in the
// process share. Its tests run against a driver of the tests' own that computes on the
// host (testdata); docs/devices.md says on which cards it has run.
//
// Read driver.go first (what is called), then device.go (contexts, threads and lost
// devices), memory.go, program.go, queue.go, record.go.
package cuda
