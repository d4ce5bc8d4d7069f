package cpu_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// attention has view chains with a copy in them, views of weights and inputs,
// products and guards.
const attention = `
graph attention(%x: f32[B,S,24], %mask: f32[B,S]) {
  symbol B = dim(%x, 0)
  symbol S = dim(%x, 1)
  %w = get_attr[qkv] : f32[72,24]
  %qkv = call_function[linear](%x, %w) : f32[B,S,72]
  %split = call_function[split](%qkv) {sizes=[24,24,24], dim=-1} : (f32[B,S,24], f32[B,S,24], f32[B,S,24])
  %q = call_function[getitem](%split) {index=0} : f32[B,S,24]
  %k = call_function[getitem](%split) {index=1} : f32[B,S,24]
  %qh = call_function[reshape](%q) {shape=[B,S,3,8]} : f32[B,S,3,8]
  %qt = call_function[transpose](%qh) {dim0=1, dim1=2} : f32[B,3,S,8]
  %kh = call_function[reshape](%k) {shape=[B,S,3,8]} : f32[B,S,3,8]
  %kt = call_function[permute](%kh) {dims=[0,2,3,1]} : f32[B,3,8,S]
  %scores = call_function[matmul](%qt, %kt) : f32[B,3,S,S]
  %m4 = call_function[reshape](%mask) {shape=[B,1,1,S]} : f32[B,1,1,S]
  %masked = call_function[add](%scores, %m4) : f32[B,3,S,S]
  %p = call_function[softmax](%masked) {dim=-1} : f32[B,3,S,S]
  %last = call_function[slice](%p) {dim=2, start=S-1, stop=S} : f32[B,3,1,S]
  %pt = call_function[matmul](%p, %qt) : f32[B,3,S,8]
  %back = call_function[transpose](%pt) {dim0=1, dim1=2} : f32[B,S,3,8]
  %flat = call_function[reshape](%back) {shape=[B,S,24]} : f32[B,S,24]
  return (%flat, %last)
}
param qkv : f32[72,24]
`

func TestViewChains(t *testing.T) {
	m := module(t, attention)
	e := compile(t, m, lowering.Options{Exact: true})
	var g op.Gen
	for _, c := range [][2]int{{1, 5}, {3, 2}, {2, 7}, {1, 1}, {0, 3}, {2, 0}} {
		x, mask := g.Normal(c[0], c[1], 24), g.Normal(c[0], c[1])
		for _, in := range [][]*array.Array{{x, mask}, {g.Strided(x), g.Strided(mask)}} {
			if c[1] == 0 {
				break // the last of no positions: the slice has another size than inferred
			}
			out, err := e.Run(ctx, in)
			require.NoError(t, err, "%v", c)
			same(t, interpret(t, m, in...), out)
		}
	}
	views, copies := 0, 0
	for _, s := range e.Plan().Steps {
		switch {
		case s.View:
			views++
		case s.Op == "reshape":
			copies++
		}
	}
	require.Equal(t, 8, views, "the split, reshapes of tensors without gaps, transposes, the slice")
	require.Equal(t, 1, copies, "a transposed tensor is flattened by copying it")
	require.Contains(t, e.Plan().String(), "with Start = S-1, Stop = S (p)")
}

func TestPinnedSymbols(t *testing.T) {
	m := module(t, attention)
	e := compile(t, m, lowering.Options{Shapes: map[string]int{"B": 2, "S": 4}, Outputs: []int{1}})
	p := e.Plan()
	_, fixed := p.Arena.Int()
	require.True(t, fixed)
	require.Len(t, p.Outputs, 1)
	for _, s := range p.Steps {
		require.NotEqual(t, []string{"pt"}, s.Nodes, "what no wanted output needs is not computed")
		require.Empty(t, s.Sizes)
	}
	var g op.Gen
	x, mask := g.Normal(2, 4, 24), g.Normal(2, 4)
	out, err := e.Run(ctx, []*array.Array{x, mask})
	require.NoError(t, err)
	near(t, "", interpret(t, m, x, mask)[1:], out)
	_, err = e.Run(ctx, []*array.Array{g.Normal(1, 4, 24), g.Normal(1, 4)})
	require.ErrorIs(t, err, interp.GuardFailed)
}

