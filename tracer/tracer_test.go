package tracer_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

var ctx = context.Background()

func clones(in []*tensor.Tensor) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(in))
	for i, x := range in {
		out[i] = x.Clone()
	}
	return out
}

func TestCasesGiveTheirEagerResults(t *testing.T) {
	traced, eager := cases.All(), cases.All()
	for i, c := range traced {
		t.Run(c.Name, func(t *testing.T) {
			gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
			require.NoError(t, err)
			require.Empty(t, graph.Lint(gm.Graph))
			for k, in := range c.Inputs {
				want := eager[i].Eager(clones(eager[i].Inputs[k]))
				got, err := gm.Run(ctx, in...)
				require.NoError(t, err)
				require.Len(t, got, len(want))
				for j := range want {
					require.True(t, want[j].Equal(got[j]), "set %d, result %d: got %v, want %v", k, j, got[j], want[j])
				}
			}
		})
	}
}

func TestTracesAreDeterministic(t *testing.T) {
	for _, c := range cases.All() {
		a, err := fx.Trace(ctx, c.Fn, c.Opts...)
		require.NoError(t, err, c.Name)
		b, err := fx.Trace(ctx, c.Fn, c.Opts...)
		require.NoError(t, err, c.Name)
		require.Equal(t, graph.Print(a.Module, graph.PrintOptions{}), graph.Print(b.Module, graph.PrintOptions{}), c.Name)
	}
}

// Traces of one model at a time give one graph, or say that they get into each
// other's way, as where an eager call could be of either.
func TestManyTracesAtOnce(t *testing.T) {
	var wg sync.WaitGroup
	all := append(cases.All(), cases.Writes()...)
	texts := make([][]string, len(all))
	for i, c := range all {
		texts[i] = make([]string, 4)
		for k := range texts[i] {
			wg.Add(1)
			go func() {
				defer wg.Done()
				gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
				switch {
				case errors.Is(err, tensor.MixedEngines):
				case err != nil:
					texts[i][k] = err.Error()
				default:
					texts[i][k] = graph.Print(gm.Module, graph.PrintOptions{})
				}
			}()
		}
	}
	wg.Wait()
	for i, c := range all {
		gm, err := fx.Trace(ctx, c.Fn, c.Opts...)
		require.NoError(t, err, c.Name)
		alone := graph.Print(gm.Module, graph.PrintOptions{})
		for _, s := range texts[i] {
			if s != "" {
				require.Equal(t, alone, s, c.Name)
			} else {
				require.True(t, c.Stateful, c.Name)
			}
		}
	}
}

func TestTiedWeightsAreReadOnce(t *testing.T) {
	c := cases.All()[0]
	gm, err := fx.Trace(ctx, c.Fn, append(c.Opts, fx.Flat())...)
	require.NoError(t, err)
	reads := 0
	for n := range gm.Graph.Nodes() {
		if n.Opcode() == graph.GetAttr {
			require.Equal(t, "embed", n.Target())
			reads++
		}
	}
	require.Equal(t, 1, reads)
	require.Len(t, gm.Params(), 1)
}

func TestRecipesAreRecordedNotBaked(t *testing.T) {
	gm, err := fx.Trace(ctx, &cases.WeightNorm{V: tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2), G: tensor.FromSlice([]float32{1, 1}, 2, 1)})
	require.NoError(t, err)
	for _, p := range gm.Params() {
		require.NotContains(t, p.Path, "_tensor_constant")
	}
	require.NotEmpty(t, calls(gm.Graph, std.Sqrt), "the weight's computation is part of the graph")
}

func calls(g *graph.Graph, o any) (out []*graph.Node) {
	for n := range g.Nodes() {
		if n.Op() == o {
			out = append(out, n)
		}
	}
	return out
}

func TestMethodAndFunctionSpelling(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Relu(x).Neg() })
	require.NoError(t, err)
	require.Equal(t, graph.CallFunction, calls(gm.Graph, std.Relu)[0].Opcode())
	require.Equal(t, graph.CallMethod, calls(gm.Graph, std.Neg)[0].Opcode())
	w := tensor.FromSlice([]float32{1})
	gm, err = fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return w.Add(x) })
	require.NoError(t, err)
	require.Equal(t, graph.CallFunction, calls(gm.Graph, std.Add)[0].Opcode(), "a concrete receiver is recorded as a function call")
}

