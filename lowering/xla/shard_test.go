package xla_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

func layer(t *testing.T) *graph.Module {
	m, err := graph.Parse([]byte(`gofx 1
graph layer(%x: f32[8,24]) {
  %w = get_attr[fc.weight] : f32[12,24]
  %y = call_function[linear](%x, %w) : f32[8,12]
  return %y
}
param fc.weight : f32[12,24]
`), "layer.fx")
	require.NoError(t, err)
	return m
}

// sharded plans and emits, nil where a size is not divided.
func sharded(t *testing.T, m *graph.Module, l shard.Layout) *xla.Program {
	p, err := shard.Propagate(m, lowering.Options{}, l)
	if err != nil {
		require.ErrorContains(t, err, "equal parts")
		return nil
	}
	q, err := xla.EmitSharded(p)
	require.NoError(t, err)
	return q
}

// TestShardingsGiveTheMeshsParts: what the text says a partition has is what its place in the mesh
// says, on random meshes and splits; the text reads back as itself and mlir-opt takes it.
func TestShardingsGiveTheMeshsParts(t *testing.T) {
	m := layer(t)
	r := rand.New(rand.NewPCG(1, 2))
	var texts []string
	cut := 0
	for range 300 {
		var mesh shard.Mesh
		for i := range 1 + r.IntN(3) {
			mesh = append(mesh, shard.Axis{Name: string(rune('a' + i)), Size: 1 + r.IntN(4)})
		}
		split := shard.Split{"", ""}
		for i, k := range r.Perm(len(mesh))[:r.IntN(min(len(mesh), 2)+1)] {
			split[(i+r.IntN(2))%2] = mesh[k].Name
		}
		q := sharded(t, m, shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"x": split}})
		if q == nil { // 3 does not divide 8
			continue
		}
		text := q.String()
		texts = append(texts, text)
		code, err := stablehlo.Parse(text)
		require.NoError(t, err, text)
		require.NoError(t, stablehlo.Verify(code))
		require.Equal(t, text, code.String())
		weight := shard.Split{"", split[1]} // what is summed over is cut in both
		require.Equal(t, mesh.Sharding(weight), code.Shardings[1])
		require.Equal(t, mesh.Sharding(shard.Split{split[0], ""}), code.ResultShardings[0])
		tiles, err := stablehlo.ParseSharding(code.Shardings[0])
		require.NoError(t, err)
		if tiles.Grid == nil {
			require.Equal(t, q.Inputs[0].Dims, q.Inputs[0].Local)
			continue
		}
		cut++
		checkParts(t, mesh, split, tiles, q.Inputs[0])
	}
	require.Greater(t, cut, 100)
	verifies(t, texts)
}

// checkParts compares the tile of each partition with its coordinates in the mesh.
func checkParts(t *testing.T, mesh shard.Mesh, split shard.Split, tiles stablehlo.Tiles, a xla.Argument) {
	n := mesh.Partitions()
	require.Len(t, tiles.Devices, n)
	copies := n
	for d, k := range tiles.Grid {
		require.Equal(t, a.Dims[d], k*a.Local[d])
		copies /= k
	}
	for place, device := range tiles.Devices {
		at := map[string]int{}
		rest := device
		for k := len(mesh) - 1; k >= 0; k-- {
			at[mesh[k].Name] = rest % mesh[k].Size
			rest /= mesh[k].Size
		}
		tile := place / copies
		for d := len(split) - 1; d >= 0; d-- {
			require.Equal(t, at[split[d]], tile%tiles.Grid[d], "%v %v: partition %d, dimension %d", mesh, split, device, d)
			tile /= tiles.Grid[d]
		}
	}
}

// TestShardedSamples: the program of every operator's sample, cut along its first dimensions,
// evaluates to what the operator gives, and mlir-opt takes it.
func TestShardedSamples(t *testing.T) {
	var texts []string
	programs, constraints := 0, 0
	for _, o := range op.All() {
		if o.Structural() || o.AdHoc || o.ByValue {
			continue
		}
		list := o.Samples()
		if len(list) > 3 && !fxtest.IsNightly() {
			list = list[:3]
		}
		for _, s := range list {
			p := halves(t, o, s)
			if p == nil {
				continue
			}
			q, err := xla.EmitSharded(p)
			if errors.Is(err, lowering.Unsupported) {
				continue
			}
			require.NoError(t, err, "%s, %s", o.Key(), s.Name)
			want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
			require.NoError(t, err)
			require.Empty(t, fxtest.CloseArrays(want, evaluate(t, q, present(s.In))), "%s, %s\n%s", o.Key(), s.Name, q)
			texts = append(texts, q.String())
			programs++
			constraints += strings.Count(q.String(), `"stablehlo.custom_call"`)
		}
	}
	t.Log(programs, "programs with", constraints, "values laid out")
	require.Greater(t, programs, 300)
	require.Greater(t, constraints, programs)
	verifies(t, texts)
}

