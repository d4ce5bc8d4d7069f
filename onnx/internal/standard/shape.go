package standard

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// shapeRules are the operators that make constants and sizes, and move elements.
var shapeRules = map[string][]rule.Rule{
	"Constant":        {{Since: 1, Run: constant}},
	"ConstantOfShape": rule.From(9, constantOfShape),
	"Shape":           {{Since: 1, Run: shapeOf}},
	"Size":            {{Since: 1, Run: sizeOf}},
	"Reshape": {{Since: 1, Build: func(c *rule.Call) []op.Value {
		return c.One(std.Reshape, std.ReshapeAttrs{Shape: reshaped(c, shape.ConstDims(c.List("shape")...).Slice())}, c.X(0))
	}}, {Since: 5, Build: func(c *rule.Call) []op.Value {
		return c.One(std.Reshape, std.ReshapeAttrs{Shape: reshaped(c, newSizes(c, 1))}, c.X(0))
	}}},
	"Flatten":   rule.From(1, flatten),
	"Transpose": rule.From(1, transpose),
	"Squeeze":   rule.From(1, squeeze),
	"Unsqueeze": rule.From(1, unsqueeze),
	"Expand":    rule.From(8, expand),
	"Concat":    {{Since: 1, Build: concat, After: concatParts}},
	"Slice":     rule.From(1, slice),
	"Split":     rule.From(1, split),
	"Gather":    rule.From(1, gather),
	"Range":     rule.From(11, rangeOf),
	"Tile": rule.From(6, func(c *rule.Call) []op.Value {
		if n := len(c.Dims(1)); n != c.Rank(0) {
			panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(n)+" repeats for "+strconv.Itoa(c.Rank(0))+" dimensions"))
		}
		return c.One(std.Repeat, std.RepeatAttrs{Repeats: shape.Of(c.Dims(1)...)}, c.X(0))
	}),
}

func constant(c *rule.Call) []*rule.Datum {
	if len(c.Node.Attrs) != 1 {
		panic(diag.New(spec.CodeModel, "Constant has "+strconv.Itoa(len(c.Node.Attrs))+" attributes, expected one"))
	}
	if len(c.Node.Outputs) == 0 {
		panic(diag.New(spec.CodeModel, "Constant has no output, expected one"))
	}
	a := c.Node.Attrs[0]
	c.Used[a.Name] = true
	v := &rule.Datum{Name: c.Node.Outputs[0]}
	switch a.Name {
	case "value":
		t := c.Attr("value", pb.AttrTensor).T
		if t == nil {
			panic(diag.New(spec.CodeModel, "Constant has no value"))
		}
		var err *diag.Error
		if v.Arr, err = modelfile.ArrayOf(t, c.Draft.Data); err != nil {
			panic(err)
		}
	case "value_int":
		v.Arr = array.Scalar(int64(c.Int(a.Name, 0)))
	case "value_float":
		v.Arr = array.Scalar(float32(c.Float(a.Name, 0)))
	case "value_ints":
		v.Arr = spec.IntArray(c.List(a.Name), false, array.I64)
	case "value_floats":
		f := c.Floats(a.Name)
		v.Arr = array.New(array.F32, len(f))
		for i, x := range f {
			array.SetFloat64At(v.Arr, i, x)
		}
	case "sparse_value":
		sp := c.Attr(a.Name, pb.AttrSparse).Sparse
		if sp == nil {
			panic(diag.New(spec.CodeModel, "Constant has no value"))
		}
		dense, err := c.Draft.Sparse(sp)
		if err != nil {
			panic(err)
		}
		v.Arr = dense
	default:
		panic(diag.New(spec.CodeType, "Constant with "+a.Name+" is not supported"))
	}
	return []*rule.Datum{v}
}

