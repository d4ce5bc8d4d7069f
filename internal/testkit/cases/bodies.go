package cases

import (
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// written is a graph whose bodies write the state a : f32[2,2] and n : i64[], and read
// the weight w : f32[2,2], and the same as a Go function of input and state.
func written(name, text string, eager func(s *memory, x *tensor.Tensor) *tensor.Tensor, in ...*tensor.Tensor) Case {
	made := func() *memory {
		return &memory{a: tensor.FromSlice([]float32{1, -2, 0.5, 3}, 2, 2), w: tensor.FromSlice([]float32{2, 1, -1, 0.5}, 2, 2), n: tensor.Scalar(int64(0))}
	}
	state := made()
	return Case{Name: name, Regions: true, Stateful: true, Opts: []fx.Option{}, Inputs: sets(in...),
		Eager: func(in ts) ts { return ts{eager(state, in[0])} },
		Graph: func() (*graph.Module, error) {
			m, err := graph.Parse([]byte("gofx 1\n"+text), name)
			if err != nil {
				return nil, err
			}
			s := made()
			for path, t := range map[string]*tensor.Tensor{"a": s.a, "n": s.n, "w": s.w} {
				m.SetParam(graph.Param{Path: path, Value: t.Array(), Buffer: path != "w"})
			}
			var l diag.List
			l.Add(graph.Lint(m.Graph).Err())
			return m, l.Err()
		}}
}

// memory is the state of such a graph.
type memory struct{ a, w, n *tensor.Tensor }

// set writes a.
func (s *memory) set(v *tensor.Tensor) { s.a.AssignInPlace(v) }

// Bodies returns graphs whose bodies of control flow write state themselves: a trace
// makes results of the values that bodies write, passes and people need not.
func Bodies() []Case {
	x, y := ramp(2, 2), ramp(2, 2).Neg()
	in := ts{x, y, x.AddScalar(2), y}
	return append(writing(in), untraceable(in)...)
}

// untraceable are those that are refused when they are part of a traced program.
func untraceable(in ts) []Case {
	test := written("the condition of a loop writes", countText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
		for {
			s.n.AssignInPlace(s.n.AddScalar(1))
			if s.n.RemainderScalar(4).EqScalar(0).Bool() {
				return x.Add(s.n)
			}
			x = x.MulScalar(2)
		}
	}, in...)
	test.Refused = tracer.RegionMismatch // a traced loop tests its carried values
	results := written("results stay what they were", resultText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
		old := s.a.Clone()
		s.set(x)
		return old.Add(old.T()).Sub(s.a)
	}, in...)
	results.Refused = tracer.UnseenWrite // the loop is about state alone: it runs while it is traced
	return []Case{test, results}
}

func writing(in ts) []Case {
	positive := func(x *tensor.Tensor) bool { return x.Sum().GtScalar(0).Bool() }
	return []Case{
		written("one branch writes", branchText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			before := s.a.Clone()
			out := x.Matmul(s.a)
			if positive(x) {
				s.set(s.a.Add(x))
				out = s.a.MulScalar(2)
			}
			return out.Add(before).Sub(s.a)
		}, in...),
		written("a loop ends by what its body writes", untilText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			s.n.AssignInPlace(tensor.Scalar(int64(0)))
			for s.n.LtScalar(3).Bool() {
				s.n.AssignInPlace(s.n.AddScalar(1))
				s.set(s.a.MulScalar(0.5).Add(x))
				x = x.Matmul(s.a).Add(s.w)
			}
			return x.Add(s.a)
		}, in...),
		written("a scan stacks what it writes", stackText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			var rows ts
			for i := range 2 {
				s.set(s.a.Add(x.Select(0, i)))
				rows = append(rows, s.a.Clone())
			}
			return tensor.Stack(rows, 0).Sub(s.a)
		}, in...),
		written("bodies in bodies write", nestText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			rows := x
			for i := range 2 {
				if positive(x) {
					s.set(s.a.Add(s.w))
					x = x.Sub(s.a)
				} else {
					row := rows.Select(0, i)
					s.set(s.a.MulScalar(-1))
					x = x.Add(row).Add(s.a)
				}
			}
			return x.Matmul(s.a.T())
		}, in...),
		written("operands stay what they were", operandText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			old := s.a.Clone()
			column, sum := old.T().Select(0, 1), x
			for range 2 {
				s.set(s.a.Add(x))
				sum = sum.Add(old).Add(column).Add(s.a)
				old = old.Neg()
			}
			return sum
		}, in...),
		written("a sub-graph in a body is given state", calledText, func(s *memory, x *tensor.Tensor) *tensor.Tensor {
			for range 2 {
				old := s.a.Add(x.Select(0, 0)).Add(x.Select(0, 1))
				s.set(s.a.MulScalar(0.25))
				x = x.Add(old)
			}
			return x.Matmul(s.a)
		}, in...),
	}
}

