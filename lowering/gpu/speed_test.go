package gpu_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/expand"
)

// inTurns logs the least times of executables that take turns.
func inTurns(t *testing.T, rounds int, in []*array.Array, names []string, list ...lowering.Executable) {
	times := make([][]time.Duration, len(list))
	for round := range rounds {
		for k := range list {
			k = (k + round) % len(list)
			start := time.Now()
			_, err := list[k].Run(ctx, in)
			require.NoError(t, err)
			times[k] = append(times[k], time.Since(start))
		}
	}
	for k := range times {
		slices.Sort(times[k])
		ms := func(i int) float64 { return times[i][0].Seconds() * 1e3 }
		t.Logf("%s: %.3f ms, %.2f of %s", names[k], ms(k), ms(k)/ms(0), names[0])
	}
}

// attentionText is the formula of attention, and the call that stands for it.
func attentionText(s int) (formula, call string) {
	head := fmt.Sprintf("gofx 1\ngraph attention(%%q: f32[1,12,%d,64], %%k: f32[1,12,%d,64], %%v: f32[1,12,%d,64]) {\n", s, s, s)
	return head + `  %t = call_function[transpose](%k) {dim0=-2, dim1=-1}
  %a = call_function[matmul](%q, %t)
  %b = call_function[mul](%a) {other=0.125}
  %p = call_function[softmax](%b) {dim=-1}
  %y = call_function[matmul](%p, %v)
  return %y
}
`, head + `  %y = call_function[scaled_dot_product_attention](%q, %k, %v)
  return %y
}
`
}

// TestSpeed takes the times that docs/bench.md has, where GOFX_SPEED is set: on a machine that does
// nothing else.
func TestSpeed(t *testing.T) {
	if os.Getenv("GOFX_SPEED") == "" {
		t.Skip("times are taken where GOFX_SPEED is set")
	}
	g := target(t)
	for _, name := range []string{"resnet18", "mobilenet_v3_large", "resnet50"} {
		t.Run(name, func(t *testing.T) {
			m, in := traced(t, models.Lookup(name))
			inTurns(t, 101, in, []string{"cpu", "gpu"}, onCPU(t, m), compile(t, g, m))
		})
	}
	for _, size := range []int{128, 512} {
		t.Run(fmt.Sprint("attention ", size), func(t *testing.T) {
			formula, call := attentionText(size)
			in := []*array.Array{ramp(1, 12, size, 64), ramp(1, 12, size, 64), ramp(1, 12, size, 64)}
			f, c := parsed(t, formula), parsed(t, call)
			inTurns(t, 101, in, []string{"cpu", "gpu, formula", "gpu"}, onCPU(t, c), compile(t, g, f), compile(t, g, c))
		})
	}
	t.Run("bert_base", func(t *testing.T) {
		model := *models.Lookup("bert_base")
		model.Dims = map[string]int{"N": 1, "S": 128}
		model.Inputs = slices.Clone(model.Inputs)
		for i := range model.Inputs {
			model.Inputs[i].Type = strings.NewReplacer("N", "1", "S", "128").Replace(model.Inputs[i].Type)
		}
		plain, in := traced(t, &model)
		m, _ := optimised(t, &model)
		list := []lowering.Executable{}
		for _, x := range []*graph.Module{plain, m} {
			list = append(list, compile(t, g, x))
		}
		inTurns(t, 15, in, []string{"cpu", "gpu, formula", "gpu"}, append([]lowering.Executable{onCPU(t, m)}, list...)...)
	})
}

// layer is a module that has a call's operands but the first as weights.
func layer(t *testing.T, c contraction) *graph.Module {
	b := newTogether(t)
	args := b.operands(c.in[:1])
	for i, v := range c.in[1:] {
		if v == nil {
			args = append(args, nil)
			continue
		}
		path := fmt.Sprint("p", i)
		b.m.SetParam(graph.Param{Path: path, Value: v})
		args = append(args, b.c.GetAttr(path))
	}
	b.result(b.c.Function(c.op, c.attrs, args...), 0)
	return b.module()
}

// TestSpeedOfBytes compares the layers of ResNet-18 on bytes with those on floats, and with what quantised
// convolutions are expanded into.
func TestSpeedOfBytes(t *testing.T) {
	if os.Getenv("GOFX_SPEED") == "" {
		t.Skip("times are taken where GOFX_SPEED is set")
	}
	g, r := target(t), rand.New(rand.NewPCG(1, 43))
	for _, s := range [][2]int{{64, 56}, {128, 28}, {256, 14}, {512, 7}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n, size := s[0], s[1]
			floats := contraction{std.Conv2d, std.ConvAttrs{Padding: op.IntList(1)}, []*array.Array{numbers(r, array.F32, 1, n, size, size), numbers(r, array.F32, n, n, 3, 3)}}
			bytes := contraction{std.QConv2d, std.QConvAttrs{Padding: op.IntList(1)}, []*array.Array{bytesOf(r, array.U8, 1, n, size, size), scales(r, 1, 0.02), bytesOf(r, array.U8, 1),
				bytesOf(r, array.I8, n, n, 3, 3), scales(r, n, 0.01), nil, scales(r, 1, 1), bytesOf(r, array.U8, 1)}}
			inTurns(t, 41, floats.in[:1], []string{"cpu, floats", "gpu, floats"}, onCPU(t, layer(t, floats)), compile(t, g, layer(t, floats)))
			expanded := layer(t, bytes)
			whole := func(n *graph.Node) (bool, string) { return n.Op() != std.QConv2d, "" }
			require.NoError(t, lowering.Legalize(expanded.Graph, "gpu", whole, expand.Table()))
			inTurns(t, 41, bytes.in[:1], []string{"cpu, bytes", "gpu, bytes, expanded", "gpu, bytes"}, onCPU(t, layer(t, bytes)), compile(t, g, expanded), compile(t, g, layer(t, bytes)))
		})
	}
}
