package passes_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

func TestRetarget(t *testing.T) {
	const text = `
graph g(%x: f32[N,3], %i: i64[3], %y: f32[2,2]) {
  symbol N = dim(%x, 0)
  %a = call_method[relu](%x) : f32[N,3] at "net.go:7"
  %b = call_module[act](%a) : f32[N,3] at "net.go:8"
  %c = call_function[relu](%i) : i64[3] at "net.go:9"
  %d = call_function[maximum](%x, %a) : f32[N,3] at "net.go:10"
  %e = call_function[amax](%x) {dim=[1], keep_dim=true} : f32[N,1]
  return %b, %c, %d, %e
}
module act = relu ()
`
	for name, c := range map[string]struct {
		from, to *op.Op
		attrs    func(n *graph.Node) any
		matches  int
		text     string   // of the graph afterwards
		refused  []string // in the report
	}{
		"activation": {std.Relu, std.Gelu, nil, 1, "%gelu = call_method[gelu](%x) : f32[N,3]", []string{
			"net.go:8: %b left as it is: it is a call of a module", "net.go:9: %c left as it is: gelu takes no such operands"}},
		"with attributes": {std.Relu, std.Gelu, func(*graph.Node) any { return std.GeluAttrs{Approximate: "tanh"} }, 1,
			`call_method[gelu](%x) {approximate="tanh"}`, nil},
		"two operands":     {std.Maximum, std.Minimum, nil, 1, "call_function[minimum](%x, %a)", nil},
		"attributes kept":  {std.Amax, std.Amin, nil, 1, "call_function[amin](%x) {dim=[1], keep_dim=true} : f32[N,1]", nil},
		"another type":     {std.Maximum, std.Gt, nil, 0, "[maximum]", []string{"gt gives bool[N,3], it is f32[N,3]"}},
		"no such operands": {std.Maximum, std.Neg, nil, 0, "[maximum]", []string{"neg takes no such operands"}},
		"lost attributes":  {std.Amax, std.Softmax, nil, 0, "[amax]", []string{"softmax has no attribute"}},
		"other effects":    {std.Relu, std.Reshape, func(*graph.Node) any { return std.ReshapeAttrs{} }, 0, "[relu]", []string{"reshape has other effects, or shares other memory"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := passtest.Parse(t, text)
			r, err := run(m, passes.Options{}, passes.Retarget("retarget", "Calls another operator.", c.from, c.to, c.attrs))
			require.NoError(t, err)
			require.Equal(t, c.matches, r.Matches("retarget"), r.Explain())
			require.Contains(t, m.String(), c.text)
			for _, why := range c.refused {
				require.Contains(t, r.Explain(), why)
			}
		})
	}
}

// Calls of one operator become calls of another, where types allow it.
func ExampleRetarget() {
	m, err := graph.Parse([]byte(`gofx 1

graph g(%x: f32[4], %i: i64[4]) {
  %a = call_function[relu](%x) : f32[4]
  %b = call_function[relu](%i) : i64[4]
  return %a, %b
}
`), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	softer := passes.Retarget("softer", "Makes gelu of relu.", std.Relu, std.Gelu, nil)
	r, err := run(m, passes.Options{}, softer)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(r.Explain())
	// Output:
	// softer: 1 matches, 1 left as they are
	//   %a replaced by %gelu: relu becomes gelu
	//   %b left as it is: gelu takes no such operands: x is i64: element type i64, expected a floating-point one
}
