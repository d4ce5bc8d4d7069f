package stablehlo

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Builder appends operations to a region. A mistake is one of the emitter's, not of
// the graph: it panics with a *diag.Error.
type Builder struct{ Region *Region }

// NewBuilder returns a builder of a new region with arguments of the given types.
func NewBuilder(args ...Type) *Builder {
	b := &Builder{&Region{}}
	for _, t := range args {
		b.Region.Args = append(b.Region.Args, &Value{Type: t})
	}
	return b
}

// Arg returns argument i of the region.
func (b *Builder) Arg(i int) *Value { return b.Region.Args[i] }

// Return ends the region.
func (b *Builder) Return(v ...*Value) *Region {
	b.Region.Ops = append(b.Region.Ops, &Op{Name: "return", Operands: v})
	return b.Region
}

// Add appends an operation. Its result types are inferred where out has none.
func (b *Builder) Add(o *Op, out ...Type) []*Value {
	slices.SortFunc(o.Attrs, func(x, y Attr) int { return strings.Compare(x.Name, y.Name) })
	if out == nil {
		s, ok := specs[o.Name]
		if !ok || s.infer == nil {
			panic(diag.Bug("stablehlo." + o.Name + " has no rule for its type"))
		}
		if err := s.shape(o); err != nil {
			panic(diag.Bug(err.Error()))
		}
		var err error
		if out, err = s.infer(o); err != nil {
			panic(diag.Bug("stablehlo." + o.Name + ": " + err.Error()))
		}
	}
	for _, t := range out {
		o.Results = append(o.Results, &Value{t, o})
	}
	if err := check(o); err != nil {
		panic(diag.Bug(err.Error()))
	}
	if name := specs[o.Name].stranger(o); name != "" {
		panic(diag.Bug("stablehlo." + o.Name + ": unknown attribute " + name))
	}
	b.Region.Ops = append(b.Region.Ops, o)
	return slices.Clone(o.Results)
}

// Op appends an operation without attributes and returns its one result.
func (b *Builder) Op(name string, in ...*Value) *Value {
	return b.Add(&Op{Name: name, Operands: in})[0]
}

// With appends an operation with attributes, given as name and value in turn.
func (b *Builder) With(name string, in []*Value, attrs ...any) *Op {
	o := &Op{Name: name, Operands: in}
	for i := 0; i < len(attrs); i += 2 {
		o.Attrs = append(o.Attrs, Attr{attrs[i].(string), attrs[i+1].(Attribute)})
	}
	return o
}

// Const returns a tensor of equal elements.
func (b *Builder) Const(t Type, bits uint64) *Value { return b.Dense(Splat(t, bits)) }

// Dense returns a constant.
func (b *Builder) Dense(d Dense) *Value {
	return b.Add(&Op{Name: "constant", Attrs: []Attr{{"value", d}}})[0]
}

// Compare returns the comparison of x and y: EQ, NE, LT, LE, GT or GE.
func (b *Builder) Compare(word string, x, y *Value) *Value {
	return b.Add(b.With("compare", []*Value{x, y}, "comparison_direction", Enum{"comparison_direction", word},
		"compare_type", Enum{"comparison_type", comparison(x.Type.Elem)}))[0]
}

// Convert returns x with another element type; x itself where it has it.
func (b *Builder) Convert(x *Value, d array.DType) *Value {
	if x.Type.Elem == d {
		return x
	}
	return b.Add(&Op{Name: "convert", Operands: []*Value{x}}, x.Type.As(d))[0]
}

// Reshape returns x with other sizes; x itself where it has them.
func (b *Builder) Reshape(x *Value, dims ...int) *Value {
	if slices.Equal(x.Type.Dims, dims) {
		return x
	}
	if y := reshaped(x); y != nil {
		return b.Reshape(y, dims...)
	}
	return b.Add(&Op{Name: "reshape", Operands: []*Value{x}}, x.Type.With(dims...))[0]
}

// Broadcast returns x with its dimension i as dimension dims[i] of the result.
func (b *Builder) Broadcast(x *Value, to []int, dims ...int) *Value {
	if slices.Equal(x.Type.Dims, to) {
		return x
	}
	if y := reshaped(x); y != nil {
		if at := widened(y.Type.Dims, x.Type.Dims); at != nil {
			for i, d := range at {
				at[i] = dims[d]
			}
			return b.Broadcast(y, to, at...)
		}
	}
	return b.Add(b.With("broadcast_in_dim", []*Value{x}, "broadcast_dimensions", Ints(dims)), x.Type.With(to...))[0]
}

// Broadcasted returns what a Builder has made v of by broadcast_in_dim, and where its
// dimensions lie; nil where it is made in another way.
func (v *Value) Broadcasted() (x *Value, dims []int) {
	if v.from == nil || v.from.Name != "broadcast_in_dim" {
		return nil, nil
	}
	return v.from.Operands[0], v.from.Ints("broadcast_dimensions")
}

// reshaped is what x has other sizes of, nil where it is no reshape.
func reshaped(x *Value) *Value {
	if x.from == nil || x.from.Name != "reshape" {
		return nil
	}
	return x.from.Operands[0]
}

// widened says where the dimensions of sizes lie in others that have ones next to them, nil
// where these have more.
func widened(dims, in []int) []int {
	at := []int{}
	for d, n := range in {
		switch {
		case len(at) < len(dims) && n == dims[len(at)]:
			at = append(at, d)
		case n != 1:
			return nil
		}
	}
	if len(at) < len(dims) {
		return nil
	}
	return at
}

// Trailing broadcasts x to sizes by the rule that aligns dimensions at the end.
func (b *Builder) Trailing(x *Value, to []int) *Value {
	var dims []int
	for i := range x.Type.Dims {
		dims = append(dims, len(to)-x.Type.Rank()+i)
	}
	return b.Broadcast(x, to, dims...)
}

// Transpose returns x with its dimension perm[i] as dimension i.
func (b *Builder) Transpose(x *Value, perm ...int) *Value {
	if slices.IsSorted(perm) {
		return x
	}
	return b.Add(b.With("transpose", []*Value{x}, "permutation", Ints(perm)))[0]
}

// Iota returns the index along a dimension.
func (b *Builder) Iota(t Type, dim int) *Value {
	return b.Add(b.With("iota", nil, "iota_dimension", Int(dim)), t)[0]
}

// Slice returns a part of x; nil strides are ones.
func (b *Builder) Slice(x *Value, start, limit, strides []int) *Value {
	if strides == nil {
		strides = make([]int, len(start))
		for i := range strides {
			strides[i] = 1
		}
	}
	return b.Add(b.With("slice", []*Value{x}, "start_indices", Ints(start), "limit_indices", Ints(limit), "strides", Ints(strides)))[0]
}

// Concat joins values along a dimension.
func (b *Builder) Concat(dim int, x ...*Value) *Value {
	if len(x) == 1 {
		return x[0]
	}
	return b.Add(b.With("concatenate", x, "dimension", Int(dim)))[0]
}

// Reduce folds dimensions of x with a scalar operation of that name from init on.
func (b *Builder) Reduce(name string, x, init *Value, dims ...int) *Value {
	o := b.With("reduce", []*Value{x, init}, "dimensions", Ints(dims))
	o.Regions = []*Region{Binary(name, x.Type.Elem)}
	return b.Add(o)[0]
}

// Binary returns the region of a scalar operation on two operands.
func Binary(name string, d array.DType) *Region {
	b := NewBuilder(Of(d), Of(d))
	return b.Return(b.Op(name, b.Arg(0), b.Arg(1)))
}
