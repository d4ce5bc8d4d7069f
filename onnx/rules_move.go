package onnx

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// moveRules are the operators that put elements elsewhere, by indices or by place.
var moveRules = map[string][]rule{
	"Pad":             {{since: 1, build: padAttrs}, {since: 11, build: padInputs}},
	"Trilu":           from(14, trilu),
	"DepthToSpace":    from(1, depthToSpace),
	"SpaceToDepth":    from(1, spaceToDepth),
	"GatherElements":  from(11, gatherElements),
	"GatherND":        from(11, gatherND),
	"Scatter":         from(9, scatterElements),
	"ScatterElements": from(11, scatterElements),
	"ScatterND":       from(11, scatterND),
	"OneHot":          from(9, oneHot),
	"EyeLike":         from(9, eyeLike),
	"ReverseSequence": from(10, reverseSequence),
	"CenterCropPad":   from(18, centerCropPad),
	"TensorScatter":   from(24, tensorScatter),
}

func padAttrs(c *call) []op.Value {
	pads := c.list("pads")
	if pads == nil {
		pads = c.list("paddings")
	}
	return []op.Value{pad(c, c.x(0), shape.ConstDims(pads...).Slice(), nil, c.float("value", 0))}
}

func padInputs(c *call) []op.Value {
	pads := c.integers(1)
	var axes []int
	if c.has(3) {
		axes = c.ints(3)
	}
	pads = lateEnds(c, pads, axes)
	value, known := 0.0, true
	if c.has(2) {
		if known = c.in[2].arr != nil; known {
			n := c.number(2)
			value = n.Float64()
			known = !n.IsInt() || int64(value) == n.Int64()
		}
	}
	if known || c.text("mode", "constant") != "constant" {
		return []op.Value{pad(c, c.x(0), pads, axes, value)}
	}
	// The value is another one in each run, or none that attributes hold: where something was
	// added, there is 0 in a tensor that is 1 everywhere.
	inside := pad(c, c.do(std.OnesLike, std.LikeAttrs{DType: array.Bool}, c.x(0)), pads, axes, 0)
	return c.one(std.Where, nil, inside, pad(c, c.x(0), pads, axes, 0), condition(c, c.x(2)))
}

// lateEnds makes symbols of the sizes that pads found at run time lead to, and says the counts at the end by
// these. Each pad is a difference of two symbols: as a product of sums of them, the number of elements
// of a result of four axes would have hundreds of terms.
func lateEnds(c *call, pads []shape.Dim, axes []int) []shape.Dim {
	t := c.typ(0)
	if axes == nil {
		axes = allAxes(t.Rank())
	}
	if !t.Ranked() || len(pads) != 2*len(axes) {
		return pads // refused where it is used
	}
	var ends []int
	var totals []shape.Dim
	for i, a := range axes {
		lo, hi := pads[i], pads[len(axes)+i]
		if c.dr.isLate(lo) || c.dr.isLate(hi) {
			ends = append(ends, i)
			totals = append(totals, t.Dim(c.axis(a, t.Rank())).Add(lo).Add(hi))
		}
	}
	if len(ends) < 2 {
		return pads
	}
	pads = slices.Clone(pads)
	found := measured(c, 1, &value{node: c.dr.sizeNode(c.cur, sizeList(totals...))}, false)
	for k, i := range ends {
		pads[len(axes)+i] = found[k].Sub(totals[k].Sub(pads[len(axes)+i]))
	}
	return pads
}

func allAxes(rank int) (axes []int) {
	for i := range rank {
		axes = append(axes, i)
	}
	return axes
}

