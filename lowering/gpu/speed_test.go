package gpu_test

import (
	"fmt"
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
	t.Run("resnet18", func(t *testing.T) {
		m, in := traced(t, models.Lookup("resnet18"))
		inTurns(t, 101, in, []string{"cpu", "gpu"}, onCPU(t, m), compile(t, g, m))
	})
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
