package codegen_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tensor"
)

// attentionText has two symbols, views of views, a view of a weight, fields that
// depend on symbols and several results.
const attentionText = `
graph attention(%x: f32[B,S,24], %mask: f32[B,S]) {
  symbol B = dim(%x, 0)
  symbol S = dim(%x, 1)
  %w = get_attr[qkv] : f32[24,72]
  %wt = call_function[transpose](%w) {dim0=0, dim1=1} : f32[72,24]
  %qkv = call_function[linear](%x, %wt) : f32[B,S,72]
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
  return %flat, %last
}
param qkv : f32[24,72]
`

// typesText has elements of several types and a result that is an input's view.
const typesText = `
graph types(%ids: i64[N,4], %x: f32[N,4], %flags: bool[N,4]) {
  symbol N = dim(%ids, 0)
  %table = get_attr[table.weight] : f32[10,6]
  %e = call_function[embedding](%ids, %table) : f32[N,4,6]
  %s = call_function[sum](%e) {dim=[2]} : f32[N,4]
  %f = call_function[where](%flags, %s, %x) : f32[N,4]
  %d = call_function[cast](%f) {dtype=f64} : f64[N,4]
  %n = call_function[logical_not](%flags) : bool[N,4]
  %t = call_function[transpose](%ids) {dim0=0, dim1=1} : i64[4,N]
  return %d, %n, %t
}
param table.weight : f32[10,6]
`

// guardText has a size that follows from others, and an equality to be checked.
const guardText = `
graph guarded(%x: f32[N,3], %y: f32[2*N,3], %z: f32[M,3]) {
  symbol N = dim(%x, 0)
  symbol M = dim(%z, 0)
  guard M*M == N*N+N*M
  %j = call_function[cat](%x, %y) {dim=0} : f32[3*N,3]
  return %j
}
`

// viewText has a reshape that is a view for some sizes only, and guards.
const viewText = `
graph views(%x: f32[N,S], %c: f32[N,C]) {
  %a = call_function[slice](%x) {dim=1, start=0, stop=9223372036854775807, step=2}
  %b = call_function[reshape](%a) {shape=[-1]}
  %d = call_function[slice](%b) {dim=0, start=0, stop=9223372036854775807, step=2}
  %e = call_function[neg](%d)
  %t = call_function[transpose](%x) {dim0=0, dim1=1}
  %u = call_function[reshape](%t) {shape=[-1]}
  %g = call_function[glu](%c) {dim=1}
  return %e, %u, %g
}
`

type pair struct {
	Sum  *tensor.Tensor
	Many []*tensor.Tensor
	By   map[string]*tensor.Tensor
}

// structured returns a struct with a slice and a map.
func structured(x *tensor.Tensor) pair {
	a, b := x.AddScalar(1), x.MulScalar(3)
	return pair{Sum: a.Add(b), Many: []*tensor.Tensor{a, b}, By: map[string]*tensor.Tensor{"left": a.Neg(), "right": b.Cast(array.F64)}}
}

// encoderLayer and encoder are a network of equal blocks.
type encoderLayer struct {
	Q, K, V, Out *nn.Linear
	Norm         *nn.LayerNorm
	Up, Down     *nn.Linear
	act          func(*tensor.Tensor) *tensor.Tensor
}

func (l *encoderLayer) Forward(x *tensor.Tensor) *tensor.Tensor {
	h := l.Norm.Forward(x)
	p := tensor.Softmax(l.Q.Forward(h).Matmul(l.K.Forward(h).Transpose(1, 2)).MulScalar(0.25), -1)
	x = x.Add(l.Out.Forward(p.Matmul(l.V.Forward(h))))
	return x.Add(l.Down.Forward(l.act(l.Up.Forward(x))))
}

type encoder struct {
	Layers []*encoderLayer
	Head   *nn.Linear
}

func (e *encoder) Forward(x *tensor.Tensor) *tensor.Tensor {
	for _, l := range e.Layers {
		x = l.Forward(x)
	}
	return e.Head.Forward(x)
}

