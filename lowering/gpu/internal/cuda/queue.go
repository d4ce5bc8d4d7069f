package cuda

import (
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// queue is a stream.
type queue struct {
	d        *Device
	stream   uintptr
	issued   uint64        // commands so far
	finished atomic.Uint64 // of these known to be done
	ends     sync.Mutex    // held by who waits for the stream besides its user: it is not destroyed meanwhile
	stage    staging
	record   *recording // being made

	workspace uintptr // of routines, 0 until one needs it

	// What a launch passes: kept, so that launches allocate nothing.
	values []uint64
	params []unsafe.Pointer
}

// NewQueue implements device.Device. The stream does not wait for the default one.
func (d *Device) NewQueue() (device.Queue, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	const nonBlocking = 1
	q := &queue{d: d}
	if s := d.drv.call(d.drv.streamCreate, uintptr(unsafe.Pointer(&q.stream)), nonBlocking); s != success {
		return nil, d.failed("a queue of", s)
	}
	d.keep(q)
	return q, nil
}

// Free implements device.Queue.
func (q *queue) Free() { q.d.free(q) }

// release waits for the stream and destroys it.
func (q *queue) release() {
	q.d.drv.call(q.d.drv.streamSynchronize, q.stream)
	q.ends.Lock()
	q.finished.Store(math.MaxUint64)
	q.ends.Unlock()
	q.stage.release(q.d)
	if q.workspace != 0 {
		q.d.drv.call(q.d.drv.memFree, q.workspace)
	}
	q.d.drv.call(q.d.drv.streamDestroy, q.stream)
}

// wait waits until n commands are done. Any goroutine may call it, while another frees the queue.
func (q *queue) wait(n uint64) status {
	q.ends.Lock()
	defer q.ends.Unlock()
	if q.finished.Load() >= n {
		return success
	}
	return q.d.drv.call(q.d.drv.streamSynchronize, q.stream)
}

// enter begins a command that cannot be recorded.
func (q *queue) enter(what string) (leave func(), err error) {
	if q.record != nil {
		return nil, diag.Bug("cuda: " + what + " cannot be recorded")
	}
	return q.d.enter()
}

// used notes that the newest command uses memory.
func (q *queue) used(b *buffer) {
	if q.record != nil {
		q.record.uses(&b.block.uses)
		return
	}
	b.block.uses.mark(q)
}

// Copy implements device.Queue.
func (q *queue) Copy(dst, src device.Buffer, size int) error {
	to, err := q.d.memory(dst, size)
	if err != nil {
		return err
	}
	from, err := q.d.memory(src, size)
	if err != nil || size == 0 {
		return err
	}
	leave, err := q.d.enter()
	if err != nil {
		return err
	}
	defer leave()
	q.issued++
	q.used(to)
	q.used(from)
	return q.d.failed("copying on", q.d.drv.call(q.d.drv.memcpyDtoDAsync, uintptr(to.address()), uintptr(from.address()), uintptr(size), q.stream))
}

// Launch implements device.Queue.
func (q *queue) Launch(l *device.Launch) error {
	k, ok := l.Kernel.(*kernel)
	if !ok || k.p.d != q.d {
		return diag.Bug("cuda: a kernel of another device")
	}
	if k.params >= 0 && k.params != len(l.Args) {
		return diag.Bug("cuda: kernel " + k.name + " gets " + strconv.Itoa(len(l.Args)) + " arguments, it has " + strconv.Itoa(k.params))
	}
	leave, err := q.d.enter()
	if err != nil {
		return err
	}
	defer leave()
	q.issued++
	params, err := q.arguments(l.Args)
	if err != nil {
		return err
	}
	if q.record != nil {
		q.record.uses(&k.p.uses)
	} else {
		k.p.uses.mark(q)
	}
	s := q.d.drv.call(q.d.drv.launchKernel, k.function,
		count(l.Grid[0]), count(l.Grid[1]), count(l.Grid[2]), count(l.Group[0]), count(l.Group[1]), count(l.Group[2]),
		0, q.stream, uintptr(params), 0)
	if s != success {
		return q.d.failed("running kernel "+k.name+" on", s)
	}
	return nil
}

// count is a size of a launch, where 0 stands for 1.
func count(n int) uintptr { return uintptr(max(n, 1)) }

// arguments returns the address of the addresses of the arguments. Numbers of 4 bytes
// are the low half of 8: all machines that the driver exists for are little-endian.
func (q *queue) arguments(args []device.Arg) (unsafe.Pointer, error) {
	q.values, q.params = q.values[:0], q.params[:0]
	for i := range args {
		v := args[i].Bits
		if m := args[i].Buffer; m != nil {
			b, err := q.d.memory(m, 0)
			if err != nil {
				return nil, err
			}
			q.used(b)
			v = b.address()
		}
		q.values = append(q.values, v)
	}
	for i := range q.values { // they move while they grow
		q.params = append(q.params, unsafe.Pointer(&q.values[i]))
	}
	if len(q.params) == 0 {
		return nil, nil
	}
	return unsafe.Pointer(&q.params[0]), nil
}

// Flush implements device.Queue: streams begin at once.
func (q *queue) Flush() error {
	q.d.use.RLock()
	defer q.d.use.RUnlock()
	return q.d.usable()
}

// Finish implements device.Queue.
func (q *queue) Finish() error {
	leave, err := q.enter("waiting")
	if err != nil {
		return err
	}
	defer leave()
	if s := q.d.drv.call(q.d.drv.streamSynchronize, q.stream); s != success {
		return q.d.failed("waiting for", s)
	}
	q.done()
	return nil
}

// done notes that the stream is known to be empty.
func (q *queue) done() {
	q.finished.Store(q.issued)
	q.stage.reset()
}
