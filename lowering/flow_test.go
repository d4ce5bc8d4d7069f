package lowering_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// far is a target whose values stay in a memory of its own.
type far struct {
	picky
	live, up, down, ran *atomic.Int64
	fail                *atomic.Bool
}

func newFar(ops ...string) far {
	return far{only(ops...), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), new(atomic.Int64), new(atomic.Bool)}
}

func (f far) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := f.picky.Compile(m, o)
	return farExecutable{e, f}, err
}

type farExecutable struct {
	lowering.Executable
	f far
}

type farValue struct {
	f      far
	a      *array.Array
	closed atomic.Bool
}

func (f far) value(a *array.Array) *farValue {
	f.live.Add(1)
	return &farValue{f: f, a: array.Clone(a)}
}

func (v *farValue) Type() shape.Type { return shape.TypeOf(v.a) }

func (v *farValue) Array(context.Context) (*array.Array, error) {
	if v.closed.Load() {
		return nil, diag.New(lowering.Closed, "the value is closed")
	}
	v.f.down.Add(1)
	return array.Clone(v.a), nil
}

func (v *farValue) Close() error {
	if !v.closed.Swap(true) {
		v.f.live.Add(-1)
	}
	return nil
}

func (e farExecutable) Put(_ context.Context, a *array.Array) (lowering.Value, error) {
	return e.f.value(a), nil
}

func (e farExecutable) RunValues(ctx context.Context, in []lowering.Value) ([]lowering.Value, error) {
	e.f.ran.Add(1)
	if e.f.fail.Load() {
		return nil, errors.New("the device is gone")
	}
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if r, ok := v.(*farValue); ok {
			if r.closed.Load() {
				return nil, diag.New(lowering.Closed, "the value is closed")
			}
			args[i] = r.a
			continue
		}
		var err error
		if args[i], err = v.Array(ctx); err != nil {
			return nil, err
		}
		e.f.up.Add(1)
	}
	out, err := e.Run(ctx, args)
	if err != nil {
		return nil, err
	}
	values := make([]lowering.Value, len(out))
	for i, a := range out {
		values[i] = e.f.value(a)
	}
	return values, nil
}

// zigzag has a value, a, that two parts of the first target have, which the host does not.
const zigzag = `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %a = call_function[sin](%x) : f32[N,4]
  %b = call_function[cos](%a) : f32[N,4]
  %c = call_function[exp](%b) : f32[N,4]
  %d = call_function[add](%c, %a) : f32[N,4]
  return %d
}
`

func TestValuesStayBetweenParts(t *testing.T) {
	m := parse(t, zigzag)
	first := newFar("sin", "cos", "add")
	e := pieces(t, m, first, lowering.Options{})
	require.Equal(t, `part npu0 on npu: 2 calls
part cpu0 on cpu: 1 calls
part npu1 on npu: 1 calls
%c on cpu: npu: only sin, cos, add
%x to npu0: f32[N,4]
%b from npu0: f32[N,4]
%cpu0 to npu1: f32[N,4]
%npu1 from npu1: f32[N,4]
`, e.String())
	x := array.New(array.F32, 2, 4)
	for i := range int64(3) {
		got, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		fxtest.Close(t, "zigzag", interpret(t, m, []*array.Array{x}), got)
		require.Zero(t, first.live.Load(), "all is given back")
		require.Equal(t, [3]int64{2, 2, 2}, [3]int64{first.ran.Load() / (i + 1), first.up.Load() / (i + 1), first.down.Load() / (i + 1)}, "what only the device needs does not cross")
	}
	s := e.Stats()
	require.Equal(t, lowering.Moved{Values: 6, Bytes: 6 * 32}, s.In)
	require.Equal(t, lowering.Moved{Values: 6, Bytes: 6 * 32}, s.Out)

	first.fail.Store(true)
	_, err := e.Run(ctx, []*array.Array{x})
	require.ErrorContains(t, err, "the device is gone")
	require.Zero(t, first.live.Load())
	require.EqualValues(t, 3, e.Stats().Runs)
}

// gate is the cpu target whose runs wait for each other.
type gate struct {
	picky
	here, there chan struct{}
}

func (g gate) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := g.picky.Compile(m, o)
	return gateExecutable{e, g}, err
}

type gateExecutable struct {
	lowering.Executable
	g gate
}

func (e gateExecutable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	close(e.g.here)
	select {
	case <-e.g.there:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return e.Executable.Run(ctx, in)
}

// Parts of two targets that need nothing of each other run at once.
func TestPartsOverlap(t *testing.T) {
	m := parse(t, `
graph net(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %a = call_function[sin](%x) : f32[N]
  %b = call_function[exp](%x) : f32[N]
  return (%a, %b)
}
`)
	a, b := make(chan struct{}), make(chan struct{})
	e, err := lowering.Split{First: gate{only("sin"), a, b}, Rest: gate{only("exp"), b, a}}.Pieces(m, lowering.Options{})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	x := array.FromSlice([]float32{0, 1})
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "net", interpret(t, m, []*array.Array{x}), got)
}

