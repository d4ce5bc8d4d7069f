package cuda_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// Transfers of any size go through pinned memory in turns; what was given to Write may
// be changed when it returns.
func TestTransfersOfAllSizes(t *testing.T) {
	b := newBench(t)
	const slot = 2 << 20
	for _, n := range []int{1, 3, slot - 1, slot, slot + 1, 2 * slot, 5*slot + 12345} {
		m := b.alloc(n)
		for _, before := range []int{0, 1, 1000, slot - 4} {
			rest := b.alloc(slot)
			require.NoError(t, b.q.Write(rest, make([]byte, before)))
			src := make([]byte, n)
			for i := range src {
				src[i] = byte(i*7 + i>>9 + i>>20*13) // the slots' contents differ
			}
			require.NoError(t, b.q.Write(m, src))
			want := append([]byte(nil), src...)
			clear(src)
			got := make([]byte, n)
			require.NoError(t, b.q.Read(got, m))
			require.True(t, string(want) == string(got), "%d bytes after %d", n, before)
			rest.Free()
		}
		m.Free()
	}
	require.Equal(t, 2, b.drv.Alive(cudatest.Pinned))
	require.NoError(t, b.q.Write(b.alloc(4), nil))
	require.NoError(t, b.q.Read(nil, b.alloc(4)))
}

// record makes a recording of: x to y by the kernel, y to z by a copy.
func (b *bench) record(x, y, z device.Buffer) device.Recording {
	b.t.Helper()
	k := b.kernel("twice")
	r, err := b.q.(device.Recorder).Record(func() error {
		if err := b.q.Launch(twice(k, y, x, 2)); err != nil {
			return err
		}
		return b.q.Copy(z, y, 8)
	})
	require.NoError(b.t, err)
	return r
}

func TestRecordingsAreReplayed(t *testing.T) {
	b := newBench(t)
	x, y, z := b.alloc(8), b.alloc(8), b.alloc(8)
	r := b.record(x, y, z)
	require.NoError(t, b.q.Write(z, floats(-1, -1)))
	require.Equal(t, []float32{-1, -1}, b.read(z, 2), "recording runs nothing")
	launches := b.drv.Calls("cuLaunchKernel")
	for i := range 3 {
		require.NoError(t, b.q.Write(x, floats(float32(i), 10)))
		require.NoError(t, r.Replay(b.q))
		require.Equal(t, []float32{2 * float32(i), 20}, b.read(z, 2))
	}
	other, err := b.d.NewQueue()
	require.NoError(t, err)
	require.NoError(t, b.q.Write(x, floats(50, 60)))
	require.NoError(t, b.q.Finish())
	require.NoError(t, r.Replay(other))
	x.Free() // the replay uses it, so that the next allocation must be another
	w := b.alloc(8)
	require.NoError(t, b.q.Write(w, floats(0, 0)))
	require.NoError(t, b.q.Finish())
	require.NoError(t, other.Finish())
	require.Equal(t, []float32{100, 120}, b.read(z, 2))
	require.Equal(t, launches, b.drv.Calls("cuLaunchKernel"))
	r.Free()
	r.Free()
	require.Zero(t, b.drv.Alive(cudatest.Execs))
	require.Zero(t, b.drv.Alive(cudatest.Graphs))
}

func TestRecordingsFail(t *testing.T) {
	b := newBench(t)
	m := b.alloc(8)
	recorder := b.q.(device.Recorder)
	for name, enqueue := range map[string]func() error{
		"writing":   func() error { return b.q.Write(m, make([]byte, 8)) },
		"reading":   func() error { return b.q.Read(make([]byte, 8), m) },
		"waiting":   b.q.Finish,
		"cancelled": func() error { return context.Canceled },
		"a recording inside another": func() error {
			_, err := recorder.Record(func() error { return nil })
			return err
		},
	} {
		_, err := recorder.Record(enqueue)
		require.ErrorContains(t, err, name[:5], name)
	}
	require.Zero(t, b.drv.Alive(cudatest.Graphs))
	require.NoError(t, b.q.Write(m, floats(1, 2)))
	require.Equal(t, []float32{1, 2}, b.read(m, 2), "the queue goes on")
	r := b.record(m, b.alloc(8), b.alloc(8))
	foreign, err := cudatest.New(t).Device().NewQueue()
	require.NoError(t, err)
	require.Error(t, r.Replay(foreign))
}

// A program and a queue may be freed while their commands wait.
func TestFreedInUse(t *testing.T) {
	b := newBench(t)
	x, y := b.alloc(8), b.alloc(8)
	require.NoError(t, b.q.Write(x, floats(3, 4)))
	require.NoError(t, b.q.Launch(twice(b.kernel("twice"), y, x, 2)))
	b.program.Free()
	require.Zero(t, b.drv.Alive(cudatest.Modules))
	require.Equal(t, []float32{6, 8}, b.read(y, 2))
	require.NoError(t, b.q.Write(x, floats(9, 9)))
	b.q.Free()
	b.q.Free()
	require.Zero(t, b.drv.Alive(cudatest.Streams)+b.drv.Alive(cudatest.Pinned)+b.drv.Alive(cudatest.Events))
	q, err := b.d.NewQueue()
	require.NoError(t, err)
	out := make([]byte, 8)
	require.NoError(t, q.Read(out, x))
	require.Equal(t, floats(9, 9), out)
}

// Goroutines that move between threads find the context on each; the driver of the tests
// counts a wrong use for every call without one.
func TestManyGoroutines(t *testing.T) {
	b := newBench(t)
	k := b.kernel("twice")
	errs := make(chan error, 8)
	var wg sync.WaitGroup
	for g := range cap(errs) {
		wg.Go(func() {
			errs <- func() error {
				q, err := b.d.NewQueue()
				if err != nil {
					return err
				}
				defer q.Free()
				for i := range 20 {
					if err := doubled(b.d, q, k, float32(100*g+i)); err != nil {
						return err
					}
				}
				return nil
			}()
		})
	}
	wg.Wait()
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	require.LessOrEqual(t, b.d.Stats().Allocs, 16, "goroutines share the pool")
}

type wrong struct{ got, want float32 }

func (wrong) Error() string { return "a wrong result" }

// doubled runs the kernel on one number in memory of its own.
func doubled(d device.Device, q device.Queue, k device.Kernel, x float32) error {
	in, err := d.Alloc(4)
	if err != nil {
		return err
	}
	defer in.Free()
	out, err := d.Alloc(4)
	if err != nil {
		return err
	}
	defer out.Free()
	if err := q.Write(in, floats(x)); err != nil {
		return err
	}
	runtime.Gosched()
	if err := q.Launch(twice(k, out, in, 1)); err != nil {
		return err
	}
	runtime.Gosched()
	b := make([]byte, 4)
	if err := q.Read(b, out); err != nil {
		return err
	}
	if got := numbers(b)[0]; got != 2*x {
		return wrong{got, 2 * x}
	}
	return nil
}

func TestLaunchesAllocateNothing(t *testing.T) {
	b := newBench(t)
	l := twice(b.kernel("twice"), b.alloc(4), b.alloc(4), 1)
	require.NoError(t, b.q.Launch(l))
	n := testing.AllocsPerRun(20, func() {
		if err := b.q.Launch(l); err != nil {
			panic(err)
		}
	})
	require.NoError(t, b.q.Finish())
	t.Log("allocations of a launch:", n)
}
