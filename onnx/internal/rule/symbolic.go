package rule

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
func (c *Call) bySizes(r *Rule) (outs []*Datum) {
	symbolic := false
	for _, v := range c.In {
		switch {
		case v == nil:
		case v.Sizes != nil:
			symbolic = true
		case v.Arr == nil || v.Arr.Len() > MostSizes:
			return nil
		}
	}
	if !symbolic {
		return nil // constants have a way of their own
	}
	defer func() {
		c.Folding = false
		switch x := recover().(type) {
		case nil:
			return
		case spec.TooLarge, *diag.Error: // the graph may know more, or report the error
			clear(c.Used)
			outs = nil
		default:
			panic(x)
		}
	}()
	c.Folding, c.Builder = true, &sizeFolder{spec.Folder{Workspace: c.Draft.workspace}, c.Draft}
	return c.Values(r.Build(c))
}

// symbols are a Value whose elements are sizes, or a tuple of them.
type symbols struct{ s []*Sizes }

func (v symbols) Type() shape.Type {
	if len(v.s) == 1 {
		return v.s[0].Type()
	}
	m := make([]shape.Type, len(v.s))
	for i, s := range v.s {
		m[i] = s.Type()
	}
	return shape.TupleType(m...)
}

// sizeFolder computes on sizes and constants.
type sizeFolder struct {
	spec.Folder
	dr *Draft
}

// Item returns a member of a tuple.
func (f *sizeFolder) Item(tuple op.Value, i int) op.Value {
	if v, ok := tuple.(symbols); ok {
		return known1(v.s[i])
	}
	return f.Folder.Item(tuple, i)
}

