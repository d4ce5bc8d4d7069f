package cuda_test

import (
	"sync"
	"testing"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// TestQueuesEndWhileMemoryRunsOut: who waits for what a queue uses, because memory is short, does not
// wait for a stream that another goroutine has destroyed meanwhile, which the tests' driver notes.
func TestQueuesEndWhileMemoryRunsOut(t *testing.T) {
	b := newBench(t)
	b.drv.Set("memory", 4<<20)
	b.drv.Set("slow", 50)
	const size = 2 << 20
	data := make([]byte, size)
	var all sync.WaitGroup
	done := make(chan struct{})
	all.Go(func() {
		defer close(done)
		for range 60 {
			q, err := b.d.NewQueue()
			if err != nil {
				t.Error(err)
				return
			}
			if x, err := b.d.Alloc(size); err == nil { // the other goroutine may have it all
				if err := q.Write(x, data); err != nil {
					t.Error(err)
				}
				x.Free()
			}
			q.Free()
		}
	})
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			x, err := b.d.Alloc(3 << 20)
			if err == nil {
				x.Free()
			} else if e, ok := err.(*diag.Error); !ok || e.Code != device.DriverFailed {
				t.Error(err)
			}
		}
	})
	all.Wait()
}