// halves plans a sample with the first dimension of each operand that has one of an even size
// cut in two, nil where there is none or what is cut does not fit.
func halves(t *testing.T, o *op.Op, s op.Sample) *shard.Plan {
	l := shard.Layout{Mesh: shard.Mesh{{Name: "half", Size: 2}}, Inputs: map[string]shard.Split{}}
	for i, a := range s.In {
		if a == nil {
			continue
		}
		if d := slices.IndexFunc(a.Shape(), func(n int) bool { return n > 0 && n%2 == 0 }); d >= 0 {
			split := make(shard.Split, a.Rank())
			split[d] = "half"
			l.Inputs["x"+string(rune('a'+i))] = split
			break
		}
	}
	p, err := shard.Propagate(oneCall(o, s.Attrs, s.In), lowering.Options{}, l)
	if len(l.Inputs) == 0 || errors.Is(err, shard.Conflict) {
		return nil
	}
	require.NoError(t, err, "%s, %s", o.Key(), s.Name)
	return p
}

// TestVerifyRefusesShardings shows that the verifier's check can fail.
func TestVerifyRefusesShardings(t *testing.T) {
	q := sharded(t, layer(t), shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 4}}, Inputs: map[string]shard.Split{"x": {"a", ""}}})
	good := "{devices=[4,1]<=[4]}"
	require.Equal(t, 3, strings.Count(q.String(), good), "the argument, the value and the result")
	for _, bad := range []string{"{devices=[3,1]<=[3]}", "{devices=[4]<=[4]}", "{devices=[1,5]<=[5]}", "{devices=[4,1]<=[2,2]T(0,0)}", "{devices=[2,1]<=[4]}", "{maximal}"} {
		for at := range 3 {
			parts := strings.SplitN(q.String(), good, at+2)
			text := strings.Join(parts[:at+1], good) + bad + parts[at+1]
			code, err := stablehlo.Parse(text)
			require.NoError(t, err)
			require.Error(t, stablehlo.Verify(code), "%s at %d", bad, at)
		}
	}
	code, err := stablehlo.Parse(strings.Replace(q.String(), `"Sharding"`, `"Other"`, 1))
	require.NoError(t, err)
	require.ErrorContains(t, stablehlo.Verify(code), `calls "Other"`)
}

// TestShardedProgramIsWhole: a program of a plan computes what the one for one device does.
func TestShardedProgramIsWhole(t *testing.T) {
	q := sharded(t, layer(t), shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}, {Name: "b", Size: 4}}, Inputs: map[string]shard.Split{"x": {"a", "b"}},
		Stored: map[string]shard.Split{"fc.weight": {"a", ""}}})
	require.Equal(t, []int{6, 24}, q.Weights[0].Local)
	require.Contains(t, q.String(), `"stablehlo.custom_call"(%arg1) {call_target_name = "Sharding", mhlo.sharding = "{devices=[1,4,2]`)
	p, err := xla.Emit(layer(t), lowering.Options{})
	require.NoError(t, err)
	g := &op.Gen{}
	in := []*array.Array{g.Normal(8, 24), g.Normal(12, 24)}
	fxtest.Same(t, "layer", evaluate(t, p, in), evaluate(t, q, in))
	inputs, weights := q.Bytes()
	require.Equal(t, 8*24*4/8, inputs)
	require.Equal(t, 12*24*4/2, weights)
}

// bert plans a network with two tensors a layer and the batch laid out.
func bert(t *testing.T, m *graph.Module, mesh shard.Mesh, sizes map[string]int) *shard.Plan {
	l := shard.Layout{Mesh: mesh, Inputs: map[string]shard.Split{"input_ids": {"data", ""}}, Weights: map[string]shard.Split{}}
	for _, p := range m.Params() {
		if strings.Contains(p.Path, ".self.") || strings.Contains(p.Path, "intermediate.dense") {
			l.Weights[p.Path] = shard.Split{"tensor", ""}[:p.TypeOf().Rank()]
		}
	}
	plan, err := shard.Propagate(m, lowering.Options{Shapes: sizes}, l)
	require.NoError(t, err)
	require.Len(t, plan.Exchanges, len(l.Weights)/4)
	return plan
}

