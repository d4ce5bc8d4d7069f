package compiled

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/gofx-dev/gofx/tensor"
)

type tt = tensor.Tensor

// Numbers, strings, slices, maps: what the language has built in.

func Scaled(m *Model, x, y *tt) *tt { return x.MulScalar(m.Scale).Add(y) }

func Narrow(m *Model, x, y *tt) *tt {
	return x.MulScalar(float64(m.Half)).AddScalar(float64(m.Small)).SubScalar(float64(m.Big)).Add(y)
}

func Branch(m *Model, x, y *tt) *tt {
	if m.On && m.Depth > 1 || m.Kind == 9 {
		return x.Sub(y)
	}
	return y.Sub(x)
}

func Switch(m *Model, x, y *tt) *tt {
	switch m.Name {
	case "relu":
		return x.Relu()
	case "tanh":
		return x.Tanh()
	}
	return y
}

func Unrolled(m *Model, x, y *tt) *tt {
	for range m.Depth {
		x = x.Mul(y)
	}
	return x
}

func Sums(m *Model, x, y *tt) *tt {
	n := 0
	for _, v := range m.Items {
		n += v
	}
	return x.AddScalar(float64(n)).MulScalar(float64(len(m.Rates)))
}

func Sorted(m *Model, x, y *tt) *tt {
	list := slices.Clone(m.Items)
	slices.Sort(list)
	return x.AddScalar(float64(list[0])).Mul(y)
}

func SortedInPlace(m *Model, x, y *tt) *tt {
	sort.Ints(m.Items)
	return x.AddScalar(float64(m.Items[0]))
}

func Appends(m *Model, x, y *tt) (*tt, []int) {
	m.Log = append(m.Log, m.Depth)
	return x, m.Log
}

func AppendsFresh(m *Model, x, y *tt) []*tt {
	var list []*tt
	for i := range m.Depth {
		list = append(list, x.AddScalar(float64(i)))
	}
	return append(list, y)
}

func Slices(m *Model, x, y *tt) ([]int, []float64) {
	return m.Items[1:], slices.Clip(m.Rates[:1])
}

func Copies(m *Model, x, y *tt) int { return copy(m.Items, m.Log) }

func Arrays(m *Model, x, y *tt) ([3]float32, *tt) {
	a := m.Arr
	a[1]++
	m.Arr[2] = a[0]
	return a, x.MulScalar(float64(m.Arr[1]))
}

func Grids(m *Model, x, y *tt) *tt { return x.MulScalar(float64(m.Grid[m.Depth%2][1])) }

func Lookup(m *Model, x, y *tt) *tt {
	if v, ok := m.Table["a"]; ok {
		return x.MulScalar(v)
	}
	return y
}

func MapRange(m *Model, x, y *tt) *tt {
	for _, k := range slices.Sorted(maps.Keys(m.Table)) {
		x = x.MulScalar(m.Table[k])
	}
	return x
}

func MapWrites(m *Model, x, y *tt) (*tt, int) {
	m.Table["last"] = m.Scale
	delete(m.Table, "b")
	return x, len(m.Table)
}

func Text(m *Model, x, y *tt) (string, *tt) {
	return strings.ToUpper(m.Name) + fmt.Sprint(m.Depth), x.AddScalar(float64(len(m.Label)))
}

func Complex(m *Model, x, y *tt) (complex64, *tt) {
	return m.Z * 2, x.AddScalar(float64(imag(m.Z)))
}

func Shapes(m *Model, x, y *tt) *tt { return x.Reshape(1, -1).Add(y).Sum() }

func Pointers(m *Model, x, y *tt) *tt {
	*m.Count += 2
	return x.AddScalar(float64(*m.Count))
}

func Literals(m *Model, x, y *tt) *tt { return x.MulScalar(m.Spec.Low).AddScalar(m.Spec.High) }

func Generic(m *Model, x, y *tt) *tt { return x.MulScalar(m.Box.V).Add(pick(m.On, x, y)) }

func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

func Variadic(m *Model, xs ...*tt) *tt {
	sum := m.W
	for _, x := range xs {
		sum = sum.Add(x)
	}
	return sum
}

func Nothing(m *Model, x, y *tt) { m.Steps, m.On = m.Depth, !m.On }
