package cuda

import (
	"math/bits"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// block is memory that the driver gave.
type block struct {
	address uint64
	bytes   int // its class: at least what was asked for
	uses    usage
}

// pool keeps freed memory for later allocations: cuMemAlloc and cuMemFree take up to
// milliseconds and wait for the device.
type pool struct {
	mu      sync.Mutex
	free    map[int][]*block // by class
	waiting []*block         // freed while commands used them
	stats   Stats
}

// Stats counts the memory of a device.
type Stats struct {
	Allocs int   // calls of the driver for memory
	Reused int   // allocations that the pool served
	Held   int64 // bytes that the driver gave and has not got back
	Used   int64 // of these in buffers that are not freed
}

// Stats returns the counts of the device's memory.
func (d *Device) Stats() Stats {
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	return d.pool.stats
}

// class rounds a size up to a multiple of an eighth of its power of two, and to the
// alignment: at most an eighth is wasted, and sizes that differ a little share blocks.
func class(size int) int {
	step := max(alignment, 1<<max(bits.Len(uint(size-1))-4, 0))
	return (size + step - 1) / step * step
}

// take returns a block of the class that is free, nil where there is none.
func (p *pool) take(size int) *block {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.waiting[:0]
	for _, b := range p.waiting {
		if b.uses.idle() {
			p.put(b)
		} else {
			kept = append(kept, b)
		}
	}
	clear(p.waiting[len(kept):])
	p.waiting = kept
	list := p.free[size]
	if len(list) == 0 {
		return nil
	}
	b := list[len(list)-1]
	list[len(list)-1] = nil
	p.free[size] = list[:len(list)-1]
	p.stats.Reused++
	p.stats.Used += int64(size)
	return b
}

// put files an idle block; the pool is locked.
func (p *pool) put(b *block) {
	if p.free == nil {
		p.free = map[int][]*block{}
	}
	p.free[b.bytes] = append(p.free[b.bytes], b)
}

// give takes a block back.
func (p *pool) give(b *block) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Used -= int64(b.bytes)
	if b.uses.idle() {
		p.put(b)
	} else {
		p.waiting = append(p.waiting, b)
	}
}

// release gives all memory that no buffer holds back to the driver. The caller has
// entered the device.
func (p *pool) release(d *Device) status {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.waiting {
		if s := b.uses.wait(); s != success {
			return s
		}
		p.put(b)
	}
	p.waiting = nil
	for _, list := range p.free {
		for _, b := range list {
			if s := d.drv.call(d.drv.memFree, uintptr(b.address)); s != success {
				return s
			}
			p.stats.Held -= int64(b.bytes)
		}
	}
	clear(p.free)
	return success
}

// Alloc implements device.Device.
func (d *Device) Alloc(size int) (device.Buffer, error) {
	if size < 1 {
		return nil, diag.Bug("cuda: memory of " + strconv.Itoa(size) + " bytes is asked for")
	}
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	if int64(size) > d.info.Memory {
		return nil, d.failed(strconv.Itoa(size)+" bytes of", outOfMemory)
	}
	at := d.pool.take(class(size))
	if at == nil {
		if at, err = d.more(class(size)); err != nil {
			return nil, err
		}
	}
	b := &buffer{d: d, block: at, bytes: size}
	b.root = b
	d.keep(b)
	return b, nil
}

// more asks the driver for a block, and once more without what the pool keeps.
func (d *Device) more(size int) (*block, error) {
	b := &block{bytes: size}
	s := d.drv.call(d.drv.memAlloc, uintptr(unsafe.Pointer(&b.address)), uintptr(size))
	if s == outOfMemory {
		if s = d.pool.release(d); s == success {
			s = d.drv.call(d.drv.memAlloc, uintptr(unsafe.Pointer(&b.address)), uintptr(size))
		}
	}
	if s != success {
		return nil, d.failed(strconv.Itoa(size)+" bytes of", s)
	}
	d.pool.mu.Lock()
	defer d.pool.mu.Unlock()
	d.pool.stats.Allocs++
	d.pool.stats.Held += int64(size)
	d.pool.stats.Used += int64(size)
	return b, nil
}

// buffer is a block, or a part of one.
type buffer struct {
	d             *Device
	root          *buffer
	block         *block
	offset, bytes int
	freed         atomic.Bool // of the root
}

func (b *buffer) Bytes() int { return b.bytes }

// address returns where on the device the buffer begins.
func (b *buffer) address() uint64 { return b.block.address + uint64(b.offset) }

// View implements device.Buffer.
func (b *buffer) View(offset, size int) (device.Buffer, error) {
	if offset < 0 || size < 1 || offset > b.bytes-size || offset%alignment != 0 {
		return nil, diag.Bug("cuda: a view of memory is out of its bounds or not aligned")
	}
	return &buffer{d: b.d, root: b.root, block: b.block, offset: b.offset + offset, bytes: size}, nil
}

// Free implements device.Buffer; only whole memory is freed, with its parts.
func (b *buffer) Free() {
	if b.root == b {
		b.d.free(b)
	}
}

// release gives the block to the pool.
func (b *buffer) release() {
	if !b.freed.Swap(true) {
		b.d.pool.give(b.block)
	}
}

// memory returns the buffer of this device that a command uses, from its start.
func (d *Device) memory(m device.Buffer, size int) (*buffer, error) {
	b, ok := m.(*buffer)
	if !ok || b.d != d || b.root.freed.Load() || size < 0 || size > b.bytes {
		return nil, diag.Bug("cuda: memory of another device, freed memory, or a transfer beyond its end")
	}
	return b, nil
}