// newEncoder returns n layers; those from odd on have a wider middle.
func newEncoder(n, odd int) *encoder {
	e := &encoder{Head: nn.NewLinear(16, 5)}
	for i := range n {
		wide := 32
		if i >= odd {
			wide = 48
		}
		e.Layers = append(e.Layers, &encoderLayer{Q: nn.NewLinear(16, 16), K: nn.NewLinear(16, 16), V: nn.NewLinear(16, 16), Out: nn.NewLinear(16, 16),
			Norm: nn.NewLayerNorm([]int{16}), Up: nn.NewLinear(16, wide), Down: nn.NewLinear(wide, 16), act: tensor.Silu})
	}
	return e
}

func encoderSpec(typ string) models.InputSpec { return models.InputSpec{Name: "x", Type: typ} }

// smallCases are models that are built and run together.
func smallCases(t *testing.T) []*kernelCase {
	t.Helper()
	var g op.Gen
	mlp := &kernelCase{name: "mlp", module: zoo(t, "mlp"), flat: true, symbols: []string{"N"}}
	for _, n := range []int{1, 7, 2, 64} {
		mlp.inputs = append(mlp.inputs, []*array.Array{g.Normal(n, 784)})
		mlp.sizes = append(mlp.sizes, []int{n})
	}
	attention := &kernelCase{name: "attention", module: kernelModule(t, attentionText), flat: true, symbols: []string{"B", "S"},
		opts: codegen.KernelOptions{Weights: codegen.WeightsEmbed, Outputs: []string{"mixed", "last position"}}}
	for _, c := range [][]int{{2, 9}, {3, 2}, {1, 1}, {4, 17}} {
		attention.inputs = append(attention.inputs, []*array.Array{g.Normal(c[0], c[1], 24), g.Normal(c[0], c[1])})
		attention.sizes = append(attention.sizes, c)
	}
	types := &kernelCase{name: "types", module: kernelModule(t, typesText), flat: true, symbols: []string{"N"}}
	for _, n := range []int{3, 1} {
		ids := array.New(array.I64, n, 4)
		for i, d := 0, array.Data[int64](ids); i < len(d); i++ {
			d[i] = int64(i * 7 % 10)
		}
		flags := array.New(array.Bool, n, 4)
		for i, d := 0, array.Data[bool](flags); i < len(d); i++ {
			d[i] = i%3 == 0
		}
		types.inputs = append(types.inputs, []*array.Array{ids, g.Normal(n, 4), flags})
		types.sizes = append(types.sizes, []int{n})
	}
	guarded := &kernelCase{name: "guarded", module: kernelModule(t, guardText), flat: true, symbols: []string{"N", "M"},
		inputs: [][]*array.Array{{g.Normal(0, 3), g.Normal(0, 3), g.Normal(0, 3)}}, sizes: [][]int{{0, 0}}}
	result := &kernelCase{name: "result", module: traced(t, structured, encoderSpec("f32[2,3]")), opts: codegen.KernelOptions{Type: "HTTPNet", Package: "netpkg"},
		inputs: [][]*array.Array{{g.Normal(2, 3)}}, fields: []string{".Sum", ".Many[0]", ".Many[1]", ".By.Left", ".By.Right"}}
	layers := &kernelCase{name: "layers", module: traced(t, newEncoder(4, 3), encoderSpec("f32[N,S,16]")), flat: true, symbols: []string{"N", "S"}}
	for _, c := range [][]int{{2, 6}, {1, 3}} {
		layers.inputs = append(layers.inputs, []*array.Array{g.Normal(c[0], c[1], 16)})
		layers.sizes = append(layers.sizes, c)
	}
	fixed := &kernelCase{name: "fixed", module: traced(t, newEncoder(2, 2), encoderSpec("f32[2,7,16]")), flat: true, opts: codegen.KernelOptions{Weights: codegen.WeightsEmbed},
		inputs: [][]*array.Array{{g.Normal(2, 7, 16)}}}
	w := func(shape ...int) *tensor.Tensor { return tensor.New(g.Uniform(-0.5, 0.5, shape...)) }
	weights := []*tensor.Tensor{w(16, 3), w(16, 4), w(16), w(16)}
	lstm := traceWith(t, func(x *tensor.Tensor) (*tensor.Tensor, *tensor.Tensor, *tensor.Tensor) {
		return tensor.Lstm(x, nil, nil, weights)
	}, fx.Input("x", "f32[T,2,3]"))
	tuple := &kernelCase{name: "tuple", module: lstm, flat: true, symbols: []string{"T"}, inputs: [][]*array.Array{{g.Normal(5, 2, 3)}}, sizes: [][]int{{5}}}
	views := &kernelCase{name: "views", module: kernelModule(t, viewText), flat: true, symbols: []string{"N", "S", "C"}}
	for _, c := range [][]int{{5, 6, 4}, {5, 7, 2}, {1, 1, 0}, {3, 0, 2}, {0, 5, 6}, {2, 201, 8}} {
		views.inputs = append(views.inputs, []*array.Array{g.Normal(c[0], c[1]), g.Normal(c[0], c[2])})
		views.sizes = append(views.sizes, c)
	}
	return []*kernelCase{mlp, attention, types, guarded, result, layers, fixed, tuple, views, decoderCase(t, &g), quantCase(t, &g), brainCase(t, &g)}
}

