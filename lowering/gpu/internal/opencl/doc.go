// Package opencl binds devices of OpenCL 1.2 and later: the library is loaded when the first
// device is looked for, by purego, without cgo. It knows no kernels and no graphs. Read
// open.go first; library.go has what is called, absent.go what systems without it have.
//
// Source: The OpenCL Specification, Khronos Group, version 3.0.
package opencl
