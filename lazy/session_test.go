package lazy_test

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// panicOf returns the diagnostic that f panics with.
func panicOf(t *testing.T, f func()) (e *diag.Error) {
	t.Helper()
	defer func() {
		var ok bool
		e, ok = recover().(*diag.Error)
		require.True(t, ok, "f panics with a diagnostic")
	}()
	f()
	return nil
}

// A parameter that is changed in place has its new value after the next barrier, in the
// model and in calls before it.
func TestState_isWrittenAtBarriers(t *testing.T) {
	s := open(t, lazy.Options{})
	l := nn.NewLinear(2, 1)
	w := l.Weight
	w.AssignInPlace(vec(2, 3).Reshape(1, 2))
	l.Bias.AssignInPlace(vec(1))
	before := w.Clone()
	y := l.Forward(s.In(matrix(1, 2, 3, 4)))
	w.SubInPlace(s.In(vec(1, 1).Reshape(1, 2)))
	require.True(t, l.Forward(matrix(1, 2, 3, 4)).Equal(y.Sub(s.In(vec(3, 7).Reshape(2, 1)))), "reads see the write")
	require.NoError(t, s.Barrier())
	require.Nil(t, w.Engine(), "the model is eager again")
	require.True(t, w.Equal(before.SubScalar(1)))
	require.Equal(t, 2, len(nn.StateDict(l)))
}

// A write through a view that repeats elements is refused, also where the memory is a value
// of the session's that was not written yet.
func TestState_repeatedElements(t *testing.T) {
	s := open(t, lazy.Options{})
	for _, w := range []*tensor.Tensor{vec(1, 2, 3).Clone().Reshape(3, 1), tensor.FromSlice([]float64{1, 2, 3}, 3, 1)} {
		refused := func() {
			e := panicOf(t, func() { w.Expand(-1, 3).AddScalarInPlace(1) })
			require.Contains(t, []diag.Code{tensor.SharedElement, alias.NoInverse}, e.Code)
		}
		refused()
		w.DivInPlace(s.In(vec(2)))
		refused()
		require.NoError(t, s.Barrier())
		refused()
		require.Equal(t, 3.0, w.Sum().Item())
	}
}

// A tensor whose write was recorded, and a value of the session, are given a parameter, which eager code writes next: they
// keep what it held.
func TestState_givenAnother(t *testing.T) {
	s := open(t, lazy.Options{})
	w, v := tensor.Param(array.FromSlice([]float32{1, 2})), tensor.Param(array.FromSlice([]float32{3, 4}))
	w.AddInPlace(s.In(vec(1, 1)))
	w.AssignInPlace(v)
	v.AddScalarInPlace(1)
	require.NoError(t, s.Barrier())
	require.Equal(t, "[3 4] [4 5]", show(w)+" "+show(v))

	z := s.In(vec(1, 1)).MulScalar(2)
	z.AssignInPlace(v)
	v.AddScalarInPlace(1)
	require.Equal(t, "[4 5] [5 6]", show(z)+" "+show(v))
}

// A parameter that shows elements of its memory several times is not written through a view, either: the
// elements would hold what the others had.
func TestState_partsOfRepeatedElements(t *testing.T) {
	s := open(t, lazy.Options{})
	base := vec(1, 2, 3)
	w := tensor.Param(base.Expand(2, -1).Array())
	e := panicOf(t, func() { w.Select(0, 0).AddInPlace(s.In(vec(1, 1, 1))) })
	require.Equal(t, alias.NoInverse, e.Code)
	require.NoError(t, s.Barrier())
	require.Equal(t, "[1 2 3]", show(base))
}

// What was read of a parameter before eager code writes to it keeps the old value.
func TestState_eagerWrites(t *testing.T) {
	s := open(t, lazy.Options{})
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	y := s.In(vec(10, 10)).Mul(w)
	w.Slice(0, 1, 2).MulScalarInPlace(5)
	z := s.In(vec(10, 10)).Mul(w)
	require.Equal(t, "[10 20] [10 100]", show(y)+" "+show(z))
	require.Equal(t, 1, s.Stats().Copied)
	require.Equal(t, "[1 10]", show(w))
}

// Go code that has taken a parameter's memory may write to it at any time.
func TestState_memoryThatIsHandedOut(t *testing.T) {
	s := open(t, lazy.Options{})
	w := tensor.Param(array.FromSlice([]float32{1, 2}))
	x := s.In(vec(10, 10))
	a := x.Mul(w)
	d := tensor.Data[float32](w)
	b := x.Mul(w)
	d[0] = 3
	c := x.Mul(w)
	w.AddInPlace(s.In(vec(1, 1)))
	require.Equal(t, []float32{4, 3}, d, "the slice sees the write at once")
	d[1] = 9
	e := x.Mul(w)
	require.Equal(t, "[10 20][10 20][30 20][40 90]", show(a)+show(b)+show(c)+show(e))
}

