package work

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/cost"
)

// ThisDevice measures the peaks of this machine with so many threads; 0 are all.
func ThisDevice(threads int) *cost.Device {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	d := &cost.Device{Name: runtime.GOARCH + " " + kernel.CPU(), Threads: threads, Cores: max(runtime.NumCPU(), threads),
		Bytes: procBytes("/proc/meminfo", "MemTotal:"), Base: procBytes("/proc/self/status", "VmRSS:")}
	d.Float = 1e9 * productPeak(threads)
	for _, n := range sets {
		rate, read := rates(n, threads)
		d.Memory = append(d.Memory, cost.Level{Bytes: int64(n * threads), Rate: rate, Read: read})
	}
	last := len(sets) - 1
	d.Memory[last].Bytes = 0
	for i := last - 1; i >= 0; i-- {
		m, next := &d.Memory[i], d.Memory[i+1]
		m.Rate, m.Read = max(m.Rate, next.Rate), max(m.Read, next.Read) // less is no slower
	}
	return d
}

// sets are the working sets of one thread: where levels of caches commonly end, and
// beyond any.
var sets = []int{24 << 10, 384 << 10, 3 << 20, 12 << 20, 24 << 20, 48 << 20, 192 << 20}

// rates are those, in bytes a second, at which threads copy within working sets of n
// bytes each, and at which they read them.
func rates(n, threads int) (rate, read float64) {
	data := make([][]byte, threads)
	for i := range data {
		data[i] = bytes.Repeat([]byte{1}, n) // written, so that memory backs it
	}
	return best(n, data, func(set []byte) { copy(set[:n/2], set[n/2:]) }),
		best(n, data, func(set []byte) { bytes.IndexByte(set, 0) }) // which is nowhere
}

// best is the best rate of some rounds.
func best(n int, data [][]byte, pass func([]byte)) (best float64) {
	turns := max(1, 8<<20/n)
	for begin, round := time.Now(), 0; round < 3 || time.Since(begin) < 40*time.Millisecond; round++ {
		var all sync.WaitGroup
		start := time.Now()
		for _, set := range data {
			all.Go(func() {
				for range turns {
					pass(set)
				}
			})
		}
		all.Wait()
		best = max(best, float64(turns*n*len(data))/time.Since(start).Seconds())
	}
	return best
}

// procBytes reads a line of a file as Linux has them, in kB; 0 where there is none.
func procBytes(file, key string) int64 {
	text, _ := os.ReadFile(file)
	_, rest, _ := bytes.Cut(text, []byte(key))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(fields[0]), 10, 64)
	return n << 10
}