func TestOutputsThatOthersHold(t *testing.T) {
	m := module(t, `
graph o(%x: f32[2,3], %y: f32[N]) {
  symbol N = dim(%y, 0)
  %w = get_attr[w] : f32[3]
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[3,2]
  %s = call_function[add](%x, %w) : f32[2,3]
  %st = call_function[transpose](%s) {dim0=0, dim1=1} : f32[3,2]
  %unused = call_function[mul](%s, %s) : f32[2,3]
  %c = call_function[chunk](%s) {chunks=3, dim=1} : (f32[2,1], f32[2,1], f32[2,1])
  %c1 = call_function[getitem](%c) {index=1} : f32[2,1]
  %n = call_function[dim](%y) {axis=0} : i64[]
  return (%x, %w, %t, %s, %s, %st, %c1, %n, %y)
}
param w : f32[3]
`)
	e := compile(t, m, lowering.Options{})
	var g op.Gen
	x := g.Normal(2, 3)
	for n := range 3 {
		in := []*array.Array{x, g.Normal(n)}
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		want := interpret(t, m, in...)
		same(t, want, out)
		for _, o := range out {
			for k := range bits(o) {
				o.Storage().Bytes()[k] = 0xff
			}
		}
		again, err := e.Run(ctx, in)
		require.NoError(t, err)
		same(t, want, again)
	}
	for _, s := range e.Plan().Steps {
		require.NotContains(t, s.Nodes, "unused")
	}
}

func TestRunAllocatesOnlyResults(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		threads int
		sizes   [][]int
	}{
		"fixed":      {mlp, 1, [][]int{{5, 8}}},
		"two thread": {mlp, 2, [][]int{{64, 8}}},
		"symbolic":   {attention, 1, [][]int{{2, 4, 24}, {2, 4}}},
	} {
		e := compile(t, module(t, c.text), lowering.Options{Threads: c.threads})
		var g op.Gen
		var in []*array.Array
		for _, s := range c.sizes {
			in = append(in, g.Normal(s...))
		}
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		run := func() {
			if err := e.RunInto(ctx, out, in); err != nil {
				t.Error(err)
			}
		}
		run()
		require.Zero(t, testing.AllocsPerRun(100, run), name)
		own := testing.AllocsPerRun(100, func() { _, _ = e.Run(ctx, in) })
		list := testing.AllocsPerRun(100, func() {
			l := make([]*array.Array, len(out))
			for i, o := range out {
				l[i] = array.New(o.DType(), o.Shape()...)
			}
			sink = l
		})
		require.LessOrEqual(t, own, list, name)
	}
}

var sink []*array.Array

func TestChangingSizesDoesNotAllocateOnceWarm(t *testing.T) {
	e := compile(t, module(t, attention), lowering.Options{Threads: 1})
	var g op.Gen
	var in, out [2][]*array.Array
	for i, s := range []int{9, 4} {
		in[i] = []*array.Array{g.Normal(2, s, 24), g.Normal(2, s)}
		var err error
		out[i], err = e.Run(ctx, in[i])
		require.NoError(t, err)
	}
	require.Zero(t, testing.AllocsPerRun(50, func() {
		for i := range in {
			if err := e.RunInto(ctx, out[i], in[i]); err != nil {
				t.Error(err)
			}
		}
	}))
}

