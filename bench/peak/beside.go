package peak

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

// besideBytes is the size of the memory that Beside copies to and from: larger than any
// last-level cache.
const besideBytes = 256 << 20

// Beside copies memory on so many threads, the last processors that the process may
// use, until it is told to stop: programs on the other processors get less
// bandwidth and little of a shared cache.
func Beside(threads int) (stop func()) {
	k := loops()
	var over atomic.Bool
	done := make(chan struct{})
	for i := range threads {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			defer pin(runtime.NumCPU() - 1 - i)()
			defer func() { done <- struct{}{} }()
			buf := make([]byte, besideBytes)
			for at := 0; at < len(buf); at += 4096 {
				buf[at] = 1 // maps the page
			}
			const part = 1 << 20 // a collection waits for no longer than it takes
			for at := 0; !over.Load(); at = (at + part) % (besideBytes / 2) {
				k.copies[0](unsafe.Pointer(&buf[at]), unsafe.Pointer(&buf[besideBytes/2+at]), part/256)
			}
		}()
	}
	return func() {
		over.Store(true)
		for range threads {
			<-done
		}
	}
}
