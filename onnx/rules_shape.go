package onnx

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// shapeRules are the operators that make constants and sizes, and move elements.
var shapeRules = map[string][]rule{
	"Constant":        {{since: 1, run: constant}},
	"ConstantOfShape": from(9, constantOfShape),
	"Shape":           {{since: 1, run: shapeOf}},
	"Size":            {{since: 1, run: sizeOf}},
	"Reshape": {{since: 1, build: func(c *call) []op.Value {
		return c.one(std.Reshape, std.ReshapeAttrs{Shape: reshaped(c, shape.ConstDims(c.list("shape")...).Slice())}, c.x(0))
	}}, {since: 5, build: func(c *call) []op.Value {
		return c.one(std.Reshape, std.ReshapeAttrs{Shape: reshaped(c, newSizes(c, 1))}, c.x(0))
	}}},
	"Flatten":   from(1, flatten),
	"Transpose": from(1, transpose),
	"Squeeze":   from(1, squeeze),
	"Unsqueeze": from(1, unsqueeze),
	"Expand":    from(8, expand),
	"Concat":    {{since: 1, build: concat, after: concatParts}},
	"Slice":     from(1, slice),
	"Split":     from(1, split),
	"Gather":    from(1, gather),
	"Range":     from(11, rangeOf),
	"Tile": from(6, func(c *call) []op.Value {
		if n := len(c.dims(1)); n != c.rank(0) {
			panic(diag.New(CodeModel, "there are "+strconv.Itoa(n)+" repeats for "+strconv.Itoa(c.rank(0))+" dimensions"))
		}
		return c.one(std.Repeat, std.RepeatAttrs{Repeats: shape.Of(c.dims(1)...)}, c.x(0))
	}),
}

func constant(c *call) []*value {
	if len(c.n.Attrs) != 1 {
		panic(diag.New(CodeModel, "Constant has "+strconv.Itoa(len(c.n.Attrs))+" attributes, expected one"))
	}
	if len(c.n.Outputs) == 0 {
		panic(diag.New(CodeModel, "Constant has no output, expected one"))
	}
	a := c.n.Attrs[0]
	c.used[a.Name] = true
	v := &value{name: c.n.Outputs[0]}
	switch a.Name {
	case "value":
		t := c.attr("value", pb.AttrTensor).T
		if t == nil {
			panic(diag.New(CodeModel, "Constant has no value"))
		}
		var err *diag.Error
		if v.arr, err = arrayOf(t, c.dr.data); err != nil {
			panic(err)
		}
	case "value_int":
		v.arr = array.Scalar(int64(c.int(a.Name, 0)))
	case "value_float":
		v.arr = array.Scalar(float32(c.float(a.Name, 0)))
	case "value_ints":
		v.arr = spec.IntArray(c.list(a.Name), false, array.I64)
	case "value_floats":
		f := c.floats(a.Name)
		v.arr = array.New(array.F32, len(f))
		for i, x := range f {
			array.SetFloat64At(v.arr, i, x)
		}
	case "sparse_value":
		sp := c.attr(a.Name, pb.AttrSparse).Sparse
		if sp == nil {
			panic(diag.New(CodeModel, "Constant has no value"))
		}
		dense, err := c.dr.sparse(sp)
		if err != nil {
			panic(err)
		}
		v.arr = dense
	default:
		panic(diag.New(CodeType, "Constant with "+a.Name+" is not supported"))
	}
	return []*value{v}
}

// filled is a constant of any size with one value: never written out.
func constantOfShape(c *call) []op.Value {
	v, d := op.Float(0), array.F32
	if a := c.attr("value", pb.AttrTensor); a != nil && a.T != nil {
		one, err := arrayOf(a.T, nil)
		if err != nil {
			panic(err)
		}
		if one.Len() != 1 {
			panic(diag.New(CodeModel, "value has "+strconv.Itoa(one.Len())+" elements, expected one"))
		}
		d = one.DType()
		switch {
		case d.IsFloat():
			v = op.Float(array.Float64At(one, 0))
		case d == array.Bool:
			v = op.BoolScalar(array.Int64At(one, 0) != 0)
		default:
			v = op.Int(array.Int64At(one, 0))
		}
	}
	return c.one(std.Full, std.FullAttrs{Size: shape.Of(c.dims(0)...), Value: v, DType: d})
}

// shapeOf gives the sizes of a tensor, from start to end.
func shapeOf(c *call) []*value {
	rank := c.rank(0)
	start, end := clampAxis(c.int("start", 0), rank), clampAxis(c.int("end", rank), rank)
	dims, ok := dimsOf(c.typ(0))
	if ok {
		return []*value{sized(sizeList(dims[start:max(start, end)]...))}
	}
	c.write()
	var parts []op.Value
	for i := start; i < end; i++ {
		parts = append(parts, c.do(op.Dim, op.AxisAttrs{Axis: i}, c.x(0)))
	}
	if len(parts) == 0 {
		return []*value{{arr: array.New(array.I64, 0)}}
	}
	return c.values(c.one(std.Stack, std.DimAttrs{}, parts...))
}

