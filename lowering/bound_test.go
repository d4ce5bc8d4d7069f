package lowering_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
)

// What no machine holds, and what the caller does not allow, is refused before rules choose
// kernels; views take nothing.
func TestBound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most int64
		node string // that is refused, "" for none
	}{
		"bytes that wrap": {text: `graph g(%x: f32[1152921504606846976,4]) {
  %y = call_function[relu](%x) : f32[1152921504606846976,4]
  return %y
}`, node: "x"},
		"many columns": {text: `graph g(%x: f32[1,1,8,1099511627776]) {
  %y = call_function[relu](%x) : f32[1,1,8,1099511627776]
  return %y
}`, node: "x"},
		"a view": {text: `graph g(%x: f32[1,4]) {
  %y = call_function[expand](%x) {shape=[1099511627776,4]} : f32[1099511627776,4]
  %z = call_function[select](%y) {dim=0, index=5} : f32[4]
  return %z
}`, most: 100},
		"a copy of one": {text: `graph g(%x: f32[1,4]) {
  %y = call_function[expand](%x) {shape=[1099511627776,4]} : f32[1099511627776,4]
  %z = call_function[relu](%y) : f32[1099511627776,4]
  return %z
}`, most: 1 << 30, node: "z"},
		"allowed":     {text: "graph g(%x: f32[25]) {\n  %y = call_function[relu](%x) : f32[25]\n  return %y\n}", most: 100},
		"not allowed": {text: "graph g(%x: f32[26]) {\n  %y = call_function[relu](%x) : f32[26]\n  return %y\n}", most: 100, node: "y"},
		"open":        {text: "graph g(%x: f32[N]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x) : f32[N]\n  return %y\n}", most: 100},
	} {
		_, err := lowering.Prepare(parse(t, c.text), lowering.Options{MaxBytes: c.most})
		if c.node == "" {
			require.NoError(t, err, name)
			continue
		}
		var l diag.List
		require.ErrorAs(t, err, &l, name)
		require.Equal(t, array.CodeTooLarge, l[0].Code, name)
		require.Equal(t, c.node, l[0].Node, name)
		require.NotEmpty(t, l[0].Hint, name)
	}
	_, err := lowering.Prepare(parse(t, net), lowering.Options{MaxBytes: -1})
	require.ErrorIs(t, err, lowering.BadOption)
	require.NotEqual(t, lowering.Options{}.Key(), lowering.Options{MaxBytes: 5}.Key())
}
