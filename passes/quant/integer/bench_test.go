package integer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// lowerable is a graph of n layers in the reference form, five nodes each.
func lowerable(n int) string {
	var b strings.Builder
	b.WriteString("gofx 1\n\ngraph g(%q0: u8[N,8]) {\n  symbol N = dim(%q0, 0)\n  %s = get_attr[s_var] : f32[]\n  %w = get_attr[w] : i8[8,8]\n")
	for i := range n {
		fmt.Fprintf(&b, "  %%d%d = call_function[dequantize](%%q%d, %%s) : f32[N,8]\n", i, i)
		fmt.Fprintf(&b, "  %%v%d = call_function[dequantize](%%w, %%s) : f32[8,8]\n", i)
		fmt.Fprintf(&b, "  %%y%d = call_function[linear](%%d%d, %%v%d) : f32[N,8]\n", i, i, i)
		fmt.Fprintf(&b, "  %%r%d = call_function[relu](%%y%d) : f32[N,8]\n", i, i)
		fmt.Fprintf(&b, "  %%q%d = call_function[quantize](%%r%d, %%s) : u8[N,8]\n", i+1, i)
	}
	fmt.Fprintf(&b, "  return %%q%d\n}\nparam s_var : f32[]\nparam w : i8[8,8]\n", n)
	return b.String()
}

// BenchmarkLower lowers a graph of 10,000 nodes.
func BenchmarkLower(b *testing.B) {
	m := passtest.Parse(b, lowerable(2000))
	for b.Loop() {
		b.StopTimer()
		own := graph.Clone(m)
		b.StartTimer()
		c := passes.NewCtx(context.Background(), own)
		if _, err := integer.Lower.Run(c, own.Graph); err != nil || c.Matches() != 2000 {
			b.Fatal(c.Matches(), err)
		}
	}
}
