package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
)

// TestConvolutions_areNotCopied: where sizes are numbers, the gradient of a convolution is two calls,
// with no permuted, padded or cropped copies; where they are symbols, it crops what windows reach.
func TestConvolutions_areNotCopied(t *testing.T) {
	for _, c := range []struct {
		name, x, w string
		attrs      std.ConvAttrs
		want       map[string]int
	}{
		{"padded", "f32[2,8,14,14]", "f32[16,8,3,3]", std.ConvAttrs{Padding: op.IntList(1)}, nil},
		{"stride that leaves a line", "f32[2,8,14,14]", "f32[16,8,3,3]", std.ConvAttrs{Stride: op.IntList(2), Padding: op.IntList(1)}, nil},
		{"batch of any size", "f32[N,8,14,13]", "f32[16,8,7,7]", std.ConvAttrs{Stride: op.IntList(2), Padding: op.IntList(3)}, nil},
		{"groups", "f32[2,8,14,14]", "f32[16,4,3,5]", std.ConvAttrs{Groups: 2, Dilation: op.IntList(2, 1), Padding: op.IntList(2)}, nil},
		{"same", "f32[2,8,14,14]", "f32[16,8,3,3]", std.ConvAttrs{PadMode: "same"}, nil},
		{"any image, stride 1", "f32[2,8,H,W]", "f32[16,8,3,3]", std.ConvAttrs{Padding: op.IntList(1)}, nil},
		{"same, even", "f32[2,8,14,14]", "f32[16,8,2,2]", std.ConvAttrs{PadMode: "same"}, map[string]int{"pad": 1}},
		{"any image", "f32[2,8,H,W]", "f32[16,8,3,3]", std.ConvAttrs{Stride: op.IntList(2), Padding: op.IntList(1)}, map[string]int{"pad": 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New("net")
			at := g.At()
			x, w := at.Placeholder("x", typed(t, c.x), nil), at.Placeholder("w", typed(t, c.w), nil)
			for i := range 4 {
				if d := x.Type().Dim(i); d.String() == "N" || d.String() == "H" || d.String() == "W" {
					g.DefineSymbol(d.String(), x, i)
				}
			}
			at.Output(nil, at.Function(std.Conv2d, c.attrs, x, w))
			m, err := grad.VJP(ctx, graph.NewModule(g), grad.Options{Wrt: []string{"x", "w"}})
			require.NoError(t, err)
			counts := map[string]int{}
			for n := range m.Graph.Nodes() {
				if o := n.Op(); o != nil && n.Opcode().IsCall() {
					counts[o.Name]++
				}
			}
			want := map[string]int{"conv2d": 1, "conv_transpose2d": 1, "conv2d_weight_grad": 1}
			for name, n := range c.want {
				want[name] = n
			}
			require.Equal(t, want, counts, "%s", m)
		})
	}
}

// typed reads a type.
func typed(t *testing.T, text string) shape.Type {
	d, err := shape.ParseType(text)
	require.NoError(t, err)
	return d
}

// TestConvolutions_anySize: one graph for all sizes gives the gradients that differences say, also
// where windows leave a part of the image.
func TestConvolutions_anySize(t *testing.T) {
	text := `graph net(%x: f64[N,6,H,W], %w: f64[8,3,3,2]) {
  symbol N = dim(%x, 0)
  symbol H = dim(%x, 2)
  symbol W = dim(%x, 3)
  %y = call_function[conv2d](%x, %w) {stride=[2,3], padding=[1], dilation=[1,2], groups=2}
  return %y
}
`
	m, err := grad.VJP(ctx, graphOf(t, text), grad.Options{Wrt: []string{"x", "w"}})
	require.NoError(t, err)
	attrs := std.ConvAttrs{Stride: op.IntList(2, 3), Padding: op.IntList(1), Dilation: op.IntList(1, 2), Groups: 2}
	r := rand.New(rand.NewPCG(3, 109))
	for _, size := range [][]int{{1, 6, 1, 1}, {2, 6, 5, 6}, {3, 6, 8, 9}, {2, 6, 9, 11}} {
		x, w := random(r, size...), random(r, 8, 3, 3, 2)
		y, err := std.Conv2d.Eval(&kernel.Workspace{}, attrs, []*array.Array{x, w})
		require.NoError(t, err)
		seed := random(r, y[0].Shape()...)
		got, err := fx.NewGraphModule(m).RunArrays(ctx, []*array.Array{x, w, seed})
		require.NoError(t, err)
		c := call{o: std.Conv2d, attrs: attrs,
			in: []*array.Array{x, w}, out: y, seeds: []*array.Array{seed}}
		for i, g := range got[1:] {
			n := tally{}
			require.Empty(t, c.compare(i, g, &n), "%v", size)
		}
	}
}
