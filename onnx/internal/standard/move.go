package standard

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/onnx/internal/rule"
	"github.com/gofx-dev/gofx/onnx/internal/spec"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// moveRules are the operators that put elements elsewhere, by indices or by place.
var moveRules = map[string][]rule.Rule{
	"Pad":             {{Since: 1, Build: padAttrs}, {Since: 11, Build: PadInputs}},
	"Trilu":           rule.From(14, Trilu),
	"DepthToSpace":    rule.From(1, depthToSpace),
	"SpaceToDepth":    rule.From(1, spaceToDepth),
	"GatherElements":  rule.From(11, gatherElements),
	"GatherND":        rule.From(11, GatherND),
	"Scatter":         rule.From(9, scatterElements),
	"ScatterElements": rule.From(11, scatterElements),
	"ScatterND":       rule.From(11, scatterND),
	"OneHot":          rule.From(9, oneHot),
	"EyeLike":         rule.From(9, eyeLike),
	"ReverseSequence": rule.From(10, reverseSequence),
	"CenterCropPad":   rule.From(18, centerCropPad),
	"TensorScatter":   rule.From(24, tensorScatter),
}

func padAttrs(c *rule.Call) []op.Value {
	pads := c.List("pads")
	if pads == nil {
		pads = c.List("paddings")
	}
	return []op.Value{pad(c, c.X(0), shape.ConstDims(pads...).Slice(), nil, c.Float("value", 0))}
}

// PadInputs is the rule of Pad with pads, value and axes as operands.
func PadInputs(c *rule.Call) []op.Value {
	pads := c.Integers(1)
	var axes []int
	if c.Has(3) {
		axes = c.Ints(3)
	}
	pads = lateEnds(c, pads, axes)
	value, known := 0.0, true
	if c.Has(2) {
		if known = c.In[2].Arr != nil; known {
			n := c.Number(2)
			value = n.Float64()
			known = !n.IsInt() || int64(value) == n.Int64()
		}
	}
	if known || c.Text("mode", "constant") != "constant" {
		return []op.Value{pad(c, c.X(0), pads, axes, value)}
	}
	// The value is another one in each run, or none that attributes hold: where something was
	// added, there is 0 in a tensor that is 1 everywhere.
	inside := pad(c, c.Do(std.OnesLike, std.LikeAttrs{DType: array.Bool}, c.X(0)), pads, axes, 0)
	return c.One(std.Where, nil, inside, pad(c, c.X(0), pads, axes, 0), rule.Condition(c, c.X(2)))
}

// lateEnds makes symbols of the sizes that pads found at run time lead to, and says the counts at the end by
// these. Each pad is a difference of two symbols: as a product of sums of them, the number of elements
// of a result of four axes would have hundreds of terms.
func lateEnds(c *rule.Call, pads []shape.Dim, axes []int) []shape.Dim {
	t := c.Type(0)
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
		if c.Draft.Late(lo) || c.Draft.Late(hi) {
			ends = append(ends, i)
			totals = append(totals, t.Dim(c.Axis(a, t.Rank())).Add(lo).Add(hi))
		}
	}
	if len(ends) < 2 {
		return pads
	}
	pads = slices.Clone(pads)
	found := rule.Measured(c, 1, &rule.Datum{Node: c.Draft.SizeNode(c.Cursor, rule.SizeList(totals...))}, false)
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
func pad(c *rule.Call, x op.Value, pads []shape.Dim, axes []int, value float64) op.Value {
	rank := c.Rank(0)
	if axes == nil {
		axes = allAxes(rank)
	}
	if len(pads) != 2*len(axes) {
		panic(diag.New(spec.CodeModel, "pads has "+strconv.Itoa(len(pads))+" entries, expected "+strconv.Itoa(2*len(axes))))
	}
	list := make([]shape.Dim, 2*rank)
	for i, a := range axes {
		k := 2 * (rank - 1 - c.Axis(a, rank))
		list[k], list[k+1] = pads[i], pads[len(axes)+i]
	}
	modes := map[string]string{"constant": "", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
	mode := modes[c.OneOf("mode", "constant", "reflect", "edge", "wrap")]
	if mode != "" {
		value = 0
	}
	for len(list) > 0 && list[len(list)-1].Is(0) && list[len(list)-2].Is(0) {
		list = list[:len(list)-2]
	}
	if len(list) == 0 {
		return x
	}
	return c.Do(std.Pad, std.PadAttrs{Pad: shape.Of(list...), Mode: mode, Value: value}, x)
}

// Trilu is the rule of Trilu: a triangle of the last two dimensions.
func Trilu(c *rule.Call) []op.Value {
	upper := c.Flag("upper", true)
	if !c.Has(1) || c.In[1].Arr != nil {
		k := 0
		if c.Has(1) {
			k = int(c.Number(1).Int64())
		}
		if upper {
			return c.One(std.Triu, std.TriAttrs{Diagonal: k}, c.X(0))
		}
		return c.One(std.Tril, std.TriAttrs{Diagonal: k}, c.X(0))
	}
	if c.Rank(0) < 2 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected matrices"))
	}
	row := c.Do(std.Add, nil, c.Do(std.Arange, std.ArangeAttrs{End: c.Type(0).Dim(-2)}), element(c, 1, 0))
	row = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, row)
	stays := std.Le
	if upper {
		stays = std.Ge
	}
	mask := c.Do(stays, nil, c.Do(std.Arange, std.ArangeAttrs{End: c.Type(0).Dim(-1)}), row)
	return c.One(std.Where, nil, mask, c.X(0), c.Do(std.ZerosLike, nil, c.X(0)))
}

