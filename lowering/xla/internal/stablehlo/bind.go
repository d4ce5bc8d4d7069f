package stablehlo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// Bind returns what a program of bounded sizes computes for some of them: a program without bounds. The
// sizes are those that main takes as scalars, by the place of the argument. What lies after them is
// nothing that a result may depend on: it is made of NaN and of numbers that are no index.
func (p *Module) Bind(sizes map[int]int) (*Module, error) {
	b := &binder{values: map[*Value]*Value{}, sizes: map[*Value]int{}, out: NewBuilder()}
	for i, a := range p.Main.Args {
		if n, ok := sizes[i]; ok && a.Type.Equal(Of(array.I32)) {
			b.sizes[a] = n
		}
		b.values[a] = &Value{Type: a.Type}
		b.out.Region.Args = append(b.out.Region.Args, b.values[a])
	}
	for i, o := range p.Main.Ops {
		if err := b.op(o); err != nil {
			return nil, fmt.Errorf("operation %d: stablehlo.%s: %w", i, o.Name, err)
		}
	}
	q := *p
	q.Main = b.out.Region
	return &q, nil
}

// binder copies a region with other sizes.
type binder struct {
	values map[*Value]*Value
	sizes  map[*Value]int // scalars of which the number is known
	out    *Builder
}

func (b *binder) op(o *Op) error {
	in := b.operands(o)
	switch o.Name {
	case "set_dimension_size":
		n, known := b.sizes[o.Operands[1]]
		if !known {
			return errors.New("the size is computed")
		}
		return b.resize(o, in[0], n)
	case "return":
		b.out.Return(in...)
		return nil
	}
	if n, ok := scalar(o); ok {
		b.sizes[o.Results[0]] = n
	}
	c := &Op{Name: o.Name, Operands: in, Attrs: o.Attrs}
	for _, r := range o.Regions {
		c.Regions = append(c.Regions, b.region(r))
	}
	for _, t := range b.types(o, in) {
		c.Results = append(c.Results, &Value{Type: t})
	}
	for i, v := range o.Results {
		b.values[v] = c.Results[i]
	}
	if err := check(c); err != nil {
		return err
	}
	b.out.Region.Ops = append(b.out.Region.Ops, c)
	return nil
}

// types are those of an operation's results: sizes that follow bounded ones are those of the operands.
func (b *binder) types(o *Op, in []*Value) []Type {
	types := make([]Type, len(o.Results))
	for i, v := range o.Results {
		types[i] = v.Type.With(slices.Clone(v.Type.Dims)...)
	}
	sources, err := sourcesOf(o)
	if err != nil { // it has no bounds
		return types
	}
	for i, list := range sources {
		for d, s := range list {
			if s.Operand >= 0 && o.Operands[s.Operand].Type.Bound(s.Dim) {
				types[i].Dims[d] = in[s.Operand].Type.Dims[s.Dim]
			}
		}
	}
	return types
}

// resize cuts a dimension to the size of the run, or makes it as large as its bound again.
func (b *binder) resize(o *Op, x *Value, n int) error {
	d := o.Int("dimension")
	out, have := o.Results[0], x.Type.Dims[d]
	most := out.Type.Dims[d]
	if n < 0 || n > most {
		return fmt.Errorf("dimension %d of %s is to be %d", d, out.Type, n)
	}
	if out.Type.Bound(d) {
		limit := slices.Clone(x.Type.Dims)
		limit[d] = min(n, have)
		b.values[out] = b.out.Slice(x, make([]int, len(limit)), limit, nil)
		return nil
	}
	none, high := make([]int, x.Type.Rank()), make([]int, x.Type.Rank())
	high[d] = most - have
	behind := b.out.Const(Of(x.Type.Elem), Extend(x.Type.Elem, nothing(x.Type.Elem)))
	b.values[out] = b.out.Add(b.out.With("pad", []*Value{x, behind}, "edge_padding_low", Ints(none), "edge_padding_high", Ints(high), "interior_padding", Ints(none)))[0]
	return nil
}

// nothing are the bits of an element that no result may depend on.
func nothing(d array.DType) uint64 {
	if d.IsFloat() {
		return ^uint64(0)
	}
	return 0x5555555555555555
}

func (b *binder) operands(o *Op) (list []*Value) {
	for _, v := range o.Operands {
		list = append(list, b.values[v])
	}
	return list
}

// region copies a region that has no bounds of its own.
func (b *binder) region(r *Region) *Region {
	inner := &binder{values: b.values, sizes: b.sizes, out: NewBuilder()}
	for _, a := range r.Args {
		b.values[a] = &Value{Type: a.Type}
		inner.out.Region.Args = append(inner.out.Region.Args, b.values[a])
	}
	for _, o := range r.Ops {
		if err := inner.op(o); err != nil {
			break // which the check of the copy reports
		}
	}
	return inner.out.Region
}
