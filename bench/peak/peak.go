// Package peak measures the machine's peaks: multiply-adds, additions,
// divisions and 8-bit products a second, and bytes a second from every level of
// the memory hierarchy. Times of kernels are read against it.
package peak

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
)

// Peaks are rates, the best of the windows measured. Rates of several threads
// are of all of them together.
type Peaks struct {
	Level string  `json:"level"` // instruction set of the loops: "AVX-512", "AVX2", "NEON" or "Go"
	FMA   float64 `json:"fma"`   // f32 FLOP/s, two for each multiply-add
	Int8  float64 `json:"int8"`  // u8 by s8 operations/s, two for each product; 0 where there is no loop
	Add   float64 `json:"add"`   // f32 additions/s without contraction
	Div   float64 `json:"div"`   // f32 divisions/s
	// Bandwidth has an entry for each working set, ascending.
	Bandwidth []Bandwidth `json:"bandwidth"`
}

// Bandwidth is the best rate for streams over a working set.
type Bandwidth struct {
	Bytes int     `json:"bytes"` // of all arrays of one thread together
	Rate  float64 `json:"rate"`  // bytes read and written in a second
	Read  float64 `json:"read"`  // bytes read in a second where nothing is written
}

type loop struct {
	run func(n int)
	ops float64 // in one turn
}

type (
	stream2 = func(dst, a unsafe.Pointer, n int)
	stream3 = func(dst, a, b unsafe.Pointer, n int)
)

type kinds struct {
	level               string
	fma, int8, add, div loop
	read                func(a unsafe.Pointer, n int)
	copies              []stream2
	triads              []stream3
}

// window is the time of one measurement; the best of windows counts.
const (
	window  = 3 * time.Millisecond
	windows = 20
)

// Sizes are the working sets that Measure uses: from inside the first level of
// cache to far beyond any, closer where last levels of cache commonly end.
var Sizes = []int{24 << 10, 384 << 10, 3 << 20, 12 << 20, 24 << 20, 48 << 20, 96 << 20, 384 << 20}

// Measure runs all loops on the given number of threads for about a second.
func Measure(threads int) Peaks {
	threads = max(1, threads)
	k := loops()
	p := Peaks{Level: k.level}
	p.measureArith(k, threads, windows)
	for _, size := range Sizes {
		p.Bandwidth = append(p.Bandwidth, bandwidth(k, threads, size))
	}
	return p
}

// Refresh measures arithmetic again for some milliseconds and keeps the better
// rates: the clock of a shared machine wanders.
func (p *Peaks) Refresh(threads int) { p.measureArith(loops(), max(1, threads), 2) }

// RefreshMemory does the same for the bandwidth that Memory returns.
func (p *Peaks) RefreshMemory(bytes, threads int) {
	b := &p.Bandwidth[p.level(bytes, threads)]
	again := bandwidth(loops(), max(1, threads), b.Bytes)
	b.Rate, b.Read = max(b.Rate, again.Rate), max(b.Read, again.Read)
}

func (p *Peaks) measureArith(k kinds, threads, repeat int) {
	p.FMA = max(p.FMA, arith(k.fma, threads, repeat))
	p.Int8 = max(p.Int8, arith(k.int8, threads, repeat))
	p.Add = max(p.Add, arith(k.add, threads, repeat))
	p.Div = max(p.Div, arith(k.div, threads, repeat))
}

// Memory returns the bandwidth for operands of the given bytes in total, spread
// over the threads: that of the smallest working set that holds them.
func (p *Peaks) Memory(bytes, threads int) float64 { return p.Bandwidth[p.level(bytes, threads)].Rate }

// Reading is Memory for memory that is only read.
func (p *Peaks) Reading(bytes, threads int) float64 { return p.Bandwidth[p.level(bytes, threads)].Read }

// level is the index of that working set, the last one when none is large enough.
func (p *Peaks) level(bytes, threads int) int {
	for i, b := range p.Bandwidth {
		if bytes/max(1, threads) <= b.Bytes {
			return i
		}
	}
	return len(p.Bandwidth) - 1
}

// arith returns operations a second of the loop on all threads, the best of so
// many windows.
func arith(l loop, threads, repeat int) float64 {
	if l.run == nil {
		return 0
	}
	n := 1000
	for {
		start := time.Now()
		l.run(n)
		if d := time.Since(start); d > window {
			break
		}
		n *= 2
	}
	best := 0.0
	for range repeat {
		if d := together(threads, func(int) { l.run(n) }); d > 0 {
			best = max(best, float64(threads)*float64(n)*l.ops/d.Seconds())
		}
	}
	return best
}

