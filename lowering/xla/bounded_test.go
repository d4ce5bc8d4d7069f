package xla_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
)

func parsedModule(t *testing.T, text string) *graph.Module {
	m, err := graph.Parse([]byte("gofx 1\n"+text), "model.fx")
	require.NoError(t, err)
	return m
}

const open = `graph open(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[6,4]
  %b = get_attr[b] : f32[6]
  %h = call_function[linear](%x, %w, %b) : f32[N,6]
  %g = call_function[gelu](%h) : f32[N,6]
  %s = call_function[softmax](%g) {dim=-1} : f32[N,6]
  %t = call_function[reshape](%s) {shape=[N,2,3]} : f32[N,2,3]
  %p = call_function[permute](%t) {dims=[1,0,2]} : f32[2,N,3]
  %m = call_function[sum](%p) {dim=[1]} : f32[2,3]
  return (%p, %m)
}
param w : f32[6,4]
param b : f32[6]
`

// TestBoundedSizes: one program computes for every size up to the bound what the program for that
// size does, reads back as itself, and is taken by mlir-opt.
func TestBoundedSizes(t *testing.T) {
	m := parsedModule(t, open)
	p, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": 8})
	require.NoError(t, err)
	text := p.String()
	require.Contains(t, text, "@main(%arg0: tensor<8x4xf32>, %arg1: tensor<6x4xf32>, %arg2: tensor<6xf32>, %arg3: tensor<i32>) -> (tensor<2x8x3xf32>, tensor<2x3xf32>)")
	require.Contains(t, text, `"stablehlo.set_dimension_size"(%arg0, %arg3) {dimension = 0 : i64} : (tensor<8x4xf32>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>`)
	require.Equal(t, []string{"N"}, p.Sizes)
	require.Equal(t, "f32[2,N,3]", p.Outputs[0].String())
	require.Equal(t, []bool{true, false}, p.Inputs[0].Bounded)
	for n := 1; n <= 8; n++ {
		q, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
		require.NoError(t, err)
		g := &op.Gen{}
		in := []*array.Array{g.Normal(n, 4), g.Normal(6, 4), g.Normal(6)}
		fxtest.Same(t, "open", evaluate(t, q, in), within(t, p, in, map[string]int{"N": n}))
	}
	verifies(t, []string{text})
	code, err := stablehlo.Parse(text)
	require.NoError(t, err)
	for _, sizes := range []map[int]int{{3: 9}, {3: -1}, {0: 8}, nil} {
		_, err := code.Bind(sizes)
		require.Error(t, err)
	}
}

// within evaluates a program of bounded sizes.
func within(t *testing.T, p *xla.Program, in []*array.Array, sizes map[string]int) []*array.Array {
	t.Helper()
	return cutTo(t, p, evaluate(t, p, filled(p, in, sizes)), sizes)
}

// filled are inputs as large as the bounds. After the sizes of a run they are NaN, or numbers that
// are no index.
func filled(p *xla.Program, in []*array.Array, sizes map[string]int) []*array.Array {
	in = slices.Clone(in)
	for i, a := range p.Inputs {
		full := array.New(a.DType, a.Dims...)
		for k := range full.Len() {
			array.SetFloat64At(full, k, math.NaN())
			if !a.DType.IsFloat() {
				array.SetInt64At(full, k, 99)
			}
		}
		array.Copy(first(full, in[i].Shape()), in[i])
		in[i] = full
	}
	for _, name := range p.Sizes {
		in = append(in, array.Scalar(int32(sizes[name])))
	}
	return in
}

// cutTo are the results of a run with sizes.
func cutTo(t testing.TB, p *xla.Program, out []*array.Array, sizes map[string]int) []*array.Array {
	t.Helper()
	out = slices.Clone(out)
	for i, o := range p.Outputs {
		dims := make([]int, o.Rank())
		for d := range dims {
			n, err := o.Dim(d).Eval(func(s string) (int, bool) { n, ok := sizes[s]; return n, ok })
			require.NoError(t, err)
			dims[d] = n
		}
		out[i] = array.Contiguous(first(out[i], dims))
	}
	return out
}

