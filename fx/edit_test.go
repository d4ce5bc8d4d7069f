package fx_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Record writes an edit as tensor code.
func ExampleGraphModule_Record() {
	ctx := context.Background()
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Name("net"), fx.Input("x", "f32[N,4]"))
	err := gm.Edit(func(g *graph.Graph) error {
		relu := g.Find("relu")
		out, err := gm.Record(ctx, g.After(relu), func(x *tensor.Tensor) *tensor.Tensor {
			return x.Sub(x.MeanWith(1, tensor.ReduceAttrs{KeepDim: true})) // per row
		}, relu)
		if err != nil {
			return err
		}
		g.Output().SetArg(0, out[0])
		return nil
	})
	fmt.Println(err)
	fmt.Print(gm.Graph)
	// Output:
	// <nil>
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %relu = call_method[relu](%x) : f32[N,4]
	//   %mean = call_method[mean](%relu) {dim=[1], keep_dim=true} : f32[N,1]
	//   %sub = call_method[sub](%relu, %mean) : f32[N,4]
	//   return %sub
	// }
}

// ReplaceModule puts a module in the place of a leaf.
func ExampleGraphModule_ReplaceModule() {
	gm := capture(&Net{nn.NewLinear(4, 3), nn.NewLinear(3, 2)}, fx.Input("x", "f32[N,4]"))
	err := gm.ReplaceModule(context.Background(), "fc1", &Net{nn.NewLinear(4, 8), nn.NewLinear(8, 3)})
	fmt.Println(err)
	for _, p := range gm.Params() {
		fmt.Println(p.Path, p.TypeOf())
	}
	fmt.Print(calls(gm))
	// Output:
	// <nil>
	// fc2.weight f32[2,3]
	// fc2.bias f32[2]
	// fc1.fc1.weight f32[8,4]
	// fc1.fc1.bias f32[8]
	// fc1.fc2.weight f32[3,8]
	// fc1.fc2.bias f32[3]
	// call_module[fc1.fc1] f32[N,8]
	// call_method[relu] f32[N,8]
	// call_module[fc1.fc2] f32[N,3]
	// call_method[relu] f32[N,3]
	// call_module[fc2] f32[N,2]
}

// Features makes a model that computes some values.
func ExampleGraphModule_Features() {
	gm := capture(&Net{nn.NewLinear(4, 3), nn.NewLinear(3, 2)}, fx.Name("net"), fx.Input("x", "f32[N,4]"))
	part, err := gm.Features("fc1")
	fmt.Println(err)
	fmt.Print(part.Graph)
	out, err := part.Run(context.Background(), tensor.Ones(1, 4))
	fmt.Println(out[0].Shape(), err)
	// Output:
	// <nil>
	// gofx 1
	//
	// graph net(%x: f32[N,4]) {
	//   symbol N = dim(%x, 0)
	//   %fc1 = call_module[fc1](%x) : f32[N,3]
	//   return {fc1: %fc1}
	// }
	// [1 3] <nil>
}

// Edit takes an edit back that fails.
func ExampleGraphModule_Edit() {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Input("x", "f32[N,4]"))
	err := gm.Edit(func(g *graph.Graph) error {
		g.Output().SetArg(0, g.Find("x"))
		return errors.New("changed my mind")
	})
	fmt.Println(err, gm.Graph.Output().Arg(0))
	// Output: changed my mind %relu
}

func values(t *testing.T, gm *fx.GraphModule, in ...*tensor.Tensor) []float32 {
	t.Helper()
	require.Empty(t, graph.Lint(gm.Graph), "%s", gm.Graph)
	out, err := gm.Run(context.Background(), in...)
	require.NoError(t, err)
	return tensor.Data[float32](out[0])
}

