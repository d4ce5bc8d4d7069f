package onnx

import (
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// Rules compute on sizes as they compute on constants: with a builder that knows the
// results of operators on elements that are expressions. Operators that move elements
// move theirs, and those with a scalar expression compute with them.

// bySizes computes a node on sizes, nil if an operand is something else, or the result
// is not a size.
func (c *call) bySizes(r *rule) (outs []*value) {
	symbolic := false
	for _, v := range c.in {
		switch {
		case v == nil:
		case v.sizes != nil:
			symbolic = true
		case v.arr == nil || v.arr.Len() > mostSizes:
			return nil
		}
	}
	if !symbolic {
		return nil // constants have a way of their own
	}
	defer func() {
		c.folding = false
		switch x := recover().(type) {
		case nil:
			return
		case spec.TooLarge, *diag.Error: // the graph may know more, or report the error
			clear(c.used)
			outs = nil
		default:
			panic(x)
		}
	}()
	c.folding, c.b = true, &sizeFolder{spec.Folder{Workspace: c.dr.workspace}, c.dr}
	return c.values(r.build(c))
}

// symbols are a Value whose elements are sizes, or a tuple of them.
type symbols struct{ s []*sizes }

func (v symbols) Type() shape.Type {
	if len(v.s) == 1 {
		return v.s[0].typ()
	}
	m := make([]shape.Type, len(v.s))
	for i, s := range v.s {
		m[i] = s.typ()
	}
	return shape.TupleType(m...)
}

// sizeFolder computes on sizes and constants.
type sizeFolder struct {
	spec.Folder
	dr *draft
}

// Item returns a member of a tuple.
func (f *sizeFolder) Item(tuple op.Value, i int) op.Value {
	if v, ok := tuple.(symbols); ok {
		return known1(v.s[i])
	}
	return f.Folder.Item(tuple, i)
}

// known1 is the Value of sizes: a constant where all are numbers.
func known1(s *sizes) op.Value {
	if len(s.dims) > mostSizes || slices.ContainsFunc(s.dims, shape.Dim.IsUnknown) {
		panic(spec.TooLarge{})
	}
	if v := sized(s); v.arr != nil {
		return spec.Constants{A: []*array.Array{v.arr}}
	}
	return symbols{[]*sizes{s}}
}

// Call computes an operator; it panics with tooLarge where the result is no size.
func (f *sizeFolder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	symbolic := slices.ContainsFunc(in, func(v op.Value) bool { _, ok := v.(symbols); return ok })
	given, err := o.Codec().Given(attrs)
	switch {
	case !symbolic:
		return f.Folder.Call(o, attrs, in...)
	case err != nil:
	case o.Class == op.Movement, o == std.Scatter && given == any(std.ScatterAttrs{Dim: scatterDim(given)}):
		return f.move(o, given, in)
	case o.Scalar():
		return f.scalar(o, given, in)
	case sizeSums[o] != nil:
		if a, ok := given.(std.ReduceAttrs); ok {
			return f.reduce(o, a, in[0].(symbols).s[0])
		}
	case o.Composite():
		return o.Expand(f, given, in)
	}
	panic(spec.TooLarge{})
}

// scatterDim is the dimension of a scatter.
func scatterDim(attrs any) int {
	a, _ := attrs.(std.ScatterAttrs)
	return a.Dim
}

// elements are the elements of an operand as sizes.
func elements(v op.Value) *sizes {
	switch v := v.(type) {
	case symbols:
		return v.s[0]
	case spec.Constants:
		if s, ok := (&value{arr: v.A[0]}).asSizes(); ok {
			return s
		}
	}
	panic(spec.TooLarge{})
}

// move lets an operator move numbers that stand for the elements; 0 stands for 0, which
// operators fill in.
func (f *sizeFolder) move(o *op.Op, attrs any, in []op.Value) op.Value {
	table := []shape.Dim{shape.Const(0)}
	moved := make([]op.Value, len(in))
	dtype := array.I64
	for i, v := range in {
		name := o.In[min(i, len(o.In)-1)].Name
		if v == nil || strings.HasPrefix(name, "ind") { // indices
			moved[i] = v
			continue
		}
		s := elements(v)
		dtype = s.dtype
		ids := array.New(array.I64, s.shape...)
		for k, d := range s.dims {
			array.SetInt64At(ids, k, int64(len(table)))
			table = append(table, d)
		}
		moved[i] = spec.Constants{A: []*array.Array{ids}}
	}
	if a, ok := attrs.(std.PadAttrs); ok && a.Value != 0 || slices.ContainsFunc(moved, func(v op.Value) bool { _, ok := v.(symbols); return ok }) {
		panic(spec.TooLarge{})
	}
	out := f.Folder.Call(o, attrs, moved...).(spec.Constants)
	tuple := make([]*sizes, len(out.A))
	for i, a := range out.A {
		s := &sizes{shape: slices.Clone(a.Shape()), dtype: dtype}
		flat := array.Contiguous(a)
		for k := range flat.Len() {
			s.dims = append(s.dims, table[array.Int64At(flat, k)])
		}
		tuple[i] = s
	}
	if out.Tuple {
		return symbols{tuple}
	}
	return known1(tuple[0])
}

// scalar computes the expression of an operator for each element.
func (f *sizeFolder) scalar(o *op.Op, attrs any, in []op.Value) op.Value {
	types, args := make([]shape.Type, len(in)), make([]*sizes, len(in))
	dims := shape.Dims{}
	for i, v := range in {
		if v == nil {
			continue
		}
		types[i], args[i] = v.Type(), elements(v)
		var ok bool
		if dims, ok = broadcastKnown(dims, types[i].Dims()); !ok {
			panic(spec.TooLarge{})
		}
	}
	g, err := o.Expression(attrs, types)
	if err != nil || len(g.Outs) != 1 {
		panic(spec.TooLarge{})
	}
	out := &sizes{dtype: g.Nodes[g.Outs[0]].DType}
	out.shape, _ = dims.Known()
	n, _ := dims.Prod().Int()
	if n > mostSizes || out.dtype != array.I64 && out.dtype != array.I32 && out.dtype != array.Bool {
		panic(spec.TooLarge{})
	}
	at := make([]int, len(out.shape))
	for range n {
		d := f.evalSize(g, at, args)
		out.dims = append(out.dims, d)
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < out.shape[k] {
				break
			}
			at[k] = 0
		}
	}
	return known1(out)
}