// pad takes the counts before all axes, then those after them; PyTorch has them from
// the last axis backwards.
func pad(c *call, x op.Value, pads []shape.Dim, axes []int, value float64) op.Value {
	rank := c.rank(0)
	if axes == nil {
		axes = allAxes(rank)
	}
	if len(pads) != 2*len(axes) {
		panic(diag.New(CodeModel, "pads has "+strconv.Itoa(len(pads))+" entries, expected "+strconv.Itoa(2*len(axes))))
	}
	list := make([]shape.Dim, 2*rank)
	for i, a := range axes {
		k := 2 * (rank - 1 - c.axis(a, rank))
		list[k], list[k+1] = pads[i], pads[len(axes)+i]
	}
	modes := map[string]string{"constant": "", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
	mode := modes[c.oneOf("mode", "constant", "reflect", "edge", "wrap")]
	if mode != "" {
		value = 0
	}
	for len(list) > 0 && list[len(list)-1].Is(0) && list[len(list)-2].Is(0) {
		list = list[:len(list)-2]
	}
	if len(list) == 0 {
		return x
	}
	return c.do(std.Pad, std.PadAttrs{Pad: shape.Of(list...), Mode: mode, Value: value}, x)
}

func trilu(c *call) []op.Value {
	upper := c.flag("upper", true)
	if !c.has(1) || c.in[1].arr != nil {
		k := 0
		if c.has(1) {
			k = int(c.number(1).Int64())
		}
		if upper {
			return c.one(std.Triu, std.TriAttrs{Diagonal: k}, c.x(0))
		}
		return c.one(std.Tril, std.TriAttrs{Diagonal: k}, c.x(0))
	}
	if c.rank(0) < 2 {
		panic(diag.New(CodeModel, "the input is "+c.typ(0).String()+", expected matrices"))
	}
	row := c.do(std.Add, nil, c.do(std.Arange, std.ArangeAttrs{End: c.typ(0).Dim(-2)}), element(c, 1, 0))
	row = c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, row)
	stays := std.Le
	if upper {
		stays = std.Ge
	}
	mask := c.do(stays, nil, c.do(std.Arange, std.ArangeAttrs{End: c.typ(0).Dim(-1)}), row)
	return c.one(std.Where, nil, mask, c.x(0), c.do(std.ZerosLike, nil, c.x(0)))
}

// image are the sizes of a tensor [N,C,H,W].
func image(c *call) (n, channels, h, w shape.Dim) {
	if c.rank(0) != 4 {
		panic(diag.New(CodeModel, "the input is "+c.typ(0).String()+", expected four dimensions"))
	}
	t := c.typ(0)
	return t.Dim(0), t.Dim(1), t.Dim(2), t.Dim(3)
}

func blocksize(c *call) int {
	b := c.int("blocksize", 0)
	if b < 1 || b > 1<<15 {
		panic(diag.New(CodeModel, "blocksize is "+strconv.Itoa(b)))
	}
	return b
}

func depthToSpace(c *call) []op.Value {
	b := blocksize(c)
	n, ch, h, w := image(c)
	if c.oneOf("mode", "DCR", "CRD") == "CRD" {
		return c.one(std.PixelShuffle, std.PixelShuffleAttrs{UpscaleFactor: b}, c.x(0))
	}
	each := exact(c, ch, shape.Const(b*b))
	v := reshape(c, c.x(0), n, shape.Const(b), shape.Const(b), each, h, w)
	v = c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 3, 4, 1, 5, 2)}, v)
	return []op.Value{reshape(c, v, n, each, h.Mul(shape.Const(b)), w.Mul(shape.Const(b)))}
}

func spaceToDepth(c *call) []op.Value {
	b := blocksize(c)
	n, ch, h, w := image(c)
	k := shape.Const(b)
	h, w = exact(c, h, k), exact(c, w, k)
	order := op.IntList(0, 3, 5, 1, 2, 4)
	if c.oneOf("mode", "DCR", "CRD") == "CRD" {
		order = op.IntList(0, 1, 3, 5, 2, 4)
	}
	v := reshape(c, c.x(0), n, ch, h, k, w, k)
	v = c.do(std.Permute, std.PermuteAttrs{Dims: order}, v)
	return []op.Value{reshape(c, v, n, ch.Mul(shape.Const(b*b)), h, w)}
}

// exact is a quotient without remainder, by floor where symbols hide that.
func exact(c *call, d, by shape.Dim) shape.Dim {
	if q, ok := d.DivExact(by); ok {
		return q
	}
	if _, ok := d.Int(); ok {
		panic(diag.New(CodeModel, "size "+d.String()+" is no multiple of "+by.String()))
	}
	return d.FloorDiv(by)
}

