package exporter

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// exportReductions are reductions, softmaxes and operators that order elements.
var exportReductions = map[*op.Op][]exportRule{
	std.Sum: by(reducing("ReduceSum")), std.Mean: by(reducing("ReduceMean")), std.Prod: by(reducing("ReduceProd")),
	std.Amax: by(reducing("ReduceMax")), std.Amin: by(reducing("ReduceMin")),
	std.Max: by(func(c *exportCall, _ op.None) op.Value { return c.reduce("ReduceMax", c.in[0], nil, false, c.typ) }),
	std.Min: by(func(c *exportCall, _ op.None) op.Value { return c.reduce("ReduceMin", c.in[0], nil, false, c.typ) }),
	std.All: by(truths("ReduceMin")), std.Any: by(truths("ReduceMax")),
	std.MaxDim: by(extremeOf("ReduceMax", "ArgMax")), std.MinDim: by(extremeOf("ReduceMin", "ArgMin")),
	std.Argmax: by(argument("ArgMax")), std.Argmin: by(argument("ArgMin")),
	std.Var: by(func(c *exportCall, a std.VarAttrs) op.Value { return c.cast(variance(c, a), c.typ.DType()) }),
	std.Std: by(func(c *exportCall, a std.VarAttrs) op.Value {
		return c.cast(c.do(std.Sqrt, nil, variance(c, a)), c.typ.DType())
	}),
	std.Logsumexp: by(func(c *exportCall, a std.LogsumexpAttrs) op.Value {
		if !c.dtype(0).IsFloat() || c.typ.DType() != c.dtype(0) {
			decline("ReduceLogSumExp keeps the type")
		}
		return c.reduce("ReduceLogSumExp", c.in[0], a.Dim.Slice(), a.KeepDim, c.typ)
	}),
	std.Softmax:    by(func(c *exportCall, a std.DimAttrs) op.Value { return c.softmax("Softmax", a.Dim) }),
	std.LogSoftmax: by(func(c *exportCall, a std.DimAttrs) op.Value { return c.softmax("LogSoftmax", a.Dim) }),
	std.Cumsum:     by(func(c *exportCall, a std.ScanAttrs) op.Value { return running(c, "CumSum", a) }),
	std.Cumprod:    {writes(26, func(c *exportCall, a std.ScanAttrs) op.Value { return running(c, "CumProd", a) })},
	std.Sort: by(func(c *exportCall, a std.SortAttrs) op.Value {
		if c.rank(0) == 0 {
			return asVector(c)
		}
		axis := axisOf(a.Dim, c.rank(0))
		return ranked(c, c.sizes(c.in[0].Type().Dim(axis)), axis, a.Descending)
	}),
	std.Topk: by(func(c *exportCall, a std.TopkAttrs) op.Value {
		return ranked(c, c.list(a.K), axisOf(a.Dim, c.rank(0)), !a.Smallest)
	}),
	std.Searchsorted: by(searchsorted),
	std.Det:          by(func(c *exportCall, _ op.None) op.Value { return c.node("Det", c.in) }),
	std.Inverse:      by(func(c *exportCall, _ op.None) op.Value { return c.node("Inverse", c.in) }),
	std.Unique:       by(exportUnique),
	std.Nonzero: by(func(c *exportCall, _ op.None) op.Value {
		if c.rank(0) == 0 {
			decline("a number has no places")
		}
		v := c.w.emit("NonZero", shape.TensorType(array.I64, shape.Of(c.typ.Dim(1), c.typ.Dim(0))), c.in)
		return c.node("Transpose", []op.Value{v}, attrInts("perm", 1, 0))
	}),
	std.NonMaxSuppression: by(func(c *exportCall, a std.NonMaxSuppressionAttrs) op.Value {
		in := []op.Value{c.in[0], c.in[1], c.list(a.Most), c.number(array.F32, op.Float(a.Overlap)), nil}
		if a.Score.Present() {
			in[4] = c.number(array.F32, a.Score)
		}
		return c.node("NonMaxSuppression", in, attrFlag("center_point_box", a.Center))
	}),
	std.NonMaxSuppressionLimits: by(func(c *exportCall, a std.NonMaxSuppressionLimitsAttrs) op.Value {
		one := func(i int, d array.DType) op.Value {
			if i >= len(c.in) || c.in[i] == nil {
				return nil
			}
			return c.cast(c.reshape(c.in[i], shape.Const(1)), d)
		}
		in := []op.Value{c.in[0], c.in[1], one(2, array.I64), one(3, array.F32), one(4, array.F32)}
		return c.node("NonMaxSuppression", in, attrFlag("center_point_box", a.Center))
	}),
	std.Range: by(func(c *exportCall, _ op.None) op.Value { return c.node("Range", c.in) }),
	std.Sized: by(func(c *exportCall, _ op.None) op.Value {
		t := shape.TensorType(array.I64, shape.ConstDims(c.typ.Rank()))
		dims := c.w.emit("Concat", t, []op.Value{c.cast(c.in[0], array.I64), c.list(0)}, attrInt("axis", 0))
		return c.node("ConstantOfShape", []op.Value{dims}, attrNumber("value", array.Bool, op.Int(0)))
	}),
}

