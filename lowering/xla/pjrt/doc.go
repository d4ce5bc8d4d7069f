// Package pjrt runs compiled programs through PJRT, the C interface behind which XLA's
// compilers for CPUs, GPUs and TPUs come as shared libraries ("plugins"), without cgo: a
// plugin is loaded while the program runs, so that a binary needs none to be built.
//
// It stands below lowering/xla, which makes StableHLO text of graphs; what that text says
// is of no concern here. A [Plugin] is a loaded library, a [Client] its devices, an
// [Executable] a compiled program, a [Buffer] an array on a device. All may be shared by
// goroutines. What a Client made ends with it, at the latest; Close twice is fine, and use
// after Close is an error. A wait that a context ends is given up by the caller only: what
// it waits for goes on in the device, keeps the memory it reads or writes alive, and is
// released when it is done.
//
// It is no binding of all of the interface: one process, arrays of dense row-major data
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
