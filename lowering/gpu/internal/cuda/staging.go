package cuda

import (
	"unsafe"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// stageBytes is the size of a slot: transfers of one and copies of the processor into
// the other take turns.
const stageBytes = 2 << 20

// staging is page-locked host memory of a queue, which devices read and write by
// themselves while the processor goes on; of Go's own memory the driver would make such
// copies, too, and make the caller wait.
type staging struct {
	slots [2]slot
	at    int // the slot that writes fill
}

// slot is half of it.
type slot struct {
	mem   []byte  // pinned, nil until it is needed
	used  int     // bytes that writes have filled
	event uintptr // after the last command that uses it
	busy  bool    // the event is recorded and was not waited for
}

// reset makes all slots empty: no command is under way.
func (s *staging) reset() {
	for i := range s.slots {
		s.slots[i].used, s.slots[i].busy = 0, false
	}
}

// release frees the memory; the stream is idle.
func (s *staging) release(d *Device) {
	for i := range s.slots {
		l := &s.slots[i]
		if l.event != 0 {
			d.drv.call(d.drv.eventDestroy, l.event)
		}
		if l.mem != nil {
			d.drv.call(d.drv.memFreeHost, uintptr(unsafe.Pointer(&l.mem[0])))
		}
		*l = slot{}
	}
}

// ready makes a slot's memory and event.
func (l *slot) ready(d *Device) status {
	if l.event == 0 {
		const withoutTiming = 2
		if s := d.drv.call(d.drv.eventCreate, uintptr(unsafe.Pointer(&l.event)), withoutTiming); s != success {
			return s
		}
	}
	if l.mem != nil {
		return success
	}
	var p *byte // of the driver, not of Go
	s := d.drv.call(d.drv.memHostAlloc, uintptr(unsafe.Pointer(&p)), stageBytes, 0)
	if s == success {
		l.mem = unsafe.Slice(p, stageBytes)
	}
	return s
}

// wait waits until no command uses the slot.
func (l *slot) wait(d *Device) status {
	if !l.busy {
		return success
	}
	l.busy = false
	return d.drv.call(d.drv.eventSynchronize, l.event)
}

// mark records the slot's event.
func (l *slot) mark(q *queue) status {
	l.busy = true
	return q.d.drv.call(q.d.drv.eventRecord, l.event, q.stream)
}

// room returns the slot that the next write goes to, with room in it.
func (q *queue) room() (*slot, status) {
	l := &q.stage.slots[q.stage.at]
	if l.used == stageBytes {
		if s := l.mark(q); s != success {
			return nil, s
		}
		q.stage.at = 1 - q.stage.at
		l = &q.stage.slots[q.stage.at]
		if s := l.wait(q.d); s != success {
			return nil, s
		}
		l.used = 0
	}
	return l, l.ready(q.d)
}

// Write implements device.Queue.
func (q *queue) Write(dst device.Buffer, src []byte) error {
	to, err := q.d.memory(dst, len(src))
	if err != nil || len(src) == 0 {
		return err
	}
	leave, err := q.enter("writing")
	if err != nil {
		return err
	}
	defer leave()
	q.issued++
	q.used(to)
	for at := to.address(); len(src) > 0; {
		l, s := q.room()
		if s != success {
			return q.d.failed("writing to", s)
		}
		n := copy(l.mem[l.used:], src)
		if s := q.d.drv.call(q.d.drv.memcpyHtoDAsync, uintptr(at), uintptr(unsafe.Pointer(&l.mem[l.used])), uintptr(n), q.stream); s != success {
			return q.d.failed("writing to", s)
		}
		l.used += n
		at += uint64(n)
		src = src[n:]
	}
	return nil
}

// Read implements device.Queue. While one slot is copied from, the device fills the other.
func (q *queue) Read(dst []byte, src device.Buffer) error {
	from, err := q.d.memory(src, len(dst))
	if err != nil || len(dst) == 0 {
		return err
	}
	leave, err := q.enter("reading")
	if err != nil {
		return err
	}
	defer leave()
	q.issued++
	q.used(from)
	var before []byte // what the other slot is being filled for
	for i, at := 0, from.address(); len(dst) > 0; i = 1 - i {
		n := min(len(dst), stageBytes)
		if s := q.fetch(i, at, n); s != success {
			return q.d.failed("reading from", s)
		}
		if s := q.collect(1-i, before); s != success {
			return q.d.failed("reading from", s)
		}
		before, dst, at = dst[:n], dst[n:], at+uint64(n)
		q.stage.at = i
	}
	if s := q.collect(q.stage.at, before); s != success {
		return q.d.failed("reading from", s)
	}
	q.done()
	return nil
}

// fetch begins to fill a slot: after writes that it holds, since the stream is in order.
func (q *queue) fetch(i int, at uint64, n int) status {
	l := &q.stage.slots[i]
	if s := l.ready(q.d); s != success {
		return s
	}
	if s := q.d.drv.call(q.d.drv.memcpyDtoHAsync, uintptr(unsafe.Pointer(&l.mem[0])), uintptr(at), uintptr(n), q.stream); s != success {
		return s
	}
	return l.mark(q)
}

// collect waits for a slot and copies from it to dst, which is nil where nothing was fetched.
func (q *queue) collect(i int, dst []byte) status {
	if dst == nil {
		return success
	}
	l := &q.stage.slots[i]
	s := l.wait(q.d)
	if s == success {
		copy(dst, l.mem)
	}
	return s
}