// broadcastKnown is the shape of operands of known shapes together.
func broadcastKnown(a, b shape.Dims) (shape.Dims, bool) {
	n := max(a.Len(), b.Len())
	out := make([]shape.Dim, n)
	for i := 1; i <= n; i++ {
		x, y := a.FromEnd(i), b.FromEnd(i)
		if x.Is(1) {
			x = y
		}
		if !x.Equal(y) && !y.Is(1) {
			return a, false
		}
		out[n-i] = x
	}
	return shape.Of(out...), true
}

// read is the element of s that belongs to a place of the result, which s broadcasts to.
func (s *sizes) read(at []int) shape.Dim {
	k := 0
	for i, n := range s.shape {
		j := at[len(at)-len(s.shape)+i]
		if n == 1 {
			j = 0
		}
		k = k*n + j
	}
	return s.dims[k]
}

// evalSize computes an expression of sizes, Unknown where it is none.
func (f *sizeFolder) evalSize(g expr.Graph, at []int, in []*sizes) shape.Dim {
	known := true
	outs := expr.Fold(g, func(_ int, n expr.Node, args []shape.Dim) (d shape.Dim) {
		known = known && (n.DType == array.I64 || n.DType == array.I32 || n.DType == array.Bool)
		if known {
			d, known = f.sizeOf(n, at, in, args)
		}
		return d
	})
	if !known {
		return shape.Unknown
	}
	return f.dr.back(outs[0])
}

// sizeOf computes a node from what its operands are.
func (f *sizeFolder) sizeOf(n expr.Node, at []int, in []*sizes, args []shape.Dim) (d shape.Dim, known bool) {
	switch n.Code {
	case kernel.OpInput:
		return f.dr.above(in[n.Imm].read(at)), true
	case kernel.OpConst:
		return shape.Const(int(array.Int64At(spec.ConstantOf(n.DType, n.Imm), 0))), true
	}
	compute := sizeCodes[n.Code]
	if b := booleanCodes[n.Code]; b != nil && n.DType == array.Bool {
		compute = b
	}
	if compute == nil {
		return d, false
	}
	if n.DType == array.Bool && n.Code == kernel.OpCast {
		return truth(one.Sub(equal(args[0], zero))), true
	}
	var a [3]shape.Dim
	copy(a[:], args)
	return compute(a[0], a[1], a[2]), true
}

var zero, one = shape.Const(0), shape.Const(1)

// truth is 0 for numbers that are not greater than 0, and 1 for others.
func truth(d shape.Dim) shape.Dim { return d.Max(zero).Min(one) }

// less is 1 where a < b, else 0.
func less(a, b shape.Dim) shape.Dim { return truth(b.Sub(a)) }

func equal(a, b shape.Dim) shape.Dim {
	if shape.Equality(a, b).Truth() == shape.False { // they may leave other remainders
		return zero
	}
	return one.Sub(less(a, b)).Sub(less(b, a))
}

// choose is a where the outcome yes is 1, and b where it is 0.
func choose(yes, a, b shape.Dim) shape.Dim { return b.Add(yes.Mul(a.Sub(b))) }

func magnitude(d shape.Dim) shape.Dim { return d.Max(zero.Sub(d)) }

// quotient divides and rounds towards zero; Unknown for a divisor that may be negative, or is 0.
func quotient(a, b shape.Dim) shape.Dim {
	if shape.AtLeast(b, zero).Truth() != shape.True {
		return shape.Unknown
	}
	return a.Max(zero).FloorDiv(b).Sub(zero.Sub(a).Max(zero).FloorDiv(b))
}