// filled is a constant of any size with one value: never written out.
func constantOfShape(c *rule.Call) []op.Value {
	v, d := op.Float(0), array.F32
	if a := c.Attr("value", pb.AttrTensor); a != nil && a.T != nil {
		one, err := modelfile.ArrayOf(a.T, nil)
		if err != nil {
			panic(err)
		}
		if one.Len() != 1 {
			panic(diag.New(spec.CodeModel, "value has "+strconv.Itoa(one.Len())+" elements, expected one"))
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
	return c.One(std.Full, std.FullAttrs{Size: shape.Of(c.Dims(0)...), Value: v, DType: d})
}

// shapeOf gives the sizes of a tensor, from start to end.
func shapeOf(c *rule.Call) []*rule.Datum {
	rank := c.Rank(0)
	start, end := clampAxis(c.Int("start", 0), rank), clampAxis(c.Int("end", rank), rank)
	dims, ok := rule.DimsOf(c.Type(0))
	if ok {
		return []*rule.Datum{rule.Sized(rule.SizeList(dims[start:max(start, end)]...))}
	}
	c.Write()
	var parts []op.Value
	for i := start; i < end; i++ {
		parts = append(parts, c.Do(op.Dim, op.AxisAttrs{Axis: i}, c.X(0)))
	}
	if len(parts) == 0 {
		return []*rule.Datum{{Arr: array.New(array.I64, 0)}}
	}
	return c.Values(c.One(std.Stack, std.DimAttrs{}, parts...))
}

func clampAxis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	return min(max(a, 0), rank)
}

func sizeOf(c *rule.Call) []*rule.Datum {
	c.Value(0)
	dims, ok := rule.DimsOf(c.Type(0))
	n := shape.Of(dims...).Prod()
	if !ok || n.IsUnknown() {
		panic(diag.New(spec.CodeValue, "the sizes of "+diag.Quote(c.Node.Inputs[0])+" are not known"))
	}
	return []*rule.Datum{rule.Sized(rule.SizeNumber(n, array.I64))}
}

// reshaped are the sizes that reshape is given: 0 keeps a size, unless allowzero is set.
func reshaped(c *rule.Call, to []shape.Dim) shape.Dims {
	zero := c.Flag("allowzero", false)
	c.Ignore("consumed_inputs")
	to = slices.Clone(to)
	for i, d := range to {
		if d.Is(0) && !zero {
			if i >= c.Rank(0) {
				panic(diag.New(spec.CodeModel, "size "+strconv.Itoa(i)+" is 0, which keeps a size, of "+strconv.Itoa(c.Rank(0))+" there are"))
			}
			to[i] = c.Type(0).Dim(i)
		}
	}
	return shape.Of(to...)
}

// newSizes are the sizes that operand i gives a tensor; if the model computes them, a -1 or 0
// is first replaced by its meaning.
func newSizes(c *rule.Call, i int) []shape.Dim {
	v := c.Value(i)
	count, known := v.Type().Dim(0).Int()
	if _, ok := v.AsSizes(); ok || v.Parts != nil || v.Node == nil || v.Type().Rank() != 1 || !known || count > modelfile.MostRank {
		return c.Dims(i)
	}
	to := c.X(i)
	if v.Type().DType() != array.I64 {
		to = c.Do(std.Cast, std.CastAttrs{DType: array.I64}, to)
	}
	is := func(n int64) op.Value { return c.Do(std.Eq, std.BinaryAttrs{Other: op.Int(n)}, to) }
	rank := c.Rank(0)
	own := make([]op.Value, max(count, 0))
	total := number64(c, 1)
	for k := range max(rank, count) {
		n := number64(c, 0) // which has no size to keep
		if k < rank {
			n = c.Do(op.Dim, op.AxisAttrs{Axis: k}, c.X(0))
			total = c.Do(std.Mul, nil, total, n)
		}
		if k < count {
			own[k] = n
		}
	}
	if !c.Flag("allowzero", false) && count > 0 {
		to = c.Do(std.Where, nil, is(0), c.Do(std.Stack, std.DimAttrs{}, own...), to)
	}
	open := is(-1)
	others := c.Do(std.Prod, std.ReduceAttrs{}, c.Do(std.Where, nil, open, number64(c, 1), to))
	rest := c.Do(std.FloorDivide, nil, total, c.Do(std.Maximum, std.BinaryAttrs{Other: op.Int(1)}, others))
	to = c.Do(std.Where, nil, open, rest, to)
	return rule.Measured(c, i, &rule.Datum{Name: v.Name, Node: to.(*graph.Node)}, false)
}

func flatten(c *rule.Call) []op.Value {
	rank := c.Rank(0)
	axis := c.Int("axis", 1)
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis > rank {
		panic(diag.New(spec.CodeModel, "axis "+strconv.Itoa(axis)+" is out of range for "+strconv.Itoa(rank)+" dimensions"))
	}
	if axis == 1 && rank > 1 {
		return c.One(std.Flatten, std.FlattenAttrs{StartDim: 1, EndDim: -1}, c.X(0))
	}
	dims := c.Type(0).Dims()
	return c.One(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims.Sub(0, axis).Prod(), dims.Sub(axis, rank).Prod())}, c.X(0))
}