// brainCase has products and convolutions, in groups too, whose operands are rounded to bf16.
func brainCase(t *testing.T, g *op.Gen) *kernelCase {
	c := &kernelCase{name: "brain", flat: true, symbols: []string{"N"}, planned: lowering.Options{Products: array.BF16}, module: kernelModule(t, `graph net(%x: f32[N,3,9,9]) {
  symbol N = dim(%x, 0)
  %u = get_attr[u] : f32[8,3,3,3]
  %v = get_attr[v] : f32[6,4,1,1]
  %w = get_attr[w] : f32[5,120]
  %a = call_function[conv2d](%x, %u) {stride=[2,2], padding=[0,1]}
  %r = call_function[relu](%a)
  %b = call_function[conv2d](%r, %v) {groups=2}
  %f = call_function[flatten](%b) {start_dim=1, end_dim=3}
  %y = call_function[linear](%f, %w)
  return %y
}
param u : f32[8,3,3,3]
param v : f32[6,4,1,1]
param w : f32[5,120]
`)}
	for _, n := range []int{1, 3} {
		c.inputs = append(c.inputs, []*array.Array{g.Normal(n, 3, 9, 9)})
		c.sizes = append(c.sizes, []int{n})
	}
	return c
}

// decoderCase is a GPT-2 that keeps keys and values: a prompt, then single tokens,
// in one package.
func decoderCase(t *testing.T, g *op.Gen) *kernelCase {
	cfg := models.GPT2Config{VocabSize: 30, MaxPositions: 16, Width: 8, NumLayers: 2, NumHeads: 2, LayerNormEps: 1e-5}
	m := models.NewGPT2Decoder(cfg)
	models.Synthetic(&models.Model{}, m, "codegen")
	c := &kernelCase{name: "decoder", flat: true, symbols: []string{"N", "S", "P"}, // the batch of past is N
		module: traced(t, m, models.InputSpec{Name: "ids", Type: "i64[N,S]"}, models.InputSpec{Name: "past", Type: cfg.PastType()})}
	for _, v := range [][]int{{1, 5, 0}, {1, 1, 5}, {3, 2, 14}} {
		ids := array.New(array.I64, v[0], v[1])
		for i, d := 0, array.Data[int64](ids); i < len(d); i++ {
			d[i] = int64(i * 7 % cfg.VocabSize)
		}
		c.inputs = append(c.inputs, []*array.Array{ids, g.Normal(v[2], 2, 2, v[0], 2, 4)})
		c.sizes = append(c.sizes, []int{v[0], v[1], v[2]})
	}
	return c
}