// A slice of a recorded value is its memory: both see the writes of the other.
func TestData_isTheValuesMemory(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(matrix(1, 2, 3, 4)).MulScalar(2)
	row := x.Select(0, 1)
	d := tensor.Data[float32](row)
	d[0] = 60
	old := x.Sum()
	d[1] = 80
	x.AddScalarInPlace(1)
	require.Equal(t, []float32{61, 81}, d)
	require.Equal(t, "[3 5 61 81]", flat(x))
	require.Equal(t, 74.0, old.Item())

	y := s.In(vec(1, 2)).MulScalar(3)
	z := y.AddScalar(1)
	tensor.Data[float32](y)[0] = 100
	require.Equal(t, "[4 7][100 6][101 7]", show(z)+show(y)+show(y.AddScalar(1)))
}

var doubled = tensor.Wrap(double)

var ran int

func double(x *tensor.Tensor) *tensor.Tensor { ran++; return x.MulScalar(2) }

var spoiled = tensor.Wrap(spoil)

func spoil(x *tensor.Tensor) *tensor.Tensor { return x.AddScalarInPlace(1) }

// A Go function that is no operator runs where it is called, once.
func TestForeign_runsAtOnce(t *testing.T) {
	s := open(t, lazy.Options{})
	ran = 0
	y := doubled(s.In(vec(1, 2)).AddScalar(1))
	require.Equal(t, 1, ran)
	require.Equal(t, "[4 6][5 7]", show(y)+show(y.AddScalar(1)))
	require.Equal(t, 1, ran)
	require.Equal(t, map[lazy.Reason]int{lazy.Foreign: 1, lazy.Data: 1}, s.Stats().Flushes)
	e := panicOf(t, func() { spoiled(s.In(vec(1)).AddScalar(1)) })
	require.Equal(t, lazy.Unseen, e.Code)
}

// Mistakes of types panic at their call and compute nothing; those of elements at the call's
// line, when it runs.
func TestMistakes_haveLines(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1, 2, 3))
	e := panicOf(t, func() { x.Add(s.In(vec(1, 2))) })
	eager := panicOf(t, func() { vec(1, 2, 3).Add(vec(1, 2)) })
	require.Equal(t, eager.Msg, e.Msg)
	require.Equal(t, eager.Code, e.Code)
	require.Equal(t, "session_test.go", base(e.Pos))
	require.Empty(t, s.Stats().Flushes)

	bad, at := s.In(vec(1, 2)).Gather(s.In(tensor.FromSlice([]int64{5})), 0), diag.Here()
	for range 2 {
		e = panicOf(t, func() { bad.AddScalar(1).Item() })
		require.Equal(t, at.Line, e.Pos.Line)
	}
	require.NoError(t, s.Barrier(), "a mistake is said once")
	require.Equal(t, "[2 3 4]", show(x.AddScalar(1)), "the session goes on")
}

func base(p diag.Pos) string {
	for i := len(p.File) - 1; i >= 0; i-- {
		if p.File[i] == '/' {
			return p.File[i+1:]
		}
	}
	return p.File
}

func TestNoFlush(t *testing.T) {
	s := open(t, lazy.Options{})
	x := s.In(vec(1))
	require.NoError(t, s.NoFlush(func() { x = x.AddScalar(1) }))
	err := s.NoFlush(func() { x.Item() })
	require.ErrorIs(t, err, lazy.Forbidden)
	require.Equal(t, 2.0, x.Item())
}

func TestClose(t *testing.T) {
	s := lazy.New(lazy.Options{})
	x := s.In(vec(1)).AddScalar(1)
	y := s.In(vec(1)).AddScalar(1)
	y.AddScalar(1)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.Equal(t, 2.0, x.Item(), "it was computed by Close")
	require.Equal(t, "[2]", show(x))
	e := panicOf(t, func() { x.AddScalar(1) })
	require.Equal(t, lazy.Closed, e.Code)
	require.ErrorIs(t, s.Barrier(), lazy.Closed)
}

func TestSessions_doNotMix(t *testing.T) {
	a, b := open(t, lazy.Options{}), open(t, lazy.Options{})
	x, y := a.In(vec(1)), b.In(vec(2))
	e := panicOf(t, func() { x.Add(y) })
	require.Equal(t, tensor.MixedEngines, e.Code)
	require.Equal(t, 3.0, x.Add(a.In(y)).Item())
}

func TestOverlap(t *testing.T) {
	s := open(t, lazy.Options{})
	var e *diag.Error
	f := tensor.WrapPure(double)
	_ = f
	require.NoError(t, s.NoFlush(func() {}))
	done := make(chan bool)
	s.Using(func() {
		go func() {
			e = panicOf(t, func() { s.In(vec(1)) })
			close(done)
		}()
		<-done
	})
	require.Equal(t, lazy.Overlap, e.Code)
}

func TestOptions_mistakes(t *testing.T) {
	e := panicOf(t, func() { lazy.New(lazy.Options{MaxTrace: -1, Warm: -2}) })
	require.Equal(t, lazy.BadOption, e.Code)
	require.Contains(t, e.Error(), "MaxTrace is -1")
	require.Contains(t, e.Error(), "Warm is -2")
}