// Image are the sizes of a tensor [N,C,H,W].
func Image(c *rule.Call) (n, channels, h, w shape.Dim) {
	if c.Rank(0) != 4 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected four dimensions"))
	}
	t := c.Type(0)
	return t.Dim(0), t.Dim(1), t.Dim(2), t.Dim(3)
}

func blocksize(c *rule.Call) int {
	b := c.Int("blocksize", 0)
	if b < 1 || b > 1<<15 {
		panic(diag.New(spec.CodeModel, "blocksize is "+strconv.Itoa(b)))
	}
	return b
}

func depthToSpace(c *rule.Call) []op.Value {
	b := blocksize(c)
	n, ch, h, w := Image(c)
	if c.OneOf("mode", "DCR", "CRD") == "CRD" {
		return c.One(std.PixelShuffle, std.PixelShuffleAttrs{UpscaleFactor: b}, c.X(0))
	}
	each := exact(c, ch, shape.Const(b*b))
	v := Reshape(c, c.X(0), n, shape.Const(b), shape.Const(b), each, h, w)
	v = c.Do(std.Permute, std.PermuteAttrs{Dims: op.IntList(0, 3, 4, 1, 5, 2)}, v)
	return []op.Value{Reshape(c, v, n, each, h.Mul(shape.Const(b)), w.Mul(shape.Const(b)))}
}

func spaceToDepth(c *rule.Call) []op.Value {
	b := blocksize(c)
	n, ch, h, w := Image(c)
	k := shape.Const(b)
	h, w = exact(c, h, k), exact(c, w, k)
	order := op.IntList(0, 3, 5, 1, 2, 4)
	if c.OneOf("mode", "DCR", "CRD") == "CRD" {
		order = op.IntList(0, 1, 3, 5, 2, 4)
	}
	v := Reshape(c, c.X(0), n, ch, h, k, w, k)
	v = c.Do(std.Permute, std.PermuteAttrs{Dims: order}, v)
	return []op.Value{Reshape(c, v, n, ch.Mul(shape.Const(b*b)), h, w)}
}

// exact is a quotient without remainder, by floor where symbols hide that.
func exact(c *rule.Call, d, by shape.Dim) shape.Dim {
	if q, ok := d.DivExact(by); ok {
		return q
	}
	if _, ok := d.Int(); ok {
		panic(diag.New(spec.CodeModel, "size "+d.String()+" is no multiple of "+by.String()))
	}
	return d.FloorDiv(by)
}

// Reshape gives a tensor other sizes.
func Reshape(c *rule.Call, x op.Value, dims ...shape.Dim) op.Value {
	return c.Do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)}, x)
}

