package conform

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

var ctx = context.Background()

// call is an operator call as a function of its present operands, to be traced.
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

// outcomes has the outcomes of the samples that have been run, by whichever
// test came first.
var outcomes Matrix

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
		runSamples(o)
		for _, engine := range []string{Eager, Interp, Text, Plan} {
			c := outcomes.Cell(o, engine)
			agreed(t, o, engine, c)
			require.Equal(t, Count(o), c.Total, engine)
		}
	})
}

// runSamples runs the samples of an operator, unless they have been run.
func runSamples(o *op.Op) {
	if outcomes.Cell(o, Eager) != nil {
		return
	}
	for i, s := range o.Samples() {
		sample(o, s, i%2 == 1 && len(s.In) > 0 && s.In[0] != nil)
	}
}

// sample enters the outcome of one sample in each engine.
func sample(o *op.Op, s op.Sample, method bool) {
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	in := present(s.In)
	what := s.Name + " " + o.Codec().Print(s.Attrs)
	enter := func(engine string, run func() ([]*array.Array, error)) {
		if err != nil {
			outcomes.Add(o, engine, what, err)
			return
		}
		outcomes.Add(o, engine, what, attempt(want, run))
	}
	enter(Eager, func() ([]*array.Array, error) {
		return arrays(call(o, s.Attrs, s.In, method)(tensors(in)...)), nil
	})
	var gm *fx.GraphModule
	if err == nil {
		gm, err = captured(o, s, method)
	}
	enter(Interp, func() ([]*array.Array, error) { return interpret(gm, in) })
	enter(Text, func() ([]*array.Array, error) {
		parsed, err := parsed(gm.Module)
		if err != nil {
			return nil, err
		}
		return interpret(fx.NewGraphModule(parsed), in)
	})
	enter(Plan, func() ([]*array.Array, error) { return plan(gm.Module, in) })
}

// agreed requires the results of all samples.
func agreed(t *testing.T, o *op.Op, engine string, c *Cell) {
	t.Helper()
	require.Empty(t, c.Failed, "%s, engine %s", o.Name, engine)
}

// attempt runs a call and says how its results differ from those that it must have.
func attempt(want []*array.Array, run func() ([]*array.Array, error)) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panics: %v", r)
		}
	}()
	got, err := run()
	if err != nil {
		return err
	}
	if d := fxtest.SameArrays(want, got); d != "" {
		return errors.New(d)
	}
	return nil
}

// agreement says how results of a style of generated code differ from the expected
// ones: kernel style computes what plans do that are not exact.
func agreement(engine string, want, got []*array.Array) error {
	differ := fxtest.SameArrays
	if engine == Gen {
		differ = fxtest.CloseArrays
	}
	if d := differ(want, got); d != "" {
		return errors.New(d)
	}
	return nil
}

// captured traces a sample; the graph must be sound and call the operator.
func captured(o *op.Op, s op.Sample, method bool) (*fx.GraphModule, error) {
	gm, err := capture(o, s.Attrs, s.In, method)
	if err != nil {
		return nil, err
	}
	if err := graph.Lint(gm.Graph).Err(); err != nil {
		return nil, err
	}
	for range gm.Graph.Calls(o) {
		return gm, nil
	}
	return nil, errors.New("the graph does not call the operator")
}

func interpret(gm *fx.GraphModule, in []*array.Array) ([]*array.Array, error) {
	out, err := gm.Run(ctx, tensors(in)...)
	if err != nil {
		return nil, err
	}
	return arrays(out), nil
}

// plan runs an exact plan, whose results it returns, and another one, whose results
// must be close to those.
func plan(m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	var exact []*array.Array
	for _, o := range []lowering.Options{{Exact: true}, {}} {
		e, err := cpu.Compile(m, o)
		if err != nil {
			return nil, err
		}
		out, err := e.Run(ctx, in)
		if err := errors.Join(err, e.Close()); err != nil {
			return nil, err
		}
		if o.Exact {
			exact = out
		} else if d := fxtest.CloseArrays(exact, out); d != "" {
			return nil, errors.New("not exact: " + d)
		}
	}
	return exact, nil
}

// parsed prints a module, parses the text and gives the parameters their values.
func parsed(m *graph.Module) (*graph.Module, error) {
	p, err := graph.Parse([]byte(m.String()), "sample.fx")
	if err != nil {
		return nil, err
	}
	if same, diff := graph.EqualModules(m, p); !same {
		return nil, errors.New("the text is another graph: " + diff)
	}
	for _, q := range m.Params() {
		p.SetParam(*q)
	}
	return p, nil
}

func interpreted(t *testing.T, what string, gm *fx.GraphModule, want, in []*array.Array) {
	t.Helper()
	require.NoError(t, attempt(want, func() ([]*array.Array, error) { return interpret(gm, in) }), what)
}

// reparse is parsed for modules that have a text.
func reparse(t *testing.T, m *graph.Module) *graph.Module {
	t.Helper()
	p, err := parsed(m)
	require.NoError(t, err)
	return p
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
			require.NotNil(t, StructuralGraph(o), "the operator needs a graph in structural.go")
			runStructural(t, o)
			for _, engine := range []string{Interp, Text, Plan} {
				agreed(t, o, engine, outcomes.Cell(o, engine))
			}
		})
	}
}

// runStructural runs the graph of an operator, unless it has been run.
func runStructural(t testing.TB, o *op.Op) {
	t.Helper()
	if outcomes.Cell(o, Interp) != nil {
		return
	}
	s := StructuralGraph(o)
	require.Empty(t, graph.Lint(s.Module(t).Graph))
	for _, x := range s.Inputs() {
		want, in := s.want(x), []*array.Array{x}
		for engine, run := range map[string]func() ([]*array.Array, error){
			Interp: func() ([]*array.Array, error) { return interpret(fx.NewGraphModule(s.Module(t)), in) },
			Text: func() ([]*array.Array, error) {
				m, err := parsed(s.Module(t))
				if err != nil {
					return nil, err
				}
				return interpret(fx.NewGraphModule(m), in)
			},
			Plan: func() ([]*array.Array, error) { return plan(s.Module(t), in) },
		} {
			outcomes.Add(o, engine, rows(x), attempt(want, run))
		}
	}
}

// rows names the run of a structural graph.
func rows(x *array.Array) string { return strconv.Itoa(x.Dim(0)) + " rows" }

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
}
