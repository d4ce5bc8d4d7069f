//go:build linux && amd64

package xla_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

// network is a graph with data, and how it lies on a mesh.
type network struct {
	name   string
	module *graph.Module
	sizes  map[string]int
	in     []*array.Array
	want   []*array.Array
	layout func(mesh shard.Mesh) shard.Layout
	// detours: the plan goes from layout to layout by steps of which XLA takes several at once.
	detours bool
}

// mesh is one of data and tensor.
func mesh(data, tensor int) shard.Mesh {
	return shard.Mesh{{Name: "data", Size: data}, {Name: "tensor", Size: tensor}}
}

// synthetic captures a model with weights that are made up, and lays it out: inputs are cut along
// data, weights by the ends of their paths.
func synthetic(t *testing.T, m models.Model, sizes map[string]int, ends map[string]shard.Split, in ...*array.Array) *network {
	module := m.New()
	models.Synthetic(&m, module, "gofx-1")
	n := &network{name: m.Name, module: traceModel(t, &m, module), sizes: sizes, in: in}
	n.layout = func(mesh shard.Mesh) shard.Layout {
		l := shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{}, Weights: map[string]shard.Split{}}
		for _, p := range n.module.Graph.Inputs() {
			l.Inputs[p.Name()] = make(shard.Split, p.Type().Rank())
			l.Inputs[p.Name()][0] = "data"
		}
		for _, p := range n.module.Params() {
			for end, split := range ends {
				if strings.HasSuffix(p.Path, end) {
					l.Weights[p.Path] = split
				}
			}
		}
		return l
	}
	return n
}

// The layers that Megatron cuts by their outputs; those after them follow, by their inputs.
var (
	bertCut = map[string]shard.Split{"query.weight": {"tensor", ""}, "key.weight": {"tensor", ""}, "value.weight": {"tensor", ""}, "intermediate.dense.weight": {"tensor", ""}}
	gptCut  = map[string]shard.Split{"attn.c_proj.weight": {"tensor", ""}, "mlp.c_fc.weight": {"", "tensor"}}
	convCut = map[string]shard.Split{".conv1.weight": {"tensor", "", "", ""}}
	mlpCut  = map[string]shard.Split{"fc1.weight": {"tensor", ""}}
)

// total is how many tensors are exchanged in a way, and the bytes that each partition sends.
type total struct {
	tensors int
	bytes   int64
}

// predicted sums the exchanges of a plan up. XLA's compiler for processors has no reduce-scatter: it
// reduces, and keeps a part.
func predicted(p *shard.Plan) map[string]total {
	out := map[string]total{}
	for _, e := range p.Exchanges {
		if e.Bytes == 0 {
			continue // of a tensor without elements
		}
		kind, sent := e.Kind, e.Bytes
		if kind == shard.ReduceScatter {
			kind, sent = shard.AllReduce, 2*sent
		}
		key := string(kind) + " along " + e.Axis
		out[key] = total{out[key].tensors + 1, out[key].bytes + sent}
	}
	return out
}

// compiled sums the exchanges of a program up.
func compiled(t testing.TB, mesh shard.Mesh, code []byte) map[string]total {
	out := map[string]total{}
	for _, c := range collectives(t, code) {
		if c.groups == nil {
			c.groups = [][]int{upto(mesh.Partitions())}
		}
		n := int64(len(c.groups[0]))
		if c.kind == "all-to-all" { // a tensor comes in as many parts
			sum := 0
			for _, b := range c.bytes {
				sum += b
			}
			c.bytes = []int{sum}
		}
		for _, b := range c.bytes {
			sent := int64(b) * (n - 1) / n
			switch c.kind {
			case "all-reduce":
				sent *= 2
			case "reduce-scatter":
				sent *= n
			case "collective-permute":
				sent = int64(b)
			}
			key := c.kind + " along " + axisOf(mesh, c.groups)
			out[key] = total{out[key].tensors + 1, out[key].bytes + sent}
		}
	}
	return out
}

func upto(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}

