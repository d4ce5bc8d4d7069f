// Package pjrt runs compiled programs through PJRT, without cgo. PJRT is the C
// interface of XLA's compilers for CPUs, GPUs and TPUs, which come as shared libraries
// ("plugins"). A plugin is loaded while the program runs, so that a build needs none.
//
// It stands below lowering/xla, which makes StableHLO text of graphs; this package
// does not read that text. A [Plugin] is a loaded library, a [Client] its devices, an
// [Executable] a compiled program, a [Buffer] an array on a device. All may be shared by
// goroutines. The objects of a Client end with it, at the latest; Close twice is fine,
// and use after Close is an error. If a context ends a wait, only the caller gives up:
// the work goes on in the device, keeps the memory alive that it reads or writes, and
// releases it when it is done.
//
// It does not bind all of the interface: one process, arrays of dense row-major data
// on the host, no callbacks into Go, no plugins that are linked in. Systems
// that open no libraries (js/wasm, FreeBSD) get the error NoPlugin. Programs that
// link this are dynamically linked on Linux, also with CGO_ENABLED=0.
//
// Read plugin.go first, then client.go, buffer.go and executable.go; abi.go has the layout
// of the interface.
//
// Ref: OpenXLA, PJRT C API, versions 0.40 to 0.106 (xla/pjrt/c/pjrt_c_api.h and its
// change log); CompileOptionsProto (xla/pjrt/proto/compile_options.proto).
package pjrt
