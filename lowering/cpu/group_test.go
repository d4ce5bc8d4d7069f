package cpu_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
)

// steps lists the steps of a module's plan, a line each, without their positions.
func steps(t *testing.T, m *graph.Module, o lowering.Options) string {
	t.Helper()
	ready, err := lowering.Prepare(m, o)
	require.NoError(t, err)
	p, err := cpu.Plan(ready, o)
	require.NoError(t, err)
	var list []string
	for _, line := range strings.Split(p.String(), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] >= '0' && line[0] <= '9' {
			list = append(list, line)
		}
	}
	return strings.Join(list, "\n")
}

// bump is an elementwise operator as a user defines one.
var bump = op.Unary("group_bump", "group_bump is 1/(1+x*x).", func(b *expr.Builder, x expr.Value) expr.Value {
	return b.Reciprocal(b.Add(b.Like(x, 1), b.Mul(x, x)))
})

// golden is a graph and the steps of its plan.
type golden struct{ name, text, want string }

var grouped = []golden{
	{"all parts of an epilogue, in order", `
graph net(%x: f32[N,4,6,6], %r: f32[N,8,6,6]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4,3,3]
  %s = get_attr[s] : f32[8,1,1]
  %b = get_attr[b] : f32[1,8,1,1]
  %c = call_function[conv2d](%x, %w) {padding=[1]} : f32[N,8,6,6]
  %m = call_function[mul](%s, %c) : f32[N,8,6,6]
  %a = call_function[add](%m, %b) : f32[N,8,6,6]
  %p = call_function[add](%r, %a) : f32[N,8,6,6]
  %y = call_function[relu6](%p) : f32[N,8,6,6]
  return %y
}
param w : f32[8,4,3,3]
param s : f32[8,1,1]
param b : f32[1,8,1,1]
`, `0: y = ConvPacked{Stride: [1 1], PadLo: [1 1], PadHi: [1 1], Dilation: [1 1], Groups: 1, Channels: 8, Kernel: [3 3], In: [6 6], Act: ReLU6} (x, w, b, s, r) # conv2d+mul+add+…+relu6`},
	{"a clamp to any interval, of a product with a weight on the right", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[4,8]
  %c = call_function[matmul](%x, %w) : f32[N,8]
  %y = call_function[clamp](%c) {min=-0.5, max=0.25} : f32[N,8]
  return %y
}
param w : f32[4,8]
`, `0: y = LinearPacked{Features: 8, Act: Clamp, Lo: -0.5, Hi: 0.25} (x, w) # matmul+clamp`},
	{"a tied weight is read as it is and packed", `
graph net(%i: i64[N]) {
  symbol N = dim(%i, 0)
  %w = get_attr[w] : f32[8,4]
  %x = call_function[embedding](%i, %w) : f32[N,4]
  %t = call_function[transpose](%w) {dim0=0, dim1=1} : f32[4,8]
  %y = call_function[matmul](%x, %t) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: x = Embedding{} (i, w) # embedding
1: y = LinearPacked{Features: 8} (x, w_2) # matmul`},
	{"dropout and clone between are nothing", `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %d = call_function[dropout](%c) {p=0.5} : f32[N,8]
  %e = call_function[clone](%d) : f32[N,8]
  %y = call_function[relu](%e) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: y = LinearPacked{Features: 8, Act: ReLU} (x, w) # linear+dropout+clone+relu`},
	{"a bias behind a residual, and an activation that does not clamp", `
graph net(%x: f32[N,4], %r: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %b = get_attr[b] : f32[8]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %p = call_function[add](%c, %r) : f32[N,8]
  %a = call_function[add](%p, %b) : f32[N,8]
  %y = call_function[tanh](%a) : f32[N,8]
  return %y
}
param w : f32[8,4]
param b : f32[8]
`, `0: p = LinearPacked{Features: 8} (x, w, _, _, r) # linear+add
1: y = Elementwise{add tanh} (p, b) # add+tanh`},
	{"a residual that broadcasts", `
graph net(%x: f32[N,4], %r: f32[N,1]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[add](%c, %r) : f32[N,8]
  return %y
}
param w : f32[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{add} (c, r) # add`},
	{"16-bit sums are rounded before they are used", `
graph net(%x: f16[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f16[8,4]
  %c = call_function[linear](%x, %w) : f16[N,8]
  %y = call_function[relu](%c) : f16[N,8]
  return %y
}
param w : f16[8,4]
`, `0: c = LinearPacked{Features: 8} (x, w) # linear
1: y = Elementwise{cast max cast} (c) # relu`},
	{"a weight that is no parameter", `
graph net(%x: f32[N,4], %w: f32[8,4]) {
  symbol N = dim(%x, 0)
  %c = call_function[linear](%x, %w) : f32[N,8]
  %y = call_function[relu](%c) : f32[N,8]
  return %y
}
`, `0: y = LinearFused{Act: ReLU} (x, w) # linear+relu`},
	{"a weight that is written", `
graph net(%x: f32[8,4]) {
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[8,8]
  %u = call_function[assign](%w, %x) : f32[8,4]
  return %c
}
param w : f32[8,4]
`, `0: c = Linear{} (x, w) # linear
1: w = Copy{} (x) # assign`},
	{"a read of what is written in between stays before it", `
graph net(%x: f32[4]) {
  %s = get_attr[s] : f32[4]
  %a = call_function[neg](%s) : f32[4]
  %u = call_function[assign](%s, %x) : f32[4]
  %y = call_function[mul](%a, %x) : f32[4]
  return %y
}
param s : f32[4]
`, `0: a = Elementwise{neg} (s) # neg
1: s = Copy{} (x) # assign
2: y = Elementwise{mul} (a, x) # mul`},
	{"other sizes, and a user's operator", `
graph net(%x: f32[N,4], %v: f32[4]) {
  symbol N = dim(%x, 0)
  %e = call_function[exp](%v) : f32[4]
  %f = call_function[neg](%e) : f32[4]
  %a = call_function[add](%x, %f) : f32[N,4]
  %y = call_function[group_bump](%a) : f32[N,4]
  return %y
}
`, `0: f = Elementwise{exp neg} (v) # exp+neg
1: y = Elementwise{add mul add reciprocal} (x, f) # add+group_bump`},
	{"a reduction of what nothing else reads", `
graph net(%x: f32[N,4,6], %y: f32[N,4,6]) {
  symbol N = dim(%x, 0)
  %d = call_function[sub](%x, %y) : f32[N,4,6]
  %m = call_function[mul](%d, %d) : f32[N,4,6]
  %s = call_function[mean](%m) {dim=[1]} : f32[N,6]
  %e = call_function[exp](%s) : f32[N,6]
  %z = call_function[amax](%e) : f32[]
  return (%z, %s)
}
`, `0: s = ElementwiseReduce{sub mul Shape: [0 4 6], Kinds: ["mean"], Dims: [1]} with Shape[0] = N (x, y) # sub+mul+mean
1: z = ElementwiseReduce{exp Shape: [0 6], Kinds: ["max"], Dims: [0 1]} with Shape[0] = N (s) # exp+amax`},
	{"a result in the middle", `
graph net(%x: f32[N]) {
  symbol N = dim(%x, 0)
  %a = call_function[exp](%x) : f32[N]
  %b = call_function[neg](%a) : f32[N]
  return (%a, %b)
}
`, `0: a = Elementwise{exp} (x) # exp
1: b = Elementwise{neg} (a) # neg`},
	{"attention has a kernel", `
graph net(%q: f32[N,2,6,8], %k: f32[N,2,6,8], %v: f32[N,2,6,8]) {
  symbol N = dim(%q, 0)
  %y = call_function[scaled_dot_product_attention](%q, %k, %v) {is_causal=true} : f32[N,2,6,8]
  return %y
}
`, `0: y = Attention{IsCausal: true} (q, k, v) # scaled_dot_product_attention`},
}

