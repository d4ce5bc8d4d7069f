package gpu_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/shape"
)

// flows are small graphs with bodies that are easily got wrong.
var flows = map[string]string{
	"branches that give back what they are given": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %c = call_function[cond](%p, %x, %y) {
    region yes(%a: f32[2,3], %b: f32[2,3]) {
      return (%b, %a, %a)
    }
    region no(%a: f32[2,3], %b: f32[2,3]) {
      %w = get_attr[w] : f32[2,3]
      %k = call_function[full]() {size=[2,3], value=2, dtype=f32}
      return (%w, %k, %b)
    }
  }
  %r0 = call_function[getitem](%c) {index=0}
  %r1 = call_function[getitem](%c) {index=1}
  %r2 = call_function[getitem](%c) {index=2}
  %z = call_function[add](%r0, %r1)
  %r = call_function[relu](%z)
  return (%r, %r2, %r2, %x)
}
param w : f32[2,3]`,
	"carried values that change places": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %n = call_function[full]() {size=[], value=3, dtype=u8}
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[3,2]
  %u = call_function[transpose](%y) {dim0=0, dim1=1} : f32[3,2]
  %l = call_function[while](%n, %t, %u, %p, %t) {carry=4} {
    region more(%k: u8[], %a: f32[3,2], %b: f32[3,2], %q: bool[1], %c: f32[3,2]) {
      %y = call_function[cast](%k) {dtype=bool}
      return %y
    }
    region body(%k: u8[], %a: f32[3,2], %b: f32[3,2], %q: bool[1], %c: f32[3,2]) {
      %one = call_function[full]() {size=[], value=1, dtype=u8}
      %m = call_function[sub](%k, %one)
      %f = call_function[roll](%b) {shifts=[1], dims=[0]}
      %d = call_function[sub](%f, %c)
      %r = call_function[logical_not](%q)
      return (%m, %d, %a, %r)
    }
  }
  %r0 = call_function[getitem](%l) {index=0}
  %r1 = call_function[getitem](%l) {index=1}
  %r2 = call_function[getitem](%l) {index=2}
  %r3 = call_function[getitem](%l) {index=3}
  return (%r0, %r1, %r2, %r3)
}`,
	"a loop that swaps, keeps and turns what it carries": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %n = call_function[full]() {size=[], value=5, dtype=i32}
  %s = call_function[slice](%x) {dim=1, start=1, stop=3} : f32[2,2]
  %l = call_function[while](%n, %x, %y, %s, %p) {carry=5} {
    region more(%k: i32[], %a: f32[2,3], %b: f32[2,3], %t: f32[2,2], %q: bool[1]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i32}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i32[], %a: f32[2,3], %b: f32[2,3], %t: f32[2,2], %q: bool[1]) {
      %one = call_function[full]() {size=[], value=1, dtype=i32}
      %m = call_function[sub](%k, %one)
      %u = call_function[transpose](%t) {dim0=0, dim1=1}
      return (%m, %b, %a, %u, %q)
    }
  }
  %r1 = call_function[getitem](%l) {index=1}
  %r2 = call_function[getitem](%l) {index=2}
  %r3 = call_function[getitem](%l) {index=3}
  %r4 = call_function[getitem](%l) {index=4}
  return (%r1, %r2, %r3, %r4)
}`,
	"a loop that is not entered": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %l = call_function[while](%x) {carry=1} : f32[2,3] {
    region more(%a: f32[2,3]) {
      %no = call_function[full]() {size=[], value=0, dtype=bool}
      return %no
    }
    region body(%a: f32[2,3]) {
      %d = call_function[neg](%a)
      return %d
    }
  }
  return (%l, %l)
}`,
	"sequences that are views": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %t = call_function[transpose](%x) {dim0=0, dim1=1} : f32[3,2]
  %s = call_function[slice](%y) {dim=0, start=1, stop=2} : f32[1,3]
  %e = call_function[expand](%s) {shape=[3,3]} : f32[3,3]
  %i = call_function[cast](%t) {dtype=i64} : i64[3,2]
  %u = call_function[slice](%x) {dim=1, start=1, stop=3} : f32[2,2]
  %a = call_function[scan](%u, %p, %t, %e, %i, %t, %u) {carry=2, seqs=4} {
    region round(%m: f32[2,2], %q: bool[1], %r: f32[2], %b: f32[3], %k: i64[2], %z: f32[2], %v: f32[2,2]) {
      %o = call_function[matmul](%m, %v)
      %d = call_function[add](%o, %r)
      %n = call_function[logical_not](%q)
      %c = call_function[transpose](%d) {dim0=0, dim1=1}
      return (%d, %n, %r, %b, %k, %c, %q)
    }
  }
  %r0 = call_function[getitem](%a) {index=0}
  %r1 = call_function[getitem](%a) {index=1}
  %r2 = call_function[getitem](%a) {index=2}
  %r3 = call_function[getitem](%a) {index=3}
  %r4 = call_function[getitem](%a) {index=4}
  %r5 = call_function[getitem](%a) {index=5}
  %r6 = call_function[getitem](%a) {index=6}
  return (%r0, %r1, %r2, %r3, %r4, %r5, %r6)
}`,
	"no rounds": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %s = call_function[slice](%x) {dim=0, start=0, stop=0} : f32[0,3]
  %t = call_function[transpose](%y) {dim0=0, dim1=1} : f32[3,2]
  %a = call_function[scan](%t, %p, %s) {carry=2, seqs=1} {
    region round(%m: f32[3,2], %q: bool[1], %r: f32[3]) {
      %d = call_function[neg](%m)
      %n = call_function[logical_not](%q)
      return (%d, %n, %r)
    }
  }
  %r0 = call_function[getitem](%a) {index=0}
  %r1 = call_function[getitem](%a) {index=1}
  %r2 = call_function[getitem](%a) {index=2}
  return (%r0, %r1, %r2)
}`,
	"products of what is packed in a branch and behind it": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %n = call_function[full]() {size=[], value=3, dtype=i32}
  %t = call_function[transpose](%y) {dim0=0, dim1=1} : f32[3,2]
  %m = call_function[matmul](%t, %x) : f32[3,3]
  %l = call_function[while](%n, %m, %m) {carry=2} {
    region more(%k: i32[], %a: f32[3,3], %w: f32[3,3]) {
      %zero = call_function[full]() {size=[], value=0, dtype=i32}
      %y = call_function[gt](%k, %zero)
      return %y
    }
    region body(%k: i32[], %a: f32[3,3], %w: f32[3,3]) {
      %one = call_function[full]() {size=[], value=1, dtype=i32}
      %d = call_function[sub](%k, %one)
      %odd = call_function[eq](%d, %one)
      %c = call_function[cond](%odd, %a, %w) {
        region yes(%a: f32[3,3], %w: f32[3,3]) {
          %b = call_function[matmul](%w, %a)
          %c = call_function[matmul](%b, %a)
          return (%c)
        }
        region no(%a: f32[3,3], %w: f32[3,3]) {
          %b = call_function[matmul](%a, %w)
          %c = call_function[sub](%b, %a)
          return (%c)
        }
      }
      %r0 = call_function[getitem](%c) {index=0}
      %e = call_function[matmul](%r0, %a)
      return (%d, %e)
    }
  }
  %r1 = call_function[getitem](%l) {index=1}
  %q = call_function[matmul](%m, %r1)
  %r = call_function[matmul](%q, %m)
  return (%q, %r)
}`,
	"answers that are carried, weights, and made of weights": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %q = call_function[logical_not](%p)
  %l = call_function[while](%p, %q, %x) {carry=3} {
    region more(%a: bool[1], %b: bool[1], %z: f32[2,3]) {
      return %a
    }
    region body(%a: bool[1], %b: bool[1], %z: f32[2,3]) {
      %d = call_function[sub](%z, %z)
      %n = call_function[logical_and](%a, %b)
      return (%b, %n, %d)
    }
  }
  %r0 = call_function[getitem](%l) {index=0}
  %r2 = call_function[getitem](%l) {index=2}
  %w = get_attr[v] : f32[2,3]
  %s = call_function[sum](%w) : f32[]
  %zero = call_function[full]() {size=[], value=0, dtype=f32}
  %big = call_function[lt](%s, %zero)
  %c = call_function[cond](%big, %r2) : f32[2,3] {
    region yes(%a: f32[2,3]) {
      %k = call_function[full]() {size=[], value=1, dtype=bool}
      %d = call_function[cond](%k, %a) : f32[2,3] {
        region yes(%b: f32[2,3]) {
          %e = call_function[exp](%b)
          return %e
        }
        region no(%b: f32[2,3]) {
          return %b
        }
      }
      return %d
    }
    region no(%a: f32[2,3]) {
      return %a
    }
  }
  return (%r0, %r2, %c)
}
param v : f32[2,3]`,
	"slices that no one reads, and loops in branches": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %c = call_function[cond](%p, %x, %y, %p) {
    region yes(%a: f32[2,3], %b: f32[2,3], %q: bool[1]) {
      %s = call_function[scan](%q, %a, %b) {carry=1, seqs=1} {
        region round(%k: bool[1], %r: f32[3], %b: f32[2,3]) {
          %n = call_function[logical_not](%k)
          %w = get_attr[u] : f32[3]
          %i = call_function[argmax](%b) {dim=[1]}
          return (%n, %w, %k, %i)
        }
      }
      %s0 = call_function[getitem](%s) {index=0}
      %s1 = call_function[getitem](%s) {index=1}
      %s2 = call_function[getitem](%s) {index=2}
      %s3 = call_function[getitem](%s) {index=3}
      return (%s0, %s1, %s2, %s3)
    }
    region no(%a: f32[2,3], %b: f32[2,3], %q: bool[1]) {
      %t = call_function[topk](%a) {k=2, dim=1}
      %t1 = call_function[getitem](%t) {index=1}
      %f = call_function[flip](%a) {dims=[0]}
      %k = call_function[full]() {size=[2,1], value=1, dtype=bool}
      return (%q, %f, %k, %t1)
    }
  }
  %r0 = call_function[getitem](%c) {index=0}
  %r1 = call_function[getitem](%c) {index=1}
  %r2 = call_function[getitem](%c) {index=2}
  %r3 = call_function[getitem](%c) {index=3}
  %t = call_function[transpose](%r1) {dim0=0, dim1=1}
  return (%r0, %r1, %r2, %r3, %r1, %t)
}
param u : f32[3]`,
	"loops from loops, of halves and bytes": `
