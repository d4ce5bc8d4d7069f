package gpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// stopping is a driver that calls functions before it reads, writes and builds.
type stopping struct {
	device.Device
	read, write, build func()
}

type stoppingQueue struct {
	device.Queue
	d *stopping
}

func stopper(t *testing.T) (*stopping, gpu.Target) {
	d := &stopping{Device: run.Driver(target(t).Device)}
	d.rest()
	return d, gpu.Target{Device: run.NewDevice(d), Cache: "-"}
}

// rest has nothing called any more.
func (d *stopping) rest() {
	none := func() {}
	d.read, d.write, d.build = none, none, none
}

// once has f called at the next of what a run does, and never again.
func (d *stopping) once(what *func(), f func()) {
	*what = func() {
		d.rest()
		f()
	}
}

func (d *stopping) NewQueue() (device.Queue, error) {
	q, err := d.Device.NewQueue()
	return stoppingQueue{q, d}, err
}

func (d *stopping) Build(source string, binary []byte) (device.Program, bool, error) {
	d.build()
	return d.Device.Build(source, binary)
}

func (q stoppingQueue) Read(dst []byte, src device.Buffer) error {
	q.d.read()
	return q.Queue.Read(dst, src)
}

func (q stoppingQueue) Write(dst device.Buffer, src []byte) error {
	q.d.write()
	return q.Queue.Write(dst, src)
}

func running(e *gpu.Executable, rows int) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		_, err := e.Run(ctx, []*array.Array{ramp(rows, 8)})
		return err
	}
}

// TestRunsThatWaitForWeightsEndWithTheirContext: what a weight was written for waits for the runs that read it,
// and runs wait for who copies it.
func TestRunsThatWaitForWeightsEndWithTheirContext(t *testing.T) {
	d, g := stopper(t)
	m := parsed(t, mlp)
	e := compile(t, g, m)
	run := running(e, 2)
	require.NoError(t, run(ctx))
	waits := func() bool { runs, _ := gpu.Waiting(e); return runs == 1 }
	fxtest.StopsWaiting(t, waits, func(hold func()) error {
		d.once(&d.read, func() { // of the results: the run has begun
			written(m.Param("fc.bias").Value, 0.5)
			hold()
		})
		return run(ctx)
	}, run)
	fxtest.StopsWaiting(t, waits, func(hold func()) error {
		d.once(&d.write, hold) // of the weight: the run makes it again
		return run(ctx)
	}, run)
	got, err := e.Run(ctx, []*array.Array{ramp(2, 8)})
	require.NoError(t, err)
	fxtest.Close(t, "mlp", interpreted(t, m, ramp(2, 8)), got)
	require.Equal(t, 1, e.Stats().Sizes.Misses)
}

// TestRunsThatWaitForProgramsEndWithTheirContext: two executables need one program, which one of them builds.
func TestRunsThatWaitForProgramsEndWithTheirContext(t *testing.T) {
	d, g := stopper(t)
	a, b := compile(t, g, parsed(t, mlp)), compile(t, g, parsed(t, mlp))
	fxtest.StopsWaiting(t, func() bool { return g.Device.Builds().Shared == 1 }, func(hold func()) error {
		d.once(&d.build, hold)
		return running(a, 3)(ctx)
	}, running(b, 3))
	require.NoError(t, running(b, 3)(ctx))
	require.Equal(t, 1, g.Device.Builds().Built)
}

// TestCopiesThatWaitEndWithTheirContext: outside of runs a device copies one value at a time.
func TestCopiesThatWaitEndWithTheirContext(t *testing.T) {
	d, g := stopper(t)
	e := compile(t, g, parsed(t, grow))
	x, err := e.Put(ctx, ramp(2, 8))
	require.NoError(t, err)
	waits := func() bool { _, copies := gpu.Waiting(e); return copies == 1 }
	put := func(ctx context.Context) error {
		v, err := e.Put(ctx, ramp(2, 8))
		if err == nil {
			return v.Close()
		}
		return err
	}
	fetch := func(ctx context.Context) error {
		_, err := x.Array(ctx)
		return err
	}
	for _, c := range []struct {
		at            *func()
		first, second func(ctx context.Context) error
	}{{&d.read, fetch, put}, {&d.write, put, fetch}} {
		fxtest.StopsWaiting(t, waits, func(hold func()) error {
			d.once(c.at, hold)
			return c.first(ctx)
		}, c.second)
	}
	require.NoError(t, fetch(ctx))
	require.NoError(t, x.Close())
	_, err = x.Array(ctx)
	require.ErrorIs(t, err, lowering.Closed)
}