// floored divides and rounds down; the remainder is not negative then.
func floored(a, b shape.Dim) shape.Dim {
	if shape.AtLeast(b, zero).Truth() != shape.True {
		return shape.Unknown
	}
	return a.FloorDiv(b)
}

// sizeCodes are operations on numbers for sizes; outcomes of comparisons are 0 and 1.
var sizeCodes = expr.Forms[func(a, b, c shape.Dim) shape.Dim]{
	kernel.OpCast:     func(a, _, _ shape.Dim) shape.Dim { return a },
	kernel.OpSelect:   choose,
	kernel.OpAdd:      func(a, b, _ shape.Dim) shape.Dim { return a.Add(b) },
	kernel.OpSub:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(b) },
	kernel.OpMul:      func(a, b, _ shape.Dim) shape.Dim { return a.Mul(b) },
	kernel.OpDiv:      func(a, b, _ shape.Dim) shape.Dim { return quotient(a, b) },
	kernel.OpFloorDiv: func(a, b, _ shape.Dim) shape.Dim { return floored(a, b) },
	kernel.OpRem:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(quotient(a, b).Mul(b)) },
	kernel.OpMod:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(floored(a, b).Mul(b)) },
	kernel.OpMin:      func(a, b, _ shape.Dim) shape.Dim { return a.Min(b) },
	kernel.OpMax:      func(a, b, _ shape.Dim) shape.Dim { return a.Max(b) },
	kernel.OpNeg:      func(a, _, _ shape.Dim) shape.Dim { return zero.Sub(a) },
	kernel.OpAbs:      func(a, _, _ shape.Dim) shape.Dim { return magnitude(a) },
	kernel.OpSign:     func(a, _, _ shape.Dim) shape.Dim { return less(zero, a).Sub(less(a, zero)) },
	kernel.OpEq:       func(a, b, _ shape.Dim) shape.Dim { return equal(a, b) },
	kernel.OpNe:       func(a, b, _ shape.Dim) shape.Dim { return one.Sub(equal(a, b)) },
	kernel.OpLt:       func(a, b, _ shape.Dim) shape.Dim { return less(a, b) },
	kernel.OpLe:       func(a, b, _ shape.Dim) shape.Dim { return one.Sub(less(b, a)) },
	kernel.OpGt:       func(a, b, _ shape.Dim) shape.Dim { return less(b, a) },
	kernel.OpGe:       func(a, b, _ shape.Dim) shape.Dim { return one.Sub(less(a, b)) },
}

// booleanCodes are those of outcomes, which are bits for integers.
var booleanCodes = expr.Forms[func(a, b, c shape.Dim) shape.Dim]{
	kernel.OpAnd: func(a, b, _ shape.Dim) shape.Dim { return a.Mul(b) },
	kernel.OpOr:  func(a, b, _ shape.Dim) shape.Dim { return a.Max(b) },
	kernel.OpXor: func(a, b, _ shape.Dim) shape.Dim { return one.Sub(equal(a, b)) },
	kernel.OpNot: func(a, _, _ shape.Dim) shape.Dim { return one.Sub(a) },
}

// sizeSums are reductions that sizes have.
var sizeSums = map[*op.Op]func(a, b shape.Dim) shape.Dim{
	std.Sum: shape.Dim.Add, std.Prod: shape.Dim.Mul, std.Amax: shape.Dim.Max, std.Amin: shape.Dim.Min,
}

// reduce joins the elements along axes; it needs at least one axis.
func (f *sizeFolder) reduce(o *op.Op, a std.ReduceAttrs, s *sizes) op.Value {
	gone := make([]bool, len(s.shape))
	for _, i := range a.Dim.Slice() {
		if i < 0 {
			i += len(gone)
		}
		if i < 0 || i >= len(gone) {
			panic(spec.TooLarge{})
		}
		gone[i] = true
	}
	out, each := &sizes{dtype: s.dtype, shape: []int{}}, 1
	switch {
	case a.DType != array.Invalid:
		out.dtype = a.DType
	case o == std.Sum || o == std.Prod:
		out.dtype = array.I64
	}
	var front, back []int // the axes that stay and those that go
	for i, n := range s.shape {
		if gone[i] || a.Dim.Len() == 0 {
			back, each = append(back, i), each*n
			if a.KeepDim {
				out.shape = append(out.shape, 1)
			}
			continue
		}
		front, out.shape = append(front, i), append(out.shape, n)
	}
	if len(s.dims) == 0 || len(s.shape) == 0 || out.dtype != array.I64 && out.dtype != s.dtype {
		panic(spec.TooLarge{})
	}
	turned := elements(f.move(std.Permute, std.PermuteAttrs{Dims: op.IntList(append(front, back...)...)}, []op.Value{symbols{[]*sizes{s}}}))
	for i := 0; i < len(turned.dims); i += each {
		d := turned.dims[i]
		for _, x := range turned.dims[i+1 : i+each] {
			d = sizeSums[o](d, x)
		}
		out.dims = append(out.dims, d)
	}
	return known1(out)
}
