//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// TestProductsOfF32AreNotRounded: programs forbid it at every product of f32, also in bodies, unless the
// target allows it; products of other types have no say in it.
func TestProductsOfF32AreNotRounded(t *testing.T) {
	m := parse(t, `graph products(%x: f32[1,2,4,4], %h: f16[2,2], %d: f64[2,2], %n: i64[]) {
  %w = get_attr[w] : f32[2,2,3,3]
  %v = get_attr[v] : f32[4,4]
  %c = call_function[conv2d](%x, %w)
  %t = call_function[conv_transpose2d](%x, %w)
  %l = call_function[linear](%x, %v)
  %hh = call_function[matmul](%h, %h)
  %dd = call_function[matmul](%d, %d)
  %r = call_function[while](%n, %x) {carry=2} {
    region more(%k: i64[], %a: f32[1,2,4,4]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i64}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i64[], %a: f32[1,2,4,4]) {
      %p = call_function[matmul](%a, %a)
      %one = call_function[full]() {size=[], value=1, dtype=i64}
      %next = call_function[sub](%k, %one)
      return (%next, %p)
    }
  }
  %a = call_function[getitem](%r) {index=1}
  return (%c, %t, %l, %hh, %dd, %a)
}
param w : f32[2,2,3,3]
param v : f32[4,4]
`)
	const exact = "precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]"
	p, err := xla.Emit(m, lowering.Options{})
	require.NoError(t, err)
	for line := range strings.Lines(p.String()) {
		product := strings.Contains(line, `"stablehlo.convolution"`) || strings.Contains(line, `"stablehlo.dot_general"`)
		require.Equal(t, product && strings.Contains(line, "xf32>"), strings.Contains(line, exact), line)
	}
	require.Equal(t, 4, strings.Count(p.String(), exact))

	f := plugin(t)
	compileFor(t, xla.Target{Plugin: f.path, Cache: "-"}, m, lowering.Options{})
	require.Equal(t, 4, strings.Count(f.text(), exact))
	compileFor(t, xla.Target{Plugin: f.path, Cache: "-", TF32: true}, m, lowering.Options{})
	require.NotContains(t, f.text(), "precision")
	require.Equal(t, 4, strings.Count(f.text(), "stablehlo.dot_general"))
}