const branchText = `
graph g(%x: f32[2,2]) {
  %a = get_attr[a] : f32[2,2]
  %before = call_function[clone](%a) : f32[2,2]
  %m = call_function[matmul](%x, %a) : f32[2,2]
  %s = call_function[sum](%x) : f32[]
  %p = call_function[gt](%s) {other=0} : bool[]
  %c = call_function[cond](%p, %x, %m) : (f32[2,2]) {
    region yes(%v: f32[2,2], %k: f32[2,2]) {
      %b = get_attr[a] : f32[2,2]
      %t = call_function[add](%b, %v) : f32[2,2]
      %w = call_function[assign](%b, %t) : f32[2,2]
      %r = call_function[mul](%w) {other=2} : f32[2,2]
      return (%r)
    }
    region no(%v: f32[2,2], %k: f32[2,2]) {
      return (%k)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[2,2]
  %d = call_function[add](%c0, %before) : f32[2,2]
  %e = call_function[sub](%d, %a) : f32[2,2]
  return %e
}
`

const untilText = `
graph g(%x: f32[2,2]) {
  %n = get_attr[n] : i64[]
  %zero = call_function[mul](%n) {other=0} : i64[]
  %w = call_function[assign](%n, %zero) : i64[]
  %l = call_function[while](%x) {carry=1} : (f32[2,2]) {
    region cond(%v: f32[2,2]) {
      %k = get_attr[n] : i64[]
      %y = call_function[lt](%k) {other=3} : bool[]
      return %y
    }
    region body(%v: f32[2,2]) {
      %k = get_attr[n] : i64[]
      %k1 = call_function[add](%k) {other=1} : i64[]
      %kw = call_function[assign](%k, %k1) : i64[]
      %a = get_attr[a] : f32[2,2]
      %h = call_function[mul](%a) {other=0.5} : f32[2,2]
      %t = call_function[add](%h, %v) : f32[2,2]
      %aw = call_function[assign](%a, %t) : f32[2,2]
      %b = get_attr[a] : f32[2,2]
      %m = call_function[matmul](%v, %b) : f32[2,2]
      %u = get_attr[w] : f32[2,2]
      %r = call_function[add](%m, %u) : f32[2,2]
      return (%r)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  %a = get_attr[a] : f32[2,2]
  %r = call_function[add](%l0, %a) : f32[2,2]
  return %r
}
`

const countText = `
graph g(%x: f32[2,2]) {
  %l = call_function[while](%x) {carry=1} : (f32[2,2]) {
    region cond(%v: f32[2,2]) {
      %k = get_attr[n] : i64[]
      %k1 = call_function[add](%k) {other=1} : i64[]
      %kw = call_function[assign](%k, %k1) : i64[]
      %q = call_function[remainder](%kw) {other=4} : i64[]
      %y = call_function[ne](%q) {other=0} : bool[]
      return %y
    }
    region body(%v: f32[2,2]) {
      %r = call_function[mul](%v) {other=2} : f32[2,2]
      return (%r)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  %n = get_attr[n] : i64[]
  %r = call_function[add](%l0, %n) : f32[2,2]
  return %r
}
`

const stackText = `
graph g(%x: f32[2,2]) {
  %l = call_function[scan](%x) {seqs=1} : (f32[2,2,2]) {
    region body(%row: f32[2]) {
      %a = get_attr[a] : f32[2,2]
      %t = call_function[add](%a, %row) : f32[2,2]
      %w = call_function[assign](%a, %t) : f32[2,2]
      return (%w)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2,2]
  %a = get_attr[a] : f32[2,2]
  %r = call_function[sub](%l0, %a) : f32[2,2,2]
  return %r
}
`