func clampAxis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	return min(max(a, 0), rank)
}

func sizeOf(c *call) []*value {
	c.value(0)
	dims, ok := dimsOf(c.typ(0))
	n := shape.Of(dims...).Prod()
	if !ok || n.IsUnknown() {
		panic(diag.New(CodeValue, "the sizes of "+diag.Quote(c.n.Inputs[0])+" are not known"))
	}
	return []*value{sized(sizeNumber(n, array.I64))}
}

// reshaped are the sizes that reshape is given: 0 keeps a size, unless allowzero is set.
func reshaped(c *call, to []shape.Dim) shape.Dims {
	zero := c.flag("allowzero", false)
	c.ignore("consumed_inputs")
	to = slices.Clone(to)
	for i, d := range to {
		if d.Is(0) && !zero {
			if i >= c.rank(0) {
				panic(diag.New(CodeModel, "size "+strconv.Itoa(i)+" is 0, which keeps a size, of "+strconv.Itoa(c.rank(0))+" there are"))
			}
			to[i] = c.typ(0).Dim(i)
		}
	}
	return shape.Of(to...)
}

// newSizes are the sizes that operand i gives a tensor; if the model computes them, a -1 or 0
// is first replaced by its meaning.
func newSizes(c *call, i int) []shape.Dim {
	v := c.value(i)
	count, known := v.typ().Dim(0).Int()
	if _, ok := v.asSizes(); ok || v.parts != nil || v.node == nil || v.typ().Rank() != 1 || !known || count > mostRank {
		return c.dims(i)
	}
	to := c.x(i)
	if v.typ().DType() != array.I64 {
		to = c.do(std.Cast, std.CastAttrs{DType: array.I64}, to)
	}
	is := func(n int64) op.Value { return c.do(std.Eq, std.BinaryAttrs{Other: op.Int(n)}, to) }
	rank := c.rank(0)
	own := make([]op.Value, max(count, 0))
	total := number64(c, 1)
	for k := range max(rank, count) {
		n := number64(c, 0) // which has no size to keep
		if k < rank {
			n = c.do(op.Dim, op.AxisAttrs{Axis: k}, c.x(0))
			total = c.do(std.Mul, nil, total, n)
		}
		if k < count {
			own[k] = n
		}
	}
	if !c.flag("allowzero", false) && count > 0 {
		to = c.do(std.Where, nil, is(0), c.do(std.Stack, std.DimAttrs{}, own...), to)
	}
	open := is(-1)
	others := c.do(std.Prod, std.ReduceAttrs{}, c.do(std.Where, nil, open, number64(c, 1), to))
	rest := c.do(std.FloorDivide, nil, total, c.do(std.Maximum, std.BinaryAttrs{Other: op.Int(1)}, others))
	to = c.do(std.Where, nil, open, rest, to)
	return measured(c, i, &value{name: v.name, node: to.(*graph.Node)}, false)
}

func flatten(c *call) []op.Value {
	rank := c.rank(0)
	axis := c.int("axis", 1)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis > rank {
		panic(diag.New(CodeModel, "axis "+strconv.Itoa(axis)+" is out of range for "+strconv.Itoa(rank)+" dimensions"))
	}
	if axis == 1 && rank > 1 {
		return c.one(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: -1}, c.x(0))
	}
	dims := c.typ(0).Dims()
	return c.one(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())}, c.x(0))
}

func transpose(c *call) []op.Value {
	perm := c.list("perm")
	if perm == nil {
		for i := range c.rank(0) {
			perm = append([]int{i}, perm...)
		}
	}
	return c.one(std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, c.x(0))
}

// axesOf are an attribute, or operand i; nil when neither is given.
func axesOf(c *call, i int) []int {
	if a := c.list("axes"); a != nil {
		return a
	}
	if c.has(i) {
		return c.ints(i)
	}
	return nil
}

func squeeze(c *call) []op.Value {
	axes := axesOf(c, 1)
	if axes == nil {
		return squeezeAll(c)
	}
	if len(axes) == 0 {
		return []op.Value{c.x(0)}
	}
	rank, t := c.rank(0), c.typ(0)
	var rely []shape.Relation
	for i, a := range axes {
		axes[i] = c.axis(a, rank)
		d := t.Dim(axes[i])
		if n, ok := d.Int(); ok && n != 1 {
			panic(diag.New(CodeModel, "dimension "+strconv.Itoa(axes[i])+" has size "+strconv.Itoa(n)+", expected 1"))
		}
		if !d.IsUnknown() && !d.Is(1) && !c.dr.isLate(d) {
			rely = append(rely, shape.Equality(d, shape.Const(1)))
		}
	}
	v := squeezed(c, axes)
	for _, r := range rely { // assumptions in a branch go to the branch's graph
		if err := c.cur.Graph().Assume(r, v.(*graph.Node)); err != nil {
			panic(firstOf(err))
		}
	}
	return []op.Value{v}
}