// TestShardedBert: programs of BERT over a mesh are accepted, and a small one of its form
// evaluates to what the program for one device does.
func TestShardedBert(t *testing.T) {
	mesh := shard.Mesh{{Name: "data", Size: 2}, {Name: "tensor", Size: 4}}
	whole := models.Lookup("bert_base")
	p, err := xla.EmitSharded(bert(t, traceModel(t, whole, whole.New()), mesh, map[string]int{"N": 4, "S": 64}))
	require.NoError(t, err)
	require.Greater(t, strings.Count(p.String(), "custom_call"), 300)
	verifies(t, []string{p.String()})
	small := *whole
	small.New = func() any {
		return models.NewBert(models.BertConfig{VocabSize: 32, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 16, NumLayers: 2, NumHeads: 4, IntermediateSize: 32, LayerNormEps: 1e-12})
	}
	module := small.New()
	models.Synthetic(&small, module, "gofx-1")
	m := traceModel(t, &small, module)
	sizes := map[string]int{"N": 2, "S": 8}
	g := &op.Gen{}
	in := []*array.Array{g.Int(32, 2, 8), g.Int(2, 2, 8)}
	plan := bert(t, m, mesh, sizes)
	sharded, err := xla.EmitSharded(plan)
	require.NoError(t, err)
	single, err := xla.Emit(m, lowering.Options{Shapes: sizes})
	require.NoError(t, err)
	fxtest.Same(t, "bert", evaluate(t, single, arguments(single, m, in)), evaluate(t, sharded, arguments(sharded, m, in)))
	again, err := xla.EmitSharded(plan)
	require.NoError(t, err)
	require.Equal(t, sharded.String(), again.String(), "the text is deterministic, and a plan is not used up")
}

// TestStagedPrograms: each stage of a network over a mesh is a program, and these, one after the
// other, evaluate to what the program of the whole does.
func TestStagedPrograms(t *testing.T) {
	m := layers(t, 3)
	single, err := xla.Emit(m, lowering.Options{})
	require.NoError(t, err)
	g := &op.Gen{}
	weights := map[string]*array.Array{}
	for _, w := range single.Weights {
		weights[w.Name] = g.Uniform(-0.3, 0.3, w.Dims...)
	}
	given := func(p *xla.Program, in []*array.Array) []*array.Array {
		for _, w := range p.Weights {
			in = append(in, weights[w.Name])
		}
		return in
	}
	x := g.Normal(4, 8)
	pipe, err := shard.Stages(m, lowering.Options{}, 3)
	require.NoError(t, err)
	plans, err := pipe.Propagate(shard.Layout{Mesh: shard.Mesh{{Name: "a", Size: 2}, {Name: "b", Size: 2}},
		Inputs: map[string]shard.Split{"x": {"a", ""}}, Weights: map[string]shard.Split{"w1": {"b", ""}},
		Values: map[string]shard.Split{"h1": {"a", "b"}, "s1": {"a", ""}}})
	require.NoError(t, err)
	require.NotEmpty(t, plans[1].Exchanges)
	var texts []string
	var done [][]*array.Array
	for i, plan := range plans {
		p, err := xla.EmitSharded(plan)
		require.NoError(t, err)
		texts = append(texts, p.String())
		var in []*array.Array
		for _, from := range pipe.Stages[i].Inputs {
			if from.Stage < 0 {
				in = append(in, x)
			} else {
				in = append(in, done[from.Stage][from.Index])
			}
		}
		done = append(done, evaluate(t, p, given(p, in)))
	}
	last := pipe.Outputs[0]
	fxtest.Same(t, "stages", evaluate(t, single, given(single, []*array.Array{x})), []*array.Array{done[last.Stage][last.Index]})
	verifies(t, texts)
}

// layers is a chain of linear layers with residual sums.
func layers(t *testing.T, n int) *graph.Module {
	text, params, x := "gofx 1\ngraph chain(%x: f32[4,8]) {\n", "", "x"
	for i := range n {
		k := string(rune('0' + i))
		text += "  %v" + k + " = get_attr[w" + k + "] : f32[8,8]\n  %h" + k + " = call_function[linear](%" + x + ", %v" + k + ") : f32[4,8]\n" +
			"  %t" + k + " = call_function[tanh](%h" + k + ") : f32[4,8]\n  %s" + k + " = call_function[add](%t" + k + ", %" + x + ") : f32[4,8]\n"
		params += "param w" + k + " : f32[8,8]\n"
		x = "s" + k
	}
	m, err := graph.Parse([]byte(text+"  return %"+x+"\n}\n"+params), "chain.fx")
	require.NoError(t, err)
	return m
}
