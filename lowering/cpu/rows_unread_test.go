package cpu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
)

// TestRows_unreadOperands has calls around softmax and norms that read the
// sizes of an operand alone: it is none of the step's programs.
func TestRows_unreadOperands(t *testing.T) {
	for _, text := range []string{
		"  %s = call_function[softmax](%x) {dim=-1}\n  %z = call_function[zeros_like](%x)\n  %y = call_function[add](%s, %z)\n",
		"  %z = call_function[zeros_like](%x)\n  %s = call_function[softmax](%x) {dim=-1}\n  %y = call_function[add](%s, %z)\n",
		"  %z = call_function[ones_like](%x)\n  %s = call_function[softmax](%x) {dim=-1}\n  %y = call_function[add](%z, %s)\n",
		"  %z = call_function[ones_like](%x)\n  %u = call_function[exp](%z)\n  %s = call_function[softmax](%x) {dim=-1}\n  %y = call_function[add](%u, %s)\n",
		"  %e = call_function[exp](%x)\n  %s = call_function[softmax](%e) {dim=-1}\n  %z = call_function[ones_like](%s)\n  %y = call_function[relu](%z)\n",
		"  %s = call_function[softmax](%x) {dim=-1}\n  %q = call_function[exp](%x)\n  %y = call_function[sub](%q, %s)\n",
		"  %s = call_function[softmax](%x) {dim=-1}\n  %y = call_function[mul](%x, %s)\n",
		"  %z = call_function[ones_like](%x)\n  %r = call_function[neg](%z)\n  %y = call_function[softmax](%r) {dim=-1}\n",
		"  %e = call_function[exp](%x)\n  %z = call_function[ones_like](%w)\n  %r = call_function[add](%e, %z)\n  %y = call_function[layer_norm](%r, %v, %v) {normalized_shape=[3]}\n",
		"  %e = call_function[exp](%x)\n  %z = call_function[ones_like](%w)\n  %r = call_function[add](%e, %z)\n  %y = call_function[rms_norm](%r, %v) {normalized_shape=[3]}\n",
		"  %e = call_function[exp](%x)\n  %s = call_function[softmax](%e) {dim=-1}\n  %z = call_function[ones_like](%s)\n  %n = call_function[neg](%z)\n  %y = call_function[mul](%n, %w)\n",
		"  %s = call_function[softmax](%x) {dim=-1}\n  %z = call_function[full]() {size=[2,3],value=2.5}\n  %y = call_function[mul](%s, %z)\n",
	} {
		m, err := graph.Parse([]byte("gofx 1\ngraph net(%x: f32[2,3], %w: f32[2,3], %v: f32[3]) {\n"+text+"  return %y\n}\n"), "net.fx")
		require.NoError(t, err, text)
		gen := passes.Random{State: 3}
		in := []*array.Array{gen.Array(array.F32, 2, 3), gen.Array(array.F32, 2, 3), gen.Array(array.F32, 3)}
		want, err := (&interp.Interpreter{State: interp.NewState(graph.Clone(m))}).RunArrays(context.Background(), in)
		require.NoError(t, err)
		e, err := cpu.Compile(m, lowering.Options{Exact: true})
		if err != nil {
			t.Errorf("%s %v", text, err)
			continue
		}
		got, err := e.Run(context.Background(), in)
		if err != nil {
			t.Errorf("%s %v\n%s", text, err, e.Plan())
			continue
		}
		require.Equal(t, array.Data[float32](want[0]), array.Data[float32](got[0]), text)
	}
}