func gatherElements(c *rule.Call) []op.Value {
	axis := c.Axis(c.Int("axis", 0), c.Rank(0))
	index := indexFromEnd(c, c.X(1), c.In[1], c.Type(0).Dim(axis))
	return c.One(std.Gather, std.DimAttrs{Dim: axis}, c.X(0), index)
}

// scatterReductions are the names of reductions in op/std.
var scatterReductions = map[string]string{"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}

func scatterElements(c *rule.Call) []op.Value {
	axis := c.Axis(c.Int("axis", 0), c.Rank(0))
	c.Rank(1)
	c.NeedDims(2, c.Type(1).Dims().Slice()...)
	index := indexFromEnd(c, c.X(1), c.In[1], c.Type(0).Dim(axis))
	return []op.Value{scatter(c, c.X(0), index, c.X(2), axis)}
}

func scatter(c *rule.Call, x, index, src op.Value, axis int) op.Value {
	if r := c.OneOf("reduction", "none", "add", "mul", "max", "min"); r != "none" {
		return c.Do(std.ScatterReduce, std.ScatterReduceAttrs{Dim: axis, Reduce: scatterReductions[r]}, x, index, src)
	}
	return c.Do(std.Scatter, std.ScatterAttrs{Dim: axis}, x, index, src)
}

// flatIndex makes one index into the first k dimensions of sizes dims of the last
// dimension of an index tensor, which it drops.
func flatIndex(c *rule.Call, i int, dims []shape.Dim) op.Value {
	var flat op.Value
	for k, d := range dims {
		part := c.Do(std.Select, std.SelectAttrs{Dim: c.Rank(i) - 1, Index: k}, c.X(i))
		part = indexFromEnd(c, part, &rule.Datum{Node: nil, Sizes: &rule.Sizes{DType: c.Type(i).DType()}}, d)
		if flat == nil {
			flat = part
			continue
		}
		flat = c.Do(std.Add, nil, c.Do(std.Mul, nil, flat, c.Size(d, c.Type(i).DType())), part)
	}
	return flat
}

// depth is the length of an index tuple: the last size of operand i.
func depth(c *rule.Call, i, least int) int {
	if c.Rank(i) < 1 {
		panic(diag.New(spec.CodeModel, "the indices have no dimensions"))
	}
	k, ok := c.Type(i).Dim(-1).Int()
	if !ok || k < 1 || k > c.Rank(0)-least {
		panic(diag.New(spec.CodeModel, "the indices are "+c.Type(i).String()+" for data of "+strconv.Itoa(c.Rank(0))+" dimensions"))
	}
	return k
}

// GatherND is the rule of GatherND: elements, or slices, at tuples of indices.
func GatherND(c *rule.Call) []op.Value {
	b := c.Int("batch_dims", 0)
	if b < 0 || b >= min(c.Rank(0), c.Rank(1)) {
		panic(diag.New(spec.CodeModel, "batch_dims is "+strconv.Itoa(b)))
	}
	k := depth(c, 1, b)
	dims, at := c.Type(0).Dims(), c.Type(1).Dims()
	rest := dims.Sub(b+k, dims.Len())
	index := flatIndex(c, 1, dims.Sub(b, b+k).Slice())
	rows := dims.Sub(b, b+k).Prod()
	for i := range b {
		if shape.Equality(dims.At(i), at.At(i)).Truth() == shape.False {
			panic(diag.New(spec.CodeModel, "the data are "+c.Type(0).String()+", the indices "+c.Type(1).String()+", expected the same first "+strconv.Itoa(b)+" dimensions as batch_dims says"))
		}
	}
	if b > 0 { // the index of the batch counts as well
		batch := dims.Sub(0, b).Prod()
		first := c.Do(std.Arange, std.ArangeAttrs{End: batch, DType: c.Type(1).DType()})
		first = c.Do(std.Mul, nil, first, c.Size(rows, c.Type(1).DType()))
		first = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, first)
		index = c.Do(std.Add, nil, Reshape(c, index, batch, at.Sub(b, at.Len()-1).Prod()), first)
		rows = rows.Mul(batch)
	}
	flat := Reshape(c, c.X(0), append([]shape.Dim{rows}, rest.Slice()...)...)
	v := c.Do(std.IndexSelect, std.DimAttrs{}, flat, Reshape(c, index, shape.Const(-1)))
	return []op.Value{Reshape(c, v, at.Sub(0, at.Len()-1).Concat(rest).Slice()...)}
}