// refusing is a target that compiles nothing.
type refusing struct{ cpu.Target }

var errRefused = diag.New(lowering.Unsupported, "this target has no rule")

func (refusing) Compile(*graph.Module, lowering.Options) (lowering.Executable, error) {
	return nil, errRefused
}

func TestTarget_thatRefuses(t *testing.T) {
	s := open(t, lazy.Options{Target: refusing{}, Warm: 1})
	for range 4 {
		require.Equal(t, 2.0, s.In(vec(1)).AddScalar(1).Item())
		s.Wait()
	}
	require.Equal(t, 2, s.Stats().Refused)
	strict := open(t, lazy.Options{Target: refusing{}, Warm: 1, Strict: true})
	e := panicOf(t, func() {
		for range 4 {
			strict.In(vec(1)).AddScalar(1).Item()
			strict.Wait()
		}
	})
	require.ErrorIs(t, e, errRefused.Code)
}

func TestContext_ends(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := lazy.New(lazy.Options{Context: ctx, Rounding: true})
	x := s.In(vec(1)).AddScalar(1)
	cancel()
	e := panicOf(t, func() { x.Item() })
	require.True(t, errors.Is(e, context.Canceled), e)
}

func TestPrograms_areBounded(t *testing.T) {
	s := open(t, lazy.Options{MaxPrograms: 2, Scalars: lazy.Fixed})
	for _, k := range []float64{2, 3, 5, 2} {
		s.In(vec(1)).MulScalar(k).Item()
	}
	require.Equal(t, 4, s.Stats().Graphs, "the first one was dropped")
	require.Equal(t, 2, s.Stats().Evicted)
}

// A model in training moves its statistics once for each call, and the model has them.
func TestBatchNorm_inTraining(t *testing.T) {
	run := func(in func(*tensor.Tensor) *tensor.Tensor, barrier func()) string {
		bn := nn.NewBatchNorm1d(2)
		nn.Train(bn)
		x := in(matrix(1, 2, 3, 6))
		for range 6 {
			x = bn.Forward(x)
			barrier()
		}
		out := flat(x)
		for _, e := range nn.StateDict(bn) {
			out += e.Name + e.Tensor.String()
		}
		return out
	}
	want := run(func(x *tensor.Tensor) *tensor.Tensor { return x }, func() {})
	s := open(t, lazy.Options{})
	require.Equal(t, want, run(s.In, func() { require.NoError(t, s.Barrier()); s.Wait() }))
}

// A print of a tensor of a model that the session has written shows the new value.
func TestState_prints(t *testing.T) {
	s := open(t, lazy.Options{})
	w := param(1, 2)
	w.AddInPlace(s.In(vec(1, 1)))
	require.Equal(t, "tensor([2., 3.])", w.String())
	require.Equal(t, map[lazy.Reason]int{lazy.Print: 1}, s.Stats().Flushes)
}

// A slice of a weight that the program was given stays the weight's memory after barriers.
// A slice is the tensor's memory after any number of barriers.
func TestState_slicesAndBarriers(t *testing.T) {
	s := open(t, lazy.Options{})
	x, y := s.In(vec(1, -2)), s.In(vec(4, 5))
	for i := range 5 {
		x.AddInPlace(y)
		require.NoError(t, s.Barrier())
		got := tensor.Data[float32](x)
		require.Equal(t, []float32{float32(5 + 4*i), float32(3 + 5*i)}, got)
	}
}

func TestState_slicesLast(t *testing.T) {
	s := open(t, lazy.Options{Warm: 1})
	w := param(1, 2)
	read := func() string { y := s.In(vec(0, 0)).Add(w); defer s.Wait(); return y.String() }
	require.Equal(t, "tensor([1., 2.])", read())
	data := tensor.Data[float32](w)
	for i := range 5 {
		require.NoError(t, s.Barrier())
		data[0] = float32(i)
		require.Equal(t, "tensor(["+strconv.Itoa(i)+"., 2.])", read())
	}
	w.AddInPlace(s.In(vec(1, 1)))
	require.Equal(t, []float32{5, 3}, data)
}

// TestRounding_packsWeightsThatNobodyWrites: a plan is compiled in the first run and has weights
// that no call has written as such, packed; after a write they are inputs of another plan.
func TestRounding_packsWeightsThatNobodyWrites(t *testing.T) {
	s := lazy.New(lazy.Options{Rounding: true})
	defer s.Close()
	w := tensor.Param(array.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
	run := func() float64 { return s.In(vec(1, 1)).Reshape(1, 2).Matmul(w).Sum().Item() }
	require.Equal(t, 10.0, run())
	require.Equal(t, 10.0, run())
	require.Equal(t, []int{1, 1, 2}, []int{s.Stats().Graphs, s.Stats().Compiles, s.Stats().Hits})
	w.AddScalarInPlace(1)
	require.Equal(t, 14.0, run())
	w.AddScalarInPlace(1)
	require.Equal(t, 18.0, run())
	require.Equal(t, []int{2, 2, 4}, []int{s.Stats().Graphs, s.Stats().Compiles, s.Stats().Hits})
}
