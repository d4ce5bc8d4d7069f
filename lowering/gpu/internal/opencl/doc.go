// Package opencl binds devices of OpenCL 1.2 and later: the library is loaded when the first
// device is looked for, without cgo. It knows no kernels and no graphs. Read
// open.go first; library.go has what is called.
//
// Source: The OpenCL Specification, Khronos Group, version 3.0.
package opencl