// axisOf names the axes of a mesh that partitions of one group differ along.
func axisOf(mesh shard.Mesh, groups [][]int) string {
	axes := map[string]bool{}
	for _, g := range groups {
		for _, p := range g[1:] {
			a, b := g[0], p
			for k := len(mesh) - 1; k >= 0; k-- {
				if a%mesh[k].Size != b%mesh[k].Size {
					axes[mesh[k].Name] = true
				}
				a, b = a/mesh[k].Size, b/mesh[k].Size
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(axes)), "+")
}

func bytesOf(all map[string]total) (n int64) {
	for _, t := range all {
		n += t.bytes
	}
	return n
}

// exchanges holds what XLA's partitioner made of a plan to what the plan says: what partitions
// exchange, counted by kind, axis and bytes, and the memory that each has. Where it may find ways
// that the plan does not know, they send less.
func exchanges(t *testing.T, r *xla.Runtime, plan *shard.Plan, detours bool) {
	t.Helper()
	p, err := xla.EmitSharded(plan)
	require.NoError(t, err)
	e, err := r.Client().Compile(p.String(), pjrt.CompileOptions{Partitions: plan.Mesh.Partitions()})
	require.NoError(t, err)
	defer e.Close()
	code, format, err := e.Optimized()
	require.NoError(t, err)
	require.Equal(t, "hlo_with_config", format)
	want, got := predicted(plan), compiled(t, plan.Mesh, code)
	if detours {
		require.LessOrEqual(t, bytesOf(got), bytesOf(want), "%v, %v", want, got)
	} else {
		require.Equal(t, want, got, "%s", plan)
	}
	m, err := e.Memory()
	require.NoError(t, err)
	sum := plan.Totals()
	require.Equal(t, sum.Inputs+sum.Weights, m.Arguments, "%s", plan)
	outputs := sum.Outputs
	if n := len(plan.Outputs); n > 1 {
		outputs += int64(8 * n) // a table of them
	}
	require.Equal(t, outputs, m.Outputs, "%s", plan)
	t.Logf("%s: %v, %d bytes, %d for values within", plan.Mesh, predicted(plan), m.Arguments+m.Outputs, m.Temporary)
}

// check plans a network for a mesh, compares the program with the plan, and the results with the interpreter's.
func (n *network) check(t *testing.T, r *xla.Runtime, mesh shard.Mesh) {
	t.Helper()
	l, o := n.layout(mesh), lowering.Options{Shapes: n.sizes}
	plan, err := shard.Propagate(n.module, o, l)
	require.NoError(t, err)
	exchanges(t, r, plan, n.detours)
	if n.want == nil {
		n.want, err = (&interp.Interpreter{State: interp.NewState(n.module)}).RunArrays(ctx, n.in)
		require.NoError(t, err)
	}
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: &l}, n.module, o)
	got, err := e.Run(ctx, n.in)
	require.NoError(t, err)
	fxtest.Close(t, n.name, n.want, got)
	require.NoError(t, e.Close())
}

// smallBert, smallGPT and smallResNet have the forms of the models, and less in them.
func smallBert(t *testing.T, layers, heads int) *network {
	g, m := &op.Gen{}, *models.Lookup("bert_base")
	m.New = func() any {
		return models.NewBert(models.BertConfig{VocabSize: 32, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 8 * heads, NumLayers: layers, NumHeads: heads, IntermediateSize: 16 * heads, LayerNormEps: 1e-12})
	}
	return synthetic(t, m, map[string]int{"N": 8, "S": 8}, bertCut, g.Int(32, 8, 8), g.Int(2, 8, 8))
}

func smallGPT(t *testing.T) *network {
	g, m := &op.Gen{}, *models.Lookup("gpt2")
	m.New = func() any {
		return models.NewGPT2(models.GPT2Config{VocabSize: 32, MaxPositions: 16, Width: 64, NumLayers: 1, NumHeads: 8, LayerNormEps: 1e-5})
	}
	return synthetic(t, m, map[string]int{"N": 8, "S": 8}, gptCut, g.Int(32, 8, 8))
}

func smallMLP(t *testing.T) *network {
	return synthetic(t, *models.Lookup("mlp"), map[string]int{"N": 8}, mlpCut, (&op.Gen{}).Normal(8, 784))
}

func smallResNet(t *testing.T) *network {
	m := *models.Lookup("resnet50")
	m.Inputs = slices.Clone(m.Inputs)
	m.Inputs[0].Type = "f32[N,3,32,32]"
	return synthetic(t, m, map[string]int{"N": 8}, convCut, (&op.Gen{}).Normal(8, 3, 32, 32))
}

// TestPluginPartitions: on eight devices of XLA's, programs exchange what plans say and compute what
// the interpreter does.
func TestPluginPartitions(t *testing.T) {
	r := installedRuntime(t, 8)
	smallBert(t, 1, 8).check(t, r, mesh(2, 4))
	smallBert(t, 1, 6).check(t, r, mesh(2, 4)) // heads that do not divide are gathered
	smallGPT(t).check(t, r, shard.Mesh{{Name: "tensor", Size: 2}, {Name: "data", Size: 4}})
	mlp := smallMLP(t)
	mlp.check(t, r, mesh(1, 8))
	cut := mlp.layout
	mlp.layout = func(mesh shard.Mesh) shard.Layout { // weights lie in parts along the data
		l := cut(mesh)
		l.Weights = nil
		l.Stored = map[string]shard.Split{"fc1.weight": {"data", ""}, "fc2.weight": {"", "data"}, "fc3.weight": {"", "data"}}
		return l
	}
	mlp.check(t, r, mesh(4, 2))
}