graph g(%x: f32[2,3], %y: f32[2,3], %p: bool[1]) {
  %h = call_function[cast](%x) {dtype=f16}
  %b = call_function[cast](%y) {dtype=bf16}
  %i = call_function[cast](%y) {dtype=i8}
  %s = call_function[scan](%h, %b, %i) {carry=1, seqs=2} {
    region round(%a: f16[2,3], %r: bf16[3], %k: i8[3]) {
      %f = call_function[cast](%r) {dtype=f16}
      %n = call_function[add](%a, %f)
      %m = call_function[add](%k, %k)
      %t = call_function[sum](%r)
      return (%n, %m, %t, %n)
    }
  }
  %s0 = call_function[getitem](%s) {index=0}
  %s1 = call_function[getitem](%s) {index=1}
  %s2 = call_function[getitem](%s) {index=2}
  %s3 = call_function[getitem](%s) {index=3}
  %v = call_function[permute](%s3) {dims=[1,0,2]}
  %u = call_function[scan](%s2, %v, %s1) {carry=1, seqs=1} {
    region round(%a: bf16[2], %r: f16[2,3], %k: i8[2,3]) {
      %t = call_function[sum](%r) {dim=[1]}
      %f = call_function[cast](%t) {dtype=bf16}
      %n = call_function[sub](%f, %a)
      %z = call_function[scan](%k, %r) {carry=1, seqs=1} {
        region row(%a: i8[2,3], %r: f16[3]) {
          %d = call_function[cast](%r) {dtype=i8}
          %n = call_function[sub](%a, %d)
          %y = call_function[select](%n) {dim=1, index=2}
          return (%n, %y)
        }
      }
      %z0 = call_function[getitem](%z) {index=0}
      %z1 = call_function[getitem](%z) {index=1}
      return (%n, %z0, %z1)
    }
  }
  %u0 = call_function[getitem](%u) {index=0}
  %u1 = call_function[getitem](%u) {index=1}
  %u2 = call_function[getitem](%u) {index=2}
  return (%s0, %s1, %u0, %u1, %u2)
}`,
}

// allFlows is a module of all flows, on the same inputs: one program takes less time to compile
// than seven. names has what each result is of.
func allFlows(t *testing.T) (m *graph.Module, names []string) {
	m = graph.NewModule(graph.New("flows"))
	c := m.Graph.At()
	c.OnError = func(err error) { require.NoError(t, err) }
	in := []*graph.Node{c.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(2, 3)), nil),
		c.Placeholder("y", shape.TensorType(array.F32, shape.ConstDims(2, 3)), nil), c.Placeholder("p", shape.TensorType(array.Bool, shape.ConstDims(1)), nil)}
	var outs []*graph.Node
	s := &graph.Structure{Kind: graph.Results}
	for _, name := range slices.Sorted(maps.Keys(flows)) {
		f := parsed(t, "gofx 1"+flows[name]+"\n")
		for _, p := range f.Params() {
			m.SetParam(*p)
		}
		for _, n := range c.Inline(f.Graph, in) {
			s.Fields = append(s.Fields, graph.Leaf(len(outs)))
			outs, names = append(outs, n), append(names, name)
		}
	}
	c.Output(s, outs...)
	require.Empty(t, graph.Lint(m.Graph))
	return m, names
}

// TestBodies runs flows as on a GPU and as on a processor, whose products pack what they read.
func TestBodies(t *testing.T) {
	g, l := onCUDA(t)
	host := gpu.Target{Device: run.NewDevice(processor{l}), Cache: "-"}
	x, y := ramp(2, 3), array.FromSlice([]float32{3, -1, 0.5, 2, 0.25, -2}, 2, 3)
	yes, no := array.FromSlice([]bool{true}, 1), array.FromSlice([]bool{false}, 1)
	m, names := allFlows(t)
	for _, g := range []gpu.Target{g, host} {
		e := compile(t, g, m)
		for _, in := range [][]*array.Array{{x, y, yes}, {x, y, no}, {y, x, yes}} {
			want := interpreted(t, m, in...)
			for range 2 {
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				for i, name := range names {
					fxtest.Close(t, name, want[i:i+1], got[i:i+1])
				}
			}
		}
	}
}
