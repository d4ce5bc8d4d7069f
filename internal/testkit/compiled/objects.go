package compiled

import "github.com/gofx-dev/gofx/tensor"

// Objects: fields, pointers, interfaces, function values, shared parts.

func (m *Model) Forward(x, y *tt) *tt { return x.Mul(m.W).Add(y) }

func Layered(m *Model, x, y *tt) *tt {
	for _, l := range m.Layers {
		x = l.Apply(x)
	}
	return x
}

func Values(m *Model, x, y *tt) *tt {
	for i := range m.Flat {
		x = m.Flat[i].Apply(x)
	}
	for _, l := range m.Flat {
		x = x.MulScalar(l.Scale)
	}
	return x
}

func Embedded(m *Model, x, y *tt) *tt { return m.shift(x).AddScalar(float64(len(m.Label))) }

func Private(m *Model, x, y *tt) *tt { return x.MulScalar(m.private) }

func Chained(m *Model, x, y *tt) *tt {
	for n := m; n != nil; n = n.Next {
		x = x.MulScalar(n.Scale)
	}
	return x
}

func Interfaces(m *Model, x, y *tt) *tt {
	if m.Act != nil {
		x = m.Act.Apply(x)
	}
	return x
}

func InterfaceList(m *Model, x, y *tt) *tt {
	for _, a := range m.Acts {
		x = a.Apply(x)
	}
	return x
}

func Asserted(m *Model, x, y *tt) *tt {
	switch v := m.Any.(type) {
	case int:
		return x.AddScalar(float64(v))
	case string:
		return y
	}
	return x
}

func Called(m *Model, x, y *tt) *tt { return m.Fn(x) }

func Same(m *Model, x, y *tt) (bool, bool, bool) {
	return x == y, m.Layers[0] == m.Layers[2], m.Next == nil
}

func Mapped(m *Model, x, y *tt) *tt {
	if l := m.ByKind[m.Kind]; l != nil {
		return l.Apply(x)
	}
	return x
}

func Shared(m *Model, x, y *tt) (*Layer, []*Layer) {
	l := &Layer{W: x.Neg(), Scale: m.Scale}
	return l, []*Layer{l, m.Layers[0], {W: l.W}}
}

func Nested(m *Model, x, y *tt) map[string]int { return map[string]int{m.Name: m.Depth} }

// Keyed makes tensors that no record can make again.
func Keyed(m *Model, x, y *tt) map[string]*tt {
	return map[string]*tt{m.Name: x.Neg(), "sum": x.Add(y)}
}

func Copied(m *Model, x, y *tt) (Layer, *tt) {
	l := *m.Layers[1]
	l.Scale++
	return l, l.Apply(x)
}

func Recursive(m *Model, x, y *tt) *tt { return descend(m, x, 3) }

func descend(m *Model, x *tt, n int) *tt {
	if m == nil || n == 0 {
		return x
	}
	return descend(m.Next, x.AddScalar(m.Scale), n-1)
}

func Closures(m *Model, x, y *tt) *tt {
	by := m.Scale
	f := func(x *tt) *tt { return x.MulScalar(by) }
	return f(f(x)).Add(y)
}

func (m Model) ByValue(x, y *tt) *tt { return x.MulScalar(m.Scale).AddScalar(float64(m.Items[0])) }

func Lists(m *Model, xs []*tensor.Tensor) *tt { return tensor.Cat(xs, 0).MulScalar(m.Scale) }
