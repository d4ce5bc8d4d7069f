package opencl

import (
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Device is a device of a platform with its context.
type Device struct {
	l       *library
	id      uintptr
	context uintptr
	info    device.Info
	options string // of its compiler
	once    sync.Once
}

// Info implements device.Device.
func (d *Device) Info() device.Info { return d.info }

// Close releases the context; what was made of the device keeps it until it is freed.
func (d *Device) Close() error {
	var s status
	d.once.Do(func() { s = call(d.l.releaseContext, d.context) })
	return failed("closing "+d.info.Name, s)
}

// buffer is memory, or a part of it.
type buffer struct {
	d     *Device
	mem   uintptr
	bytes int
	root  *buffer
	parts []*buffer // of the root: freed with it
	mu    sync.Mutex
}

// Alloc implements device.Device.
func (d *Device) Alloc(bytes int) (device.Buffer, error) {
	var s status
	const readWrite = 1
	mem := dynlib.Call(d.l.createBuffer, d.context, readWrite, uintptr(bytes), 0, uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return nil, failed("memory of "+d.info.Name, s)
	}
	b := &buffer{d: d, mem: mem, bytes: bytes}
	b.root = b
	return b, nil
}

func (b *buffer) Bytes() int { return b.bytes }

// View implements device.Buffer; a view of a view has the offset of both.
func (b *buffer) View(offset, bytes int) (device.Buffer, error) {
	if b.root != b || offset < 0 || bytes < 1 || offset+bytes > b.bytes {
		return nil, diag.Bug("opencl: a view of memory is out of its bounds")
	}
	var s status
	const readWrite, region = 1, 0x1220
	r := [2]uintptr{uintptr(offset), uintptr(bytes)}
	mem := dynlib.Call(b.d.l.createSubBuffer, b.mem, readWrite, region, uintptr(unsafe.Pointer(&r[0])), uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return nil, failed("a part of the memory of "+b.d.info.Name, s)
	}
	part := &buffer{d: b.d, mem: mem, bytes: bytes, root: b}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.parts = append(b.parts, part)
	return part, nil
}

// Free implements device.Buffer; only whole memory is freed, with its parts.
func (b *buffer) Free() {
	if b.root != b {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.parts {
		call(b.d.l.releaseMemObject, p.mem)
	}
	b.parts = nil
	if b.mem != 0 {
		call(b.d.l.releaseMemObject, b.mem)
		b.mem = 0
	}
}

type program struct {
	d  *Device
	id uintptr
}

// Build implements device.Device.
func (d *Device) Build(source string, binary []byte) (device.Program, bool, error) {
	if p := d.fromBinary(binary); p != nil {
		return p, false, nil
	}
	text := []byte(source + "\x00")
	at := [1]*byte{&text[0]}
	var pin runtime.Pinner
	pin.Pin(&text[0])
	defer pin.Unpin()
	var s status
	id := dynlib.Call(d.l.createProgramWithSource, d.context, 1, uintptr(unsafe.Pointer(&at[0])), 0, uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return nil, false, failed("a program for "+d.info.Name, s)
	}
	p := &program{d, id}
	if s := p.build(); s != 0 {
		defer p.Free()
		if s == deviceNotAvailable {
			return nil, false, failed("building a program", s)
		}
		return nil, false, diag.New(device.BuildFailed, d.info.Name+" does not take the kernels: "+p.log())
	}
	return p, true, nil
}

// fromBinary returns the program of a binary, nil where that cannot be had.
func (d *Device) fromBinary(binary []byte) *program {
	if len(binary) == 0 {
		return nil
	}
	var s, each status
	ids, sizes, at := [1]uintptr{d.id}, [1]uintptr{uintptr(len(binary))}, [1]*byte{&binary[0]}
	var pin runtime.Pinner
	pin.Pin(&binary[0])
	defer pin.Unpin()
	id := dynlib.Call(d.l.createProgramWithBinary, d.context, 1, uintptr(unsafe.Pointer(&ids[0])), uintptr(unsafe.Pointer(&sizes[0])),
		uintptr(unsafe.Pointer(&at[0])), uintptr(unsafe.Pointer(&each)), uintptr(unsafe.Pointer(&s)))
	if s != 0 || each != 0 {
		return nil
	}
	p := &program{d, id}
	if p.build() != 0 {
		p.Free()
		return nil
	}
	return p
}

func (p *program) build() status {
	o := []byte(p.d.options + "\x00")
	ids := [1]uintptr{p.d.id}
	return call(p.d.l.buildProgram, p.id, 1, uintptr(unsafe.Pointer(&ids[0])), uintptr(unsafe.Pointer(&o[0])), 0, 0)
}

// log returns what the compiler says, at most the first 4000 bytes.
func (p *program) log() string {
	const buildLog = 0x1183
	var size uintptr
	if call(p.d.l.getProgramBuildInfo, p.id, p.d.id, buildLog, 0, 0, uintptr(unsafe.Pointer(&size))) != 0 || size == 0 {
		return "no log"
	}
	b := make([]byte, size)
	call(p.d.l.getProgramBuildInfo, p.id, p.d.id, buildLog, size, uintptr(unsafe.Pointer(&b[0])), 0)
	const most = 4000
	s := text(b)
	return strings.TrimSpace(s[:min(len(s), most)])
}

// Binary implements device.Program.
func (p *program) Binary() ([]byte, error) {
	const sizes, binaries = 0x1165, 0x1166
	var size [1]uintptr
	if s := call(p.d.l.getProgramInfo, p.id, sizes, unsafe.Sizeof(size), uintptr(unsafe.Pointer(&size[0])), 0); s != 0 {
		return nil, failed("the size of a built program", s)
	}
	if size[0] == 0 {
		return nil, nil
	}
	b := make([]byte, size[0])
	at := [1]*byte{&b[0]}
	var pin runtime.Pinner
	pin.Pin(&b[0])
	defer pin.Unpin()
	s := call(p.d.l.getProgramInfo, p.id, binaries, unsafe.Sizeof(at), uintptr(unsafe.Pointer(&at[0])), 0)
	return b, failed("a built program", s)
}

// Free implements device.Program.
func (p *program) Free() {
	if p.id != 0 {
		call(p.d.l.releaseProgram, p.id)
		p.id = 0
	}
}