// first is the view of an array's first elements of each dimension.
func first(a *array.Array, dims []int) *array.Array {
	for d, n := range dims {
		a = array.Slice(a, d, 0, n, 1)
	}
	return a
}

// TestBoundedRefuses: what needs a size as a number is named, at the call.
func TestBoundedRefuses(t *testing.T) {
	for want, text := range map[string]string{
		"node %y: mean: target xla cannot leave a size open":                "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[mean](%x) {dim=[0]} : f32[4]\n  return %y\n}\n",
		"cannot leave a size open: the result is f32[*] before it is known": "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[squeeze](%x) : f32[*]\n  return %y\n}\n",
		"node %y: mean: target xla":                                         "graph g(%x: bf16[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[mean](%x) {dim=[0]} : bf16[4]\n  return %y\n}\n",
		"node %y: reshape: ":                                                "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[reshape](%x) {shape=[-1]} : f32[4*N]\n  return %y\n}\n",
		"node %y: cat: ":                                                    "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[cat](%x, %x) {dim=0} : f32[2*N,4]\n  return %y\n}\n",
		"node %y: flip: ":                                                   "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[flip](%x) {dims=[0]} : f32[N,4]\n  return %y\n}\n",
		"node %s: sort: ":                                                   "graph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %s = call_function[sort](%x) {dim=0} : (f32[N,4], i64[N,4])\n  %y = call_function[getitem](%s) {index=0} : f32[N,4]\n  return %y\n}\n",
		"dimension 0 of tensor<16x4xf32>":                                   "graph g(%x: f32[2*N,4], %z: f32[N,4]) {\n  symbol N = dim(%z, 0)\n  %y = call_function[neg](%x) : f32[2*N,4]\n  return %y\n}\n",
		"node %y: adaptive_avg_pool1d: ":                                    "graph g(%x: f32[2,3,N]) {\n  symbol N = dim(%x, 2)\n  %y = call_function[adaptive_avg_pool1d](%x) {output_size=[4]} : f32[2,3,4]\n  return %y\n}\n",
	} {
		most := 8
		if strings.Contains(text, "bf16") { // near which numbers of its 8 digits are the same
			most = 1000
		}
		_, err := xla.EmitBounded(parsedModule(t, text), lowering.Options{}, map[string]int{"N": most})
		require.ErrorIs(t, err, lowering.Unsupported, want)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "pin the symbol")
	}
	_, err := xla.EmitBounded(parsedModule(t, open), lowering.Options{}, map[string]int{"N": 1})
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = xla.EmitBounded(parsedModule(t, open), lowering.Options{}, map[string]int{"M": 8})
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = xla.EmitBounded(parsedModule(t, open), lowering.Options{Shapes: map[string]int{"N": 3}}, map[string]int{"N": 8})
	require.ErrorIs(t, err, lowering.BadOption)
	require.ErrorContains(t, err, "symbol N has the bound 8, and is pinned to 3")
	_, err = xla.EmitBounded(parsedModule(t, open), lowering.Options{}, nil)
	require.ErrorIs(t, err, lowering.UnknownSize)
}

// TestVerifyRefusesBounds shows that the verifier's rules of bounds can fail.
func TestVerifyRefusesBounds(t *testing.T) {
	const size = "%0 = \"stablehlo.constant\"() {value = dense<8> : tensor<i32>} : () -> tensor<i32>\n    "
	for _, body := range []string{
		size + "%1 = \"stablehlo.set_dimension_size\"(%arg0, %0) {dimension = 0 : i64} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
		strings.Replace(size, "8", "7", 1) + "%1 = \"stablehlo.set_dimension_size\"(%arg0, %0) {dimension = 0 : i64} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<8x4xf32>",
		size + "%1 = \"stablehlo.set_dimension_size\"(%arg0, %0) {dimension = 1 : i64} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>, tensor<i32>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
		"%0 = \"stablehlo.slice\"(%arg0) {limit_indices = array<i64: 8, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
		"%0 = \"stablehlo.broadcast_in_dim\"(%arg0) {broadcast_dimensions = array<i64: 0, 1>} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x?xf32, #stablehlo.bounds<8, 4>>",
		"%0 = \"stablehlo.negate\"(%arg0) : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<8x4xf32>",
		"%0 = \"stablehlo.reverse\"(%arg0) {dimensions = array<i64: 0>} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x4xf32, #stablehlo.bounds<8, ?>>",
		"%0 = \"stablehlo.reshape\"(%arg0) : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?xf32, #stablehlo.bounds<32>>",
		"%0 = \"stablehlo.transpose\"(%arg0) {permutation = array<i64: 1, 0>} : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<?x8xf32, #stablehlo.bounds<4, ?>>",
	} {
		result := body[strings.LastIndex(body, "-> ")+len("-> "):]
		code, err := stablehlo.Parse("module @m {\n  func.func public @main(%arg0: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> (" + result + ") {\n    " + body + "\n    \"func.return\"(%" + strconv.Itoa(strings.Count(body, "\n")) + ") : (" + result + ") -> ()\n  }\n}\n")
		require.NoError(t, err)
		require.Error(t, stablehlo.Verify(code), body)
	}
}

