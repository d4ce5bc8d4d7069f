package compiled

import (
	"strconv"

	"github.com/gofx-dev/gofx/tensor"
)

// Calls: functions, methods, closures and modules that programs call.

func CallNumber(m *Model, x, y *tt) *tt { return x.AddScalar(doubled(m.Depth)) }

func doubled(n int) int { return 2 * n }

func CallTensor(m *Model, x, y *tt) *tt { return gated(gated(x, y), m.W) }

func gated(x, y *tt) *tt { return x.Mul(y.Sigmoid()) }

func External(m *Model, x, y *tt) *tt { return through(m.Layers[1], through(m.Next.Act, x)) }

func through(a Activation, x *tt) *tt { return a.Apply(x).AddScalar(1) }

func ParamModule(m *Model, x, y *tt) *tt { return m.Layers[1].Apply(x).Add(m.Layers[0].Apply(y)) }

// scaling are options; a Scale of 0 stands for 2.
type scaling struct {
	Scale float64
	Shift int
	By    *tt
}

func scaledWith(x *tt, o ...scaling) *tt {
	var s scaling
	if len(o) > 0 {
		s = o[0]
	}
	if s.Scale == 0 {
		s.Scale = 2
	}
	if s.By != nil {
		x = x.Mul(s.By)
	}
	return x.MulScalar(s.Scale).AddScalar(s.Shift)
}

func Defaults(m *Model, x, y *tt) *tt {
	return scaledWith(scaledWith(scaledWith(x), scaling{Shift: m.Depth}), scaling{Scale: m.Scale, By: y})
}

// scaled takes options by pointer.
func (m *Model) scaled(x *tt, o *scaling) *tt { return scaledWith(x, *o).MulScalar(m.Half) }

func MethodOptions(m *Model, x, y *tt) *tt { return m.scaled(x, &scaling{Scale: 3, Shift: m.Items[1]}) }

func InnerClosure(m *Model, x, y *tt) *tt {
	inner := func(x *tt) *tt { return m.shift(x).Mul(y) }
	return inner(inner(x))
}

func ClosureChain(m *Model, x, y *tt) *tt {
	first := func(x *tt) *tt { return x.MulScalar(m.Scale) }
	second := func(x *tt) *tt { return first(x).AddScalar(m.Bias) }
	return second(first(x))
}

func Children(m *Model, x, y *tt) (*tt, []string) {
	var names []string
	for _, c := range []struct {
		Name   string
		Module Activation
	}{{"first", m.Layers[0]}, {"act", m.Act}, {"last", Shift(2)}} {
		if c.Module != nil {
			names, x = append(names, c.Name), c.Module.Apply(x)
		}
	}
	return x, names
}

func ByLabel(m *Model, x, y *tt) *tt {
	for i := range m.Names {
		if w, ok := m.Named["w"+strconv.Itoa(i)]; ok {
			x = x.Mul(w)
		}
	}
	return x
}

// saving is a function object that keeps what it has seen.
type saving struct {
	saved []*tt
	by    float64
}

func (s *saving) forward(x *tt) *tt {
	s.saved = append(s.saved, x)
	return x.MulScalar(s.by)
}

func (s *saving) backward(g *tt) *tt { return g.Mul(s.saved[len(s.saved)-1]) }

func FuncObject(m *Model, x, y *tt) *tt {
	f := &saving{by: m.Scale}
	return f.backward(f.forward(x).Add(f.forward(y)))
}

// static has methods without state.
type static struct{}

func (static) forward(x *tt) *tt { return x.Square() }

func FuncClass(m *Model, x, y *tt) *tt { return static{}.forward(x).Add(new(static).forward(y)) }

func Identity(m *Model, x, y *tt) (*tt, *tt) { return same(x), same(y).Clone() }

func same[T any](v T) T { return v }

func Mutual(m *Model, x, y *tt) *tt { return even(x, m.Depth) }

func even(x *tt, n int) *tt {
	if n <= 0 {
		return x
	}
	return odd(x.AddScalar(n), n-1)
}

func odd(x *tt, n int) *tt {
	if n <= 0 {
		return x.Neg()
	}
	return even(x.MulScalar(2), n-1)
}

func HighOrder(m *Model, x, y *tt) ([]*tt, []*tt, []int) {
	return mapped([]*tt{x, y}, tensor.Relu), mapped(nil, tensor.Relu), mapped(m.Items, doubled)
}

func TwoReaders(m *Model, x, y *tt) *tt { return useOf(m.Layers[1], x).Add(scaleOf(m.Layers[1], y)) }

func useOf(l *Layer, x *tt) *tt { return x.Mul(l.W) }

func scaleOf(l *Layer, x *tt) *tt { return x.MulScalar(l.Scale) }

func AssignedLater(m *Model, x, y *tt) *tt {
	var by float64
	var with *tt
	f := func(x *tt) *tt { return x.Mul(with).MulScalar(by) }
	by, with = m.Scale, y
	return f(x)
}

func (i *Inner) parts() []float64 { return []float64{i.Bias, float64(len(i.Label))} }

func Promoted(m *Model, x, y *tt) *tt {
	for _, v := range m.parts() {
		x = x.AddScalar(v)
	}
	return x
}

func Variadics(m *Model, x, y *tt) *tt {
	return addAll(addAll(m.Xs...), addAll(x, y, x), addAll(m.Pair[:]...))
}

func (m *Model) setSpec(v float64) { m.Spec.Low, m.Spec.High = v, v*2 }

func ModifyField(m *Model, x, y *tt) *tt {
	m.setSpec(m.Scale)
	return x.MulScalar(m.Spec.High)
}

func MethodValues(m *Model, x, y *tt) *tt {
	f, g := m.shift, (*Layer).Apply
	return f(g(m.Layers[1], x))
}

func ModuleInside(m *Model, x, y *tt) *tt {
	l := &Layer{W: m.W, Scale: m.Scale}
	return l.Apply(Affine{m.Scale, 1}.Apply(x))
}

func MapModules(m *Model, x, y *tt) *tt {
	return tensor.Cat(mapped(m.Layers, func(l *Layer) *tt { return l.Apply(x) }), 0)
}

func StaticNorm(m *Model, x, y *tt) *tt {
	if l := m.Layers[1]; l.W != nil {
		x = l.Apply(x)
	}
	return x.Sub(y)
}

func factory(by float64, after func(*tt) *tt) func(...*tt) *tt {
	return func(xs ...*tt) *tt { return after(tensor.Cat(xs, 0).MulScalar(by)) }
}

func Factory(m *Model, x, y *tt) *tt {
	f := factory(m.Scale, tensor.Relu)
	return f(x, y)
}

func ByName(m *Model, x, y *tt) *tt {
	all := map[string]func(*tt) *tt{"relu": tensor.Relu, "tanh": tensor.Tanh}
	if f := all[m.Name]; f != nil {
		return f(x)
	}
	return y
}