func reshape(c *call, x op.Value, dims ...shape.Dim) op.Value {
	return c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)}, x)
}

func gatherElements(c *call) []op.Value {
	axis := c.axis(c.int("axis", 0), c.rank(0))
	index := indexFromEnd(c, c.x(1), c.in[1], c.typ(0).Dim(axis))
	return c.one(std.Gather, std.DimAttrs{Dim: axis}, c.x(0), index)
}

// scatterReductions are the names of reductions in op/std.
var scatterReductions = map[string]string{"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}

func scatterElements(c *call) []op.Value {
	axis := c.axis(c.int("axis", 0), c.rank(0))
	c.rank(1)
	c.needDims(2, c.typ(1).Dims().Slice()...)
	index := indexFromEnd(c, c.x(1), c.in[1], c.typ(0).Dim(axis))
	return []op.Value{scatter(c, c.x(0), index, c.x(2), axis)}
}

func scatter(c *call, x, index, src op.Value, axis int) op.Value {
	if r := c.oneOf("reduction", "none", "add", "mul", "max", "min"); r != "none" {
		return c.do(std.ScatterReduce, std.ScatterReduceAttrs{Dim: axis, Reduce: scatterReductions[r]}, x, index, src)
	}
	return c.do(std.Scatter, std.ScatterAttrs{Dim: axis}, x, index, src)
}

// flatIndex makes one index into the first k dimensions of sizes dims of the last
// dimension of an index tensor, which it drops.
func flatIndex(c *call, i int, dims []shape.Dim) op.Value {
	var flat op.Value
	for k, d := range dims {
		part := c.do(std.Select, std.SelectAttrs{Dim: c.rank(i) - 1, Index: k}, c.x(i))
		part = indexFromEnd(c, part, &value{node: nil, sizes: &sizes{dtype: c.typ(i).DType()}}, d)
		if flat == nil {
			flat = part
			continue
		}
		flat = c.do(std.Add, nil, c.do(std.Mul, nil, flat, c.size(d, c.typ(i).DType())), part)
	}
	return flat
}

// depth is the length of an index tuple: the last size of operand i.
func depth(c *call, i, least int) int {
	if c.rank(i) < 1 {
		panic(diag.New(CodeModel, "the indices have no dimensions"))
	}
	k, ok := c.typ(i).Dim(-1).Int()
	if !ok || k < 1 || k > c.rank(0)-least {
		panic(diag.New(CodeModel, "the indices are "+c.typ(i).String()+" for data of "+strconv.Itoa(c.rank(0))+" dimensions"))
	}
	return k
}

func gatherND(c *call) []op.Value {
	b := c.int("batch_dims", 0)
	if b < 0 || b >= min(c.rank(0), c.rank(1)) {
		panic(diag.New(CodeModel, "batch_dims is "+strconv.Itoa(b)))
	}
	k := depth(c, 1, b)
	dims, at := c.typ(0).Dims(), c.typ(1).Dims()
	rest := dims.Sub(b+k, dims.Len())
	index := flatIndex(c, 1, dims.Sub(b, b+k).Slice())
	rows := dims.Sub(b, b+k).Prod()
	for i := range b {
		if shape.Equality(dims.At(i), at.At(i)).Truth() == shape.False {
			panic(diag.New(CodeModel, "the data are "+c.typ(0).String()+", the indices "+c.typ(1).String()+", expected the same first "+strconv.Itoa(b)+" dimensions as batch_dims says"))
		}
	}
	if b > 0 { // the index of the batch counts as well
		batch := dims.Sub(0, b).Prod()
		first := c.do(std.Arange, std.ArangeAttrs{End: batch, DType: c.typ(1).DType()})
		first = c.do(std.Mul, nil, first, c.size(rows, c.typ(1).DType()))
		first = c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, first)
		index = c.do(std.Add, nil, reshape(c, index, batch, at.Sub(b, at.Len()-1).Prod()), first)
		rows = rows.Mul(batch)
	}
	flat := reshape(c, c.x(0), append([]shape.Dim{rows}, rest.Slice()...)...)
	v := c.do(std.IndexSelect, std.DimAttrs{}, flat, reshape(c, index, shape.Const(-1)))
	return []op.Value{reshape(c, v, at.Sub(0, at.Len()-1).Concat(rest).Slice()...)}
}

