package shard_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/shard"
)

// TestStagesOfLoops cuts a graph with loops, whose turns nobody knows before they run.
func TestStagesOfLoops(t *testing.T) {
	m := parsed(t, `graph g(%i: i64[], %x: f32[4,4]) {
  %a = call_function[matmul](%x, %x) : f32[4,4]
  %s = call_function[while](%i, %a) {carry=2} : (i64[], f32[4,4]) {
    region test(%k: i64[], %c: f32[4,4]) {
      %p = call_function[lt](%k, %k)
      return %p
    }
    region body(%k: i64[], %c: f32[4,4]) {
      %y = call_function[matmul](%c, %c)
      return (%k, %y)
    }
  }
  %k = call_function[getitem](%s) {index=0}
  %l = call_function[getitem](%s) {index=1}
  %w = call_function[while](%l) {carry=1} : f32[4,4] {
    region test(%c: f32[4,4]) {
      %p = call_function[any](%c)
      return %p
    }
    region body(%c: f32[4,4]) {
      %y = call_function[matmul](%c, %c)
      return %y
    }
  }
  %b = call_function[matmul](%w, %x) : f32[4,4]
  return %b, %k
}
`)
	p, err := shard.Stages(m, lowering.Options{}, 2)
	require.NoError(t, err)
	require.Len(t, p.Stages, 2)
	const product = 2 * 4 * 4 * 4
	total := int64(0)
	for _, s := range p.Stages {
		total += s.Flops
	}
	require.GreaterOrEqual(t, total, int64(4*product))
	require.Less(t, total, int64(4*product+200), "no body is counted twice")
}
