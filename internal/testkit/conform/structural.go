package conform

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
)

// Structural is a graph around an operator that has no meaning by itself, and
// its expected results, written by hand.
type Structural struct {
	Op   *op.Op
	Text string
	// Params are the values of the graph's parameters.
	Params map[string]*array.Array
	// Vector tells that the result is [n]; else it has the input's shape.
	Vector bool
	// Want computes the result's elements for an input [n,2].
	Want func(x []float32, n int) []float32
}

// Inputs are the operands of the runs: [n,2] for growing n.
func (*Structural) Inputs() []*array.Array {
	var g op.Gen
	out := make([]*array.Array, 9)
	for n := range out {
		out[n] = array.Cast(g.Int(200, n, 2), array.F32) // sums are exact in any order
	}
	return out
}

// StructuralGraph returns the graph for a structural operator, nil for others.
func StructuralGraph(o *op.Op) *Structural {
	for i := range structural {
		if structural[i].Op == o {
			return &structural[i]
		}
	}
	return nil
}

var structural = []Structural{
	{Op: op.GetItem, Vector: true, Text: `gofx 1
graph getitem(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %both = call_function[unbind](%x) {dim=1, count=2} : (f32[N], f32[N])
  %second = call_function[getitem](%both) {index=1} : f32[N]
  return %second
}
`, Want: func(x []float32, n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = x[2*i+1]
		}
		return out
	}},
	{Op: op.Dim, Text: `gofx 1
graph dim(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %n = call_function[dim](%x) : i64[]
  %y = call_function[mul](%x, %n) : f32[N,2]
  return %y
}
`, Want: func(x []float32, n int) []float32 {
		out := make([]float32, len(x))
		for i := range out {
			out[i] = x[i] * float32(n)
		}
		return out
	}},
	{Op: op.Assign, Text: `gofx 1
graph assign(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %buffer = get_attr[buffer] : f32[2]
  %next = call_function[sum](%x) {dim=[0]} : f32[2]
  %written = call_function[assign](%buffer, %next) : f32[2]
  %after = get_attr[buffer] : f32[2]
  %y = call_function[add](%x, %after) : f32[N,2]
  return %y
}
param buffer : f32[2] buffer
`, Params: map[string]*array.Array{"buffer": array.FromSlice([]float32{5, 6}, 2)},
		Want: func(x []float32, n int) []float32 {
			var sum [2]float32
			for i, v := range x {
				sum[i%2] += v
			}
			out := make([]float32, len(x))
			for i := range out {
				out[i] = x[i] + sum[i%2]
			}
			return out
		}},
	{Op: op.Cond, Text: `gofx 1
graph cond(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %n = call_function[dim](%x) : i64[]
  %large = call_function[gt](%n) {other=4} : bool[]
  %pick = call_function[cond](%large, %x) : (f32[N,2]) {
    region yes(%a: f32[N,2]) {
      %neg = call_function[neg](%a) : f32[N,2]
      return (%neg)
    }
    region no(%a: f32[N,2]) {
      %twice = call_function[add](%a, %a) : f32[N,2]
      return (%twice)
    }
  }
  %y = call_function[getitem](%pick) : f32[N,2]
  return %y
}
`, Want: func(x []float32, n int) []float32 {
		out := make([]float32, len(x))
		for i := range out {
			if out[i] = -x[i]; n <= 4 {
				out[i] = x[i] + x[i]
			}
		}
		return out
	}},
	{Op: op.While, Text: `gofx 1
graph while(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %n = call_function[dim](%x) : i64[]
  %loop = call_function[while](%x, %n) {carry=2} : (f32[N,2], i64[]) {
    region cond(%a: f32[N,2], %k: i64[]) {
      %more = call_function[gt](%k) {other=0} : bool[]
      return %more
    }
    region body(%a: f32[N,2], %k: i64[]) {
      %half = call_function[mul](%a) {other=0.5} : f32[N,2]
      %less = call_function[sub](%k) {other=1} : i64[]
      return (%half, %less)
    }
  }
  %y = call_function[getitem](%loop) : f32[N,2]
  return %y
}
`, Want: func(x []float32, n int) []float32 {
		out := make([]float32, len(x))
		for i := range out {
			out[i] = x[i]
			for range n {
				out[i] *= 0.5
			}
		}
		return out
	}},
	{Op: op.Call, Text: `gofx 1
graph call(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[2,N]
  %twice = call_function[call](%t) {graph="double"} : f32[2,N]
  %y = call_function[call](%x) {graph="double"} : f32[N,2]
  %back = call_function[transpose](%twice) {dim0=0, dim1=1} : f32[N,2]
  %z = call_function[add](%y, %back) : f32[N,2]
  return %z
}
subgraph double(%x: f32[A,B]) {
  symbol A = dim(%x, 0)
  symbol B = dim(%x, 1)
  %y = call_function[add](%x, %x) : f32[A,B]
  return %y
}
`, Want: func(x []float32, _ int) []float32 {
		out := make([]float32, len(x))
		for i := range out {
			out[i] = 4 * x[i]
		}
		return out
	}},
	{Op: op.Scan, Text: `gofx 1
graph scan(%x: f32[N,2]) {
  symbol N = dim(%x, 0)
  %zero = call_function[zeros]() {size=[2]} : f32[2]
  %loop = call_function[scan](%zero, %x) {carry=1, seqs=1} : (f32[2], f32[N,2]) {
    region body(%h: f32[2], %row: f32[2]) {
      %next = call_function[add](%h, %row) : f32[2]
      return (%next, %next)
    }
  }
  %y = call_function[getitem](%loop) {index=1} : f32[N,2]
  return %y
}
`, Want: func(x []float32, n int) []float32 {
		var h [2]float32
		out := make([]float32, len(x))
		for i := range out {
			h[i%2] += x[i]
			out[i] = h[i%2]
		}
		return out
	}},
}