// TestBoundedModels: which networks have one program for their symbols; those that have not are
// specialised, each for a reason that names a call.
func TestBoundedModels(t *testing.T) {
	var texts, specialised []string
	for _, model := range models.All() {
		bounds := map[string]int{}
		for s, n := range model.Dims {
			bounds[s] = max(n, 4)
		}
		p, err := xla.EmitBounded(traceModel(t, model, model.New()), lowering.Options{}, bounds)
		if err != nil {
			require.True(t, errors.Is(err, lowering.Unsupported) || errors.Is(err, lowering.BadOption), err.Error())
			specialised = append(specialised, model.Name)
			continue
		}
		texts = append(texts, p.String())
	}
	// windows and branches that are joined to the batch, regions that see other values, sizes of images that
	// filters reduce, running counts, a table cut by a length, and bags of indices
	require.Equal(t, []string{"swin_t", "tridentnet", "blockdrop", "fcn_resnet50", "deeplabv3_mobilenet_v3_large", "unet", "roberta_base", "roberta_large",
		"deberta_base", "lstm_10x256", "gru_bidir", "attn_decoder", "greedy_decoder", "wordseg", "dlrm"}, specialised)
	require.Len(t, texts, 31)
	verifies(t, texts)
}

// smalls are networks of the form of large ones, and the most that the numbers of their inputs are.
var smalls = map[string]struct {
	new   func() any
	below []int
}{
	"bert_base": {func() any {
		return models.NewBert(models.BertConfig{VocabSize: 32, MaxPositions: 16, TypeVocabSize: 2, HiddenSize: 16, NumLayers: 1, NumHeads: 4, IntermediateSize: 32, LayerNormEps: 1e-12})
	}, []int{32, 2}},
	"gpt2": {func() any {
		return models.NewGPT2(models.GPT2Config{VocabSize: 32, MaxPositions: 16, Width: 16, NumLayers: 2, NumHeads: 4, LayerNormEps: 1e-5})
	}, []int{32}},
}

// TestBoundedNetworks: networks that have one program for their symbols, the small ones on every change,
// compute in it what those of single sizes do, and what the interpreter does.
func TestBoundedNetworks(t *testing.T) {
	ran := 0
	boundedNetworks(t, func(model *models.Model, m *graph.Module, p *xla.Program, below []int) {
		ran++
		q, err := xla.Emit(m, lowering.Options{Shapes: model.Dims})
		require.NoError(t, err)
		in, want := interpretedModel(t, model, m, q, below)
		got := within(t, p, arguments(p, m, in), model.Dims)
		fxtest.Close(t, model.Name, evaluate(t, q, arguments(q, m, in)), got)
		fxtest.Close(t, model.Name, want, got)
	})
	t.Log(ran, "sizes of networks")
	require.GreaterOrEqual(t, ran, 3*3, "bert_base, gpt2 and mlp")
}