func transpose(c *rule.Call) []op.Value {
	perm := c.List("perm")
	if perm == nil {
		for i := range c.Rank(0) {
			perm = append([]int{i}, perm...)
		}
	}
	return c.One(std.Permute, std.PermuteAttrs{Dims: op.IntList(perm...)}, c.X(0))
}

// axesOf are an attribute, or operand i; nil when neither is given.
func axesOf(c *rule.Call, i int) []int {
	if a := c.List("axes"); a != nil {
		return a
	}
	if c.Has(i) {
		return c.Ints(i)
	}
	return nil
}

func squeeze(c *rule.Call) []op.Value {
	axes := axesOf(c, 1)
	if axes == nil {
		return squeezeAll(c)
	}
	if len(axes) == 0 {
		return []op.Value{c.X(0)}
	}
	rank, t := c.Rank(0), c.Type(0)
	var rely []shape.Relation
	for i, a := range axes {
		axes[i] = c.Axis(a, rank)
		d := t.Dim(axes[i])
		if n, ok := d.Int(); ok && n != 1 {
			panic(diag.New(spec.CodeModel, "dimension "+strconv.Itoa(axes[i])+" has size "+strconv.Itoa(n)+", expected 1"))
		}
		if !d.IsUnknown() && !d.Is(1) && !c.Draft.Late(d) {
			rely = append(rely, shape.Equality(d, shape.Const(1)))
		}
	}
	v := squeezed(c, axes)
	for _, r := range rely { // assumptions in a branch go to the branch's graph
		if err := c.Cursor.Graph().Assume(r, v.(*graph.Node)); err != nil {
			panic(rule.FirstOf(err))
		}
	}
	return []op.Value{v}
}

func unsqueeze(c *rule.Call) []op.Value {
	axes := axesOf(c, 1)
	if !c.Type(0).Ranked() && len(axes) == 1 { // of one axis both count alike
		return c.One(std.Unsqueeze, std.DimAttrs{Dim: axes[0]}, c.X(0))
	}
	rank := c.Rank(0) + len(axes)
	if err := modelfile.CheckRank("the result", rank); err != nil {
		panic(err)
	}
	sorted := make([]int, len(axes))
	for i, a := range axes {
		sorted[i] = c.Axis(a, rank)
	}
	slices.Sort(sorted)
	v := c.X(0)
	for i, a := range sorted {
		if i > 0 && a == sorted[i-1] {
			panic(diag.New(spec.CodeModel, "axis "+strconv.Itoa(a)+" is given twice"))
		}
		v = c.Do(std.Unsqueeze, std.DimAttrs{Dim: a}, v)
	}
	return []op.Value{v}
}