// rude is the cpu target whose runs panic.
type rude struct{ picky }

func (r rude) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := r.picky.Compile(m, o)
	return rudeExecutable{e}, err
}

type rudeExecutable struct{ lowering.Executable }

func (rudeExecutable) Run(context.Context, []*array.Array) ([]*array.Array, error) { panic("boo") }

func TestATargetsPanicIsAnError(t *testing.T) {
	m := parse(t, zigzag)
	e, err := lowering.Split{First: rude{only("exp")}, Rest: cpu.Target{}}.Pieces(m, lowering.Options{})
	require.NoError(t, err)
	_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 1, 4)})
	require.ErrorIs(t, err, diag.Internal)
	require.ErrorContains(t, err, `part "npu0" on npu`)
	require.ErrorContains(t, err, "boo")
}

// sly is the cpu target whose results have another shape than the graph's.
type sly struct{ picky }

func (s sly) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := s.picky.Compile(m, o)
	return slyExecutable{e}, err
}

type slyExecutable struct{ lowering.Executable }

func (e slyExecutable) Run(ctx context.Context, in []*array.Array) ([]*array.Array, error) {
	out, err := e.Executable.Run(ctx, in)
	for i := range out {
		out[i] = array.Unsqueeze(out[i], 0)
	}
	return out, err
}

func TestATargetsResultsAreHeldToTheGraph(t *testing.T) {
	e, err := lowering.Split{First: sly{only("exp")}, Rest: cpu.Target{}}.Pieces(parse(t, zigzag), lowering.Options{})
	require.NoError(t, err)
	_, err = e.Run(ctx, []*array.Array{array.New(array.F32, 1, 4)})
	require.ErrorIs(t, err, lowering.BadOutput)
	require.ErrorContains(t, err, "is f32[1,1,4], expected f32[1,4]")
}

func ExampleHost() {
	v := lowering.Host(array.FromSlice([]float32{1, 2, 3}))
	a, err := v.Array(context.Background())
	fmt.Println(v.Type(), a.Len(), err)
	// Output: f32[3] 3 <nil>
}

type rateAttrs struct {
	Rate float64 `fx:",param"`
}

// stepDown is x minus a rate times x; the rate is data.
var stepDown = op.Define("step_down", op.Spec[rateAttrs]{
	Doc: "step_down returns x - rate·x.",
	In:  op.Args("x"),
	Expr: func(b *expr.Builder, a rateAttrs, x []expr.Value) []expr.Value {
		return []expr.Value{b.Sub(x[0], b.Mul(x[0], b.Like(x[0], a.Rate)))}
	},
})

// A target lifts what it is given before it looks for a program of the same graph.
func ExampleLift() {
	g := graph.New("net")
	x := g.At().Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	g.At().Output(nil, g.At().Function(stepDown, rateAttrs{0.25}, x))
	ready, err := lowering.Prepare(graph.NewModule(g), lowering.Options{})
	if err != nil {
		panic(err)
	}
	lowering.Lift(ready)
	for _, p := range ready.Params() {
		fmt.Println(p.Path, array.Float64At(p.Value, 0))
	}
	for n := range ready.Graph.Nodes() {
		if n.Op() != nil {
			fmt.Println(n.Op().Name, "takes", len(n.Args()))
		}
	}
	// Output:
	// param:0 0.25
	// step_down takes 2
}

// TestLiftLeavesTensorsOfTheUser: one may be called as what is lifted is.
func TestLiftLeavesTensorsOfTheUser(t *testing.T) {
	g := graph.New("net")
	m := graph.NewModule(g)
	for i := range 3 {
		m.SetParam(graph.Param{Path: fmt.Sprint("param:", i), Value: array.FromSlice([]float32{float32(i), 7})})
	}
	c := g.At()
	var args []*graph.Node
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	for i := range 3 {
		args = append(args, c.GetAttr(fmt.Sprint("param:", i)))
	}
	c.Output(nil, c.Function(op.Lookup("stack"), nil, c.Function(stepDown, rateAttrs{0.25}, x), args[0], c.Function(stepDown, rateAttrs{0.5}, args[1]), args[2]))
	in := []*array.Array{array.FromSlice([]float32{1, 2})}
	want := interpret(t, m, in)
	ready, err := lowering.Prepare(m, lowering.Options{})
	require.NoError(t, err)
	lowering.Lift(ready)
	require.Len(t, ready.Params(), 5)
	fxtest.Same(t, "lifted", want, interpret(t, ready, in))
}