func unsqueeze(c *call) []op.Value {
	axes := axesOf(c, 1)
	if !c.typ(0).Ranked() && len(axes) == 1 { // of one axis both count alike
		return c.one(std.Unsqueeze, std.DimAttrs{Dim: axes[0]}, c.x(0))
	}
	rank := c.rank(0) + len(axes)
	if err := checkRank("the result", rank); err != nil {
		panic(err)
	}
	sorted := make([]int, len(axes))
	for i, a := range axes {
		sorted[i] = c.axis(a, rank)
	}
	slices.Sort(sorted)
	v := c.x(0)
	for i, a := range sorted {
		if i > 0 && a == sorted[i-1] {
			panic(diag.New(CodeModel, "axis "+strconv.Itoa(a)+" is given twice"))
		}
		v = c.do(std.Unsqueeze, std.DimAttrs{Dim: a}, v)
	}
	return []op.Value{v}
}

// expand broadcasts both ways: sizes of 1 in the shape keep those of the operand. Where
// the model computes a size, the run finds out which of the two is 1.
func expand(c *call) []op.Value {
	to, have, x := c.dims(1), c.typ(0).Dims(), c.x(0)
	rank := max(len(to), c.rank(0))
	out := make([]shape.Dim, rank)
	want := shape.Of(to...)
	for i := 1; i <= rank; i++ {
		d, n := want.FromEnd(i), have.FromEnd(i)
		_, number := n.Int()
		switch {
		case d.Is(1):
			d = n
		case !c.dr.isLate(d) || n.Is(1) || n.IsUnknown():
		case number:
			if e := choose(equal(d, one), n, d); !e.IsUnknown() {
				d = e
			}
		default:
			x, d = widened(c, x, c.rank(0)-i, n, d)
		}
		out[rank-i] = d
	}
	return c.one(std.Expand, std.ExpandAttrs{Shape: shape.Of(out...)}, x)
}

// widened repeats an axis of size n to size d, or leaves it as it is, as the run finds: one
// of them is 1, or they are equal.
func widened(c *call, x op.Value, axis int, n, d shape.Dim) (op.Value, shape.Dim) {
	wide := choose(equal(d, one), n, d)
	wrong := one.Sub(equal(n, one)).Mul(one.Sub(equal(wide, n)))
	if wide.IsUnknown() || wrong.IsUnknown() { // too long: then they must be equal
		return x, d
	}
	index := c.do(std.Mul, nil, c.do(std.Arange, std.ArangeAttrs{End: wide}), c.size(one.Sub(equal(n, one)), array.I64))
	index = c.do(std.Add, nil, index, c.size(wrong.Mul(n), array.I64)) // outside, which is an error
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, index), wide
}

func concat(c *call) []op.Value {
	return c.one(std.Cat, std.DimAttrs{Dim: c.int("axis", 1)}, c.xs()...)
}

// concatParts notes the parts of a list of integers, some of which may be sizes.
func concatParts(c *call, outs []*value) {
	if outs[0].node != nil && outs[0].typ().DType().IsInt() && outs[0].typ().Rank() == 1 {
		outs[0].parts = c.in
	}
}

func split(c *call) []op.Value {
	axis := c.axis(c.int("axis", 0), c.rank(0))
	var parts []shape.Dim
	switch {
	case c.has(1):
		parts = c.dims(1)
	case c.given("split"):
		parts = shape.ConstDims(c.list("split")...).Slice()
	}
	count := c.int("num_outputs", len(c.n.Outputs))
	if count != len(c.n.Outputs) || count == 0 {
		panic(diag.New(CodeModel, "num_outputs is "+strconv.Itoa(count)+", the node has "+strconv.Itoa(len(c.n.Outputs))+" outputs"))
	}
	if parts != nil && len(parts) != len(c.n.Outputs) {
		panic(diag.New(CodeModel, "there are "+strconv.Itoa(len(parts))+" sizes for "+strconv.Itoa(len(c.n.Outputs))+" outputs"))
	}
	if parts == nil {
		parts = equalParts(c.typ(0).Dim(axis), count)
	}
	return c.items(c.do(std.Split, std.SplitAttrs{Sizes: shape.Of(parts...), Dim: axis}, c.x(0)), len(parts))
}