func TestRecord_usesStateAndSizes(t *testing.T) {
	ctx := context.Background()
	net := &Net{nn.NewLinear(2, 2), nn.NewLinear(2, 2)}
	gm := capture(net, fx.Input("x", "f32[N,2]"))
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	want := tensor.Data[float32](net.Forward(x).Mul(net.Fc1.Weight.Sum()).AddScalar(2 * 2).Add(tensor.FromSlice([]float32{10, 20})))
	own := tensor.FromSlice([]float32{10, 20})
	require.NoError(t, gm.Edit(func(g *graph.Graph) error {
		out, err := gm.Record(ctx, g.Before(g.Output()), func(y *tensor.Tensor) *tensor.Tensor {
			w := gm.State().Tensor("fc1.weight")
			rows := tensor.Arange(y.Size(0)).Cast(array.F32).Max() // N-1
			return y.Mul(w.Sum()).Add(rows.AddScalar(1).MulScalar(2)).Add(own)
		}, g.Output().Arg(0))
		if err != nil {
			return err
		}
		g.Output().SetArg(0, out[0])
		return nil
	}))
	require.InDeltaSlice(t, want, values(t, gm, x), 1e-5)
	require.Len(t, gm.Params(), 5, "the weight is the one that was there; the constant is new")

	// Recorded nodes have positions: the line of the function.
	require.Equal(t, "edit_test.go", base(gm.Graph.Output().Arg(0).Pos().File))
}

func base(path string) string { return path[len(path)-len("edit_test.go"):] }

func TestRecord_sizesThatAreExpressions(t *testing.T) {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return tensor.Cat([]*tensor.Tensor{x, x}, 0) }, fx.Input("x", "f32[N,2]"))
	g := gm.Graph
	cat := g.Output().Arg(0)
	require.Equal(t, "f32[2*N,2]", cat.Type().String())
	out, err := gm.Record(context.Background(), g.Before(g.Output()), func(y, x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor) {
		return y.Reshape(x.Size(0), -1).Add(tensor.Cat([]*tensor.Tensor{x, x}, 1)), y
	}, cat, g.Find("x"))
	require.NoError(t, err)
	require.Equal(t, "f32[N,4]", out[0].Type().String())
	require.True(t, out[1] == cat)
	g.Output().SetArg(0, out[0])
	require.NoError(t, g.Output().Retype())
	require.Len(t, g.Guards(), 1, "reshape needs N >= 1; sizes of the part are those of the graph")
	require.Equal(t, []float32{2, 4, 4, 6, 4, 6, 6, 8}, values(t, gm, tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)))
}

func TestRecord_takesManyAndGoesIntoRegions(t *testing.T) {
	gm := capture(func(p, x *tensor.Tensor) *tensor.Tensor {
		id := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} }
		return tensor.Cond(p, id, id, x)[0]
	}, fx.Input("p", "bool[]"), fx.Input("x", "f32[2]"))
	var c *graph.Node
	for n := range gm.Graph.Calls(op.Cond) {
		c = n
	}
	r := c.Regions()[0]
	neg := r.Output().Arg(0)
	out, err := gm.Record(context.Background(), r.After(neg), func(in ...*tensor.Tensor) *tensor.Tensor {
		return tensor.Stack(in, 0).Sum(0)
	}, neg, neg, r.First())
	require.NoError(t, err)
	r.Output().SetArg(0, out[0])
	require.Equal(t, []float32{-1, -2}, values(t, gm, tensor.Scalar(true), tensor.FromSlice([]float32{1, 2})))
	require.Equal(t, []float32{-1, -2}, values(t, gm, tensor.Scalar(false), tensor.FromSlice([]float32{1, 2})))
}

func TestRecord_refuses(t *testing.T) {
	ctx := context.Background()
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Split([]int{1, 1}, 1)[0] }, fx.Input("x", "f32[2,2]"))
	g, text := gm.Graph, gm.Graph.String()
	c := g.Before(g.Output())
	id := func(x *tensor.Tensor) *tensor.Tensor { return x }
	tuple := g.Output().Arg(0).Arg(0)
	for name, c := range map[string]struct {
		fn   any
		args []*graph.Node
		err  string
	}{
		"branch on data": {func(x *tensor.Tensor) *tensor.Tensor { x.Item(); return x }, g.Inputs(), "edit_test.go"},
		"type rule":      {func(x *tensor.Tensor) *tensor.Tensor { return x.Relu().Matmul(tensor.Ones(3, 3)) }, g.Inputs(), "FX2001"},
		"too many":       {id, []*graph.Node{g.First(), g.First()}, "2 inputs are described, the function takes 1"},
		"too few":        {id, nil, "the function takes 1 tensors, 0 nodes are given"},
		"tuple":          {id, []*graph.Node{tuple}, "getitem"},
		"nil":            {id, []*graph.Node{nil}, "argument 0 is no node"},
		"foreign":        {id, capture(id).Graph.Inputs(), "is no value of the graph"},
		"output":         {id, []*graph.Node{g.Output()}, "is no value of the graph"},
		"no function":    {7, g.Inputs(), "cannot trace"},
		"panics":         {func(x *tensor.Tensor) *tensor.Tensor { panic("oh") }, g.Inputs(), "oh"},
		"no result":      {func(x *tensor.Tensor) {}, g.Inputs(), "returns no tensor"},
	} {
		_, err := gm.Record(ctx, g.Before(g.Output()), c.fn, c.args...)
		require.ErrorContains(t, err, c.err, name)
		require.Equal(t, text, g.String(), name)
	}
	out, err := gm.Record(ctx, c, func(x *tensor.Tensor) *tensor.Tensor { x.AddInPlace(x); return x }, g.First())
	if err == nil { // the caller's value is another one
		require.False(t, out[0] == g.First())
	}
}

