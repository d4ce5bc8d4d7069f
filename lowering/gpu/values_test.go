package gpu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
)

// counting counts the memory and the copies of a driver.
type counting struct {
	device.Device
	allocs, writes, reads, copies int
}

type countingQueue struct {
	device.Queue
	d *counting
}

func (d *counting) Alloc(n int) (device.Buffer, error) {
	d.allocs++
	return d.Device.Alloc(n)
}

func (d *counting) NewQueue() (device.Queue, error) {
	q, err := d.Device.NewQueue()
	return countingQueue{q, d}, err
}

func (q countingQueue) Write(dst device.Buffer, src []byte) error {
	q.d.writes++
	return q.Queue.Write(dst, src)
}

func (q countingQueue) Read(dst []byte, src device.Buffer) error {
	q.d.reads++
	return q.Queue.Read(dst, src)
}

func (q countingQueue) Copy(dst, src device.Buffer, n int) error {
	q.d.copies++
	return q.Queue.Copy(dst, src, n)
}

const grow = `gofx 1
graph grow(%x: f32[N,8], %y: f32[N,8]) {
  symbol N = dim(%x, 0)
  %a = call_function[add](%x, %y) : f32[N,8]
  %s = call_function[sin](%a) : f32[N,8]
  return (%s, %a)
}
`

// TestValuesStayOnTheDevice: between runs nothing crosses to the host, and donated memory is
// that of the results.
func TestValuesStayOnTheDevice(t *testing.T) {
	d := &counting{Device: run.Driver(target(t).Device)}
	g := gpu.Target{Device: run.NewDevice(d)}
	m := parsed(t, grow)
	e, err := g.Compile(m, lowering.Options{Donate: []int{0, 1}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	r := e.(lowering.Resident)
	x, y := ramp(3, 8), ramp(3, 8)
	a, err := r.Put(ctx, x)
	require.NoError(t, err)
	require.Equal(t, "f32[3,8]", a.Type().String())
	b, err := r.Put(ctx, y)
	require.NoError(t, err)
	first, err := r.RunValues(ctx, []lowering.Value{a, b})
	require.NoError(t, err)
	_, err = a.Array(ctx)
	require.ErrorIs(t, err, lowering.Closed, "a donated value belongs to the run")

	d.allocs, d.writes, d.reads, d.copies = 0, 0, 0, 0
	second, err := r.RunValues(ctx, []lowering.Value{first[0], first[1]})
	require.NoError(t, err)
	require.Zero(t, d.writes)
	require.Zero(t, d.reads)
	require.Zero(t, d.allocs, "results lie where donated operands were")
	require.Equal(t, 4, d.copies)

	want := interpreted(t, m, x, y)
	want = interpreted(t, m, want...)
	got := make([]*array.Array, 2)
	for i, v := range second {
		got[i], err = v.Array(ctx)
		require.NoError(t, err)
		require.NoError(t, v.Close())
		require.NoError(t, v.Close())
		_, err = v.Array(ctx)
		require.ErrorIs(t, err, lowering.Closed)
	}
	fxtest.Close(t, "grow", want, got)
	_, err = r.RunValues(ctx, []lowering.Value{second[0], second[1]})
	require.ErrorIs(t, err, lowering.Closed)
}

// TestOperandsFromElsewhereAreCopied: of the host, of another device; and one value twice.
func TestOperandsFromElsewhereAreCopied(t *testing.T) {
	g := target(t)
	other := gpu.Target{Device: run.NewDevice(run.Driver(g.Device))}
	m := parsed(t, grow)
	e, o := compile(t, g, m), compile(t, other, m)
	x := ramp(2, 8)
	want := interpreted(t, m, x, x)
	foreign, err := o.Put(ctx, x)
	require.NoError(t, err)
	for _, in := range [][]lowering.Value{{lowering.Host(x), foreign}, {foreign, foreign}} {
		out, err := e.RunValues(ctx, in)
		require.NoError(t, err)
		for i, v := range out {
			got, err := v.Array(ctx)
			require.NoError(t, err)
			fxtest.Close(t, "grow", want[i:i+1], []*array.Array{got})
			require.NoError(t, v.Close())
		}
	}
	_, err = foreign.Array(ctx)
	require.NoError(t, err, "it was not donated")
	require.NoError(t, foreign.Close())
	_, err = e.RunValues(ctx, []lowering.Value{lowering.Host(ramp(2, 8)), lowering.Host(ramp(3, 8))})
	require.Error(t, err)
	_, err = e.RunValues(ctx, []lowering.Value{lowering.Host(x), lowering.Host(nil)})
	require.ErrorIs(t, err, interp.MissingInput)
	_, err = e.Put(ctx, nil)
	require.ErrorIs(t, err, interp.MissingInput)
	require.NoError(t, e.Close())
	_, err = e.Put(ctx, x)
	require.ErrorIs(t, err, lowering.Closed)
}

// TestPartsShareTheDevice: of two parts with one on the host between them, only what the host
// needs crosses.
func TestPartsShareTheDevice(t *testing.T) {
	d := &counting{Device: run.Driver(target(t).Device)}
	m := parsed(t, `gofx 1
graph mixed(%x: f32[2,4,4]) {
  %a = call_function[exp](%x) : f32[2,4,4]
  %d = call_function[det](%a) : f32[2]
  %e = call_function[tanh](%d) : f32[2]
  %s = call_function[sum](%a) {dim=[1, 2]} : f32[2]
  %y = call_function[add](%e, %s) : f32[2]
  return %y
}
`)
	e, err := lowering.Split{First: gpu.Target{Device: run.NewDevice(d)}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	x := ramp(2, 4, 4)
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "mixed", interpreted(t, m, x), got)
	require.Len(t, e.Stats().Parts, 3)
	require.Equal(t, lowering.Moved{Values: 2, Bytes: 4*32 + 4*2}, e.Stats().In, "%s", e)
	require.Equal(t, lowering.Moved{Values: 2, Bytes: 4*32 + 4*2}, e.Stats().Out)
	require.Equal(t, 2, d.reads)
	require.Equal(t, 2, d.writes)
}