func TestGroups(t *testing.T) {
	require.NotNil(t, bump)
	for _, c := range slices.Concat(grouped, programs, changing, prologues, rowed, refused) {
		t.Run(c.name, func(t *testing.T) {
			m := module(t, strings.ReplaceAll(c.text, "group_bump", bump.Key()))
			require.Equal(t, c.want, steps(t, m, lowering.Options{}))
			exact := steps(t, m, lowering.Options{Exact: true})
			require.NotContains(t, exact, "Packed")
			require.NotContains(t, exact, "Attention")

			var g op.Gen
			var in []*array.Array
			for _, n := range m.Graph.Inputs() {
				dims := n.Type().Dims().Slice()
				shape := make([]int, len(dims))
				for i, d := range dims {
					if shape[i] = 3; !d.Is(3) {
						if k, ok := d.Int(); ok {
							shape[i] = k
						}
					}
				}
				x := array.Cast(g.Normal(shape...), n.Type().DType())
				if n.Type().DType() == array.I64 {
					x = g.Int(3, shape...)
				}
				in = append(in, x)
			}
			if !strings.Contains(c.text, "assign") {
				agrees(t, c.name, m, interpret(t, m, in...), in)
				return
			}
			out, err := compile(t, m, lowering.Options{}).Run(ctx, in)
			require.NoError(t, err)
			near(t, c.name, interpret(t, m, in...), out)
		})
	}
}