// shifted is a module of a user's.
type shifted struct {
	Fc  *nn.Linear
	By  *tensor.Tensor `fx:",buffer"`
	Two bool
}

func (s *shifted) Forward(x *tensor.Tensor) *tensor.Tensor { return s.Fc.Forward(x).Add(s.By) }

func TestReplaceModule(t *testing.T) {
	ctx := context.Background()
	net := &Net{nn.NewLinear(2, 2), nn.NewLinear(2, 2)}
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	for name, with := range map[string]nn.Module{
		"a leaf":   nn.NewLinear(2, 2),
		"a module": &shifted{Fc: nn.NewLinear(2, 2), By: tensor.FromSlice([]float32{1, 2})},
	} {
		gm := capture(net, fx.Input("x", "f32[N,2]"))
		require.NoError(t, gm.ReplaceModule(ctx, "fc1", with), name)
		want := tensor.Data[float32](net.Fc2.Forward(with.Forward(x).Relu()))
		require.InDeltaSlice(t, want, values(t, gm, x), 1e-6, name)
		for _, p := range gm.Params() {
			require.Regexp(t, `^fc[12]\.`, p.Path)
			require.NotContains(t, p.Path, "_", "no path of the old leaf is in the way")
		}
		require.NotNil(t, gm.Graph.Find("fc1"), "the name stays")
	}

	// Another size goes through to the output, or is refused at the user of the value.
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return net.Fc1.Forward(x).Relu() }, fx.Root(net), fx.Input("x", "f32[N,2]"))
	require.NoError(t, gm.ReplaceModule(ctx, "fc1", nn.NewLinear(2, 5)))
	require.Equal(t, "f32[N,5]", gm.Graph.Output().Type().String())
	gm = capture(net, fx.Input("x", "f32[N,2]"))
	text := gm.Module.String()
	require.ErrorContains(t, gm.ReplaceModule(ctx, "fc1", nn.NewLinear(2, 5)), "linear")
	require.ErrorContains(t, gm.ReplaceModule(ctx, "fc1", nn.NewLinear(3, 5)), "linear")
	require.ErrorIs(t, gm.ReplaceModule(ctx, "fc", nn.NewLinear(2, 2)), graph.MissingModule)
	require.ErrorContains(t, gm.ReplaceModule(ctx, "fc", nn.NewLinear(2, 2)), "leaves are fc1, fc2")
	require.Error(t, gm.ReplaceModule(ctx, "fc1", 3))
	require.Error(t, gm.ReplaceModule(ctx, "fc1", nil))
	require.Equal(t, text, gm.Module.String())
}

func TestReplaceModule_calledTwice(t *testing.T) {
	fc := nn.NewLinear(2, 2)
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return fc.Forward(fc.Forward(x)) }, fx.Root(&Net{fc, fc}), fx.Input("x", "f32[N,2]"))
	with := &shifted{Fc: nn.NewLinear(2, 2), By: tensor.FromSlice([]float32{1, 2})}
	require.NoError(t, gm.ReplaceModule(context.Background(), "fc1", with))
	require.Len(t, gm.Params(), 3, "both calls have the same tensors")
	x := tensor.FromSlice([]float32{1, 2}, 1, 2)
	require.InDeltaSlice(t, tensor.Data[float32](with.Forward(with.Forward(x))), values(t, gm, x), 1e-6)
}

