package compiled

// Objects of the user's: made, changed, compared, shared.

func AssignExisting(m *Model, x, y *tt) *tt {
	for _, l := range m.Layers {
		l.Scale = m.Scale
	}
	return x
}

func NewObject(m *Model, x, y *tt) *Layer { return newLayer(x, m.Scale) }

func newLayer(w *tt, scale float64) *Layer { return &Layer{W: w.Neg(), Scale: scale} }

func NewObjectChanged(m *Model, x, y *tt) (*Layer, *tt) {
	l := newLayer(x, 1)
	l.Scale += m.Scale
	l.Skip = !l.Skip
	return l, l.W.MulScalar(l.Scale)
}

func NewTree(m *Model, x, y *tt) *Model {
	leaf := &Model{W: y, Scale: m.Scale}
	return &Model{Next: leaf, Layers: []*Layer{{W: leaf.W}, nil}, Acts: []Activation{Shift(m.Scale), &Leaky{0.5}}, Inner: m.Inner}
}

func Ring(m *Model, x, y *tt) *Model {
	a, b := &Model{Scale: 1}, &Model{Scale: 2, W: x}
	a.Next, b.Next = b, a
	return a
}

func Compared(m *Model, x, y *tt) (bool, bool, bool) {
	one, two := pair[Kind, string]{m.Kind, m.Name}, pair[Kind, string]{1, "relu"}
	return one == two, m.Inner == Inner{1.5, "label"}, m.Arr == [3]float32{1, 2, 3}
}

func InterfacesCompared(m *Model, x, y *tt) (bool, bool) {
	a, b := Activation(Shift(m.Scale)), Activation(Affine{m.Scale, 1})
	return a == Activation(Shift(2)), a == b || b != Activation(Affine{2, 1})
}

func NilInInterface(m *Model, x, y *tt) (bool, *tt) {
	var l *Leaky
	if isNil(l) || m.Act == Activation(l) {
		return true, y
	}
	return isNil(m.Act), x
}

func isNil(a Activation) bool { return a == nil }

func Chain(m *Model, x, y *tt) *tt {
	b := &chain{x: x}
	return b.times(m.W).plus(m.Scale).x
}

type chain struct{ x *tt }

func (c *chain) times(w *tt) *chain {
	c.x = c.x.Mul(w)
	return c
}

func (c chain) plus(v float64) chain {
	c.x = c.x.AddScalar(v)
	return c
}

// stack is generic.
type stack[T any] struct{ list []T }

func (s *stack[T]) push(v ...T) { s.list = append(s.list, v...) }

func (s *stack[T]) pop() T {
	v := s.list[len(s.list)-1]
	s.list = s.list[:len(s.list)-1]
	return v
}

func GenericTypes(m *Model, x, y *tt) (*tt, int) {
	var ts stack[*tt]
	var ns stack[int]
	ts.push(x, y, m.W)
	ns.push(m.Items...)
	return ts.pop().Sub(ts.pop()).Mul(ts.pop()), ns.pop() + len(ns.list)
}

func (k Kind) weight() float64 { return float64(k) * 1.5 }

func NamedNumbers(m *Model, x, y *tt) *tt { return x.MulScalar(m.Kind.weight()) }

// wrapped embeds an interface and a pointer.
type wrapped struct {
	Activation
	*Layer
}

func (w wrapped) Apply(x *tt) *tt { return w.Activation.Apply(w.Layer.Apply(x)) }

func Wrapped(m *Model, x, y *tt) *tt { return through(wrapped{m.Act, m.Layers[0]}, x) }

func Visited(m *Model, x, y *tt) *tt {
	var last Activation
	for _, a := range m.Acts {
		if _, ok := a.(*Leaky); ok {
			continue
		}
		last = a
	}
	if s, ok := last.(Shift); ok {
		return x.AddScalar(float64(s))
	}
	return last.Apply(y)
}

func Cells(m *Model, x, y *tt) *tt {
	h := m.Cell.Step(x, y)
	for _, a := range m.Cell.Acts {
		h = a.Apply(h)
	}
	return h
}

func ReturnsOld(m *Model, x, y *tt) (*Layer, []*Layer) { return m.Layers[1], m.Layers[1:] }

func ReturnsField(m *Model, x, y *tt) (*float64, *tt) { return &m.Layers[1].Scale, x }

func Replaced(m *Model, x, y *tt) *tt {
	m.Act, m.Fn = m.Acts[1], nil
	return m.Act.Apply(x)
}

func CopiedStruct(m *Model, x, y *tt) *tt {
	inner := m.Inner
	inner.Bias *= 2
	m.Flat[0] = m.Flat[1]
	return inner.shift(x).MulScalar(m.Flat[0].Scale)
}
