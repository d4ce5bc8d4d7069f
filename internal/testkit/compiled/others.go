package compiled

import "github.com/gofx-dev/gofx/tensor"

// Recurrent networks, regions, random numbers, deferred calls.

func StepAt(m *Model, x, y *tt) *tt {
	w := m.Xs[m.Depth%len(m.Xs)]
	return m.Cell.Step(x, y).Mul(w)
}

func Recurrent(m *Model, x, y *tt) (*tt, *tt) {
	h := y
	var out []*tt
	for t := range x.Dim(0) {
		h = m.Cell.Step(x.Select(0, t), h)
		out = append(out, h)
	}
	return tensor.Stack(out, 0), h
}

func Layers2(m *Model, x, y *tt) *tt {
	state := []*tt{y, y.Neg()}
	for range m.Depth {
		in := x
		for i, w := range m.Xs {
			state[i] = in.Mul(w).Add(state[i]).Tanh()
			in = state[i]
		}
	}
	return state[1]
}

func Gated(m *Model, x, y *tt) (*tt, *tt) {
	c, h := y, x
	for _, w := range m.Pair {
		i, f := h.Mul(w).Sigmoid(), x.Mul(w).Sigmoid()
		c = f.Mul(c).Add(i.Mul(h.Tanh()))
		h = i.Mul(c.Tanh())
	}
	return h, c
}

func BuiltinCell(m *Model, x, y *tt) *tt {
	eye := tensor.Eye(3).MulScalar(m.Half)
	return x.RnnCell(y, eye, eye, nil, nil)
}

func Branches(m *Model, x, y *tt) *tt {
	return tensor.Cond(x.Sum().GtScalar(0), func(in []*tt) []*tt { return []*tt{in[0].MulScalar(m.Scale)} },
		func(in []*tt) []*tt { return []*tt{in[0].Sub(in[1])} }, x, y)[0]
}

func WhileLoop(m *Model, x, y *tt) *tt {
	return tensor.WhileAtMost(20, func(in []*tt) *tt { return in[0].Abs().Sum().LtScalar(100) },
		func(in []*tt) []*tt { return []*tt{in[0].MulScalar(m.Scale).Add(in[1]), in[1]} }, x, y)[0]
}

func ScanLoop(m *Model, x, y *tt) (*tt, *tt) {
	last, all := tensor.Scan(func(h, s []*tt) ([]*tt, []*tt) {
		n := m.Cell.Step(s[0], h[0])
		return []*tt{n}, []*tt{n.Sum()}
	}, []*tt{y}, []*tt{x})
	return last[0], all[0]
}

func Dropped(m *Model, x, y *tt) *tt { return m.Drop.Forward(x).Add(y) }

func DecodeStep(m *Model, x, y *tt) (*tt, *tt) {
	keys := tensor.Stack([]*tt{x, y, m.W}, 0)
	weights := keys.Matmul(x).MulScalar(m.Scale).Softmax(0)
	h := m.Cell.Step(weights.Matmul(keys), y)
	return h, h.Argmax(0)
}

func Blended(m *Model, x, y *tt) *tt {
	m.W.AssignInPlace(m.W.MulScalar(0.5).Add(x.MulScalar(m.Half)))
	return m.W.Mul(y)
}

func Named(m *Model, x, y *tt) (r *tt, n int) {
	defer func() { n += m.Depth }()
	r, n = x.Neg(), 2
	return r.Add(y), n * 3
}

func Deferred(m *Model, x, y *tt) []int {
	var order []int
	func() {
		for i := range m.Depth {
			defer func() { order = append(order, i) }()
		}
	}()
	return order
}

func Instances(m *Model, x, y *tt) (*tt, int, string) {
	return pick(m.On, x, y), pick(m.On, m.Depth, 7), pick(!m.On, m.Name, m.Label)
}

func Shadowed(m *Model, x, y *tt) *tt {
	for i := 0; i < m.Depth; i++ {
		x := x.AddScalar(i)
		if i == 1 {
			return x.Mul(y)
		}
	}
	return x
}

func Fibonacci(m *Model, x, y *tt) *tt {
	var fib func(n int) int
	fib = func(n int) int {
		if n < 2 {
			return n
		}
		return fib(n-1) + fib(n-2)
	}
	return x.AddScalar(fib(m.Depth + 3))
}