func TestNestedRetrace(t *testing.T) {
	inner, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor { return tensor.Gelu(x).Neg() })
	require.NoError(t, err)
	m := &sample{Act: inner, W: tensor.FromSlice([]float32{2, 3})}
	gm, err := fx.Trace(ctx, m, fx.Input("x", "f32[N,2]"))
	require.NoError(t, err)
	require.Len(t, calls(gm.Graph, std.Gelu), 1)
	x := tensor.FromSlice([]float32{1, -1}, 1, 2)
	got, err := gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, m.Forward(x).Equal(got[0]))
}

// sample is figure 3 of the torch.fx paper: a captured module inside a model.
type sample struct {
	Act *fx.GraphModule
	W   *tensor.Tensor
}

func (m *sample) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Act.Forward(x.AddScalar(3.14).Mul(m.W))
}

type block struct{ W *tensor.Tensor }

func (b *block) Forward(x *tensor.Tensor) *tensor.Tensor { return x.Mul(b.W).Relu() }

type tower struct{ Blocks []*block }

func (m *tower) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, b := range m.Blocks {
		x = tensor.RunScope(b, []*tensor.Tensor{x}, func() []*tensor.Tensor { return []*tensor.Tensor{b.Forward(x)} })[0]
	}
	return x
}

func newTower() *tower {
	return &tower{[]*block{{tensor.FromSlice([]float32{2})}, {tensor.FromSlice([]float32{-1})}}}
}

func TestScopesAndPositions(t *testing.T) {
	gm, err := fx.Trace(ctx, newTower())
	require.NoError(t, err)
	relus := calls(gm.Graph, std.Relu)
	require.Len(t, relus, 2)
	require.Equal(t, "blocks.1", relus[1].Scope().Path)
	require.True(t, strings.HasSuffix(relus[1].Scope().Type, "tracer_test.block"))
	require.True(t, strings.HasSuffix(relus[0].Pos().File, "tracer_test.go"))
	require.Contains(t, relus[0].Pos().Func, "(*block).Forward")
	stack := relus[0].Stack()
	require.GreaterOrEqual(t, len(stack), 2)
	require.Contains(t, stack[len(stack)-1].Func, "(*tower).Forward")
}

func TestUserModulesCanBeLeaves(t *testing.T) {
	m := newTower()
	gm, err := fx.Trace(ctx, m, fx.Leaf(func(_ any, path string, library bool) bool { return library || path == "blocks.1" }))
	require.NoError(t, err)
	var leaves []string
	for n := range gm.Graph.Nodes() {
		if n.Opcode() == graph.CallModule {
			leaves = append(leaves, n.Target())
		}
	}
	require.Equal(t, []string{"blocks.1"}, leaves)
	x := tensor.FromSlice([]float32{1, -2})
	got, err := gm.Run(ctx, x)
	require.NoError(t, err)
	require.True(t, m.Forward(x).Equal(got[0]))
}

func TestCustomTracer(t *testing.T) {
	cost := graph.NewKey[int]("cost")
	p := tracer.Tracer{
		Inputs: []tracer.Input{{Name: "x", Type: shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(3)))}},
		OnNode: func(n *graph.Node, c *tensor.Call) { cost.Set(n, len(c.Args)) },
		OnCall: func(c *tensor.Call, record func(*tensor.Call) []*tensor.Tensor) []*tensor.Tensor {
			if c.Op == std.Relu {
				return record(&tensor.Call{Op: std.Gelu, Attrs: tensor.GeluAttrs{}, Args: c.Args})
			}
			return record(c)
		},
		SizeOf: func(*graph.Node, int) (int, bool) { return 8, true },
	}
	m, err := p.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		return x.Relu().DivScalar(float64(x.Dim(0)))
	})
	require.NoError(t, err)
	require.Len(t, calls(m.Graph, std.Gelu), 1)
	v, ok := cost.Get(calls(m.Graph, std.Gelu)[0])
	require.True(t, ok)
	require.Equal(t, 1, v)
	require.Len(t, m.Graph.Specialisations(), 1)
	gm := fx.NewGraphModule(m)
	_, err = gm.Run(ctx, tensor.New(array.New(array.F32, 8, 3)))
	require.NoError(t, err)
	_, err = gm.Run(ctx, tensor.New(array.New(array.F32, 4, 3)))
	require.ErrorContains(t, err, "the graph needs N (axis 0, here 4) equal to 8")
}