func TestManyGoroutinesShareOneExecutable(t *testing.T) {
	m := module(t, attention)
	e := compile(t, m, lowering.Options{})
	var wg sync.WaitGroup
	for i := range 64 {
		var g op.Gen
		in := []*array.Array{g.Normal(1+i%3, 2+i%9, 24), g.Normal(1+i%3, 2+i%9)}
		want, err := e.Run(ctx, in)
		require.NoError(t, err)
		near(t, "", interpret(t, m, in...), want)
		wg.Go(func() {
			for range 20 {
				out, err := e.Run(ctx, in)
				if err != nil {
					t.Error(err)
					return
				}
				for k := range out {
					if string(bits(out[k])) != string(bits(want[k])) {
						t.Error("another result than alone")
						return
					}
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, e.Close())
	_, err := e.Run(ctx, nil)
	require.ErrorIs(t, err, lowering.Closed)
	require.ErrorIs(t, e.RunInto(ctx, nil, nil), lowering.Closed)
}

func TestResultsDoNotDependOnThreads(t *testing.T) {
	m := module(t, attention)
	var g op.Gen
	in := []*array.Array{g.Normal(4, 60, 24), g.Normal(4, 60)}
	want, err := compile(t, m, lowering.Options{Threads: 1}).Run(ctx, in)
	require.NoError(t, err)
	for _, n := range []int{2, 3, 8} {
		e := compile(t, m, lowering.Options{Threads: n})
		require.Equal(t, n, e.Threads())
		got, err := e.Run(ctx, in)
		require.NoError(t, err)
		same(t, want, got)
	}
}

func TestCancel(t *testing.T) {
	e := compile(t, module(t, mlp), lowering.Options{})
	var g op.Gen
	in := []*array.Array{g.Normal(3, 8)}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	_, err := e.Run(stopped, in)
	require.ErrorIs(t, err, context.Canceled)
	calls := 0
	_, err = e.Run(countdown{ctx, &calls}, in)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Equal(t, 3, calls, "the context is asked before every step")
	_, err = e.Run(ctx, in)
	require.NoError(t, err)
}

// countdown ends when it is asked for the third time.
type countdown struct {
	context.Context
	calls *int
}

func (c countdown) Err() error {
	if *c.calls++; *c.calls >= 3 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestWrongInputs(t *testing.T) {
	e := compile(t, module(t, attention), lowering.Options{})
	var g op.Gen
	x, mask := g.Normal(2, 4, 24), g.Normal(2, 4)
	for name, c := range map[string]struct {
		in   []*array.Array
		code diag.Code
		want string
	}{
		"type":     {[]*array.Array{g.Int(9, 2, 4, 24), mask}, interp.GuardFailed, `input "x" is i64[2,4,24], expected f32[B,S,24]`},
		"rank":     {[]*array.Array{g.Normal(4, 24), mask}, interp.GuardFailed, `input "x" is f32[4,24]`},
		"size":     {[]*array.Array{g.Normal(2, 4, 23), mask}, interp.GuardFailed, `input "x" is f32[2,4,23]`},
		"symbol":   {[]*array.Array{x, g.Normal(2, 5)}, interp.GuardFailed, `input "mask" is f32[2,5], dimension 1 is expected to be S, which is 4 here`},
		"missing":  {[]*array.Array{x}, interp.MissingInput, `input "mask" is missing`},
		"nil":      {[]*array.Array{nil, mask}, interp.MissingInput, `input "x" is missing`},
		"too many": {[]*array.Array{x, mask, x}, interp.ExtraInput, "3 inputs, the graph takes 2"},
	} {
		_, err := e.Run(ctx, c.in)
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.want, name)
	}
	good := func() []*array.Array {
		return []*array.Array{array.New(array.F32, 2, 4, 24), array.New(array.F32, 2, 3, 1, 4)}
	}
	for want, change := range map[string]func(out []*array.Array) []*array.Array{
		"1 arrays for results, expected 2":                func(o []*array.Array) []*array.Array { return o[:1] },
		"result 0 is absent":                              func(o []*array.Array) []*array.Array { o[0] = nil; return o },
		"result 1 is f32[2,3,1,5], expected f32[2,3,1,4]": func(o []*array.Array) []*array.Array { o[1] = array.New(array.F32, 2, 3, 1, 5); return o },
		"result 1 is f64[2,3,1,4]":                        func(o []*array.Array) []*array.Array { o[1] = array.New(array.F64, 2, 3, 1, 4); return o },
		"result 0 has gaps, expected a contiguous one":    func(o []*array.Array) []*array.Array { o[0] = g.Strided(o[0]); return o },
		`result 0 shares memory with input "x"`:           func(o []*array.Array) []*array.Array { o[0] = x; return o },
		"the array for result 1 shares memory with that for result 0": func(o []*array.Array) []*array.Array {
			o[1] = array.Make(array.F32, []int{2, 3, 1, 4}, []int{12, 4, 4, 1}, 8, o[0].Storage())
			return o
		},
	} {
		err := e.RunInto(ctx, change(good()), []*array.Array{x, mask})
		require.ErrorIs(t, err, lowering.BadOutput, want)
		require.ErrorContains(t, err, want)
	}
	require.NoError(t, e.RunInto(ctx, good(), []*array.Array{x, mask}))
}

func TestGuards(t *testing.T) {
	e := compile(t, module(t, `
graph g(%x: f32[N], %y: f32[M], %z: f32[2*N]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%y, 0)
  %s = call_function[add](%x, %y) : f32[N]
  guard N == M from %s
  return %s
}
`), lowering.Options{})
	var g op.Gen
	_, err := e.Run(ctx, []*array.Array{g.Normal(3), g.Normal(3), g.Normal(6)})
	require.NoError(t, err)
	_, err = e.Run(ctx, []*array.Array{g.Normal(3), g.Normal(4), g.Normal(6)})
	require.ErrorIs(t, err, interp.GuardFailed)
	_, err = e.Run(ctx, []*array.Array{g.Normal(3), g.Normal(3), g.Normal(7)})
	require.ErrorContains(t, err, "dimension 0 is expected to be 2*N, which is 6 here")
}

func TestKernelMistakesNameTheStep(t *testing.T) {
	e := compile(t, module(t, `
graph g(%w: f32[4,2], %i: i64[N]) {
  symbol N = dim(%i, 0)
  %e = call_function[embedding](%i, %w) : f32[N,2] at "net.go:12:3" "Forward"
  return %e
}
`), lowering.Options{})
	var g op.Gen
	w := g.Normal(4, 2)
	_, err := e.Run(ctx, []*array.Array{w, array.FromSlice([]int64{1, 9})})
	var d *diag.Error
	require.True(t, errors.As(err, &d), "%v", err)
	require.Equal(t, "e", d.Node)
	require.Equal(t, "embedding", d.Op)
	require.Equal(t, 12, d.Pos.Line)
	_, err = e.Run(ctx, []*array.Array{w, array.FromSlice([]int64{1, 3})})
	require.NoError(t, err, "a failed run leaves nothing behind")
}

func TestState(t *testing.T) {
	m := module(t, `
graph counter(%x: f32[2,2]) {
  %b = get_attr[sum] : f32[2,2]
  %old = call_function[mul](%b, %b) : f32[2,2]
  %t = call_function[transpose](%b) {dim0=0, dim1=1} : f32[2,2]
  %w = call_function[assign](%b, %t) : f32[2,2]
  %new = call_function[add](%b, %x) : f32[2,2]
  %w2 = call_function[assign](%b, %new) : f32[2,2]
  return (%old, %b, %w2)
}
param sum : f32[2,2] buffer
`)
	before := append([]byte(nil), bits(m.Param("sum").Value)...)
	e := compile(t, m, lowering.Options{})
	require.True(t, e.Plan().Stateful)
	fresh := module(t, m.String()[len("gofx 1\n"):]) // interpretation writes the module's own buffers
	var g op.Gen
	for range 3 {
		x := g.Normal(2, 2)
		out, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		same(t, interpret(t, fresh, x), out)
		same(t, out[1:2], []*array.Array{e.State("sum")})
	}
	require.Equal(t, before, bits(m.Param("sum").Value), "the model's buffer is not the executable's")
	require.Nil(t, e.State("other"))
}

func TestOpaqueFunctions(t *testing.T) {
	calls := 0
	var result func(in []*array.Array) ([]*array.Array, error)
	o := op.NewAdHoc("example.com/net", "scale", op.Args("x"), false, false, func(in []*array.Array) ([]*array.Array, error) {
		calls++
		return result(in)
	})
	g := graph.New("opaque")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"))), nil)
	g.DefineSymbol("N", x, 0)
	v := c.Function(o, nil, x)
	c.Function(o, nil, x) // its effect is wanted
	v.SetType(x.Type())
	v.Next().SetType(x.Type())
	c.Output(nil, v)
	e := compile(t, m, lowering.Options{})
	in := []*array.Array{array.FromSlice([]float32{1, 2, 3})}
	result = func(in []*array.Array) ([]*array.Array, error) { return in, nil }
	out, err := e.Run(ctx, in)
	require.NoError(t, err)
	same(t, in, out)
	require.Equal(t, 2, calls)
	cause := errors.New("out of paper")
	for want, f := range map[string]func(in []*array.Array) ([]*array.Array, error){
		"out of paper":                         func([]*array.Array) ([]*array.Array, error) { return nil, cause },
		"returned 0 values, expected 1":        func([]*array.Array) ([]*array.Array, error) { return nil, nil },
		"value 0 of the Go function is f64[]":  func([]*array.Array) ([]*array.Array, error) { return []*array.Array{array.Scalar(1.5)}, nil },
		"value 0 of the Go function is absent": func([]*array.Array) ([]*array.Array, error) { return []*array.Array{nil}, nil },
	} {
		result = f
		_, err = e.Run(ctx, in)
		require.ErrorIs(t, err, lowering.HostFailed)
		require.ErrorContains(t, err, want)
	}
}

func TestDefaultsAndLiveWeights(t *testing.T) {
	m := module(t, `
graph g(%x: f32[2], %y: f32[3,2]) {
  %w = get_attr[w] live : f32[3,2]
  %wt = call_function[transpose](%w) {dim0=0, dim1=1} : f32[2,3]
  %yt = call_function[transpose](%y) {dim0=0, dim1=1} : f32[2,3]
  %flat = call_function[reshape](%w) {shape=[6]} : f32[6]
  %s = call_function[add](%wt, %yt) : f32[2,3]
  return (%s, %flat)
}
param w : f32[3,2]
`)
	e := compile(t, m, lowering.Options{})
	var g op.Gen
	for range 3 {
		p := *m.Param("w")
		p.Value = g.Strided(g.Normal(3, 2))
		m.SetParam(p)
		in := []*array.Array{g.Normal(2), g.Normal(3, 2)}
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		same(t, interpret(t, m, in...), out)
	}
	p := *m.Param("w")
	p.Value = g.Normal(2, 3)
	m.SetParam(p)
	_, err := e.Run(ctx, []*array.Array{g.Normal(2), g.Normal(3, 2)})
	require.ErrorIs(t, err, interp.GuardFailed)

	h := graph.New("default")
	c := h.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2)), array.FromSlice([]float32{4, 5}))
	c.Output(nil, c.Function(op.Lookup("neg"), nil, x))
	d, err := cpu.Compile(graph.NewModule(h), lowering.Options{})
	require.NoError(t, err)
	out, err := d.Run(ctx, nil)
	require.NoError(t, err)
	require.Equal(t, []float32{-4, -5}, array.Data[float32](out[0]))
}

func TestPlanKindsInUse(t *testing.T) {
	e := compile(t, module(t, attention), lowering.Options{})
	seen := map[plan.Kind]bool{}
	for _, b := range e.Plan().Buffers {
		seen[b.Kind] = true
	}
	require.Len(t, seen, 5)
	require.Len(t, e.Plan().Weights(), 1)
}