const moving = `gofx 1
graph moving(%x: f32[8,16]) {
  %w = get_attr[w] : f32[8,16]
  %a = call_function[relu](%x) : f32[8,16]
  %b = call_function[linear](%a, %w) : f32[8,8]
  %c = call_function[tanh](%b) : f32[8,8]
  return %c
}
param w : f32[8,16]
`

// TestPluginMoves: what partitions exchange where the author says how values lie.
func TestPluginMoves(t *testing.T) {
	r := installedRuntime(t, 8)
	m, err := graph.Parse([]byte(moving), "moving.fx")
	require.NoError(t, err)
	g := &op.Gen{}
	m.Param("w").Value = g.Normal(8, 16)
	n := &network{name: "moving", module: m, in: []*array.Array{g.Normal(8, 16)}}
	for _, c := range []struct {
		x       shard.Split
		values  map[string]shard.Split
		detours bool
	}{
		{shard.Split{"data", "tensor"}, map[string]shard.Split{"a": {"data", "tensor"}}, false},
		{shard.Split{"", "tensor"}, map[string]shard.Split{"a": {"tensor", ""}}, false},               // all-to-all
		{shard.Split{"", "data"}, map[string]shard.Split{"a": {"", "data"}, "b": {"", "data"}}, true}, // reduce-scatter
		{shard.Split{"data", ""}, map[string]shard.Split{"b": {"data", ""}, "c": {"", ""}}, false},    // all-gather
		{shard.Split{"data", "tensor"}, map[string]shard.Split{"a": {"tensor", "data"}}, true},
		{shard.Split{"data", "tensor"}, map[string]shard.Split{"a": {"data", "tensor"}, "b": {"tensor", ""}, "c": {"", "tensor"}}, true},
		{shard.Split{"data", "tensor"}, map[string]shard.Split{"b": {"tensor", "data"}, "c": {"data", "tensor"}}, true},
	} {
		n.layout = func(mesh shard.Mesh) shard.Layout {
			return shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": c.x}, Values: c.values}
		}
		n.detours = c.detours
		n.check(t, r, mesh(2, 4))
	}
}

// TestPluginStages: stages over a mesh each, one after the other.
func TestPluginStages(t *testing.T) {
	r := installedRuntime(t, 8)
	n := smallBert(t, 2, 8)
	pipe, err := shard.Stages(n.module, lowering.Options{Shapes: n.sizes}, 2)
	require.NoError(t, err)
	plans, err := pipe.Propagate(n.layout(mesh(2, 2)))
	require.NoError(t, err)
	var done [][]*array.Array
	for i, plan := range plans {
		require.NotEmpty(t, plan.Exchanges)
		exchanges(t, r, plan, n.detours)
		l := &shard.Layout{Mesh: plan.Mesh, Inputs: map[string]shard.Split{}, Weights: map[string]shard.Split{}}
		for _, v := range plan.Inputs {
			l.Inputs[v.Name] = v.Split
		}
		for _, v := range plan.Weights {
			l.Weights[v.Name] = v.Split
		}
		var in []*array.Array
		for _, from := range pipe.Stages[i].Inputs {
			if from.Stage < 0 {
				in = append(in, n.in[from.Index])
			} else {
				in = append(in, done[from.Stage][from.Index])
			}
		}
		e := compileFor(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, pipe.Stages[i].Module, lowering.Options{})
		out, err := e.Run(ctx, in)
		require.NoError(t, err)
		done = append(done, out)
	}
	want, err := (&interp.Interpreter{State: interp.NewState(n.module)}).RunArrays(ctx, n.in)
	require.NoError(t, err)
	for k, from := range pipe.Outputs {
		fxtest.Close(t, "stages", want[k:k+1], done[from.Stage][from.Index:from.Index+1])
	}
}

// gathered are operators whose programs compute positions in all of a batch, or multiply the batch
// and the steps before it as one: XLA gathers the batch where the plan keeps it in parts.
var gathered = []string{"fold", "gather", "grid_sample", "inverse", "lstm_layer", "scatter"}

// TestPluginPartitionsSamples: operators' samples cut in two exchange what their plans say.
func TestPluginPartitionsSamples(t *testing.T) {
	if !fxtest.IsNightly() {
		t.Skip("it takes minutes; GOFX_NIGHTLY=1 runs it")
	}
	r := installedRuntime(t, 2)
	ran := 0
	for _, o := range triedOps() {
		if o.ByValue || slices.Contains(gathered, o.Name) {
			continue
		}
		list := o.Samples()
		for _, s := range list[:min(len(list), 2)] {
			p := halves(t, o, s)
			if p == nil {
				continue
			}
			if _, err := xla.EmitSharded(p); errors.Is(err, lowering.Unsupported) {
				continue
			}
			ran++
			// The two also send whether there is a NaN, a byte of which the plan knows nothing.
			flagged := o.Name == "max" || o.Name == "min"
			t.Run(o.Key()+" "+s.Name, func(t *testing.T) { exchanges(t, r, p, flagged) })
		}
	}
	t.Log(ran, "samples")
	require.Greater(t, ran, 300)
}