type box struct{ inner *tensor.Tensor }

func TestUsersContainersOfTensors(t *testing.T) {
	p := tracer.Tracer{Flatten: map[reflect.Type]tracer.Flattener{reflect.TypeFor[box](): {
		Tensors: func(v any) []*tensor.Tensor { return []*tensor.Tensor{v.(box).inner} },
		With:    func(_ any, ts []*tensor.Tensor) any { return box{ts[0]} },
		Names:   func(any) []string { return []string{"inner"} },
	}}, Args: []any{box{tracer.Meta(shape.Unranked(array.F32))}}}
	m, err := p.Trace(ctx, func(b box) box { return box{b.inner.Neg()} })
	require.NoError(t, err)
	require.Equal(t, "inner", m.Graph.Inputs()[0].Target())
	out, err := fx.NewGraphModule(m).Run(ctx, tensor.FromSlice([]float32{2}))
	require.NoError(t, err)
	require.Equal(t, -2.0, out[0].Item())
}

func TestConcreteArgumentsAreNoted(t *testing.T) {
	f := func(x *tensor.Tensor, times int, deep bool) *tensor.Tensor {
		for range times {
			x = x.AddScalar(1.0)
		}
		if deep {
			x = x.Neg()
		}
		return x
	}
	gm, err := fx.Trace(ctx, f, fx.Args(nil, 3, true))
	require.NoError(t, err)
	require.Len(t, calls(gm.Graph, std.Add), 3)
	require.Equal(t, "arg1 = 3", gm.Graph.Specialisations()[0].What)
}

func TestDefaults(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x, bias *tensor.Tensor) *tensor.Tensor { return x.Add(bias) },
		fx.Input("x", "f32[N]"), fx.InputDefault("bias", "f32[1]", array.FromSlice([]float32{10})))
	require.NoError(t, err)
	out, err := gm.Run(ctx, tensor.FromSlice([]float32{1}))
	require.NoError(t, err)
	require.Equal(t, 11.0, out[0].Item())
	_, err = gm.Run(ctx)
	require.ErrorIs(t, err, diag.Code("FX1020"))
}

func TestGraphsOfSymbolicSizesServeAllSizes(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x *tensor.Tensor) *tensor.Tensor {
		return x.Reshape(x.Size(0).Mul(x.Size(1)), 4).Sum()
	}, fx.Input("x", "f32[B,S,4]"))
	require.NoError(t, err)
	require.Equal(t, "f32[B*S,4]", calls(gm.Graph, std.Reshape)[0].Type().String())
	for _, b := range []int{1, 7, 64} {
		_, err := gm.Run(ctx, tensor.New(array.New(array.F32, b, 3, 4)))
		require.NoError(t, err)
	}
}

func TestSharedSymbolsAreGuarded(t *testing.T) {
	gm, err := fx.Trace(ctx, func(x, y *tensor.Tensor) *tensor.Tensor { return x.Add(y) },
		fx.Input("x", "f32[N,2]"), fx.Input("y", "f32[N,2]"))
	require.NoError(t, err)
	two, three := tensor.New(array.New(array.F32, 2, 2)), tensor.New(array.New(array.F32, 3, 2))
	_, err = gm.Run(ctx, two, two)
	require.NoError(t, err)
	_, err = gm.Run(ctx, two, three)
	require.ErrorIs(t, err, diag.Code("FX1022"))
}

func ExampleTracer_Trace() {
	p := tracer.Tracer{Inputs: []tracer.Input{{Name: "x", Type: shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(2)))}}}
	m, err := p.Trace(context.Background(), func(x *tensor.Tensor) *tensor.Tensor { return tensor.Relu(x).Neg() })
	if err != nil {
		fmt.Println(err)
		return
	}
	for n := range m.Graph.Nodes() {
		fmt.Println(n.Opcode(), n.Target(), n.Type())
	}
	// Output:
	// placeholder x f32[N,2]
	// call_function relu f32[N,2]
	// call_method neg f32[N,2]
	// output output f32[N,2]
}