// failureText has the calls of smallCases that must fail.
var failureText = map[string]string{
	"mlp": `
		bad := func(x array.Dense[float32]) { _, err := m.Forward(ctx, x); failure(err) }
		bad(array.Dense[float32]{})
		bad(array.NewDense[float32](2, 783))
		bad(array.NewDense[float32](784))
		bad(array.Dense[float32]{array.New(array.I64, 2, 784)})
		stopped, stop := context.WithCancel(ctx)
		stop()
		_, err = m.Forward(stopped, array.NewDense[float32](2, 784))
		failure(err)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, diag.Stopped) {
			failure(nil)
		}
		x := array.NewDense[float32](2, 784)
		failure(m.ForwardInto(ctx, x, array.NewDense[float32](2, 11)))
		failure(m.ForwardInto(ctx, x, array.Dense[float32]{}))
		failure(m.ForwardInto(ctx, x, array.Dense[float32]{array.Make(array.F32, []int{2, 10}, []int{10, 1}, 0, x.Storage())}))
		failure((&mlp.Model{}).ForwardInto(ctx, x, array.NewDense[float32](2, 10)))
		var b bytes.Buffer
		check(safetensors.Write(&b, []safetensors.Named{{"fc1.weight", array.New(array.F32, 512, 784)}, {"fc1.bias", array.New(array.F64, 512)},
			{"fc2.weight", array.New(array.F32, 512, 511)}, {"fc2.bias", array.New(array.F32, 512)}, {"fc3.bias", array.New(array.F32, 10)}, {"more", array.New(array.F32, 1)}}, nil))
		_, err = mlp.Load(bytes.NewReader(b.Bytes()), int64(b.Len()))
		failure(err)
		failure(m.Reload(strings.NewReader("short"), 5))
		before, err := m.Forward(ctx, array.NewDense[float32](4, 784))
		check(err)
		b.Reset()
		check(safetensors.Write(&b, []safetensors.Named{{"fc1.weight", array.New(array.F32, 512, 784)}, {"fc1.bias", array.New(array.F32, 512)}, {"fc2.weight", array.New(array.F32, 512, 512)},
			{"fc2.bias", array.New(array.F32, 512)}, {"fc3.weight", array.New(array.F32, 10, 512)}, {"fc3.bias", array.FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})}}, nil))
		check(m.Reload(bytes.NewReader(b.Bytes()), int64(b.Len())))
		after, err := m.Forward(ctx, array.NewDense[float32](4, 784))
		check(err)
		if before.Data()[0] == after.Data()[0] || after.Data()[39] != 10 {
			fmt.Println("error: the weights are not those of the file")
			os.Exit(1)
		}
		if mlp.PeakBytes(-1) != -1 {
			fmt.Println("error: a peak for no sizes")
			os.Exit(1)
		}
`,
	"guarded": `
		_, err = m.Forward(ctx, array.NewDense[float32](2, 3), array.NewDense[float32](5, 3), array.NewDense[float32](2, 3))
		failure(err)
		_, err = m.Forward(ctx, array.Dense[float32]{}, array.NewDense[float32](5, 3, 1), array.NewDense[float32](2, 3))
		failure(err)
`,
	"views": `
		_, _, _, err = m.Forward(ctx, array.NewDense[float32](2, 3), array.NewDense[float32](2, 7))
		failure(err)
`,
	"types": `
		_, _, _, err = m.Forward(ctx, array.DenseOf([]int64{1, 2, 3, 99}, 1, 4), array.NewDense[float32](1, 4), array.NewDense[bool](1, 4))
		failure(err)
		huge := array.Make(array.I64, []int{1 << 61, 4}, []int{0, 0}, 0, array.NewStorage(8))
		wide := array.Make(array.F32, []int{1 << 61, 4}, []int{0, 0}, 0, array.NewStorage(8))
		flag := array.Make(array.Bool, []int{1 << 61, 4}, []int{0, 0}, 0, array.NewStorage(8))
		_, _, _, err = m.Forward(ctx, array.Dense[int64]{huge}, array.Dense[float32]{wide}, array.Dense[bool]{flag})
		failure(err)
		_, _, _, err = m.Forward(nil, array.NewDense[int64](1, 4), array.NewDense[float32](1, 4), array.NewDense[bool](1, 4))
		check(err)
`,
}