// equalParts divides a size into parts of one size, rounded up, as long as there is enough.
func equalParts(n shape.Dim, count int) []shape.Dim {
	if n.IsUnknown() {
		panic(diag.New(CodeValue, "the size that is split is not known"))
	}
	each := n.AddInt(count - 1).FloorDivInt(count)
	parts, at := make([]shape.Dim, count), zero
	for i := range parts {
		to := n // which all parts together are
		if i < count-1 {
			to = each.MulInt(i + 1).Min(n)
		}
		parts[i], at = to.Sub(at), to
	}
	return parts
}

// gather takes entries along an axis; negative indices count from the end.
func gather(c *call) []op.Value {
	rank := c.rank(0)
	axis := c.axis(c.int("axis", 0), rank)
	if v := c.value(1); v.arr != nil && v.arr.Rank() == 0 {
		return c.one(std.Select, std.SelectAttrs{Dim: axis, Index: c.index(1)}, c.x(0))
	}
	index := c.x(1)
	k := c.rank(1)
	flat := index
	if k != 1 {
		flat = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, index)
	}
	flat = indexFromEnd(c, flat, c.in[1], c.typ(0).Dim(axis))
	v := c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, c.x(0), flat)
	if k != 1 {
		dims := c.typ(0).Dims()
		v = c.do(std.Reshape, std.ReshapeAttrs{Shape: dims.Sub(0, axis).Concat(c.typ(1).Dims()).Concat(dims.Sub(axis+1, rank))}, v)
	}
	return []op.Value{v}
}

// indexFromEnd makes indices that count from the end count from the start; a constant
// without such stays as it is.
func indexFromEnd(c *call, index op.Value, v *value, size shape.Dim) op.Value {
	if v.arr != nil {
		if !anyNegative(v.arr) {
			return index
		}
	}
	if n, ok := index.(*graph.Node); ok && counts(c, n, mostFollowed) {
		return index
	}
	return fromEndOf(c, index, c.size(size, v.typ().DType()))
}

// mostFollowed is through how many nodes counts looks.
const mostFollowed = 8

// movers give elements of their first operand, and no others.
var movers = map[*op.Op]bool{std.Slice: true, std.Expand: true, std.Reshape: true, std.Unsqueeze: true, std.Squeeze: true, std.Permute: true,
	std.Transpose: true, std.Select: true, std.IndexSelect: true, std.Flatten: true}

// counts reports whether no element of a value is negative, because of its origin:
// exporters cut indices out of constants.
func counts(c *call, n *graph.Node, most int) bool {
	for ; most > 0 && movers[n.Op()]; most-- {
		n = n.Arg(0)
	}
	if o := n.Op(); o == std.Argmax || o == std.Argmin {
		return true
	}
	p := c.dr.mod.Param(n.Target())
	return n.Opcode() == graph.GetAttr && p != nil && p.Value != nil && !anyNegative(p.Value)
}

func anyNegative(a *array.Array) bool {
	for i := range a.Len() {
		if array.Int64At(a, i) < 0 {
			return true
		}
	}
	return false
}

// knownRange reports whether the numbers of a range are known, or its end a size.
func knownRange(c *call) bool {
	for i := range 3 {
		v := c.value(i)
		if _, size := v.asSizes(); v.arr == nil && (i != 1 || !size) {
			return false
		}
	}
	return true
}

func rangeOf(c *call) []op.Value {
	d := c.typ(0).DType()
	if !knownRange(c) {
		alone := func(i int) op.Value {
			v := c.x(i)
			if v.Type().Rank() > 0 {
				v = c.do(std.Reshape, std.ReshapeAttrs{}, v)
			}
			return v
		}
		return c.one(std.Range, nil, alone(0), alone(1), alone(2))
	}
	if d.IsFloat() {
		start, end, step := c.number(0).Float64(), c.number(1).Float64(), c.number(2).Float64()
		rounds := math.Ceil((end - start) / step)
		if !(math.Abs(rounds) < 1<<53) { // NaN as well
			panic(diag.New(CodeModel, "the range from "+c.number(0).String()+" to "+c.number(1).String()+" in steps of "+c.number(2).String()+" has no length"))
		}
		n := max(int(rounds), 0)
		v := c.do(std.Arange, std.ArangeAttrs{End: shape.Const(n), DType: d})
		v = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(step)}, v)
		return c.one(std.Add, std.AddAttrs{Other: op.Float(start)}, v)
	}
	start, step := c.index(0), c.index(2)
	if step == 0 {
		panic(diag.New(CodeModel, "a range in steps of 0 has no length"))
	}
	end := c.dr.above(c.dim(1))
	// A step away from the end makes no elements.
	if step > 0 {
		end = end.Max(shape.Const(start))
	} else {
		end = end.Min(shape.Const(start))
	}
	return c.one(std.Arange, std.ArangeAttrs{Start: start, End: c.dr.back(end), Step: step, DType: d})
}