const nestText = `
graph g(%x: f32[2,2]) {
  %l = call_function[scan](%x, %x) {carry=1, seqs=1} : (f32[2,2]) {
    region body(%v: f32[2,2], %row: f32[2]) {
      %s = call_function[sum](%v) : f32[]
      %p = call_function[gt](%s) {other=0} : bool[]
      %c = call_function[cond](%p, %v, %row) : (f32[2,2]) {
        region yes(%u: f32[2,2], %j: f32[2]) {
          %a = get_attr[a] : f32[2,2]
          %w = get_attr[w] : f32[2,2]
          %t = call_function[add](%a, %w) : f32[2,2]
          %aw = call_function[assign](%a, %t) : f32[2,2]
          %r = call_function[sub](%u, %aw) : f32[2,2]
          return (%r)
        }
        region no(%u: f32[2,2], %j: f32[2]) {
          %a = get_attr[a] : f32[2,2]
          %t = call_function[neg](%a) : f32[2,2]
          %aw = call_function[assign](%a, %t) : f32[2,2]
          %q = call_function[add](%u, %j) : f32[2,2]
          %b = get_attr[a] : f32[2,2]
          %r = call_function[add](%q, %b) : f32[2,2]
          return (%r)
        }
      }
      %c0 = call_function[getitem](%c) {index=0} : f32[2,2]
      return (%c0)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  %a = get_attr[a] : f32[2,2]
  %t = call_function[t](%a) : f32[2,2]
  %r = call_function[matmul](%l0, %t) : f32[2,2]
  return %r
}
`

const operandText = `
graph g(%x: f32[2,2]) {
  %a = get_attr[a] : f32[2,2]
  %t = call_function[t](%a) : f32[2,2]
  %column = call_function[select](%t) {dim=0, index=1} : f32[2]
  %l = call_function[scan](%a, %x, %x, %column, %x) {carry=2, seqs=1} : (f32[2,2], f32[2,2]) {
    region body(%old: f32[2,2], %sum: f32[2,2], %row: f32[2], %k: f32[2], %v: f32[2,2]) {
      %b = get_attr[a] : f32[2,2]
      %n = call_function[add](%b, %v) : f32[2,2]
      %w = call_function[assign](%b, %n) : f32[2,2]
      %s1 = call_function[add](%sum, %old) : f32[2,2]
      %s2 = call_function[add](%s1, %k) : f32[2,2]
      %now = get_attr[a] : f32[2,2]
      %s3 = call_function[add](%s2, %now) : f32[2,2]
      %o = call_function[neg](%old) : f32[2,2]
      return (%o, %s3)
    }
  }
  %l1 = call_function[getitem](%l) {index=1} : f32[2,2]
  return %l1
}
`

const resultText = `
graph g(%x: f32[2,2]) {
  %a = get_attr[a] : f32[2,2]
  %n = get_attr[n] : i64[]
  %no = call_function[lt](%n) {other=0} : bool[]
  %l = call_function[while](%a, %n) {carry=1} : (f32[2,2]) {
    region cond(%v: f32[2,2], %k: i64[]) {
      %y = call_function[lt](%k) {other=0} : bool[]
      return %y
    }
    region body(%v: f32[2,2], %k: i64[]) {
      %r = call_function[neg](%v) : f32[2,2]
      return (%r)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  %c = call_function[cond](%no, %a) : (f32[2,2]) {
    region yes(%v: f32[2,2]) {
      %r = call_function[neg](%v) : f32[2,2]
      return (%r)
    }
    region no(%v: f32[2,2]) {
      %t = call_function[t](%v) : f32[2,2]
      return (%t)
    }
  }
  %c0 = call_function[getitem](%c) {index=0} : f32[2,2]
  %k = call_function[add](%n) {other=0} : i64[]
  %nw = call_function[assign](%n, %k) : i64[]
  %w = call_function[assign](%a, %x) : f32[2,2]
  %s = call_function[add](%l0, %c0) : f32[2,2]
  %r = call_function[sub](%s, %w) : f32[2,2]
  return %r
}
`

const calledText = `
graph g(%x: f32[2,2]) {
  %l = call_function[scan](%x, %x) {carry=1, seqs=1} : (f32[2,2]) {
    region body(%v: f32[2,2], %row: f32[2]) {
      %b = get_attr[a] : f32[2,2]
      %h = call_function[call](%v, %b) {graph="half"} : f32[2,2]
      %r = call_function[add](%v, %h) : f32[2,2]
      return (%r)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  %a = get_attr[a] : f32[2,2]
  %r = call_function[matmul](%l0, %a) : f32[2,2]
  return %r
}
subgraph half(%v: f32[2,2], %b: f32[2,2]) {
  %l = call_function[scan](%b, %v) {carry=1, seqs=1} : (f32[2,2]) {
    region body(%old: f32[2,2], %row: f32[2]) {
      %a = get_attr[a] : f32[2,2]
      %t = call_function[mul](%a) {other=0.5} : f32[2,2]
      %w = call_function[assign](%a, %t) : f32[2,2]
      %r = call_function[add](%old, %row) : f32[2,2]
      return (%r)
    }
  }
  %l0 = call_function[getitem](%l) {index=0} : f32[2,2]
  return %l0
}
`