func TestKernelPackagesRun(t *testing.T) {
	cases := smallCases(t)
	for _, c := range cases {
		c.extra = failureText[c.name]
	}
	dir, failures := runCases(t, cases)
	for _, c := range cases {
		checkStyle(t, c.files)
	}
	require.Equal(t, 3, cases[len(cases)-1].exec.Stats().Rounded)
	want := []string{
		`^input "x" is missing \[FX1020\]`,
		`^input "x" is f32\[2,783\], expected f32\[N,784\] \[FX1022\]`,
		`^input "x" is f32\[784\], expected f32\[N,784\] \[FX1022\]`,
		`^input "x" is i64\[2,784\], expected f32\[N,784\] \[FX1022\]`,
		`^node %[^ ]+: stopped: context canceled \[FX1026\]`,
		`^output "fc3" is f32\[2,11\], expected f32\[2,10\] \[FX1022\]`,
		`^output "fc3" is nil, expected f32\[2,10\] \[FX1022\]`,
		`^output "fc3" is in the memory of an input, expected memory of its own \[FX1022\]`,
		`no weights, expected one that New or Load made \[FX8020\]`,
		`^tensor "fc1.bias" is f64\[512\], expected f32\[512\] \[FX8022\] \| tensor "fc2.weight" is f32\[512,511\], expected f32\[512,512\] \[FX8022\] \| tensor "fc3.weight" is missing, expected f32\[10,512\] \[FX8020\] \| tensor "more" is f32\[1\], expected no such tensor \[FX8021\]$`,
		`FX800`,
		`^node %e: .*FX`, // the index 99 of ten rows
		`FX2080|FX1022`,
		`^input "z" is f32\[2,3\]: the graph needs M\*M \(here 4\) equal to M\*N\+N\*N \(here 8\), where M is axis 0, here 2, N is axis 0 of "x", here 2 \[FX1022\]`,
		`^input "x" is missing \[FX1020\].*input "y" is f32\[5,3,1\]`,
		`^input "c" is f32\[2,7\]: glu needs C \(axis 1, here 7\) divisible by 2 \[FX1022\]`,
	}
	require.Len(t, failures, len(want), strings.Join(failures, "\n"))
	for i, w := range want {
		require.Regexp(t, w, failures[i])
	}
	t.Run("vet", func(t *testing.T) {
		goTool(t, dir, nil, "vet", "./mlp", "./attention", "./types", "./guarded", "./result", "./layers", "./fixed", "./tuple", "./views", "./decoder", "./quantised", "./brain")
	})
	t.Run("staticcheck", func(t *testing.T) {
		path, err := exec.LookPath("staticcheck")
		if err != nil {
			t.Skip("staticcheck is not installed")
		}
		cmd := exec.Command(path, "./mlp", "./attention", "./types", "./guarded", "./result", "./layers", "./fixed", "./tuple", "./views", "./decoder", "./quantised", "./brain")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	t.Run("dependencies", func(t *testing.T) {
		out := goTool(t, dir, nil, "list", "-deps", "./mlp")
		own := map[string]bool{"array": true, "array/safetensors": true, "internal/blocks": true, "internal/mapfile": true, "internal/scan": true, "kernel": true, "diag": true}
		for _, p := range strings.Fields(out) {
			if rest, ok := strings.CutPrefix(p, "github.com/gofx-dev/gofx/"); ok {
				require.True(t, own[rest] || strings.HasPrefix(rest, "kernel/internal/"), p)
				continue
			}
			require.NotContains(t, []string{"fmt", "runtime/cgo", "encoding/json", "math/big", "net", "log"}, p)
			require.False(t, strings.Contains(strings.Split(p, "/")[0], ".") && !strings.HasPrefix(p, "example.com/gen/"), p)
		}
	})
	t.Run("nothing of this machine", func(t *testing.T) {
		cwd, err := os.Getwd()
		require.NoError(t, err)
		for _, c := range cases {
			for _, f := range c.files.List {
				require.False(t, bytes.Contains(f.Data, []byte(filepath.Dir(cwd))), f.Name)
				require.False(t, regexp.MustCompile(`\.go:\d`).Match(f.Data), "%s: a line number", f.Name)
			}
		}
	})
}