// known1 is the Value of sizes: a constant where all are numbers.
func known1(s *Sizes) op.Value {
	if len(s.Dims) > MostSizes || slices.ContainsFunc(s.Dims, shape.Dim.IsUnknown) {
		panic(spec.TooLarge{})
	}
	if v := Sized(s); v.Arr != nil {
		return spec.Constants{A: []*array.Array{v.Arr}}
	}
	return symbols{[]*Sizes{s}}
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
func elements(v op.Value) *Sizes {
	switch v := v.(type) {
	case symbols:
		return v.s[0]
	case spec.Constants:
		if s, ok := (&Datum{Arr: v.A[0]}).AsSizes(); ok {
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
		dtype = s.DType
		ids := array.New(array.I64, s.Shape...)
		for k, d := range s.Dims {
			array.SetInt64At(ids, k, int64(len(table)))
			table = append(table, d)
		}
		moved[i] = spec.Constants{A: []*array.Array{ids}}
	}
	if a, ok := attrs.(std.PadAttrs); ok && a.Value != 0 || slices.ContainsFunc(moved, func(v op.Value) bool { _, ok := v.(symbols); return ok }) {
		panic(spec.TooLarge{})
	}
	out := f.Folder.Call(o, attrs, moved...).(spec.Constants)
	tuple := make([]*Sizes, len(out.A))
	for i, a := range out.A {
		s := &Sizes{Shape: slices.Clone(a.Shape()), DType: dtype}
		flat := array.Contiguous(a)
		for k := range flat.Len() {
			s.Dims = append(s.Dims, table[array.Int64At(flat, k)])
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
	types, args := make([]shape.Type, len(in)), make([]*Sizes, len(in))
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
	out := &Sizes{DType: g.Nodes[g.Outs[0]].DType}
	out.Shape, _ = dims.Known()
	n, _ := dims.Prod().Int()
	if n > MostSizes || out.DType != array.I64 && out.DType != array.I32 && out.DType != array.Bool {
		panic(spec.TooLarge{})
	}
	at := make([]int, len(out.Shape))
	for range n {
		d := f.evalSize(g, at, args)
		out.Dims = append(out.Dims, d)
		for k := len(at) - 1; k >= 0; k-- {
			if at[k]++; at[k] < out.Shape[k] {
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
func (s *Sizes) read(at []int) shape.Dim {
	k := 0
	for i, n := range s.Shape {
		j := at[len(at)-len(s.Shape)+i]
		if n == 1 {
			j = 0
		}
		k = k*n + j
	}
	return s.Dims[k]
}

// evalSize computes an expression of sizes, Unknown where it is none.
func (f *sizeFolder) evalSize(g expr.Graph, at []int, in []*Sizes) shape.Dim {
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
	return f.dr.Back(outs[0])
}

// sizeOf computes a node from what its operands are.
func (f *sizeFolder) sizeOf(n expr.Node, at []int, in []*Sizes, args []shape.Dim) (d shape.Dim, known bool) {
	switch n.Code {
	case kernel.OpInput:
		return f.dr.Above(in[n.Imm].read(at)), true
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
		return truth(One.Sub(Equal(args[0], Zero))), true
	}
	var a [3]shape.Dim
	copy(a[:], args)
	return compute(a[0], a[1], a[2]), true
}

var Zero, One = shape.Const(0), shape.Const(1)

// truth is 0 for numbers that are not greater than 0, and 1 for others.
func truth(d shape.Dim) shape.Dim { return d.Max(Zero).Min(One) }

// Less is 1 where a < b, else 0.
func Less(a, b shape.Dim) shape.Dim { return truth(b.Sub(a)) }

// Equal is 1 where a = b, else 0.
func Equal(a, b shape.Dim) shape.Dim {
	if shape.Equality(a, b).Truth() == shape.False { // they may leave other remainders
		return Zero
	}
	return One.Sub(Less(a, b)).Sub(Less(b, a))
}

// Choose is a where the outcome yes is 1, and b where it is 0.
func Choose(yes, a, b shape.Dim) shape.Dim { return b.Add(yes.Mul(a.Sub(b))) }

func magnitude(d shape.Dim) shape.Dim { return d.Max(Zero.Sub(d)) }

// Quotient divides and rounds towards zero; Unknown for a divisor that may be negative, or is 0.
func Quotient(a, b shape.Dim) shape.Dim {
	if shape.AtLeast(b, Zero).Truth() != shape.True {
		return shape.Unknown
	}
	return a.Max(Zero).FloorDiv(b).Sub(Zero.Sub(a).Max(Zero).FloorDiv(b))
}

// floored divides and rounds down; the remainder is not negative then.
func floored(a, b shape.Dim) shape.Dim {
	if shape.AtLeast(b, Zero).Truth() != shape.True {
		return shape.Unknown
	}
	return a.FloorDiv(b)
}

// sizeCodes are operations on numbers for sizes; outcomes of comparisons are 0 and 1.
var sizeCodes = expr.Forms[func(a, b, c shape.Dim) shape.Dim]{
	kernel.OpCast:     func(a, _, _ shape.Dim) shape.Dim { return a },
	kernel.OpSelect:   Choose,
	kernel.OpAdd:      func(a, b, _ shape.Dim) shape.Dim { return a.Add(b) },
	kernel.OpSub:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(b) },
	kernel.OpMul:      func(a, b, _ shape.Dim) shape.Dim { return a.Mul(b) },
	kernel.OpDiv:      func(a, b, _ shape.Dim) shape.Dim { return Quotient(a, b) },
	kernel.OpFloorDiv: func(a, b, _ shape.Dim) shape.Dim { return floored(a, b) },
	kernel.OpRem:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(Quotient(a, b).Mul(b)) },
	kernel.OpMod:      func(a, b, _ shape.Dim) shape.Dim { return a.Sub(floored(a, b).Mul(b)) },
	kernel.OpMin:      func(a, b, _ shape.Dim) shape.Dim { return a.Min(b) },
	kernel.OpMax:      func(a, b, _ shape.Dim) shape.Dim { return a.Max(b) },
	kernel.OpNeg:      func(a, _, _ shape.Dim) shape.Dim { return Zero.Sub(a) },
	kernel.OpAbs:      func(a, _, _ shape.Dim) shape.Dim { return magnitude(a) },
	kernel.OpSign:     func(a, _, _ shape.Dim) shape.Dim { return Less(Zero, a).Sub(Less(a, Zero)) },
	kernel.OpEq:       func(a, b, _ shape.Dim) shape.Dim { return Equal(a, b) },
	kernel.OpNe:       func(a, b, _ shape.Dim) shape.Dim { return One.Sub(Equal(a, b)) },
	kernel.OpLt:       func(a, b, _ shape.Dim) shape.Dim { return Less(a, b) },
	kernel.OpLe:       func(a, b, _ shape.Dim) shape.Dim { return One.Sub(Less(b, a)) },
	kernel.OpGt:       func(a, b, _ shape.Dim) shape.Dim { return Less(b, a) },
	kernel.OpGe:       func(a, b, _ shape.Dim) shape.Dim { return One.Sub(Less(a, b)) },
}

// booleanCodes are those of outcomes, which are bits for integers.
var booleanCodes = expr.Forms[func(a, b, c shape.Dim) shape.Dim]{
	kernel.OpAnd: func(a, b, _ shape.Dim) shape.Dim { return a.Mul(b) },
	kernel.OpOr:  func(a, b, _ shape.Dim) shape.Dim { return a.Max(b) },
	kernel.OpXor: func(a, b, _ shape.Dim) shape.Dim { return One.Sub(Equal(a, b)) },
	kernel.OpNot: func(a, _, _ shape.Dim) shape.Dim { return One.Sub(a) },
}

// sizeSums are reductions that sizes have.
var sizeSums = map[*op.Op]func(a, b shape.Dim) shape.Dim{
	std.Sum: shape.Dim.Add, std.Prod: shape.Dim.Mul, std.Amax: shape.Dim.Max, std.Amin: shape.Dim.Min,
}

// reduce joins the elements along axes; it needs at least one axis.
func (f *sizeFolder) reduce(o *op.Op, a std.ReduceAttrs, s *Sizes) op.Value {
	gone := make([]bool, len(s.Shape))
	for _, i := range a.Dim.Slice() {
		if i < 0 {
			i += len(gone)
		}
		if i < 0 || i >= len(gone) {
			panic(spec.TooLarge{})
		}
		gone[i] = true
	}
	out, each := &Sizes{DType: s.DType, Shape: []int{}}, 1
	switch {
	case a.DType != array.Invalid:
		out.DType = a.DType
	case o == std.Sum || o == std.Prod:
		out.DType = array.I64
	}
	var front, back []int // the axes that stay and those that go
	for i, n := range s.Shape {
		if gone[i] || a.Dim.Len() == 0 {
			back, each = append(back, i), each*n
			if a.KeepDim {
				out.Shape = append(out.Shape, 1)
			}
			continue
		}
		front, out.Shape = append(front, i), append(out.Shape, n)
	}
	if len(s.Dims) == 0 || len(s.Shape) == 0 || out.DType != array.I64 && out.DType != s.DType {
		panic(spec.TooLarge{})
	}
	turned := elements(f.move(std.Permute, std.PermuteAttrs{Dims: op.IntList(append(front, back...)...)}, []op.Value{symbols{[]*Sizes{s}}}))
	for i := 0; i < len(turned.Dims); i += each {
		d := turned.Dims[i]
		for _, x := range turned.Dims[i+1 : i+each] {
			d = sizeSums[o](d, x)
		}
		out.Dims = append(out.Dims, d)
	}
	return known1(out)
}
