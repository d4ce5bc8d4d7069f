package opencl

import (
	"sync"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/dynlib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// kernel is a function; its arguments are state, so that a launch sets them under a lock.
type kernel struct {
	d    *Device
	id   uintptr
	name string
	mu   sync.Mutex
}

// Kernel implements device.Program.
func (p *program) Kernel(name string) (device.Kernel, error) {
	var s status
	b := []byte(name + "\x00")
	id := dynlib.Call(p.d.l.createKernel, p.id, uintptr(unsafe.Pointer(&b[0])), uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return nil, failed("kernel "+name, s)
	}
	return &kernel{d: p.d, id: id, name: name}, nil
}

// Free implements device.Kernel.
func (k *kernel) Free() {
	if k.id != 0 {
		call(k.d.l.releaseKernel, k.id)
		k.id = 0
	}
}

type queue struct {
	d  *Device
	id uintptr
}

// NewQueue implements device.Device.
func (d *Device) NewQueue() (device.Queue, error) {
	var s status
	id := dynlib.Call(d.l.createCommandQueue, d.context, d.id, 0, uintptr(unsafe.Pointer(&s)))
	if s != 0 {
		return nil, failed("a queue of "+d.info.Name, s)
	}
	return &queue{d, id}, nil
}

func memory(b device.Buffer, bytes int) (uintptr, error) {
	m, ok := b.(*buffer)
	if !ok || m.mem == 0 || bytes > m.bytes {
		return 0, diag.Bug("opencl: memory of another device, freed memory, or a transfer beyond its end")
	}
	return m.mem, nil
}

// Write implements device.Queue.
func (q *queue) Write(dst device.Buffer, src []byte) error {
	if len(src) == 0 {
		return nil
	}
	mem, err := memory(dst, len(src))
	if err != nil {
		return err
	}
	return failed("writing to "+q.d.info.Name, call(q.d.l.enqueueWriteBuffer, q.id, mem, 1, 0, uintptr(len(src)), uintptr(unsafe.Pointer(&src[0])), 0, 0, 0))
}

// Read implements device.Queue.
func (q *queue) Read(dst []byte, src device.Buffer) error {
	if len(dst) == 0 {
		return nil
	}
	mem, err := memory(src, len(dst))
	if err != nil {
		return err
	}
	return failed("reading from "+q.d.info.Name, call(q.d.l.enqueueReadBuffer, q.id, mem, 1, 0, uintptr(len(dst)), uintptr(unsafe.Pointer(&dst[0])), 0, 0, 0))
}

// Copy implements device.Queue.
func (q *queue) Copy(dst, src device.Buffer, bytes int) error {
	to, err := memory(dst, bytes)
	if err != nil {
		return err
	}
	from, err := memory(src, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	return failed("copying on "+q.d.info.Name, call(q.d.l.enqueueCopyBuffer, q.id, from, to, 0, 0, uintptr(bytes), 0, 0, 0))
}

// Launch implements device.Queue.
func (q *queue) Launch(l *device.Launch) error {
	k, ok := l.Kernel.(*kernel)
	if !ok {
		return diag.Bug("opencl: a kernel of another device")
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for i := range l.Args {
		if err := k.set(i, &l.Args[i]); err != nil {
			return err
		}
	}
	var global, local [3]uintptr
	for i := range global {
		local[i] = uintptr(max(l.Group[i], 1))
		global[i] = local[i] * uintptr(max(l.Grid[i], 1))
	}
	s := call(q.d.l.enqueueNDRangeKernel, q.id, k.id, 3, 0, uintptr(unsafe.Pointer(&global[0])), uintptr(unsafe.Pointer(&local[0])), 0, 0, 0)
	return failed("running kernel "+k.name, s)
}

func (k *kernel) set(i int, a *device.Arg) error {
	if a.Buffer == nil {
		bits := a.Bits
		return failed("an argument of kernel "+k.name, call(k.d.l.setKernelArg, k.id, uintptr(i), uintptr(a.Size), uintptr(unsafe.Pointer(&bits))))
	}
	mem, err := memory(a.Buffer, 0)
	if err != nil {
		return err
	}
	return failed("an argument of kernel "+k.name, call(k.d.l.setKernelArg, k.id, uintptr(i), unsafe.Sizeof(mem), uintptr(unsafe.Pointer(&mem))))
}

// Flush implements device.Queue.
func (q *queue) Flush() error {
	return failed("starting commands of "+q.d.info.Name, call(q.d.l.flush, q.id))
}

// Finish implements device.Queue.
func (q *queue) Finish() error {
	return failed("waiting for "+q.d.info.Name, call(q.d.l.finish, q.id))
}

// Free implements device.Queue.
func (q *queue) Free() {
	if q.id != 0 {
		call(q.d.l.releaseCommandQueue, q.id)
		q.id = 0
	}
}