func scatterND(c *rule.Call) []op.Value {
	k := depth(c, 1, 0)
	dims, at := c.Type(0).Dims(), c.Type(1).Dims()
	rest := dims.Sub(k, dims.Len()).Prod()
	c.NeedDims(2, at.Sub(0, at.Len()-1).Concat(dims.Sub(k, dims.Len())).Slice()...)
	count := at.Sub(0, at.Len()-1).Prod()
	index := Reshape(c, flatIndex(c, 1, dims.Sub(0, k).Slice()), count, shape.Const(1))
	index = c.Do(std.Expand, std.ExpandAttrs{Shape: shape.Of(count, rest)}, index)
	x := Reshape(c, c.X(0), dims.Sub(0, k).Prod(), rest)
	v := scatter(c, x, index, Reshape(c, c.X(2), count, rest), 0)
	return []op.Value{Reshape(c, v, dims.Slice()...)}
}

func oneHot(c *rule.Call) []op.Value {
	depth := depthOf(c, 1)
	rank := c.Rank(0) + 1
	axis := c.Axis(c.Int("axis", -1), rank)
	index := c.X(0)
	if c.Type(0).DType().IsFloat() {
		index = c.Do(std.Cast, std.CastAttrs{DType: array.I64}, index)
	}
	d := index.Type().DType()
	below := c.Do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, index)
	index = c.Do(std.Where, nil, below, plusSize(c, index, depth, d), index)
	classes := c.Do(std.Arange, std.ArangeAttrs{End: depth, DType: d})
	for range rank - 1 - axis {
		classes = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, classes)
	}
	hot := c.Do(std.Eq, nil, c.Do(std.Unsqueeze, std.DimAttrs{Dim: axis}, index), classes)
	pick := func(i int) op.Value { return c.Do(std.Select, std.SelectAttrs{Index: i}, c.X(2)) }
	return c.One(std.Where, nil, hot, pick(1), pick(0))
}

// depthOf is a size that a number of any type says.
func depthOf(c *rule.Call, i int) shape.Dim {
	v := c.Value(i)
	if v.Arr != nil {
		return shape.Const(int(c.Number(i).Float64()))
	}
	if v.Node != nil && v.Type().DType() != array.I64 && v.Type().DType() != array.I32 {
		v = &rule.Datum{Name: v.Name, Node: c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(i)).(*graph.Node)}
	}
	d := rule.Measured(c, i, v, false)
	if len(d) != 1 {
		panic(diag.New(spec.CodeModel, "input "+strconv.Itoa(i)+" is "+c.Type(i).String()+", expected one element"))
	}
	return d[0]
}

// plusSize adds a size to integers of a type.
func plusSize(c *rule.Call, x op.Value, n shape.Dim, d array.DType) op.Value {
	if k, ok := n.Int(); ok {
		return c.Do(std.Add, std.AddAttrs{Other: op.Int(int64(k))}, x)
	}
	return c.Do(std.Add, nil, x, c.Size(n, d))
}

func eyeLike(c *rule.Call) []op.Value {
	if c.Rank(0) != 2 {
		panic(diag.New(spec.CodeModel, "the input is "+c.Type(0).String()+", expected a matrix"))
	}
	k, d := c.Int("k", 0), c.DType("dtype", c.Type(0).DType())
	row := c.Do(std.Arange, std.ArangeAttrs{End: c.Type(0).Dim(0)})
	col := c.Do(std.Arange, std.ArangeAttrs{End: c.Type(0).Dim(1)})
	row = c.Do(std.Add, std.AddAttrs{Other: op.Int(int64(k))}, c.Do(std.Unsqueeze, std.DimAttrs{Dim: 1}, row))
	return c.One(std.Cast, std.CastAttrs{DType: d}, c.Do(std.Eq, nil, row, col))
}

