package lazy_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// Mode is a way to run a trap: eagerly, or in a session.
type Mode interface {
	In(x *tensor.Tensor) *tensor.Tensor // a tensor of the mode
	Barrier()                           // everything recorded is computed; memory may be given up
}

type eager struct{}

func (eager) In(x *tensor.Tensor) *tensor.Tensor { return x }
func (eager) Barrier()                           {}

func vec(v ...float32) *tensor.Tensor { return tensor.FromSlice(v) }

func show(t *tensor.Tensor) string { return fmt.Sprint(tensor.Data[float32](t)) }

// 1 A tensor that was read is written without the recorder: by an eager in-place call, by a slice, through a view.
// What was read keeps its value: memory that others can write to is copied when it is read.
func leafWritten(m Mode) string {
	w, buf := vec(1, 2, 3).Clone(), []float32{1, 2, 3}
	u := tensor.FromSlice(buf)
	x := m.In(vec(10, 10, 10))
	a, b, c := x.Add(w), x.Add(u), x.Add(w.Slice(0, 1, tensor.End).Sum())
	w.AddScalarInPlace(100) // eager alone
	buf[0] = 7              // nobody is told
	return show(a) + show(b) + show(c)
}

// 2 The view's copy rule: reshape of a permuted tensor copies, reshape of a dense one is a view.
func viewOrCopy(m Mode) string {
	x := m.In(vec(1, 2, 3, 4, 5, 6).Clone().Reshape(2, 3)).AddScalar(0)
	v := x.Reshape(3, 2)     // view
	c := x.T().Reshape(2, 3) // copy
	v.Select(0, 0).MulScalarInPlace(0).AddScalarInPlace(9)
	c.MulScalarInPlace(0)
	return show(x.Reshape(6)) + show(v.Reshape(6)) + show(c.Reshape(6))
}

// 3 Old value kept, new value written, both read, twice.
func oldAndNew(m Mode) string {
	a := m.In(vec(1, 2).Clone()).AddScalar(0)
	m.Barrier()
	b := a.AddScalar(2)
	a.AddScalarInPlace(1)
	s := show(a) + show(a) + show(b)
	m.Barrier()
	return s + show(b) + show(a)
}

// 4 A value that is read after the cut that computed what it is part of: each call once.
func branch(m Mode) string {
	var out []string
	for i := range 3 {
		x := m.In(vec(float32(i)-1, 2))
		y := x.MulScalar(3).Exp() // the costly cone
		if y.Sum().Item() > 8 {
			out = append(out, show(y.MulScalar(2).Round()))
		} else {
			out = append(out, show(y.Neg().Round()))
		}
	}
	return strings.Join(out, "")
}

// 5 Same operators, other wiring; int 1 against float 1.0; result 0 against result 1.
func wiring(m Mode) string {
	t := func() (a, b, c *tensor.Tensor) {
		return m.In(vec(1)).AddScalar(1), m.In(vec(2)).AddScalar(1), m.In(vec(3)).AddScalar(1)
	}
	a, b, c := t()
	s := show(a.Mul(b).Add(c))
	a, b, c = t()
	s += show(a.Mul(c).Add(b))
	i := m.In(tensor.FromSlice([]int32{3}))
	s += i.MulScalar(1).DType().String() + i.MulScalar(1.0).DType().String()
	v := m.In(vec(5, 1, 3))
	vals, idx := v.MaxDim(0)
	return s + fmt.Sprint(vals.Item(), idx.Item())
}

// 6 lr changes each step, momentum equals lr once; x*1 and 0+g; -0.
func scalars(m Mode) string {
	w := m.In(vec(1, 2).Clone()).AddScalar(0)
	for _, lr := range []float64{0.5, 0.9, 0, 1, -1, 0.1} {
		g := w.MulScalar(0.9)
		w = w.Sub(g.MulScalar(lr))
	}
	negzero := m.In(vec(float32(0))).Neg()
	return show(w.MulScalar(1e4).Round()) + fmt.Sprint(1/tensor.Data[float32](negzero.MulScalar(1))[0], 1/tensor.Data[float32](negzero.AddScalar(0))[0])
}

// 7 Positions: 1000 rows of one table.
func positions(m Mode) string {
	d := make([]float32, 2000)
	for i := range d {
		d[i] = float32(i)
	}
	table := m.In(tensor.FromSlice(d, 1000, 2))
	sum := 0.0
	for i := range 1000 {
		sum += table.Select(0, i).Sum().Item()
	}
	return fmt.Sprint(sum)
}

// 8 State: batch norm in training moves its statistics; a buffer changed by itself; reading the
// state dict in between sees them; the model works eagerly afterwards.
func state(m Mode) string {
	bn := nn.NewBatchNorm1d(2)
	nn.Train(bn)
	x := m.In(tensor.FromSlice([]float32{1, 2, 3, 6}, 2, 2))
	for range 3 {
		x = bn.Forward(x)
	}
	mean := ""
	for _, e := range nn.StateDict(bn) {
		if strings.Contains(e.Name, "mean") {
			mean = show(e.Tensor)
		}
	}
	nn.Eval(bn)
	return mean + show(bn.Forward(vec(1, 2).Reshape(1, 2)).Reshape(2))
}

// 9 An error far from its call: the shape mistake panics at its own line, before any flush, and
// the session goes on; what was recorded before is intact.
func mistake(m Mode) (s string) {
	x := m.In(vec(1, 2, 3))
	y := x.MulScalar(2)
	func() {
		defer func() { s = fmt.Sprint(recover() != nil) }()
		y.Add(m.In(vec(1, 2)))
	}()
	return s + show(y)
}

// 10 A long program (200,000 rounds, 400,000 calls): no recursion over its depth, no memory that grows; the value of a handle
// from long ago is still there.
func long(m Mode) string {
	first := m.In(vec(1)).AddScalar(1)
	x := first
	for range 200_000 {
		x = x.MulScalar(0.5).AddScalar(1)
	}
	return show(x) + show(first)
}

// 11 Keys are values, no hidden state: equal keys give equal numbers.
func random(m Mode) string {
	key := m.In(tensor.Scalar(int64(7)))
	a := tensor.Rand(key, 2)
	b := tensor.Rand(key, 2)
	c := tensor.Rand(key.AddScalar(1), 2)
	return fmt.Sprint(a.Equal(b), a.Equal(c))
}

// 12 Keeping a loss of each step keeps four bytes of each, not its step's inputs and values: live heap
// grows by less than 4 MiB over 300 steps with 1 MiB of input each.
func kept(m Mode) string {
	heap := func() int64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	var losses []*tensor.Tensor
	before := int64(0)
	for i := range 301 {
		if i == 1 {
			before = heap()
		}
		x := m.In(tensor.New(array.New(array.F32, 1<<18)))
		losses = append(losses, x.AddScalar(float64(i)).Mean())
		m.Barrier()
	}
	grew := heap() - before
	sum := 0.0
	for _, l := range losses {
		sum += l.Item()
	}
	return fmt.Sprint(grew < 4<<20, sum)
}

type session struct{ *lazy.Session }

func (s session) Barrier() {
	if err := s.Session.Barrier(); err != nil {
		panic(err)
	}
}

func TestTraps(t *testing.T) {
	for i, f := range []func(Mode) string{leafWritten, viewOrCopy, oldAndNew, branch, wiring, scalars, positions, state, mistake, long, random, kept} {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			s := lazy.New(lazy.Options{})
			defer s.Close()
			require.Equal(t, f(eager{}), f(session{s}))
			t.Log("\n" + s.Stats().String())
		})
	}
}