// reduce writes a reduction over axes, over all for none. The axes became an operand in set 18,
// those of sums before.
func (c *exportCall) reduce(name string, x op.Value, axes []int, keep bool, t shape.Type) *exported {
	n := rankOf(x)
	if n == 0 {
		axes = nil
	}
	in := []op.Value{x}
	attrs := []*pb.Attr{attrFlag("keepdims", keep)}
	for i := range axes {
		axes[i] = axisOf(axes[i], n)
	}
	if len(axes) > 0 {
		if c.w.x.target >= 18 || name == "ReduceSum" {
			in = append(in, c.list(axes...))
		} else {
			attrs = append(attrs, attrInts("axes", axes...))
		}
	}
	return c.w.emit(name, t, in, attrs...)
}

// reducing reduces in the type of the result.
func reducing(name string) func(c *exportCall, a std.ReduceAttrs) op.Value {
	return func(c *exportCall, a std.ReduceAttrs) op.Value {
		d := c.typ.DType()
		x := c.cast(c.in[0], d)
		if d == array.Bool {
			v := c.reduce(name, c.cast(x, array.I32), a.Dim.Slice(), a.KeepDim, c.typ.WithDType(array.I32))
			return c.cast(v, d)
		}
		return c.reduce(name, x, a.Dim.Slice(), a.KeepDim, c.typ)
	}
}

// truths reduces the test for nonzero elements, as numbers.
func truths(name string) func(c *exportCall, a std.ReduceAttrs) op.Value {
	return func(c *exportCall, a std.ReduceAttrs) op.Value {
		x := c.cast(c.cast(c.in[0], array.Bool), array.I32)
		if c.emptied(a.Dim) {
			return full(c, op.BoolScalar(name == "ReduceMin"))
		}
		return c.cast(c.reduce(name, x, a.Dim.Slice(), a.KeepDim, c.typ.WithDType(array.I32)), c.typ.DType())
	}
}

// emptied reports whether nothing is reduced.
func (c *exportCall) emptied(dims op.Ints) bool {
	for _, i := range axesOf(dims, c.rank(0)) {
		if c.rank(0) > 0 && c.in[0].Type().Dim(i).Is(0) {
			return true
		}
	}
	return false
}

func extremeOf(values, indices string) func(c *exportCall, a std.MinMaxAttrs) op.Value {
	return func(c *exportCall, a std.MinMaxAttrs) op.Value {
		if c.rank(0) == 0 {
			return asVector(c)
		}
		axis := axisOf(a.Dim, c.rank(0))
		v := c.reduce(values, c.in[0], []int{axis}, a.KeepDim, c.typ.Member(0))
		at := c.w.emit(indices, c.typ.Member(1), c.in, attrInt("axis", axis), attrFlag("keepdims", a.KeepDim))
		return c.tuple(v, at)
	}
}

// argument is over one axis, or over all elements as a vector.
func argument(name string) func(c *exportCall, a std.ArgAttrs) op.Value {
	return func(c *exportCall, a std.ArgAttrs) op.Value {
		x := c.in[0]
		if c.dtype(0) == array.Bool {
			x = c.cast(x, array.I32)
		}
		if a.Dim.Len() == 1 && c.rank(0) > 0 {
			return c.node(name, []op.Value{x}, attrInt("axis", axisOf(a.Dim.At(0), c.rank(0))), attrFlag("keepdims", a.KeepDim))
		}
		flat := c.reshape(x, shape.Const(-1))
		v := c.w.emit(name, shape.TensorType(array.I64, shape.Dims{}), []op.Value{flat}, attrInt("axis", 0), attrInt("keepdims", 0))
		if c.typ.Rank() == 0 {
			return v
		}
		return c.reshape(v, c.typ.Dims().Slice()...)
	}
}