func scatterND(c *call) []op.Value {
	k := depth(c, 1, 0)
	dims, at := c.typ(0).Dims(), c.typ(1).Dims()
	rest := dims.Sub(k, dims.Len()).Prod()
	c.needDims(2, at.Sub(0, at.Len()-1).Concat(dims.Sub(k, dims.Len())).Slice()...)
	count := at.Sub(0, at.Len()-1).Prod()
	index := reshape(c, flatIndex(c, 1, dims.Sub(0, k).Slice()), count, shape.Const(1))
	index = c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(count, rest)}, index)
	x := reshape(c, c.x(0), dims.Sub(0, k).Prod(), rest)
	v := scatter(c, x, index, reshape(c, c.x(2), count, rest), 0)
	return []op.Value{reshape(c, v, dims.Slice()...)}
}

func oneHot(c *call) []op.Value {
	depth := depthOf(c, 1)
	rank := c.rank(0) + 1
	axis := c.axis(c.int("axis", -1), rank)
	index := c.x(0)
	if c.typ(0).DType().IsFloat() {
		index = c.do(std.Cast, std.CastAttrs{DType: array.I64}, index)
	}
	d := index.Type().DType()
	below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, index)
	index = c.do(std.Where, nil, below, plusSize(c, index, depth, d), index)
	classes := c.do(std.Arange, std.ArangeAttrs{End: depth, DType: d})
	for range rank - 1 - axis {
		classes = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, classes)
	}
	hot := c.do(std.Eq, nil, c.do(std.Unsqueeze, std.DimAttrs{Dim: axis}, index), classes)
	pick := func(i int) op.Value { return c.do(std.Select, std.SelectAttrs{Index: i}, c.x(2)) }
	return c.one(std.Where, nil, hot, pick(1), pick(0))
}

// depthOf is a size that a number of any type says.
func depthOf(c *call, i int) shape.Dim {
	v := c.value(i)
	if v.arr != nil {
		return shape.Const(int(c.number(i).Float64()))
	}
	if v.node != nil && v.typ().DType() != array.I64 && v.typ().DType() != array.I32 {
		v = &value{name: v.name, node: c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.x(i)).(*graph.Node)}
	}
	d := measured(c, i, v, false)
	if len(d) != 1 {
		panic(diag.New(CodeModel, "input "+strconv.Itoa(i)+" is "+c.typ(i).String()+", expected one element"))
	}
	return d[0]
}

// plusSize adds a size to integers of a type.
func plusSize(c *call, x op.Value, n shape.Dim, d array.DType) op.Value {
	if k, ok := n.Int(); ok {
		return c.do(std.Add, std.AddAttrs{Other: op.Int(int64(k))}, x)
	}
	return c.do(std.Add, nil, x, c.size(n, d))
}

func eyeLike(c *call) []op.Value {
	if c.rank(0) != 2 {
		panic(diag.New(CodeModel, "the input is "+c.typ(0).String()+", expected a matrix"))
	}
	k, d := c.int("k", 0), c.dtype("dtype", c.typ(0).DType())
	row := c.do(std.Arange, std.ArangeAttrs{End: c.typ(0).Dim(0)})
	col := c.do(std.Arange, std.ArangeAttrs{End: c.typ(0).Dim(1)})
	row = c.do(std.Add, std.AddAttrs{Other: op.Int(int64(k))}, c.do(std.Unsqueeze, std.DimAttrs{Dim: 1}, row))
	return c.one(std.Cast, std.CastAttrs{DType: d}, c.do(std.Eq, nil, row, col))
}