// expand broadcasts both ways: sizes of 1 in the shape keep those of the operand. Where
// the model computes a size, the run finds out which of the two is 1.
func expand(c *rule.Call) []op.Value {
	to, have, x := c.Dims(1), c.Type(0).Dims(), c.X(0)
	rank := max(len(to), c.Rank(0))
	out := make([]shape.Dim, rank)
	want := shape.Of(to...)
	for i := 1; i <= rank; i++ {
		d, n := want.FromEnd(i), have.FromEnd(i)
		_, number := n.Int()
		switch {
		case d.Is(1):
			d = n
		case !c.Draft.Late(d) || n.Is(1) || n.IsUnknown():
		case number:
			if e := rule.Choose(rule.Equal(d, rule.One), n, d); !e.IsUnknown() {
				d = e
			}
		default:
			x, d = widened(c, x, c.Rank(0)-i, n, d)
		}
		out[rank-i] = d
	}
	return c.One(std.Expand, std.ExpandAttrs{Shape: shape.Of(out...)}, x)
}

// widened repeats an axis of size n to size d, or leaves it as it is, as the run finds: one
// of them is 1, or they are equal.
func widened(c *rule.Call, x op.Value, axis int, n, d shape.Dim) (op.Value, shape.Dim) {
	wide := rule.Choose(rule.Equal(d, rule.One), n, d)
	wrong := rule.One.Sub(rule.Equal(n, rule.One)).Mul(rule.One.Sub(rule.Equal(wide, n)))
	if wide.IsUnknown() || wrong.IsUnknown() { // too long: then they must be equal
		return x, d
	}
	index := c.Do(std.Mul, nil, c.Do(std.Arange, std.ArangeAttrs{End: wide}), c.Size(rule.One.Sub(rule.Equal(n, rule.One)), array.I64))
	index = c.Do(std.Add, nil, index, c.Size(wrong.Mul(n), array.I64)) // outside, which is an error
	return c.Do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, index), wide
}

func concat(c *rule.Call) []op.Value {
	return c.One(std.Cat, std.DimAttrs{Dim: c.Int("axis", 1)}, c.Xs()...)
}

// concatParts notes the parts of a list of integers, some of which may be sizes.
func concatParts(c *rule.Call, outs []*rule.Datum) {
	if outs[0].Node != nil && outs[0].Type().DType().IsInt() && outs[0].Type().Rank() == 1 {
		outs[0].Parts = c.In
	}
}

func split(c *rule.Call) []op.Value {
	axis := c.Axis(c.Int("axis", 0), c.Rank(0))
	var parts []shape.Dim
	switch {
	case c.Has(1):
		parts = c.Dims(1)
	case c.Given("split"):
		parts = shape.ConstDims(c.List("split")...).Slice()
	}
	count := c.Int("num_outputs", len(c.Node.Outputs))
	if count != len(c.Node.Outputs) || count == 0 {
		panic(diag.New(spec.CodeModel, "num_outputs is "+strconv.Itoa(count)+", the node has "+strconv.Itoa(len(c.Node.Outputs))+" outputs"))
	}
	if parts != nil && len(parts) != len(c.Node.Outputs) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(parts))+" sizes for "+strconv.Itoa(len(c.Node.Outputs))+" outputs"))
	}
	if parts == nil {
		parts = equalParts(c.Type(0).Dim(axis), count)
	}
	return c.Items(c.Do(std.Split, std.SplitAttrs{Sizes: shape.Of(parts...), Dim: axis}, c.X(0)), len(parts))
}