// variance is the mean of the squared deviations, over the number of elements less a correction.
func variance(c *exportCall, a std.VarAttrs) op.Value {
	x := c.cast(c.in[0], array.F64) // squares have twice the range
	n := c.rank(0)
	axes := axesOf(a.Dim, n)
	count := shape.Const(1)
	for _, i := range axes {
		count = count.Mul(x.Type().Dim(i))
	}
	mean := c.do(std.Mean, std.ReduceAttrs{Dim: a.Dim, KeepDim: true}, x)
	off := c.do(std.Sub, nil, x, mean)
	sum := c.do(std.Sum, std.ReduceAttrs{Dim: a.Dim, KeepDim: a.KeepDim}, c.do(std.Mul, nil, off, off))
	correction := 1.0
	if a.Correction.Present() {
		correction = a.Correction.Float64()
	}
	var by op.Value
	if k, ok := count.Int(); ok {
		by = c.number(x.Type().DType(), op.Float(math.Max(float64(k)-correction, 0)))
	} else {
		by = c.do(std.Sub, std.SubAttrs{Other: op.Float(correction)}, c.cast(c.w.sizeNumber(count), x.Type().DType()))
		by = c.do(std.Maximum, std.BinaryAttrs{Other: op.Float(0)}, by)
	}
	return c.do(std.Div, nil, sum, by)
}

func (c *exportCall) softmax(name string, axis int) op.Value {
	if c.rank(0) == 0 {
		return asVector(c)
	}
	if c.typ.DType() != c.dtype(0) {
		decline("the type changes")
	}
	return c.node(name, c.in, attrInt("axis", axisOf(axis, c.rank(0))))
}

func running(c *exportCall, name string, a std.ScanAttrs) op.Value {
	n := c.rank(0)
	if n == 0 {
		return c.cast(c.in[0], c.typ.DType())
	}
	return c.node(name, []op.Value{c.cast(c.in[0], c.typ.DType()), c.int(axisOf(a.Dim, n))})
}

// ranked takes the first k elements in order.
func ranked(c *exportCall, k op.Value, axis int, largest bool) op.Value {
	if c.rank(0) == 0 {
		return asVector(c)
	}
	x, d := c.in[0], c.dtype(0)
	types := []shape.Type{c.typ.Member(0), c.typ.Member(1)}
	if d == array.Bool {
		x, types[0] = c.cast(x, array.I32), types[0].WithDType(array.I32)
	}
	outs := c.w.emitAll("TopK", types, []op.Value{x, k}, attrInt("axis", axis), attrFlag("largest", largest), attrInt("sorted", 1))
	return c.tuple(c.cast(outs[0], d), outs[1])
}

// searchsorted counts the elements of the sequence that are less.
func searchsorted(c *exportCall, a std.SearchsortedAttrs) op.Value {
	seq, x := c.in[0], c.in[1]
	row := rankOf(seq) > 1
	x = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, x)
	if row {
		seq = c.do(std.Unsqueeze, std.DimAttrs{Dim: -2}, seq)
	}
	o := std.Lt
	if a.Right {
		o = std.Le
	}
	less := c.do(o, nil, seq, x)
	if c.dtype(1).IsFloat() { // NaN is the greatest
		nan := c.do(std.Isnan, nil, x)
		if !a.Right {
			nan = c.do(std.LogicalAnd, nil, nan, c.do(std.LogicalNot, nil, c.do(std.Isnan, nil, seq)))
		}
		less = c.do(std.LogicalOr, nil, less, nan)
	}
	return c.do(std.Sum, std.ReduceAttrs{Dim: op.IntList(-1)}, less)
}

func exportUnique(c *exportCall, a std.UniqueAttrs) op.Value {
	attrs := []*pb.Attr{attrFlag("sorted", !a.Unsorted)}
	if !a.Flat {
		attrs = append(attrs, attrInt("axis", axisOf(a.Dim, c.rank(0))))
	}
	types := make([]shape.Type, 4)
	for i := range types {
		types[i] = c.typ.Member(i)
	}
	outs := c.w.emitAll("Unique", types, c.in, attrs...)
	return c.tuple(outs[0], outs[1], outs[2], outs[3])
}

