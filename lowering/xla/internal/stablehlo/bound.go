package stablehlo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// Symbol is a size that a program is to have a bound for: what the program is for other sizes.
type Symbol struct {
	Bound int
	// Others are the programs for Sizes of this symbol, and the bounds of all others.
	Others []*Module
	Sizes  []int
}

// Misfit says at which operation of main a program needs a size as a number; Op is -1 for an
// argument.
type Misfit struct {
	Op  int
	Err error
}

// Error returns the reason.
func (m *Misfit) Error() string { return m.Err.Error() }

// Bounded returns the program of which the sizes of some symbols are only bounded: p, which is for
// the bounds, with these sizes left open within. Which sizes these are is what changes in programs for
// other sizes; nothing else may. Constants and whatever else has a size of its own get the run's.
//
// Arguments and results are as large as the bounds: what lies after a run's sizes is not read,
// and is anything in the results. After its arguments main takes the sizes, a scalar of i32 for each
// symbol.
func Bounded(p *Module, symbols []Symbol) (*Module, error) {
	b := &bounding{symbols: symbols, values: map[*Value]*Value{}, opens: map[*Value][]int{}, full: map[*Value]*Value{}, numbers: map[int]*Value{}, others: map[*Module]map[*Value]*Value{}, out: NewBuilder()}
	for _, s := range symbols {
		for _, q := range s.Others {
			if len(q.Main.Ops) != len(p.Main.Ops) || len(q.Main.Args) != len(p.Main.Args) {
				return nil, &Misfit{parting(p.Main, q.Main), errors.New("the program has other operations for other sizes")}
			}
			b.pair(q, p.Main.Args, q.Main.Args)
		}
	}
	for i, a := range p.Main.Args {
		var err error
		if b.opens[a], err = b.open(a, func(q *Module) *Value { return q.Main.Args[i] }); err != nil {
			return nil, &Misfit{-1, err}
		}
		b.out.Region.Args = append(b.out.Region.Args, &Value{Type: a.Type})
	}
	for range symbols {
		size := &Value{Type: Of(array.I32)}
		b.sizes = append(b.sizes, size)
		b.out.Region.Args = append(b.out.Region.Args, size)
	}
	for i, a := range p.Main.Args {
		b.values[a] = b.opened(b.out.Arg(i), b.opens[a])
	}
	for i, o := range p.Main.Ops {
		if err := b.op(i, o); err != nil {
			return nil, &Misfit{i, err}
		}
	}
	q := *p
	q.Main = b.out.Region
	if p.Donated != nil {
		q.Donated = append(slices.Clone(p.Donated), make([]bool, len(symbols))...)
	}
	return &q, nil
}

type bounding struct {
	symbols []Symbol
	values  map[*Value]*Value
	opens   map[*Value][]int              // of each value the symbols that its dimensions are, -1 for none
	sizes   []*Value                      // of symbols, as the run has them
	full    map[*Value]*Value             // values with all their bounds as numbers
	numbers map[int]*Value                // bounds as scalars
	others  map[*Module]map[*Value]*Value // of each value the one at its place
	out     *Builder
}

// pair notes the values of a program for another size that stand where these do.
func (b *bounding) pair(q *Module, values, others []*Value) {
	if b.others[q] == nil {
		b.others[q] = map[*Value]*Value{}
	}
	for i, v := range values {
		b.others[q][v] = others[i]
	}
}

// open returns for each dimension of a value the symbol that its size is, -1 for none.
func (b *bounding) open(v *Value, other func(q *Module) *Value) ([]int, error) {
	list := slices.Repeat([]int{-1}, v.Type.Rank())
	for s, symbol := range b.symbols {
		for k, q := range symbol.Others {
			u := other(q).Type
			if u.Elem != v.Type.Elem || u.Rank() != v.Type.Rank() {
				return nil, fmt.Errorf("%s is %s for another size", v.Type, u)
			}
			for d := range list {
				same := u.Dims[d] == v.Type.Dims[d]
				if !same && (u.Dims[d] != symbol.Sizes[k] || v.Type.Dims[d] != symbol.Bound || list[d] >= 0 && list[d] != s) || same && list[d] == s {
					return nil, fmt.Errorf("dimension %d of %s is computed from a size", d, v.Type)
				}
				if !same {
					list[d] = s
				}
			}
		}
	}
	return list, nil
}

// op copies an operation, with results that are as open as other sizes show.
func (b *bounding) op(i int, o *Op) error {
	c := &Op{Name: o.Name, Attrs: o.Attrs, Regions: o.Regions}
	for _, v := range o.Operands {
		c.Operands = append(c.Operands, b.values[v])
	}
	if o.Name == "if" || o.Name == "while" {
		return errors.New("regions that see other values have no bounds")
	}
	for _, s := range b.symbols {
		for _, q := range s.Others {
			if err := b.alike(q, o, q.Main.Ops[i]); err != nil {
				return err
			}
			b.pair(q, o.Results, q.Main.Ops[i].Results)
		}
	}
	if o.Name == "return" {
		for k, v := range c.Operands {
			c.Operands[k] = b.filled(v)
		}
		b.out.Return(c.Operands...)
		return nil
	}
	some := slices.ContainsFunc(c.Operands, func(v *Value) bool { return v.Type.IsBounded() })
	for r, v := range o.Results {
		var err error
		if b.opens[v], err = b.open(v, func(q *Module) *Value { return q.Main.Ops[i].Results[r] }); err != nil {
			return err
		}
		some = some || slices.Max(append([]int{-1}, b.opens[v]...)) >= 0
		c.Results = append(c.Results, &Value{Type: v.Type})
	}
	if some {
		if err := b.follow(o, c); err != nil {
			return err
		}
	}
	if whole(c) {
		for k, v := range c.Operands {
			c.Operands[k] = b.filled(v)
		}
		for r, v := range o.Results {
			c.Results[r] = &Value{Type: v.Type}
		}
	}
	if err := check(c); err != nil {
		return err
	}
	b.out.Region.Ops = append(b.out.Region.Ops, c)
	for r, v := range o.Results {
		b.values[v] = b.opened(c.Results[r], b.opens[v])
	}
	return nil
}