// TestPluginOddPrograms: inputs that are results, the same result twice, nothing but scalars and tensors without
// elements, scans and sorts of what is cut, branches and loops.
func TestPluginOddPrograms(t *testing.T) {
	r := installedRuntime(t, 8)
	g := &op.Gen{}
	loops := parse(t, strings.TrimPrefix(flow, "gofx 1\n"))
	loops.Param("w").Value = g.Normal(4, 4)
	xy := map[string]shard.Split{"x": {"data", "tensor"}}
	for _, c := range []struct {
		module *graph.Module
		inputs map[string]shard.Split
		donate []int
		in     []*array.Array
	}{
		{parse(t, `graph same(%x: f32[8,4], %y: i64[8]) {
  %z = call_function[add](%y, %y) : i64[8]
  return (%x, %x, %z, %y, %z)
}
`), map[string]shard.Split{"x": {"data", "tensor"}, "y": {"tensor"}}, []int{0, 1}, []*array.Array{g.Normal(8, 4), g.Int(9, 8)}},
		{parse(t, `graph little(%x: f32[0,4], %s: f64[], %b: bool[4]) {
  %a = call_function[add](%x, %x) : f32[0,4]
  %t = call_function[sum](%x) : f32[]
  %m = call_function[mul](%s, %s) : f64[]
  %n = call_function[logical_not](%b) : bool[4]
  return (%a, %t, %m, %n)
}
`), map[string]shard.Split{"x": {"data", "tensor"}, "b": {"tensor"}}, nil, []*array.Array{array.New(array.F32, 0, 4), array.Scalar(2.5), array.FromSlice([]bool{true, false, true, true})}},
		{parse(t, `graph whole(%x: f32[8,16]) {
  %z = call_function[cumsum](%x) {dim=0} : f32[8,16]
  %s = call_function[sort](%z) {dim=1} : (f32[8,16], i64[8,16])
  %v = call_function[getitem](%s) {index=0} : f32[8,16]
  %m = call_function[softmax](%v) {dim=1} : f32[8,16]
  %a = call_function[argmax](%m) {dim=[1]} : i64[8]
  return (%v, %m, %a)
}
`), xy, nil, []*array.Array{g.Normal(8, 16)}},
		{loops, map[string]shard.Split{"x": {"data", ""}}, nil, []*array.Array{g.Uniform(0.1, 1, 4, 4), array.Scalar(float32(2))}},
	} {
		l := &shard.Layout{Mesh: mesh(2, 4), Inputs: c.inputs}
		want, err := (&interp.Interpreter{State: interp.NewState(c.module)}).RunArrays(ctx, c.in)
		require.NoError(t, err)
		fxtest.Close(t, c.module.Graph.Name, want, runs(t, xla.Target{Runtime: r, Cache: "-", Layout: l}, c.module, lowering.Options{Donate: c.donate}, c.in))
	}
}

// TestPluginPartitionsModels: the models in full.
func TestPluginPartitionsModels(t *testing.T) {
	if !fxtest.IsNightly() {
		t.Skip("it takes minutes; GOFX_NIGHTLY=1 runs it")
	}
	r := installedRuntime(t, 8)
	g := &op.Gen{}
	full := func(name string, sizes map[string]int, cut map[string]shard.Split, in ...*array.Array) *network {
		return synthetic(t, *models.Lookup(name), sizes, cut, in...)
	}
	for _, n := range []*network{
		full("mlp", map[string]int{"N": 8}, mlpCut, g.Normal(8, 784)),
		smallResNet(t),
		full("resnet50", map[string]int{"N": 8}, convCut, g.Normal(8, 3, 224, 224)),
		full("bert_base", map[string]int{"N": 8, "S": 32}, bertCut, g.Int(30522, 8, 32), g.Int(2, 8, 32)),
		full("gpt2", map[string]int{"N": 8, "S": 16}, gptCut, g.Int(50257, 8, 16)),
	} {
		for _, m := range []shard.Mesh{mesh(8, 1), mesh(2, 4), mesh(4, 2), {{Name: "tensor", Size: 4}, {Name: "data", Size: 2}}} {
			t.Run(n.name+" "+m.String(), func(t *testing.T) { n.check(t, r, m) })
		}
	}
}