// TestLongChainsAreCut makes a chain longer than a step may be, and one of more
// operands.
func TestLongChainsAreCut(t *testing.T) {
	text := "graph net(%x: f32[N]"
	for i := range 20 {
		text += ", %w" + string(rune('a'+i)) + ": f32[N]"
	}
	text += ") {\n  symbol N = dim(%x, 0)\n  %y0 = call_function[neg](%x) : f32[N]\n"
	last := "%y0"
	for i := range 150 {
		next := "%y" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		text += "  " + next + " = call_function[add](" + last + ", %w" + string(rune('a'+i%20)) + ") : f32[N]\n"
		last = next
	}
	m := module(t, text+"  return "+last+"\n}\n")
	list := strings.Split(steps(t, m, lowering.Options{}), "\n")
	require.Greater(t, len(list), 8)
	for _, line := range list {
		require.LessOrEqual(t, strings.Count(line, ", "), 15, line)
	}
	var g op.Gen
	var in []*array.Array
	for range m.Graph.Inputs() {
		in = append(in, g.Normal(5))
	}
	agrees(t, "chain", m, interpret(t, m, in...), in)
}

const layer = `
graph net(%x: f32[N,4]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,4]
  %c = call_function[linear](%x, %w) : f32[N,8]
  return %c
}
param w : f32[8,4]
`

// TestWeightsThatChangeArePackedAgain writes a weight, and replaces a live one.
func TestWeightsThatChangeArePackedAgain(t *testing.T) {
	m := module(t, layer)
	var g op.Gen
	x := g.Normal(3, 4)
	e := compile(t, m, lowering.Options{})
	run := func() {
		t.Helper()
		out, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		near(t, "", interpret(t, m, x), out)
	}
	run()
	require.Equal(t, 0, e.Packings())
	w := m.Param("w").Value
	array.Data[float32](w)[5] = 40
	w.Storage().Bump()
	run()
	run()
	require.Equal(t, 1, e.Packings(), "once for one write")

	live := strings.Replace(layer, "[w] :", "[w] live :", 1)
	m = module(t, live)
	e = compile(t, m, lowering.Options{})
	run()
	m.Param("w").Value = g.Normal(8, 4)
	run()
	require.Equal(t, 1, e.Packings())
	m.Param("w").Value = g.Normal(8, 5)
	_, err := e.Run(ctx, []*array.Array{x})
	require.ErrorContains(t, err, "tensor w is f32[8,5], the graph was compiled for f32[8,4]")
	m.Param("w").Value = w
	run()
}

// TestOriginalsAreNotKept drops a module of which an executable reads a packed weight
// alone.
func TestOriginalsAreNotKept(t *testing.T) {
	m := module(t, layer)
	w := weak.Make(m.Param("w").Value.Storage())
	e := compile(t, m, lowering.Options{})
	require.GreaterOrEqual(t, e.Footprint().Packed, int64(8*4*4))
	m = nil
	for range 10 {
		runtime.GC()
	}
	require.Nil(t, w.Value())
	_, err := e.Run(ctx, []*array.Array{array.New(array.F32, 2, 4)})
	require.NoError(t, err)
}