// Turn runs the loop of multiply-adds, or of 8-bit products, so many times on
// every thread, and returns the number of operations of a call, on all threads
// together, and the time of all calls. A call takes some microseconds.
func Turn(int8 bool, threads, calls int) (ops float64, d time.Duration) {
	const turns = 1000
	l := loops().fma
	if int8 {
		l = loops().int8
	}
	threads = max(1, threads)
	if l.run == nil {
		return 0, 0
	}
	ops = float64(threads) * turns * l.ops
	if calls <= 0 { // the loops count down to zero
		return ops, 0
	}
	return ops, together(threads, func(int) { l.run(calls * turns) })
}

// Handover returns the time in which a cache line goes from one processor to
// another and back, the least of some windows: the cost of sharing between
// threads depends on it, and where a machine is virtual it changes with the
// places that its processors are given. It is 0 with one processor.
func Handover() time.Duration {
	if runtime.NumCPU() < 2 || runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	const turns = 500
	type ball struct {
		at atomic.Int64
		_  [120]byte
	}
	var here, there ball
	best := time.Duration(0)
	for range 3 {
		here.at.Store(0)
		there.at.Store(0)
		d := together(2, func(i int) {
			for n := int64(1); n <= turns; n++ {
				if i == 0 {
					here.at.Store(n)
					for there.at.Load() < n {
					}
					continue
				}
				for here.at.Load() < n {
				}
				there.at.Store(n)
			}
		})
		if d /= turns; best == 0 || d < best {
			best = d
		}
	}
	return best
}

// together runs f on every thread at once and returns the time from the first
// start to the last end.
func together(threads int, f func(i int)) time.Duration {
	if threads == 1 {
		start := time.Now()
		f(0)
		return time.Since(start)
	}
	var ready, done sync.WaitGroup
	release := make(chan struct{})
	begin, end := make([]time.Time, threads), make([]time.Time, threads)
	for i := range threads {
		ready.Add(1)
		done.Add(1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer pin(i)()
			defer done.Done()
			ready.Done()
			<-release
			begin[i] = time.Now()
			f(i)
			end[i] = time.Now()
		}()
	}
	ready.Wait()
	close(release)
	done.Wait()
	first, last := begin[0], end[0]
	for i := range threads {
		if begin[i].Before(first) {
			first = begin[i]
		}
		if end[i].After(last) {
			last = end[i]
		}
	}
	return last.Sub(first)
}

// bandwidth is the best of reading, copying and adding over arrays of the given
// bytes in total for each thread.
func bandwidth(k kinds, threads, size int) Bandwidth {
	buf := make([][]byte, threads)
	for i := range buf {
		buf[i] = make([]byte, size+3*64)
		for j := 0; j < len(buf[i]); j += 4096 {
			buf[i][j] = 1 // maps the page
		}
	}
	// part returns the start of array j of parts in thread i's buffer.
	part := func(i, j, parts int) unsafe.Pointer {
		p := unsafe.Pointer(unsafe.SliceData(buf[i]))
		p = unsafe.Add(p, -int(uintptr(p))&63)
		return unsafe.Add(p, j*blocks(size, parts)*256)
	}
	read := streams(threads, size, 1, func(i, n int) { k.read(part(i, 0, 1), n) })
	best := read
	for _, f := range k.copies {
		best = max(best, streams(threads, size, 2, func(i, n int) { f(part(i, 0, 2), part(i, 1, 2), n) }))
	}
	for _, f := range k.triads {
		best = max(best, streams(threads, size, 3, func(i, n int) { f(part(i, 0, 3), part(i, 1, 3), part(i, 2, 3), n) }))
	}
	return Bandwidth{Bytes: size, Rate: best, Read: read}
}

// Reader returns a function that reads so many bytes once, its part on each thread.
func Reader(bytes, threads int) (read func()) {
	k, each := loops(), max(1, bytes/threads/256)
	buf := make([]byte, threads*each*256+64)
	for i := 0; i < len(buf); i += 4096 {
		buf[i] = 1 // maps the page
	}
	p := unsafe.Pointer(unsafe.SliceData(buf))
	p = unsafe.Add(p, -int(uintptr(p))&63)
	return func() {
		together(threads, func(i int) { k.read(unsafe.Add(p, i*each*256), each) })
		runtime.KeepAlive(buf)
	}
}

// blocks is the number of 256-byte blocks in each of so many arrays.
func blocks(size, parts int) int { return max(1, size/parts/256) }

// streams times one kind of stream: parts arrays of n blocks.
func streams(threads, size, parts int, f func(i, n int)) float64 {
	n := blocks(size, parts)
	bytes := float64(n * 256 * parts)
	turns := 1
	for {
		start := time.Now()
		for range turns {
			f(0, n)
		}
		if time.Since(start) > window/2 {
			break
		}
		turns *= 2
	}
	best, repeat := 0.0, 8
	if size > 64<<20 {
		repeat = 4
	}
	for range repeat {
		d := together(threads, func(i int) {
			for range turns {
				f(i, n)
			}
		})
		if d > 0 {
			best = max(best, float64(threads*turns)*bytes/d.Seconds())
		}
	}
	return best
}