// follow gives the results of a copy the bounds that they have from the operands, which must be open, and
// sizes of the same symbols: two may have one bound.
func (b *bounding) follow(o, c *Op) error {
	sources, err := sourcesOf(c)
	if err != nil {
		return err
	}
	for r, v := range c.Results {
		for d, s := range sources[r] {
			if s.Operand < 0 || !c.Operands[s.Operand].Type.Bound(s.Dim) {
				continue
			}
			switch is := b.opens[o.Results[r]][d]; {
			case is < 0:
				return fmt.Errorf("dimension %d of %s follows a bound and has one size", d, v.Type)
			case is != b.opens[o.Operands[s.Operand]][s.Dim]:
				return fmt.Errorf("dimension %d of %s follows the bound of another size", d, v.Type)
			}
			v.Type = v.Type.Limited(d, true)
		}
	}
	return nil
}

// opened returns a value with all dimensions open that are to be: those that follow no operand get
// the run's size.
func (b *bounding) opened(v *Value, open []int) *Value {
	for d, s := range open {
		if s >= 0 && !v.Type.Bound(d) {
			v = b.sized(v, b.sizes[s], d, true)
		}
	}
	return v
}

// parting is the first operation of p that q does not have at its place.
func parting(p, q *Region) int {
	for i, o := range p.Ops {
		if i == len(q.Ops) || q.Ops[i].Name != o.Name {
			return i
		}
	}
	return len(p.Ops) - 1
}

// filled returns a value with its bounds as sizes.
func (b *bounding) filled(v *Value) *Value {
	if b.full[v] == nil {
		full := v
		for d, n := range v.Type.Dims {
			if !v.Type.Bound(d) {
				continue
			}
			if b.numbers[n] == nil {
				b.numbers[n] = b.out.Const(Of(array.I32), uint64(n))
			}
			full = b.sized(full, b.numbers[n], d, false)
		}
		b.full[v] = full
	}
	return b.full[v]
}

// sized gives a dimension a size, which makes it a bound, or the bound as a number, which ends that.
func (b *bounding) sized(v, size *Value, dim int, bound bool) *Value {
	return b.out.Add(b.out.With("set_dimension_size", []*Value{v, size}, "dimension", Int(dim)), v.Type.Limited(dim, bound))[0]
}

// alike requires an operation to be the same for another size, of the same values, except what follows from
// the sizes of its operands and results.
func (b *bounding) alike(q *Module, o, u *Op) error {
	if o.Name != u.Name || len(o.Attrs) != len(u.Attrs) || len(o.Regions) != len(u.Regions) || len(o.Results) != len(u.Results) || len(o.Operands) != len(u.Operands) {
		return errors.New("the program has other operations for other sizes")
	}
	for k, v := range o.Operands {
		if b.others[q][v] != u.Operands[k] {
			return fmt.Errorf("operand %d is another value for other sizes", k)
		}
	}
	for k, a := range o.Attrs {
		if x, y := a.Value, u.Attrs[k].Value; attrString(x) != attrString(y) && !follows(o, u, x, y) {
			return fmt.Errorf("its %s follows from a size", a.Name)
		}
	}
	for k, r := range o.Regions {
		if regionText(r) != regionText(u.Regions[k]) {
			return errors.New("its region follows from a size")
		}
	}
	return nil
}

// follows reports whether attributes differ only as operands do: constants of one number, slices to
// the end, slices of all that a gather reads from.
func follows(o, u *Op, x, y Attribute) bool {
	switch x := x.(type) {
	case Dense:
		y, ok := y.(Dense)
		return ok && o.Name == "constant" && len(x.Bits) == 1 && len(y.Bits) == 1 && x.Bits[0] == y.Bits[0] && x.Type.Elem == y.Type.Elem && x.Type.Rank() == y.Type.Rank()
	case Ints:
		y, ok := y.(Ints)
		if !ok || o.Name != "slice" && o.Name != "gather" || len(x) != len(y) {
			return false
		}
		for d := range x {
			if x[d] != y[d] && (x[d] != o.Operands[0].Type.Dims[d] || y[d] != u.Operands[0].Type.Dims[d]) {
				return false
			}
		}
		return true
	}
	return false
}

// regionText is what a region says, with its own names.
func regionText(r *Region) string {
	w := &printer{names: map[*Value]string{}}
	w.region(r)
	return w.out.String()
}
