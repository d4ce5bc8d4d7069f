package guard

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/shape"
)

// Relations are relations of sizes that hold together.
type Relations []shape.Relation

// Symbols returns the names of the sizes that the relations speak of, sorted.
func (l Relations) Symbols() []string {
	var list []string
	for _, r := range l {
		list = append(list, r.Symbols()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Equalities returns the equalities.
func (l Relations) Equalities() (list Relations) {
	for _, r := range l {
		if r.Rel == shape.EQ {
			list = append(list, r)
		}
	}
	return list
}

// Bind replaces symbols by what env says of them.
func (l Relations) Bind(env func(symbol string) shape.Dim) Relations {
	list := make(Relations, len(l))
	for i, r := range l {
		list[i] = r.Bind(env)
	}
	return list
}

// Broken reports whether a relation does not hold for sizes. One that they do not decide counts as holding.
func (l Relations) Broken(sizes map[string]int) bool {
	return slices.ContainsFunc(l, func(r shape.Relation) bool {
		_, _, ok, err := r.Eval(in(sizes))
		return err == nil && !ok
	})
}

// in looks sizes up.
func in(sizes map[string]int) func(symbol string) (int, bool) {
	return func(symbol string) (int, bool) {
		n, ok := sizes[symbol]
		return n, ok
	}
}

// Bounds are what relations of one symbol and numbers alone allow it to be: multiples of Step
// from Least to Most.
type Bounds struct{ Step, Least, Most int }

// Of returns the bounds of a symbol.
func (l Relations) Of(symbol string) Bounds {
	b := Bounds{Step: 1, Most: math.MaxInt}
	for _, r := range l {
		if k, number := r.B.Int(); number {
			if name, plain := r.A.IsSymbol(); !plain || name != symbol {
				continue
			}
			switch r.Rel {
			case shape.MOD:
				b.Step = multiple(b.Step, k)
			case shape.GE:
				b.Least = max(b.Least, k)
			}
		} else if k, number := r.A.Int(); number && r.Rel == shape.GE {
			if name, plain := r.B.IsSymbol(); plain && name == symbol {
				b.Most = min(b.Most, k)
			}
		}
	}
	return b
}

// maxStep bounds steps: sizes that are tried are far smaller.
const maxStep = 1 << 20

// multiple returns the least common multiple, or a where that is huge or b no size.
func multiple(a, b int) int {
	for n := a; b > 0 && b <= maxStep && n < maxStep; n += a {
		if n%b == 0 {
			return n
		}
	}
	return a
}

// Near returns the multiple of n's own bounds that is near n times the step.
func (b Bounds) Near(n int) int {
	n *= b.Step
	if n < b.Least {
		n += (b.Least - n + b.Step - 1) / b.Step * b.Step
	}
	if n > b.Most {
		n = b.Most / b.Step * b.Step
	}
	return n
}

// Contradiction says which relations no sizes satisfy.
type Contradiction struct {
	// At is the index of the relation that fails, and Earlier that of the equality that it
	// contradicts; -1 where a fact that the solver had before is meant.
	At, Earlier int
	// Conflict is that of an equality, nil for a bound or multiple, which Is says what it has become.
	Conflict *shape.Conflict
	Is       shape.Relation
}

// Words returns the two facts that contradict each other, of relations that begin with l.
func (c *Contradiction) Words(l Relations) (first, second string) {
	if c.Conflict != nil {
		return c.Conflict.First.Text, c.Conflict.Second.Text
	}
	return l[c.At].String(), c.Is.String()
}

// Solve gives a solver the equalities and reports the first relation that cannot hold, nil for none.
func (l Relations) Solve(s *shape.Solver) *Contradiction {
	for i, r := range l {
		if r.Rel != shape.EQ {
			continue
		}
		c := s.Equal(r.A, r.B, shape.Fact{Tag: place(i), Text: r.A.String() + " = " + r.B.String()})
		if c != nil {
			return &Contradiction{At: indexOf(c.Second), Earlier: indexOf(c.First), Conflict: c}
		}
	}
	for i, r := range l {
		if r.Rel == shape.EQ {
			continue
		}
		if is := r.Bind(func(name string) shape.Dim { return s.Resolve(shape.Sym(name)) }); is.Truth() == shape.False {
			return &Contradiction{At: i, Earlier: -1, Is: is}
		}
	}
	return nil
}

// place is the index of a relation, as the tag of the fact that it is.
type place int

func indexOf(f shape.Fact) int {
	if i, ok := f.Tag.(place); ok {
		return int(i)
	}
	return -1
}
