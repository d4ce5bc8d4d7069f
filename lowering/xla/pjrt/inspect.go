package pjrt

import (
	"cmp"
	"strings"
	"unsafe"
)

// CompiledMemory tells what a compiled program needs on each of its devices, in bytes.
type CompiledMemory struct {
	Code, Arguments, Outputs int64
	Aliased                  int64 // of Outputs, those in the memory of donated arguments
	Temporary                int64 // for values within
	Peak                     int64 // the most at once; 0 where the plugin does not tell
}

// Memory asks the compiler what the program needs. Plugins may not tell (Unimplemented).
func (e *Executable) Memory() (m CompiledMemory, err error) {
	err = e.inner(func(p *Plugin, inner uintptr) error {
		a := &compiledMemoryArgs{head: head{size: unsafe.Sizeof(compiledMemoryArgs{})}, executable: inner}
		if err := p.call(fnExecutableMemory, unsafe.Pointer(a)); err != nil {
			return err
		}
		m = CompiledMemory{Code: a.code, Arguments: a.arguments, Outputs: a.outputs, Aliased: a.alias, Temporary: a.temp, Peak: a.peak}
		return nil
	})
	return m, err
}

// maxOptimized bounds what is read of a plugin's program.
const maxOptimized = 1 << 30

// Optimized returns the program as the compiler left it, with what partitions exchange, and the
// name of its format: "hlo" is a serialized HloModuleProto, "hlo_with_config" one within a
// HloModuleProtoWithConfig. Plugins may not tell (Unimplemented).
func (e *Executable) Optimized() (code []byte, format string, err error) {
	err = e.inner(func(p *Plugin, inner uintptr) error {
		prog := &program{head: head{size: unsafe.Sizeof(program{})}}
		a := &optimizedArgs{head: head{size: unsafe.Sizeof(optimizedArgs{})}, executable: inner, program: prog}
		if err := p.call(fnExecutableOptimized, unsafe.Pointer(a)); err != nil { // it tells the size
			return err
		}
		if prog.codeSize > maxOptimized {
			return bad(p.name()+" gave a program that is too large to be read", "")
		}
		code = make([]byte, prog.codeSize)
		prog.code = pointer(code)
		if err := p.call(fnExecutableOptimized, unsafe.Pointer(a)); err != nil {
			return err
		}
		code, format = code[:min(uintptr(len(code)), prog.codeSize)], strings.ToValidUTF8(clip(prog.format, prog.formatSize), "\uFFFD")
		return nil
	})
	return code, format, err
}

// inner calls f with what was compiled, without its devices.
func (e *Executable) inner(f func(p *Plugin, inner uintptr) error) (err error) {
	if !e.enter() {
		return closed("executable")
	}
	defer e.leave()
	p := e.client.plugin
	inner, err := p.wordOf(fnLoadedGetExecutable, e.handle)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, p.onObject(fnExecutableDestroy, inner)) }()
	return f(p, inner)
}