// reverseSequence turns the first elements of each sequence round, as many as its
// length says.
func reverseSequence(c *call) []op.Value {
	time, batch := c.int("time_axis", 0), c.int("batch_axis", 1)
	if c.rank(0) < 2 || time+batch != 1 || time*batch != 0 {
		panic(diag.New(CodeModel, "time_axis is "+strconv.Itoa(time)+", batch_axis "+strconv.Itoa(batch)+" of "+c.typ(0).String()+", expected 0 and 1"))
	}
	c.needDims(1, c.typ(0).Dim(batch))
	return []op.Value{reversedWithin(c, c.x(0), c.x(1), time, batch)}
}

// reversedWithin turns the axis time of x round up to the length of each sequence, which
// are along the axis batch.
func reversedWithin(c *call, x, lengths op.Value, time, batch int) op.Value {
	dims := x.Type().Dims()
	along := func(v op.Value, axis int) op.Value {
		for i := range dims.Len() {
			if i < axis {
				v = c.do(std.Unsqueeze, std.DimAttrs{Dim: 0}, v)
			} else if i > axis {
				v = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v)
			}
		}
		return v
	}
	t := along(c.do(std.Arange, std.ArangeAttrs{End: dims.At(time)}), time)
	n := along(c.do(std.Cast, std.CastAttrs{DType: array.I64}, lengths), batch)
	back := c.do(std.Sub, nil, c.do(std.Sub, std.SubAttrs{Other: op.Int(1)}, n), t)
	index := c.do(std.Where, nil, c.do(std.Lt, nil, t, n), back, t)
	index = c.do(std.Expand, std.ExpandAttrs{Shape: dims}, index)
	return c.do(std.Gather, std.DimAttrs{Dim: time}, x, index)
}

// centerCropPad crops or pads axes to sizes, evenly; an odd element goes to the end.
func centerCropPad(c *call) []op.Value {
	to := c.dims(1)
	axes, rank := c.list("axes"), c.rank(0)
	if axes == nil {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	if len(axes) != len(to) {
		panic(diag.New(CodeModel, "there are "+strconv.Itoa(len(to))+" sizes for "+strconv.Itoa(len(axes))+" axes"))
	}
	list := make([]shape.Dim, 2*rank)
	for i, a := range axes {
		a = c.axis(a, rank)
		n := c.typ(0).Dim(a)
		if n.IsUnknown() {
			panic(diag.New(CodeValue, "size "+n.String()+" is not known"))
		}
		k := 2 * (rank - 1 - a)
		more := to[i].Sub(n)
		list[k] = quotient(more, shape.Const(2))
		list[k+1] = more.Sub(list[k])
	}
	return c.one(std.Pad, std.PadAttrs{Pad: shape.Of(list...)}, c.x(0))
}

// tensorScatter writes an update into a cache, from the index of each batch on.
func tensorScatter(c *call) []op.Value {
	rank := c.rank(0)
	axis := c.axis(c.int("axis", -2), rank)
	if axis == 0 {
		panic(diag.New(CodeModel, "the axis is that of the batch"))
	}
	circular := c.oneOf("mode", "linear", "circular") == "circular"
	dims := c.typ(1).Dims()
	c.needDims(1, c.typ(0).Dims().With(axis, dims.At(axis)).Slice()...)
	if c.has(2) {
		c.needDims(2, c.typ(0).Dim(0))
	}
	t := c.do(std.Arange, std.ArangeAttrs{End: dims.At(axis)})
	for range rank - 1 - axis {
		t = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, t)
	}
	if c.has(2) {
		at := c.do(std.Cast, std.CastAttrs{DType: array.I64}, c.x(2))
		for range rank - 1 {
			at = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
		}
		t = c.do(std.Add, nil, t, at)
	}
	if circular {
		t = c.do(std.Remainder, nil, t, c.size(c.typ(0).Dim(axis), array.I64))
	}
	index := c.do(std.Expand, std.ExpandAttrs{Shape: dims}, t)
	return c.one(std.Scatter, std.ScatterAttrs{Dim: axis}, c.x(0), index, c.x(1))
}
