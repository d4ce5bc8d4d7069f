package grad_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/passes/grad"
)

// A body that stacks one value several times adds up what comes back for each: in the same order
// every time, for the bits of the sum and the graph follow from it.
func TestScan_oneValueStackedSeveralTimes(t *testing.T) {
	m := graphOf(t, `graph net(%h: f64[3], %x: f64[4,3]) {
  %s = call_function[scan](%h, %x) {carry=1, seqs=1} : (f64[3], f64[4,3], f64[4,3], f64[4,3], f64[4,3]) {
    region body(%h: f64[3], %x: f64[3]) {
      %n = call_function[mul](%h, %x) : f64[3]
      return (%n, %h, %h, %h, %h)
    }
  }
  %a = call_function[getitem](%s) {index=1} : f64[4,3]
  %b = call_function[getitem](%s) {index=2} : f64[4,3]
  %c = call_function[getitem](%s) {index=3} : f64[4,3]
  %d = call_function[getitem](%s) {index=4} : f64[4,3]
  %ab = call_function[mul](%a, %b) : f64[4,3]
  %cd = call_function[mul](%c, %d) : f64[4,3]
  %abcd = call_function[mul](%ab, %cd) : f64[4,3]
  %loss = call_function[sum](%abcd) : f64[]
  return %loss
}
`)
	first, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"h", "x"}})
	require.NoError(t, err)
	for range 20 {
		g, err := grad.ValueAndGrad(ctx, m, grad.Options{Wrt: []string{"h", "x"}})
		require.NoError(t, err)
		require.Equal(t, first.String(), g.String())
	}
}