// exportIndices are the operators that read or write places that tensors name.
var exportIndices = map[*op.Op][]exportRule{
	std.Embedding: by(func(c *exportCall, _ op.None) op.Value {
		return c.node("Gather", []op.Value{c.in[1], index(c, c.in[0])}, attrInt("axis", 0))
	}),
	std.EmbeddingBag: by(embeddingBag),
	std.IndexSelect: by(func(c *exportCall, a std.DimAttrs) op.Value {
		if c.rank(0) == 0 {
			decline("a number has no dimension")
		}
		at := index(c, c.in[1])
		if rankOf(at) == 0 {
			at = c.reshape(at, shape.Const(1))
		}
		return c.node("Gather", []op.Value{c.in[0], at}, attrInt("axis", axisOf(a.Dim, c.rank(0))))
	}),
	std.Gather: by(func(c *exportCall, a std.DimAttrs) op.Value {
		if c.rank(0) == 0 || rankOf(c.in[1]) == 0 {
			return asVector(c)
		}
		return c.node("GatherElements", []op.Value{c.in[0], index(c, c.in[1])}, attrInt("axis", axisOf(a.Dim, c.rank(0))))
	}),
	std.Scatter: by(func(c *exportCall, a std.ScatterAttrs) op.Value {
		return scattered(c, a.Dim, map[string]string{"": "none", "add": "add", "multiply": "mul"}[a.Reduce])
	}),
	std.ScatterAdd: by(func(c *exportCall, a std.DimAttrs) op.Value { return scattered(c, a.Dim, "add") }),
	std.ScatterReduce: by(func(c *exportCall, a std.ScatterReduceAttrs) op.Value {
		return scattered(c, a.Dim, map[string]string{"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}[a.Reduce])
	}),
}

// asVector makes the call on vectors of one element in place of numbers without dimensions, which
// ONNX has no axes for.
func asVector(c *exportCall) op.Value {
	in := make([]op.Value, len(c.in))
	for i, v := range c.in {
		if in[i] = v; v != nil && rankOf(v) == 0 {
			in[i] = c.reshape(v, shape.Const(1))
		}
	}
	v := c.do(c.o, c.attrs, in...).(*exported)
	if c.typ.Kind() != shape.Tuple {
		return c.reshape(v, c.typ.Dims().Slice()...)
	}
	items := make([]op.Value, len(v.items))
	for i, m := range v.items {
		items[i] = c.reshape(m, c.typ.Member(i).Dims().Slice()...)
	}
	return c.tuple(items...)
}

// index are indices in a type that ONNX takes.
func index(c *exportCall, v op.Value) op.Value {
	if d := v.Type().DType(); d != array.I64 && d != array.I32 {
		return c.cast(v, array.I64)
	}
	return v
}

// scattered: in our operator the updates may be larger than the indices; the excess is not written.
func scattered(c *exportCall, axis int, how string) op.Value {
	n := c.rank(0)
	if n == 0 || rankOf(c.in[1]) == 0 {
		return asVector(c)
	}
	src := c.cast(c.in[2], c.dtype(0))
	for i := range n {
		have, want := src.Type().Dim(i), c.in[1].Type().Dim(i)
		if !have.Equal(want) {
			src = c.do(std.Slice, std.SliceAttrs{Dim: i, Stop: want}, src)
		}
	}
	attrs := []*pb.Attr{attrInt("axis", axisOf(axis, n))}
	if how != "none" {
		attrs = append(attrs, attrText("reduction", how))
	}
	if how == "max" || how == "min" {
		c.needs(18)
	}
	return c.node("ScatterElements", []op.Value{c.in[0], index(c, c.in[1]), src}, attrs...)
}

// embeddingBag is of the rows of a matrix; bags of other sizes have no operator.
func embeddingBag(c *exportCall, a std.EmbeddingBagAttrs) op.Value {
	if c.has(2) || c.rank(0) != 2 {
		decline("ONNX has no operator for bags that begin at offsets")
	}
	rows := c.do(std.Embedding, nil, c.in[0], c.in[1])
	if c.has(3) {
		rows = c.do(std.Mul, nil, rows, c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, c.in[3]))
	}
	o := map[string]*op.Op{"": std.Mean, "mean": std.Mean, "sum": std.Sum, "max": std.Amax}[a.Mode]
	return c.do(o, std.ReduceAttrs{Dim: op.IntList(1)}, rows)
}
