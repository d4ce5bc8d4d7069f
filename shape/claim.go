package shape

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
)

// Check evaluates a relation for the sizes that its symbols stand for: nil when
// it holds. Errors are those of Dim.Eval.
func (r Relation) Check(size func(symbol string) (diag.SizeOf, bool)) (*diag.Claim, error) {
	a, b, ok, err := r.Eval(func(symbol string) (int, bool) {
		s, ok := size(symbol)
		return s.Value, ok
	})
	if err != nil || ok {
		return nil, err
	}
	c := &diag.Claim{Rel: r.Rel, A: sideOf(r.A, a, size), B: sideOf(r.B, b, size)}
	if all := append(slices.Clip(c.A.Sizes), c.B.Sizes...); len(all) > 0 {
		c.Input = all[0].Input
	}
	return c, nil
}

func sideOf(d Dim, value int, size func(symbol string) (diag.SizeOf, bool)) diag.Side {
	s := diag.Side{Text: d.String(), Value: value}
	for _, name := range d.Symbols() {
		z, _ := size(name)
		s.Sizes = append(s.Sizes, z)
	}
	return s
}
