package cpu_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

// TestBiasesOfAnyRank adds to the results of layers what broadcasts to them, and multiplies by it, with
// weights as they are and in 16 bits, and with operands in bf16.
func TestBiasesOfAnyRank(t *testing.T) {
	layers := []struct{ x, w, call, shapes string }{
		{"2,4", "5,4", "linear](%x, %w)", " ;1;5;1,1;1,5;2,1;2,5"},
		{"2,3,4", "5,4", "linear](%x, %w)", "5;1,5;1,1,5;3,5;3,1;2,1,1;1,1,1;2,3,5"},
		{"2,4", "4,5", "matmul](%x, %w)", " ;1;5;1,5;2,1;2,5"},
		{"2,3,4", "4,5", "matmul](%x, %w)", "5;1,5;1,1,5;2,3,5"},
		{"2,3,9", "5,3,3", "conv1d](%x, %w)", "5,1;1,5,1;5,7;7;1;2,5,7"},
		{"2,3,5,6", "5,3,2,2", "conv2d](%x, %w)", "5,1,1;1,5,1,1;5;1;4,5;5,4,5;2,5,4,5"},
		{"2,4,5,6", "4,1,2,2", "conv2d](%x, %w) {groups=4}", "4,1,1;1,4,1,1;1;4,5;2,4,4,5"},
		{"1,3,4,5,6", "5,3,2,2,2", "conv3d](%x, %w)", "5,1,1,1;1,5,1,1,1;1,1,1"},
		{"2,3,5", "3,4,2", "conv_transpose1d](%x, %w)", "4,1;1,4,1;6"},
	}
	for _, l := range layers {
		for _, s := range strings.Split(l.shapes, ";") {
			s = strings.TrimSpace(s)
			for _, o := range []string{"add](%l, %b)", "add](%b, %l)", "mul](%l, %b)"} {
				text := "graph g(%x: f32[" + l.x + "]) {\n %w = get_attr[w] : f32[" + l.w + "]\n %b = get_attr[b] : f32[" + s + "]\n %l = call_function[" + l.call +
					"\n %y = call_function[" + o + "\n %r = call_function[relu](%y)\n return %r\n}\nparam w : f32[" + l.w + "]\nparam b : f32[" + s + "]\n"
				m := module(t, text)
				in, err := passes.Inputs(m.Graph, nil, 3)
				require.NoError(t, err)
				want := interpret(t, m, in...)
				for _, o := range []lowering.Options{{}, {Weights: array.F16}, {Weights: array.BF16}, {Products: array.BF16}} {
					d := max(o.Weights, o.Products)
					e, err := cpu.Compile(m, o)
					require.NoError(t, err, text)
					got, err := e.Run(ctx, in)
					require.NoError(t, err, "%+v %s\n%s", o, text, e.Plan())
					delta := map[array.DType]float64{array.Invalid: 1e-5, array.F16: 5e-3, array.BF16: 4e-2}[d]
					for i := range want[0].Len() {
						require.InDelta(t, array.Float64At(want[0], i), array.Float64At(got[0], i), delta, "%+v %s\n%s", o, text, e.Plan())
					}
				}
			}
		}
	}
}