// equalParts divides a size into parts of one size, rounded up, as long as there is enough.
func equalParts(n shape.Dim, count int) []shape.Dim {
	if n.IsUnknown() {
		panic(diag.New(spec.CodeValue, "the size that is split is not known"))
	}
	each := n.AddInt(count - 1).FloorDivInt(count)
	parts, at := make([]shape.Dim, count), rule.Zero
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
func gather(c *rule.Call) []op.Value {
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", 0), rank)
	if v := c.Value(1); v.Arr != nil && v.Arr.Rank() == 0 {
		return c.One(std.Select, std.SelectAttrs{Dim: axis, Index: c.Index(1)}, c.X(0))
	}
	index := c.X(1)
	k := c.Rank(1)
	flat := index
	if k != 1 {
		flat = c.Do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, index)
	}
	flat = indexFromEnd(c, flat, c.In[1], c.Type(0).Dim(axis))
	v := c.Do(std.IndexSelect, std.DimAttrs{Dim: axis}, c.X(0), flat)
	if k != 1 {
		dims := c.Type(0).Dims()
		v = c.Do(std.Reshape, std.ReshapeAttrs{Shape: dims.Sub(0, axis).Concat(c.Type(1).Dims()).Concat(dims.Sub(axis+1, rank))}, v)
	}
	return []op.Value{v}
}

// indexFromEnd makes indices that count from the end count from the start; a constant
// without such stays as it is.
func indexFromEnd(c *rule.Call, index op.Value, v *rule.Datum, size shape.Dim) op.Value {
	if v.Arr != nil {
		if !anyNegative(v.Arr) {
			return index
		}
	}
	if n, ok := index.(*graph.Node); ok && counts(c, n, mostFollowed) {
		return index
	}
	return fromEndOf(c, index, c.Size(size, v.Type().DType()))
}

// mostFollowed is through how many nodes counts looks.
const mostFollowed = 8

// movers give elements of their first operand, and no others.
var movers = map[*op.Op]bool{std.Slice: true, std.Expand: true, std.Reshape: true, std.Unsqueeze: true, std.Squeeze: true, std.Permute: true,
	std.Transpose: true, std.Select: true, std.IndexSelect: true, std.Flatten: true}

// counts reports whether no element of a value is negative, because of its origin:
// exporters cut indices out of constants.
func counts(c *rule.Call, n *graph.Node, most int) bool {
	for ; most > 0 && movers[n.Op()]; most-- {
		n = n.Arg(0)
	}
	if o := n.Op(); o == std.Argmax || o == std.Argmin {
		return true
	}
	p := c.Draft.Module.Param(n.Target())
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
func knownRange(c *rule.Call) bool {
	for i := range 3 {
		v := c.Value(i)
		if _, size := v.AsSizes(); v.Arr == nil && (i != 1 || !size) {
			return false
		}
	}
	return true
}

func rangeOf(c *rule.Call) []op.Value {
	d := c.Type(0).DType()
	if !knownRange(c) {
		alone := func(i int) op.Value {
			v := c.X(i)
			if v.Type().Rank() > 0 {
				v = c.Do(std.Reshape, std.ReshapeAttrs{}, v)
			}
			return v
		}
		return c.One(std.Range, nil, alone(0), alone(1), alone(2))
	}
	if d.IsFloat() {
		start, end, step := c.Number(0).Float64(), c.Number(1).Float64(), c.Number(2).Float64()
		rounds := math.Ceil((end - start) / step)
		if !(math.Abs(rounds) < 1<<53) { // NaN as well
			panic(diag.New(spec.CodeModel, "the range from "+c.Number(0).String()+" to "+c.Number(1).String()+" in steps of "+c.Number(2).String()+" has no length"))
		}
		n := max(int(rounds), 0)
		v := c.Do(std.Arange, std.ArangeAttrs{End: shape.Const(n), DType: d})
		v = c.Do(std.Mul, std.BinaryAttrs{Other: op.Float(step)}, v)
		return c.One(std.Add, std.AddAttrs{Other: op.Float(start)}, v)
	}
	start, step := c.Index(0), c.Index(2)
	if step == 0 {
		panic(diag.New(spec.CodeModel, "a range in steps of 0 has no length"))
	}
	end := c.Draft.Above(c.Dim(1))
	// A step away from the end makes no elements.
	if step > 0 {
		end = end.Max(shape.Const(start))
	} else {
		end = end.Min(shape.Const(start))
	}
	return c.One(std.Arange, std.ArangeAttrs{Start: start, End: c.Draft.Back(end), Step: step, DType: d})
}
