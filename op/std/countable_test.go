package std

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// TestResultsThatCannotBeCounted: no operator makes a type of which there is no array, and no graph
// declares one.
func TestResultsThatCannotBeCounted(t *testing.T) {
	for name, text := range map[string]string{
		"reshape":   "graph g(%x: f32[3]) {\n %y = call_function[reshape](%x) {shape=[4294967296,4294967296,3]}\n return %y\n}\n",
		"none":      "graph g(%x: f32[0]) {\n %y = call_function[reshape](%x) {shape=[4294967296,4294967296,0]}\n return %y\n}\n",
		"expand":    "graph g(%x: f32[1]) {\n %y = call_function[expand](%x) {shape=[4294967296,4294967296]}\n return %y\n}\n",
		"zeros":     "graph g(%x: f32[N]) {\n %y = call_function[expand](%x) {shape=[4294967296,4294967296,N]}\n return %y\n}\n",
		"outer":     "graph g(%x: f32[4294967296,1], %y: f32[1,4294967296]) {\n %z = call_function[add](%x, %y)\n return %z\n}\n",
		"matmul":    "graph g(%x: f32[4294967296,1], %y: f32[1,4294967296]) {\n %z = call_function[matmul](%x, %y)\n return %z\n}\n",
		"tile":      "graph g(%x: f32[4294967296]) {\n %y = call_function[tile](%x) {reps=[4294967296,1]}\n return %y\n}\n",
		"input":     "graph g(%x: f32[4294967296,4294967296,3]) {\n return %x\n}\n",
		"parameter": "graph g(%x: f32[2]) {\n %w = get_attr[w] : f32[0,4294967296,4294967296]\n return %x, %w\n}\nparam w : f32[0,4294967296,4294967296]\n",
	} {
		t.Run(name, func(t *testing.T) {
			m, err := graph.Parse([]byte("gofx 1\n"+text), "g.fx")
			if err == nil {
				err = graph.Lint(m.Graph).Err()
			}
			require.ErrorIs(t, err, op.TooLarge)
		})
	}
}
