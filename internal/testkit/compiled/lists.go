package compiled

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/gofx-dev/gofx/tensor"
)

// Slices, arrays, structs, maps and iterators, with numbers and with tensors.

func ListPatterns(m *Model, x, y *tt) ([]int, []int, [][]int) {
	sum := slices.Concat(m.Items, m.Log)
	return m.Items, slices.Repeat(m.Items, 2), [][]int{m.Items[:1], sum, {m.Depth}}
}

func TensorLists(m *Model, x, y *tt) ([]*tt, [][]*tt) {
	list := []*tt{x, y, x.Mul(m.Xs[0])}
	return list, [][]*tt{list[:1], slices.Concat(m.Xs, list), {list[2], x}}
}

func Contains(m *Model, x, y *tt) *tt {
	if slices.Contains(m.Items, m.Depth) && !slices.Contains(m.Xs, x) {
		return x
	}
	return y
}

func Mapping(m *Model, x, y *tt) []int {
	return mapped(m.Items, func(i int) int { return i*m.Depth + 1 })
}

func MappedTensors(m *Model, x, y *tt) []*tt {
	return mapped(m.Xs, func(w *tt) *tt { return x.Mul(w) })
}

func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, 0, len(list))
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}

func Zipped(m *Model, x, y *tt) []*tt {
	out := make([]*tt, min(len(m.Items), len(m.Xs)))
	for i := range out {
		out[i] = m.Xs[i].MulScalar(m.Items[i])
	}
	for i, r := range m.Rates {
		out[i%len(out)] = out[i%len(out)].Add(tensor.Full(3, r))
	}
	return out
}

type listed struct {
	All []*tt
	N   int
	At  [2]int
}

func LocalList(m *Model, x, y *tt) listed {
	var l listed
	l.All = append(l.All, x.Neg())
	l.All = append(l.All, y)
	l.N, l.At[1] = len(l.All), m.Depth
	return l
}

type pair[A, B any] struct {
	First  A
	Second B
}

func Tuples(m *Model, x, y *tt) (pair[int, [2]int], pair[string, pair[bool, Kind]]) {
	p := pair[int, [2]int]{m.Depth, m.Grid[0]}
	p.Second[1], p.First = p.First, p.Second[0]
	return p, pair[string, pair[bool, Kind]]{m.Name, pair[bool, Kind]{p.First > 0, m.Kind}}
}

func TensorTuples(m *Model, x, y *tt) (pair[*tt, *tt], [2]pair[*tt, int]) {
	z := x.Add(y)
	return pair[*tt, *tt]{z, x}, [2]pair[*tt, int]{{z, 1}, {m.Pair[0], m.Depth}}
}

func SetOps(m *Model, x, y *tt) ([]string, bool) {
	both, either := map[string]bool{}, maps.Clone(m.Set)
	for _, n := range m.Names {
		if m.Set[n] {
			both[n] = true
		}
		either[n] = true
	}
	delete(either, "a")
	return slices.Sorted(maps.Keys(either)), len(both) > 0 || maps.Equal(both, m.Set)
}

func TensorSets(m *Model, x, y *tt) (*tt, int) {
	seen := map[*tt]bool{}
	sum := x
	for _, t := range []*tt{x, y, x, m.Pair[0], m.W} {
		if !seen[t] {
			seen[t] = true
			sum = sum.Add(t)
		}
	}
	return sum, len(seen)
}

func MapPassed(m *Model, x, y *tt) (map[string]float64, *tt) {
	return m.Table, x.MulScalar(valueOr(m.Table, "none", m.Scale))
}

func valueOr[K comparable, V any](m map[K]V, k K, or V) V {
	if v, ok := m[k]; ok {
		return v
	}
	return or
}

func TensorMap(m *Model, x, y *tt) *tt {
	for _, k := range slices.Sorted(maps.Keys(m.Named)) {
		x = x.Mul(m.Named[k])
	}
	return x
}

func LocalMap(m *Model, x, y *tt) (*tt, int) {
	all := map[string]*tt{"x": x, "y": y}
	all["sum"] = all["x"].Add(all["y"])
	delete(all, "x")
	n := len(all)
	last := all["sum"]
	clear(all)
	return last, n + len(all)
}

func MapClears(m *Model, x, y *tt) *tt {
	clear(m.Set)
	m.Set["b"] = true
	return x
}

func OrderedMap(m *Model, x, y *tt) []pair[string, float64] {
	var out []pair[string, float64]
	for _, k := range slices.Sorted(maps.Keys(m.Table)) {
		out = append(out, pair[string, float64]{k, m.Table[k] * 2})
	}
	slices.Reverse(out)
	return out
}

func Enumerate(m *Model, x, y *tt) *tt {
	for i, v := range m.Items {
		x = x.AddScalar(i * v)
	}
	for i, v := range slices.All(m.Rates) {
		x = x.MulScalar(float64(i+1) * v)
	}
	return x
}

func counted(list []int) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for i, v := range list {
			if v == 0 || !yield(i+1, v) {
				return
			}
		}
	}
}

func RangeFunc(m *Model, x, y *tt) *tt {
	for i, v := range counted(m.Items) {
		if i > m.Depth {
			break
		}
		x = x.AddScalar(i * v)
	}
	return x
}

func Collected(m *Model, x, y *tt) []int {
	return slices.Collect(func(yield func(int) bool) {
		for _, v := range m.Items {
			if !yield(v * m.Depth) {
				return
			}
		}
	})
}

func ArrayPassed(m *Model, x, y *tt) ([3]float32, [2][2]int) { return m.Arr, m.Grid }

func Matrix(m *Model, x, y *tt) (*tt, [][]float64) {
	sum := 0.0
	for _, row := range m.Mat {
		for _, v := range row {
			sum += v
		}
	}
	return x.MulScalar(sum), m.Mat[1:]
}

func SortedBy(m *Model, x, y *tt) ([]float64, int) {
	list := slices.Clone(m.Rates)
	slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
	at, _ := slices.BinarySearch(m.Items, m.Depth)
	return list, at
}

func Inserted(m *Model, x, y *tt) []*tt {
	list := slices.Insert(slices.Clone(m.Xs), 1, x, y)
	return slices.DeleteFunc(list, func(t *tt) bool { return t == m.Xs[0] })
}

func FullSlices(m *Model, x, y *tt) ([]int, []int, int) {
	a := m.Items[:1:1]
	b := append(a, m.Depth) // another array
	return a, b, cap(m.Items)
}

func ArrayOfSlice(m *Model, x, y *tt) ([2]int, *tt) {
	a := [2]int(m.Items)
	p := (*[2]int)(m.Items)
	return a, x.AddScalar(p[0])
}
