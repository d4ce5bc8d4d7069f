package stablehlo

import (
	"fmt"
	"slices"

	"github.com/gofx-dev/gofx/array"
)

// Bind returns the program for arguments of these sizes, which are within the bounds of main's:
// a program without bounds that computes what this one does for them.
func (p *Program) Bind(args [][]int) (*Program, error) {
	if len(args) != len(p.Main.Args) {
		return nil, fmt.Errorf("sizes of %d arguments, main takes %d", len(args), len(p.Main.Args))
	}
	b := &binder{values: map[*Value]*Value{}, sizes: map[*Value]int{}, out: NewBuilder()}
	for i, a := range p.Main.Args {
		if len(args[i]) != a.Type.Rank() {
			return nil, fmt.Errorf("argument %d has %d dimensions, main takes %s", i, len(args[i]), a.Type)
		}
		for d, n := range args[i] {
			if n > a.Type.Dims[d] || n < a.Type.Dims[d] && !a.Type.Bound(d) {
				return nil, fmt.Errorf("dimension %d of argument %d is %d, main takes %s", d, i, n, a.Type)
			}
		}
		b.values[a] = &Value{Type: a.Type.With(args[i]...)}
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
	sizes  map[*Value]int // scalars that get_dimension_size has given
	out    *Builder
}

func (b *binder) op(o *Op) error {
	in := b.operands(o)
	switch o.Name {
	case "get_dimension_size":
		n := in[0].Type.Dims[o.Int("dimension")]
		b.sizes[o.Results[0]] = n
		b.values[o.Results[0]] = b.out.Const(Of(array.I32), uint64(n))
		return nil
	case "set_dimension_size":
		n, known := b.sizes[o.Operands[1]]
		if !known {
			return fmt.Errorf("the size is computed")
		}
		limit := slices.Clone(in[0].Type.Dims)
		limit[o.Int("dimension")] = n
		b.values[o.Results[0]] = b.out.Slice(in[0], make([]int, len(limit)), limit, nil)
		return nil
	case "return":
		b.out.Return(in...)
		return nil
	}
	c := &Op{Name: o.Name, Operands: in, Attrs: slices.Clone(o.Attrs)}
	for _, r := range o.Regions {
		c.Regions = append(c.Regions, b.region(r))
	}
	types := make([]Type, len(o.Results))
	for i, v := range o.Results {
		types[i] = v.Type.With(v.Type.Dims...)
	}
	if sources, err := sourcesOf(o); err == nil {
		for i, list := range sources {
			types[i].Dims = slices.Clone(types[i].Dims)
			for d, s := range list {
				if s.Operand >= 0 && o.Operands[s.Operand].Type.Bound(s.Dim) {
					types[i].Dims[d] = in[s.Operand].Type.Dims[s.Dim]
				}
			}
		}
	}
	for i, a := range c.Attrs {
		if o.Name == "slice" && a.Name == "limit_indices" {
			limit := slices.Clone(a.Value.(Ints))
			for d := range limit {
				if t := o.Operands[0].Type; t.Bound(d) && limit[d]-o.Ints("start_indices")[d] == t.Dims[d] {
					limit[d] = in[0].Type.Dims[d]
				}
			}
			c.Attrs[i].Value = limit
		}
	}
	for i, v := range o.Results {
		r := &Value{Type: types[i]}
		b.values[v] = r
		c.Results = append(c.Results, r)
	}
	if err := check(c); err != nil {
		return err
	}
	b.out.Region.Ops = append(b.out.Region.Ops, c)
	return nil
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