// reverseSequence turns the first elements of each sequence round, as many as its
// length says.
func reverseSequence(c *rule.Call) []op.Value {
	time, batch := c.Int("time_axis", 0), c.Int("batch_axis", 1)
	if c.Rank(0) < 2 || time+batch != 1 || time*batch != 0 {
		panic(diag.New(spec.CodeModel, "time_axis is "+strconv.Itoa(time)+", batch_axis "+strconv.Itoa(batch)+" of "+c.Type(0).String()+", expected 0 and 1"))
	}
	c.NeedDims(1, c.Type(0).Dim(batch))
	return []op.Value{reversedWithin(c, c.X(0), c.X(1), time, batch)}
}

// reversedWithin turns the axis time of x round up to the length of each sequence, which
// are along the axis batch.
func reversedWithin(c *rule.Call, x, lengths op.Value, time, batch int) op.Value {
	dims := x.Type().Dims()
	along := func(v op.Value, axis int) op.Value {
		for i := range dims.Len() {
			if i < axis {
				v = c.Do(std.Unsqueeze, std.DimAttrs{Dim: 0}, v)
			} else if i > axis {
				v = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, v)
			}
		}
		return v
	}
	t := along(c.Do(std.Arange, std.ArangeAttrs{End: dims.At(time)}), time)
	n := along(c.Do(std.Cast, std.CastAttrs{DType: array.I64}, lengths), batch)
	back := c.Do(std.Sub, nil, c.Do(std.Sub, std.SubAttrs{Other: op.Int(1)}, n), t)
	index := c.Do(std.Where, nil, c.Do(std.Lt, nil, t, n), back, t)
	index = c.Do(std.Expand, std.ExpandAttrs{Shape: dims}, index)
	return c.Do(std.Gather, std.DimAttrs{Dim: time}, x, index)
}

// centerCropPad crops or pads axes to sizes, evenly; an odd element goes to the end.
func centerCropPad(c *rule.Call) []op.Value {
	to := c.Dims(1)
	axes, rank := c.List("axes"), c.Rank(0)
	if axes == nil {
		for i := range rank {
			axes = append(axes, i)
		}
	}
	if len(axes) != len(to) {
		panic(diag.New(spec.CodeModel, "there are "+strconv.Itoa(len(to))+" sizes for "+strconv.Itoa(len(axes))+" axes"))
	}
	list := make([]shape.Dim, 2*rank)
	for i, a := range axes {
		a = c.Axis(a, rank)
		n := c.Type(0).Dim(a)
		if n.IsUnknown() {
			panic(diag.New(spec.CodeValue, "size "+n.String()+" is not known"))
		}
		k := 2 * (rank - 1 - a)
		more := to[i].Sub(n)
		list[k] = rule.Quotient(more, shape.Const(2))
		list[k+1] = more.Sub(list[k])
	}
	return c.One(std.Pad, std.PadAttrs{Pad: shape.Of(list...)}, c.X(0))
}

// tensorScatter writes an update into a cache, from the index of each batch on.
func tensorScatter(c *rule.Call) []op.Value {
	rank := c.Rank(0)
	axis := c.Axis(c.Int("axis", -2), rank)
	if axis == 0 {
		panic(diag.New(spec.CodeModel, "the axis is that of the batch"))
	}
	circular := c.OneOf("mode", "linear", "circular") == "circular"
	dims := c.Type(1).Dims()
	c.NeedDims(1, c.Type(0).Dims().With(axis, dims.At(axis)).Slice()...)
	if c.Has(2) {
		c.NeedDims(2, c.Type(0).Dim(0))
	}
	t := c.Do(std.Arange, std.ArangeAttrs{End: dims.At(axis)})
	for range rank - 1 - axis {
		t = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, t)
	}
	if c.Has(2) {
		at := c.Do(std.Cast, std.CastAttrs{DType: array.I64}, c.X(2))
		for range rank - 1 {
			at = c.Do(std.Unsqueeze, std.DimAttrs{Dim: -1}, at)
		}
		t = c.Do(std.Add, nil, t, at)
	}
	if circular {
		t = c.Do(std.Remainder, nil, t, c.Size(c.Type(0).Dim(axis), array.I64))
	}
	index := c.Do(std.Expand, std.ExpandAttrs{Shape: dims}, t)
	return c.One(std.Scatter, std.ScatterAttrs{Dim: axis}, c.X(0), index, c.X(1))
}