// boundedNetworks calls f with networks that have one program for their symbols, and with sizes of these.
func boundedNetworks(t *testing.T, f func(model *models.Model, m *graph.Module, p *xla.Program, below []int)) {
	t.Helper()
	for _, found := range models.All() {
		model, small := *found, smalls[found.Name]
		if small.new != nil {
			model.New = small.new
		}
		most := map[string]int{}
		for s := range model.Dims {
			most[s] = map[string]int{"N": 4, "S": 8}[s]
		}
		net := model.New()
		m := traceModel(t, &model, net)
		if len(most) == 0 || slices.Contains(slices.Collect(maps.Values(most)), 0) || flopsOf(m, most) > evaluated {
			continue
		}
		p, err := xla.EmitBounded(m, lowering.Options{}, most)
		if err != nil {
			require.ErrorIs(t, err, lowering.Unsupported)
			continue
		}
		models.Synthetic(&model, net, "gofx-1")
		m = traceModel(t, &model, net)
		for _, sizes := range []map[string]int{{"N": 4, "S": 8}, {"N": 1, "S": 8}, {"N": 3, "S": 1}, {"N": 2, "S": 5}, {"N": 1, "S": 1}} {
			maps.DeleteFunc(sizes, func(s string, _ int) bool { return most[s] == 0 })
			model.Dims = sizes
			f(&model, m, p, small.below)
		}
	}
}

// interpretedModel returns inputs of the model's sizes, which q is for, and what the interpreter makes of them.
func interpretedModel(t *testing.T, model *models.Model, m *graph.Module, q *xla.Program, below []int) (in, want []*array.Array) {
	g := &op.Gen{}
	for i, n := range below {
		in = append(in, array.Cast(g.Int(n, q.Inputs[i].Dims...), q.Inputs[i].DType))
	}
	if below == nil {
		x, err := model.SyntheticInputs("gofx-1")
		require.NoError(t, err)
		for i := range x {
			in = append(in, x[i].Array())
		}
	}
	want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
	require.NoError(t, err)
	return in, want
}

// singles are results with f64 as f32, which they may have been made of.
func singles(list []*array.Array) []*array.Array {
	out := slices.Clone(list)
	for i, a := range out {
		if a.DType() == array.F64 {
			out[i] = array.Cast(a, array.F32)
		}
	}
	return out
}

// TestBoundedRandom: random graphs with symbols, left open where they can be, compute what the
// interpreter does for every size.
func TestBoundedRandom(t *testing.T) {
	ran, refused := 0, 0
	check := func(rt *rapid.T) (open bool) {
		m := fxtest.RandomGraph(rt)
		bounds := map[string]int{}
		for _, s := range m.Graph.Symbols() {
			if s.Node.Opcode() == graph.Placeholder {
				bounds[s.Name] = rapid.IntRange(2, 6).Draw(rt, s.Name)
			}
		}
		if len(bounds) == 0 {
			return false
		}
		p, err := xla.EmitBounded(m, lowering.Options{}, bounds)
		if err != nil {
			refused++
			return false
		}
		ran++
		for range 4 {
			sizes := map[string]int{}
			for _, s := range p.Sizes {
				sizes[s] = rapid.IntRange(1, bounds[s]).Draw(rt, "size")
			}
			q, err := xla.Emit(m, lowering.Options{Shapes: sizes})
			if err != nil {
				continue // the graph does not take this size
			}
			g := &op.Gen{}
			var in []*array.Array
			for _, a := range append(q.Inputs, q.Weights...) {
				in = append(in, array.Cast(g.Normal(a.Dims...), a.DType))
			}
			for i, w := range q.Weights {
				param := *m.Param(w.Name)
				param.Value = in[len(q.Inputs)+i]
				m.SetParam(param)
			}
			run := interp.Interpreter{State: interp.NewState(m)}
			want, err := run.RunArrays(ctx, in[:len(q.Inputs)])
			require.NoError(rt, err)
			got := within(t, p, in, sizes)
			require.Empty(rt, fxtest.CloseArrays(evaluate(t, q, in), got), "%v: %s\n%s", sizes, m.Graph, p)
			require.Empty(rt, fxtest.CloseArrays(singles(want), singles(got)), "%v: %s\n%s", sizes, m.Graph, p)
		}
		return true
	}
	fixed := rapid.Custom(check) // the same graphs each time: of those that are drawn again all may have no symbols
	for k := range 20 {
		fixed.Example(k)
	}
	require.Positive(t, ran)
	rapid.Check(t, func(rt *rapid.T) { check(rt) })
	t.Log(ran, "left open,", refused, "specialised")
}
