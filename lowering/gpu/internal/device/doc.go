// Package device is what the gpu target needs of an accelerator: memory, programs that are
// built from source, and one queue in order. Packages beside it bind it to OpenCL and CUDA. It
// holds interfaces and data only: it prints no kernels and knows nothing of graphs. Read
// device.go first.
package device