// A tracer with its own policy records as it traces.
func ExampleTracer_Record() {
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Input("x", "f32[N]"))
	g := gm.Graph
	t := tracer.Tracer{OnNode: func(n *graph.Node, c *tensor.Call) { fmt.Println("recorded", c.Op.Name) }}
	out, err := t.Record(context.Background(), g.Before(g.Output()), func(x *tensor.Tensor) *tensor.Tensor { return x.Exp().Neg() }, g.Find("relu"))
	fmt.Println(out, err, std.Neg == out[0].Op())
	// Output:
	// recorded exp
	// recorded neg
	// [%neg] <nil> true
}

// scaled writes a buffer at each call.
type scaled struct {
	Fc    *nn.Linear
	Count *tensor.Tensor `fx:",buffer"`
}

func (s *scaled) Forward(x *tensor.Tensor) *tensor.Tensor {
	count := tensor.On(x, s.Count)
	count.AddInPlace(tensor.Ones(1))
	return s.Fc.Forward(x).Mul(count)
}

func TestRecord_writesState(t *testing.T) {
	m := &scaled{nn.NewLinear(2, 2), tensor.FromSlice([]float32{0})}
	gm := capture(m, fx.Input("x", "f32[N,2]"))
	x := tensor.FromSlice([]float32{1, 2}, 1, 2)
	once := values(t, gm, x)
	require.NoError(t, gm.Edit(func(g *graph.Graph) error {
		out, err := gm.Record(context.Background(), g.Before(g.Output()), func(y *tensor.Tensor) *tensor.Tensor {
			c := tensor.On(y, gm.State().Tensor("count"))
			c.AddInPlace(tensor.FromSlice([]float32{10})) // after the model's own write
			return y.Mul(c)
		}, g.Output().Arg(0))
		if err == nil {
			g.Output().SetArg(0, out[0])
		}
		return err
	}))
	have := values(t, gm, x) // the count was 1, is 2, then 12
	require.InDeltaSlice(t, []float32{once[0] * 2 * 12, once[1] * 2 * 12}, have, 1e-4)
	exe, err := cpu.Compile(gm.Module, lowering.Options{}) // 13, then 23
	require.NoError(t, err)
	defer exe.Close()
	out, err := exe.Run(context.Background(), []*array.Array{array.FromSlice([]float32{1, 2}, 1, 2)})
	require.NoError(t, err)
	require.InDeltaSlice(t, []float32{once[0] * 13 * 23, once[1] * 13 * 23}, array.Data[float32](out[0]), 1e-3)
}

// A tensor that only the recorded code writes becomes state for those that read it before.
func TestRecord_writesTensorsReadBefore(t *testing.T) {
	net := &Net{nn.NewLinear(2, 2), nn.NewLinear(2, 2)}
	gm := capture(net, fx.Flat(), fx.Input("x", "f32[N,2]"))
	x := tensor.FromSlice([]float32{1, 2}, 1, 2)
	want := tensor.Data[float32](net.Forward(x))
	require.NoError(t, gm.Edit(func(g *graph.Graph) error {
		_, err := gm.Record(context.Background(), g.Before(g.Output()), func(y *tensor.Tensor) *tensor.Tensor {
			b := tensor.On(y, gm.State().Tensor("fc2.bias"))
			b.AddInPlace(tensor.Ones(2))
			return y
		}, g.Output().Arg(0))
		return err
	}))
	require.True(t, gm.Param("fc2.bias").Buffer)
	exe, err := cpu.Compile(gm.Module, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	for i := range 3 {
		out, err := exe.Run(context.Background(), []*array.Array{array.FromSlice([]float32{1, 2}, 1, 2)})
		require.NoError(t, err)
		require.InDeltaSlice(t, []float32{want[0] + float32(i), want[1] + float32(i)}, array.Data[float32](out[0]), 1e-4)
	}
}

func TestRecord_controlFlowAndContainers(t *testing.T) {
	ctx := context.Background()
	gm := capture(func(x, p *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Input("x", "f32[N,2]"), fx.Input("p", "bool[]"))
	g := gm.Graph
	type pair struct{ Yes, No *tensor.Tensor }
	out, err := gm.Record(ctx, g.Before(g.Output()), func(ctx context.Context, x, p *tensor.Tensor) pair {
		neg := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} }
		same := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Clone()} }
		y := tensor.Cond(p, neg, same, x)[0]
		return pair{y, y.Reshape(x.Size(0).Mul(2))}
	}, g.Find("relu"), g.Find("p"))
	require.NoError(t, err)
	require.Len(t, out, 2)
	require.Equal(t, "f32[2*N]", out[1].Type().String())
	g.Output().SetArg(0, out[1])
	require.NoError(t, g.Output().Retype())
	x := tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	require.Equal(t, []float32{-1, -2, -3, -4}, values(t, gm, x, tensor.Scalar(true)))
	require.Equal(t, []float32{1, 2, 3, 4}, values(t, gm, x, tensor.Scalar(false)))

	// Unknown sizes stay unknown, and a size that is asked for by number is refused.
	un := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() })
	_, err = un.Record(ctx, un.Graph.Before(un.Graph.Output()), func(x *tensor.Tensor) *tensor.Tensor { return x.DivScalar(x.Dim(0)) }, un.Graph.Find("relu"))
	require.ErrorContains(t, err, "edit_test.go")
	more, err := un.Record(ctx, un.Graph.Before(un.Graph.Output()), func(x *tensor.Tensor) *tensor.Tensor { return x.Reshape(x.Size(0), -1) }, un.Graph.Find("relu"))
	require.NoError(t, err)
	un.Graph.Output().SetArg(0, more[0])
	require.NoError(t, un.Graph.Output().Retype())
	require.Equal(t, []float32{1, 2, 3, 4}, values(t, un, tensor.FromSlice([]float32{1, 2, 3, 4}, 2, 1, 2)))
}

