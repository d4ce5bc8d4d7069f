package cardtest

import (
	"context"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// loops has a branch in a scan in a while, with products of weights in the bodies.
const loops = `gofx 1
graph loops(%x: f32[24,32], %n: i64[]) {
  %l = call_function[while](%n, %x) {carry=2} {
    region more(%k: i64[], %a: f32[24,32]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i64}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i64[], %a: f32[24,32]) {
      %w = get_attr[w] : f32[32,32]
      %p = call_function[matmul](%a, %w)
      %first = call_function[select](%p) {dim=0, index=1}
      %s = call_function[scan](%first, %p) {carry=1, seqs=1} {
        region round(%acc: f32[32], %row: f32[32]) {
          %sum = call_function[sum](%row)
          %zero = call_function[full]() {size=[], value=0, dtype=f32}
          %up = call_function[gt](%sum, %zero)
          %c = call_function[cond](%up, %acc, %row) : f32[32] {
            region yes(%a: f32[32], %b: f32[32]) {
              %t = call_function[add](%a, %b)
              %r = call_function[tanh](%t)
              return %r
            }
            region no(%a: f32[32], %b: f32[32]) {
              return %b
            }
          }
          return (%c, %c)
        }
      }
      %all = call_function[getitem](%s) {index=1}
      %one = call_function[full]() {size=[], value=1, dtype=i64}
      %next = call_function[sub](%k, %one)
      return (%next, %all)
    }
  }
  %k = call_function[getitem](%l) {index=0}
  %a = call_function[getitem](%l) {index=1}
  return (%a, %k)
}
param w : f32[32,32]
`

// control returns the job of loops and branches.
func control() *job {
	build := func(context.Context) (*graph.Module, []*array.Array, error) {
		m, err := graph.Parse([]byte(loops), "loops.fx")
		if err != nil {
			return nil, nil, err
		}
		var g op.Gen
		m.SetParam(graph.Param{Path: "w", Value: g.Uniform(-0.25, 0.25, 32, 32)})
		return m, []*array.Array{g.Uniform(-1, 1, 24, 32), array.Scalar(int64(3))}, nil
	}
	return &job{Name: "control/loops", Type: f32, build: build, expect: func(ctx context.Context) ([]result, error) {
		m, in, err := build(ctx)
		if err != nil {
			return nil, err
		}
		out, err := interpret(ctx, m, in)
		if err != nil {
			return nil, err
		}
		a, k := sampled("a", out[0]), whole("k", out[1])
		a.near(nil)
		return []result{a, k}, nil
	}}
}
