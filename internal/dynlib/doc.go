// Package dynlib loads shared libraries at run time and calls their C functions
// without cgo, by purego: drivers of devices are found where they are installed, and
// a program that finds none runs all the same.
//
// It knows nothing of the libraries. It does not unload them, since drivers keep
// threads that outlive the last call, and it passes integers and pointers only:
// functions that take or return floating-point numbers are not for it. On systems
// without a loader (js/wasm, FreeBSD and others) Open reports that there is none, and so it does in
// programs built with the tag nodynlib: on Linux those stay statically linked, as for
// systems without glibc.
//
// Read dynlib.go first; load_unix.go, load_windows.go and load_none.go open a library
// on each kind of system.
package dynlib