func TestRecord_modulesAndSharedResults(t *testing.T) {
	ctx := context.Background()
	gm := capture(func(x *tensor.Tensor) *tensor.Tensor { return x.Relu() }, fx.Input("x", "f32[N,2]"))
	g := gm.Graph
	relu := g.Find("relu")
	_, err := gm.Record(ctx, g.Before(relu), func(x *tensor.Tensor) *tensor.Tensor { return x.Neg() }, relu)
	require.ErrorContains(t, err, "%relu is made behind the cursor")

	out, err := gm.Record(ctx, g.After(relu), func(x *tensor.Tensor) (a, b *tensor.Tensor) { y := x.Exp(); return y, y }, relu)
	require.NoError(t, err)
	require.True(t, out[0] == out[1])

	fc := nn.NewLinear(2, 2) // a layer of its own becomes a leaf of the module
	more, err := gm.Record(ctx, g.After(out[0]), fc.Forward, out[0])
	require.NoError(t, err)
	require.Equal(t, graph.CallModule, more[0].Opcode())
	again, err := gm.Record(ctx, g.After(more[0]), fc.Forward, more[0])
	require.NoError(t, err)
	require.Equal(t, more[0].Target(), again[0].Target(), "the same layer is the same leaf")
	g.Output().SetArg(0, again[0])
	x := tensor.FromSlice([]float32{1, -2}, 1, 2)
	require.InDeltaSlice(t, tensor.Data[float32](fc.Forward(fc.Forward(x.Relu().Exp()))), values(t, gm, x), 1e-5)
}

func TestReplaceModule_tiedWeightsAndRegions(t *testing.T) {
	ctx := context.Background()
	net := &Net{nn.NewLinear(2, 2), nn.NewLinear(2, 2)}
	net.Fc2.Weight = net.Fc1.Weight // tied
	gm := capture(net, fx.Input("x", "f32[N,2]"))
	with := nn.NewLinear(2, 2)
	require.NoError(t, gm.ReplaceModule(ctx, "fc1", with))
	x := tensor.FromSlice([]float32{1, 2}, 1, 2)
	require.InDeltaSlice(t, tensor.Data[float32](net.Fc2.Forward(with.Forward(x).Relu())), values(t, gm, x), 1e-6)

	gm = capture(func(p, x *tensor.Tensor) *tensor.Tensor {
		yes := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{net.Fc1.Forward(in[0])} }
		no := func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Neg()} }
		return tensor.Cond(p, yes, no, x)[0]
	}, fx.Root(net), fx.Input("p", "bool[]"), fx.Input("x", "f32[1,2]"))
	require.NoError(t, gm.ReplaceModule(ctx, "fc1", with))
	require.InDeltaSlice(t, tensor.Data[float32](with.Forward(x)), values(t, gm, tensor.Scalar(true), x), 1e-6)
	require.Error(t, gm.ReplaceModule(ctx, "fc1", nn.NewLinear(3, 2)), "the branch gives it another size")
	require.InDeltaSlice(t, tensor.Data[float32](with.Forward(x)), values(t, gm, tensor.Scalar(true), x), 1e-6)
}
