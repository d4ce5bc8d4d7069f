package conform

import (
	"context"
	"errors"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

var ctx = context.Background()

// call is an operator call as a function of its present operands: what is traced.
func call(o *op.Op, attrs any, in []*array.Array, method bool) func(xs ...*tensor.Tensor) []*tensor.Tensor {
	return func(xs ...*tensor.Tensor) []*tensor.Tensor {
		args := make([]*tensor.Tensor, len(in))
		for i, a := range in {
			if a != nil {
				args[i], xs = xs[0], xs[1:]
			}
		}
		if method {
			return tensor.ApplyMethod(o, attrs, args...)
		}
		return tensor.Apply(o, attrs, args...)
	}
}

// capture traces one call with inputs of the operands' types.
func capture(o *op.Op, attrs any, in []*array.Array, method bool) (*fx.GraphModule, error) {
	var metas []*tensor.Tensor
	for _, a := range present(in) {
		metas = append(metas, tracer.Meta(shape.TypeOf(a)))
	}
	return fx.Trace(ctx, call(o, attrs, in, method), fx.Args(metas), fx.Name("sample"))
}

func present(in []*array.Array) []*array.Array {
	var out []*array.Array
	for _, a := range in {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

func tensors(in []*array.Array) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	for i, a := range in {
		out[i] = tensor.New(a)
	}
	return out
}

func arrays(ts []*tensor.Tensor) []*array.Array {
	out := make([]*array.Array, len(ts))
	for i, t := range ts {
		out[i] = t.Array()
	}
	return out
}

// eachOp runs a test for every operator that has a meaning of its own.
func eachOp(t *testing.T, test func(t *testing.T, o *op.Op)) {
	for _, o := range Ops() {
		if !o.Structural() {
			t.Run(o.Name, func(t *testing.T) { test(t, o) })
		}
	}
}

// TestSamples runs every sample in the engines that need no compiler.
func TestSamples(t *testing.T) {
	eachOp(t, func(t *testing.T, o *op.Op) {
		for i, s := range o.Samples() {
			sample(t, o, s, i%2 == 1 && len(s.In) > 0 && s.In[0] != nil)
		}
	})
}

func sample(t *testing.T, o *op.Op, s op.Sample, method bool) {
	t.Helper()
	what := s.Name + " " + o.Codec().Print(s.Attrs)
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	require.NoError(t, err, what)
	in := present(s.In)
	fxtest.Same(t, what+" eager", want, arrays(call(o, s.Attrs, s.In, method)(tensors(in)...)))

	gm, err := capture(o, s.Attrs, s.In, method)
	require.NoError(t, err, what)
	require.Empty(t, graph.Lint(gm.Graph), what)
	require.Contains(t, gm.String(), "["+o.Name+"]", what)
	interpreted(t, what+" interp", gm, want, in)

	parsed := reparse(t, gm.Module)
	interpreted(t, what+" text", fx.NewGraphModule(parsed), want, in)

	e, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err, what)
	defer func() { require.NoError(t, e.Close()) }()
	got, err := e.Run(ctx, in)
	require.NoError(t, err, what)
	fxtest.Same(t, what+" plan", want, got)
}

func interpreted(t *testing.T, what string, gm *fx.GraphModule, want, in []*array.Array) {
	t.Helper()
	got, err := gm.RunArrays(ctx, in)
	require.NoError(t, err, what)
	fxtest.Same(t, what, want, got)
}

// reparse prints a module, parses the text and gives the parameters their values.
func reparse(t *testing.T, m *graph.Module) *graph.Module {
	t.Helper()
	text := m.String()
	parsed, err := graph.Parse([]byte(text), "sample.fx")
	require.NoError(t, err, text)
	same, diff := graph.EqualModules(m, parsed)
	require.True(t, same, diff)
	for _, p := range m.Params() {
		parsed.SetParam(*p)
	}
	return parsed
}

// TestBadSamples requires each faulty call to be refused with its code, at once
// in eager mode and as the only diagnostic of a trace.
func TestBadSamples(t *testing.T) {
	eachOp(t, func(t *testing.T, o *op.Op) {
		require.NotEmpty(t, o.BadSamples())
		for _, s := range o.BadSamples() {
			what := s.Name + " " + o.Codec().Print(s.Attrs)
			in := present(s.In)
			err := thrown(func() { call(o, s.Attrs, s.In, false)(tensors(in)...) })
			require.NotNil(t, err, what)
			require.Equal(t, s.Code, err.Code, "%s: %v", what, err)
			require.NotEmpty(t, err.Pos.File, what)

			_, traced := capture(o, s.Attrs, s.In, false)
			var l diag.List
			require.True(t, errors.As(traced, &l), "%s: %v", what, traced)
			require.Len(t, l, 1, what)
			require.Equal(t, s.Code, l[0].Code, "%s: %v", what, l[0])
		}
	})
}

func thrown(f func()) (err *diag.Error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(*diag.Error)
		}
	}()
	f()
	return nil
}

// TestStructural runs the graphs of the structural operators.
func TestStructural(t *testing.T) {
	for _, o := range Ops() {
		if !o.Structural() {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			s := StructuralGraph(o)
			require.NotNil(t, s, "the operator needs a graph in structural.go")
			m := s.Module(t)
			require.Empty(t, graph.Lint(m.Graph))
			e, err := cpu.Compile(m, lowering.Options{})
			require.NoError(t, err)
			for n, x := range s.Inputs() {
				want := s.want(x)
				interpreted(t, "interp", fx.NewGraphModule(s.Module(t)), want, []*array.Array{x})
				interpreted(t, "text", fx.NewGraphModule(reparse(t, s.Module(t))), want, []*array.Array{x})
				got, err := e.Run(ctx, []*array.Array{x})
				require.NoError(t, err, "%d rows", n)
				fxtest.Same(t, "plan, rows: "+strconv.Itoa(n), want, got)
			}
		})
	}
}

// Module parses the graph, with parameters of its own.
func (s *Structural) Module(t testing.TB) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte(s.Text), s.Op.Name+".fx")
	require.NoError(t, err)
	for _, p := range m.Params() {
		q := *p
		q.Value = array.Clone(s.Params[p.Path])
		m.SetParam(q)
	}
	return m
}

func (s *Structural) want(x *array.Array) []*array.Array {
	d := s.Want(array.Data[float32](x), x.Dim(0))
	if s.Vector {
		return []*array.Array{array.FromSlice(d, len(d))}
	}
	return []*array.Array{array.FromSlice(d, x.Shape()...)}
}

// TestCoverage keeps the table honest.
func TestCoverage(t *testing.T) {
	for _, o := range Ops() {
		require.NotEmpty(t, o.Doc, o.Name)
		require.GreaterOrEqual(t, Count(o), 8, o.Name)
	}
	require.LessOrEqual(t, len(Exclusions), 10)
	for _, e := range Exclusions {
		require.NotNil(t, op.Lookup(e.Op), e.Op)
		require.Contains(t, Engines, e.Engine)
		require.NotEmpty(t, e.Cause)
		require.NotEmpty(t, e.Code)
	}
}
