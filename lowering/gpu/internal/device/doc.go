// Package device is the interface of the gpu target to an accelerator: memory, programs
// that are built from source, and one queue in order. The packages opencl and cuda implement it. It
// holds interfaces and data only: it prints no kernels and knows nothing of graphs. Read
// device.go first.
package device