// TestPackingWhileOthersRun writes a weight between runs of many goroutines: each run
// sees one version or the other.
func TestPackingWhileOthersRun(t *testing.T) {
	m := module(t, layer)
	var g op.Gen
	x := g.Normal(64, 4)
	e := compile(t, m, lowering.Options{})
	w := m.Param("w").Value
	var wg sync.WaitGroup
	var written atomic.Bool
	for range 4 {
		wg.Go(func() {
			for i, last := 0, false; i < 50 || !last; i++ { // one run at least begins after all writes
				last = written.Load()
				if _, err := e.Run(ctx, []*array.Array{x}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		w.Storage().Bump()
	}
	written.Store(true)
	wg.Wait()
	require.Positive(t, e.Packings())
}

const image = `
graph net(%x: f32[N,16,H,W]) {
  symbol N = dim(%x, 0)
  symbol H = dim(%x, 2)
  symbol W = dim(%x, 3)
  %w = get_attr[w] : f32[16,16,3,3]
  %a = call_function[conv2d](%x, %w) {padding=[1]} : f32[N,16,H,W]
  %b = call_function[tanh](%a) : f32[N,16,H,W]
  %c = call_function[cat](%a, %b) {dim=1} : f32[N,32,H,W]
  %y = call_function[relu](%c) : f32[N,32,H,W]
  return %y
}
param w : f32[16,16,3,3]
`

// TestSizesThatComeAgain runs a network of symbolic sizes with more sizes than there
// are plans for.
func TestSizesThatComeAgain(t *testing.T) {
	m := module(t, image)
	e := compile(t, m, lowering.Options{})
	require.Contains(t, e.Plan().String(), "In: [224 224]}", "no size is known")
	var g op.Gen
	run := func(n, h, w int) {
		t.Helper()
		x := g.Normal(n, 16, h, w)
		out, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		near(t, "", interpret(t, m, x), out)
		again, err := e.Run(ctx, []*array.Array{x})
		require.NoError(t, err)
		same(t, out, again)
	}
	_, err := e.Run(ctx, []*array.Array{g.Normal(1, 16, 12, 12)})
	require.NoError(t, err)
	require.Zero(t, e.Stats().Specialised, "sizes that came once")
	run(1, 12, 12)
	require.Equal(t, 1, e.Stats().Specialised)
	for range 3 {
		for i := range 12 {
			run(1+i%2, 6+i, 7)
			run(1+i%2, 6+i, 7)
		}
	}
	require.Equal(t, cpu.MaxSpecialised, e.Stats().Specialised)
	packed := e.Footprint().Packed
	run(1, 12, 12)
	require.Equal(t, packed, e.Footprint().Packed)

	w := m.Param("w").Value
	array.Data[float32](w)[7] = 3
	w.Storage().Bump()
	run(1, 12, 12)
	run(2, 9, 7)
	run(3, 5, 4)

	x := g.Normal(1, 16, 12, 12)
	out := []*array.Array{array.New(array.F32, 1, 32, 12, 12)}
	in := []*array.Array{x}
	require.NoError(t, e.RunInto(ctx, out, in))
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if err := e.RunInto(ctx, out, in); err != nil {
			t.Error(err)
		}
	}))
	_, err = e.Run(ctx, []*array.Array{g.Normal(1, 15, 12, 12)})
	require.Error(t, err)
	_, err = e.Run(ctx, nil)
	require.Error(t, err)
	require.NoError(t, e.Close())
	_, err = e.Run(ctx, in)
	require.ErrorIs(t, err, lowering.Closed)
}

// TestNoPlanIsMadeWhereNothingIsGained runs what is as fast for any size.
func TestNoPlanIsMadeWhereNothingIsGained(t *testing.T) {
	e := compile(t, module(t, layer), lowering.Options{})
	for range 4 {
		_, err := e.Run(ctx, []*array.Array{array.New(array.F32, 2, 4)})
		require.NoError(t, err)
	}
	require.Zero(t, e.Stats().Specialised)
}

// TestNarrowWeights rounds the weights of products, not of convolutions, and holds
// the results against those of a model with rounded weights.
func TestNarrowWeights(t *testing.T) {
	m := module(t, `
graph net(%x: f32[N,8], %r: f32[N,8]) {
  symbol N = dim(%x, 0)
  %w = get_attr[w] : f32[8,8]
  %b = get_attr[b] : f32[8]
  %c = call_function[linear](%x, %w, %b) : f32[N,8]
  %a = call_function[add](%c, %r) : f32[N,8]
  %v = get_attr[v] : f32[8,6]
  %y = call_function[matmul](%a, %v) : f32[N,6]
  %z = call_function[tanh](%y) : f32[N,6]
  return %z
}
param w : f32[8,8]
param b : f32[8]
param v : f32[8,6]
`)
	for _, d := range []array.DType{array.BF16, array.F16} {
		o := lowering.Options{Weights: d}
		require.Equal(t, `0: c = HalfLinear{} (x, w, b) # linear
1: a = Elementwise{add} (c, r) # add
2: y = HalfLinear{} (a, v) # matmul
3: z = Elementwise{tanh} (y) # tanh`, steps(t, m, o))
		var g op.Gen
		in := []*array.Array{g.Normal(5, 8), g.Normal(5, 8)}
		out, err := compile(t, m, o).Run(ctx, in)
		require.NoError(t, err)
		rounded := graph.Clone(m)
		for _, path := range []string{"w", "v"} {
			p := *rounded.Param(path)
			p.Value = array.Cast(array.Cast(p.Value, d), array.F32)
			rounded.SetParam(p)
		}
		near(t, d.String(), interpret(t, rounded, in...), out)
	}
	_, err := cpu.Compile(m, lowering.Options{Weights: array.I8})
	require.ErrorContains(t, err, "expected f16 or bf16")
	_, err = cpu.Compile(m, lowering.Options{Weights: array.BF16, Exact: true})
	require.ErrorContains(t, err, "leave out one of the two")
}
