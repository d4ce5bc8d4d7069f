package pt2

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// nodeOf is a value that a builder made, as a node.
func nodeOf(c *call, v op.Value) *graph.Node { return v.(*graph.Node) }

// view is an operator whose results are places of self: attrs computes the attributes.
func view(args string, o *op.Op, attrs func(c *call, x *graph.Node) any) rule {
	return rule{args: args, run: func(c *call) []*value { return viewed(c, c.need("self"), true, o, attrs(c, c.tensor("self"))) }}
}

// viewed are the results of an operator of views of a value, which may be a number.
func viewed(c *call, v *value, always bool, o *op.Op, attrs any) []*value {
	if v.ref == nil {
		v = fresh(c.s.scalar(v))
	}
	return c.s.views(v, always, o, attrs)
}

// then are the results of a further view.
func then(c *call, vs []*value, o *op.Op, attrs any) []*value {
	return viewed(c, vs[0], true, o, attrs)
}

// viewRules are operators whose results are places of their operand.
var viewRules = map[string]rule{
	"view _unsafe_view": {args: "self size", run: func(c *call) []*value { return reshaped(c, "size", true) }},
	"reshape":           {args: "self shape", run: func(c *call) []*value { return reshaped(c, "shape", false) }},
	"view_as reshape_as": {args: "self other", run: func(c *call) []*value {
		return viewed(c, c.need("self"), false, std.Reshape, std.ReshapeAttrs{Shape: c.typ("other").Dims()})
	}},
	"flatten.using_ints": {args: "self start_dim=0 end_dim=-1", run: func(c *call) []*value {
		return viewed(c, c.need("self"), false, std.Flatten, std.FlattenAttrs{StartDim: c.int("start_dim"), EndDim: c.int("end_dim")})
	}},
	"ravel": {args: "self", run: func(c *call) []*value {
		return viewed(c, c.need("self"), false, std.Flatten, std.FlattenAttrs{EndDim: -1})
	}},
	"unflatten.int": view("self dim sizes", std.Unflatten, func(c *call, _ *graph.Node) any {
		return std.UnflattenAttrs{Dim: c.int("dim"), Sizes: shape.Of(c.dims("sizes")...)}
	}),
	"squeeze":                  {args: "self", run: squeezeAll},
	"squeeze.dim squeeze.dims": {args: "self dim", run: squeeze},
	"unsqueeze":                view("self dim", std.Unsqueeze, func(c *call, _ *graph.Node) any { return std.DimAttrs{Dim: c.int("dim")} }),
	"transpose.int":            {args: "self dim0 dim1", run: func(c *call) []*value { return swapped(c, "dim0", "dim1") }},
	"swapdims":                 {args: "self dim0 dim1", run: func(c *call) []*value { return swapped(c, "dim0", "dim1") }},
	"swapaxes":                 {args: "self axis0 axis1", run: func(c *call) []*value { return swapped(c, "axis0", "axis1") }},
	"t":                        {args: "self", run: turned}, "numpy_T": {args: "self", run: turned},
	"mT adjoint": {args: "self", run: func(c *call) []*value {
		return viewed(c, c.need("self"), true, std.Transpose, std.TransposeAttrs{Dim0: -2, Dim1: -1})
	}},
	"permute": view("self dims", std.Permute, func(c *call, _ *graph.Node) any { return std.PermuteAttrs{Dims: op.IntList(c.ints("dims")...)} }),
	"movedim.int movedim.intlist moveaxis.int moveaxis.intlist": view("self source destination", std.Movedim, func(c *call, _ *graph.Node) any {
		return std.MovedimAttrs{Source: op.IntList(c.ints("source")...), Destination: op.IntList(c.ints("destination")...)}
	}),
	"expand":           view("self size | implicit", std.Expand, func(c *call, _ *graph.Node) any { return std.ExpandAttrs{Shape: shape.Of(c.dims("size")...)} }),
	"broadcast_to":     view("self size", std.Expand, func(c *call, _ *graph.Node) any { return std.ExpandAttrs{Shape: shape.Of(c.dims("size")...)} }),
	"expand_as":        view("self other", std.Expand, func(c *call, _ *graph.Node) any { return std.ExpandAttrs{Shape: c.typ("other").Dims()} }),
	"select.int":       {args: "self dim index", run: selected},
	"slice.Tensor":     {args: "self dim=0 start=None end=None step=1", run: sliced},
	"narrow":           {args: "self dim start length", run: narrowed},
	"split.Tensor":     {args: "self split_size dim=0", run: splitEvery},
	"split_with_sizes": {args: "self split_sizes dim=0", run: func(c *call) []*value { return cut(c, "split_sizes") }},
	"split.sizes":      {args: "self split_size dim=0", run: func(c *call) []*value { return cut(c, "split_size") }},
	"chunk":            {args: "self chunks dim=0", run: chunked},
	"unbind.int": {args: "self dim=0", run: func(c *call) []*value {
		x := c.tensor("self")
		axis := c.axis("dim", x)
		n, ok := x.Type().Dim(axis).Int()
		if !ok {
			panic(refuse(CodeValue, "the number of results is the size "+x.Type().Dim(axis).String()+", expected one that is known"))
		}
		return listed(viewed(c, c.need("self"), true, std.Unbind, std.UnbindAttrs{Dim: axis, Count: n}))
	}},
	"diagonal": view("self offset=0 dim1=0 dim2=1", std.Diagonal, func(c *call, _ *graph.Node) any {
		return std.DiagonalAttrs{Offset: c.int("offset"), Dim1: c.int("dim1"), Dim2: c.int("dim2")}
	}),
	"as_strided": {args: "self size stride storage_offset=None", run: asStrided},
	"unfold":     {args: "self dimension size step", run: windows},
	"real":       {args: "self", run: same},
}

// cut splits into pieces of sizes that an argument lists.
func cut(c *call, name string) []*value {
	return listed(viewed(c, c.need("self"), true, std.Split, std.SplitAttrs{Sizes: shape.Of(c.dims(name)...), Dim: c.int("dim")}))
}

func listed(vs []*value) []*value { return []*value{{isList: true, list: vs}} }

func reshaped(c *call, name string, always bool) []*value {
	return viewed(c, c.need("self"), always, std.Reshape, std.ReshapeAttrs{Shape: shape.Of(c.dims(name)...)})
}

func swapped(c *call, a, b string) []*value {
	if c.rank("self") == 0 {
		return same(c)
	}
	return viewed(c, c.need("self"), true, std.Transpose, std.TransposeAttrs{Dim0: c.int(a), Dim1: c.int(b)})
}

// turned reverses the dimensions.
func turned(c *call) []*value {
	n := c.rank("self")
	dims := make([]int, n)
	for i := range dims {
		dims[i] = n - 1 - i
	}
	if n < 2 {
		return same(c)
	}
	return viewed(c, c.need("self"), true, std.Permute, std.PermuteAttrs{Dims: op.IntList(dims...)})
}

// squeezeAll drops all dimensions of size 1: PyTorch decided which ones when it exported the program.
func squeezeAll(c *call) []*value {
	x := c.tensor("self")
	var drop []int
	for i, d := range x.Type().Dims().Slice() {
		if d.Is(1) {
			drop = append(drop, i)
		}
	}
	return dropped(c, x, drop)
}

// squeeze drops dimensions that are named where they have size 1. One of a size that is not known stays: the
// file says how many dimensions there are.
func squeeze(c *call) []*value {
	x := c.tensor("self")
	var drop []int
	for _, k := range c.ints("dim") {
		if k = c.axisOf(k, x.Type().Rank()); x.Type().Rank() > 0 && x.Type().Dim(k).Is(1) {
			drop = append(drop, k)
		}
	}
	return dropped(c, x, drop)
}

func dropped(c *call, x *graph.Node, drop []int) []*value {
	for i, d := range x.Type().Dims().Slice() {
		if _, number := d.Int(); !number && !slices.Contains(drop, i) && mayDrop(c, i) {
			// A size that is 1 in some run would be dropped there by PyTorch, too: it was not when it exported.
			c.im.differs(c.s, d)
		}
	}
	if len(drop) == 0 {
		return same(c)
	}
	return viewed(c, c.need("self"), true, std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(drop...)})
}

// mayDrop reports whether the node is to drop dimension i where it has size 1.
func mayDrop(c *call, i int) bool {
	if _, ok := c.def["dim"]; !ok {
		return true
	}
	rank := c.rank("self")
	return slices.ContainsFunc(c.ints("dim"), func(k int) bool { return c.axisOf(k, rank) == i })
}

// differs guards that a size is not 1.
func (im *importer) differs(s *scope, d shape.Dim) {
	if !im.isLate(d) && s.outer == nil && !d.IsUnknown() {
		im.mod.Graph.Require(shape.Inequality(d, one), nil)
	}
}

// isLate reports whether a size follows from values: nothing may be required of it before the run.
func (im *importer) isLate(d shape.Dim) bool {
	return slices.ContainsFunc(d.Symbols(), func(s string) bool { return im.late[s] })
}

// selected takes one index of a dimension.
func selected(c *call) []*value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	index := c.dim("index")
	if n, ok := index.Int(); ok {
		return viewed(c, c.need("self"), true, std.Select, std.SelectAttrs{Dim: axis, Index: n})
	}
	if c.im.isLate(index) {
		i := wrapped(c, c.x("index"), x.Type().Dim(axis))
		v := c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1)}, i))
		return []*value{maybe(c, c.do(std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axis)}, v))}
	}
	at := viewed(c, c.need("self"), true, std.Slice, std.SliceAttrs{Dim: axis, Start: index, Stop: index.AddInt(1)})
	return then(c, at, std.Squeeze, std.SqueezeAttrs{Dim: op.IntList(axis)})
}

// maybe is a copy of a tensor that is a view in PyTorch: after a write to either the other is
// not known.
func maybe(c *call, x op.Value) *value {
	v := fresh(nodeOf(c, x))
	if self := c.need("self"); self.ref != nil {
		alias.Maybe(self.ref.Storage, v.ref.Storage)
	}
	return v
}

// within is where a bound of a slice lies: from 0 to the size.
func within(d, size shape.Dim) shape.Dim {
	if n, ok := d.Int(); ok && n < 0 {
		d = size.Add(d)
	} else if !ok && shape.AtLeast(d, zero).Truth() != shape.True {
		return shape.Unknown
	}
	if shape.AtLeast(d, zero).Truth() != shape.True {
		d = d.Max(zero)
	}
	if shape.AtLeast(size, d).Truth() != shape.True {
		d = d.Min(size)
	}
	return d
}

func sliced(c *call) []*value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	start, stop, step := zero, std.End, c.int("step")
	if c.given("start") {
		start = c.dim("start")
	}
	if c.given("end") {
		stop = c.dim("end")
	}
	if step < 1 {
		panic(refuse(CodeProgram, "the step is "+strconv.Itoa(step)+", expected 1 or more"))
	}
	size := x.Type().Dim(axis)
	whole := stop.Equal(std.End) || stop.Equal(size)
	if n, ok := stop.Int(); ok && n >= wide {
		stop, whole = std.End, true
	}
	if start.Is(0) && whole && step == 1 {
		return same(c)
	}
	_, number := size.Int()
	_, from := start.Int()
	_, to := stop.Int()
	if number && from && to {
		return viewed(c, c.need("self"), true, std.Slice, std.SliceAttrs{Dim: axis, Start: start, Stop: stop, Step: unlessOne(step)})
	}
	if !size.IsUnknown() && !c.im.isLate(size) && !c.im.isLate(start) && !c.im.isLate(stop) {
		a, b := within(start, size), size
		if !whole {
			b = within(stop, size)
		}
		if !a.IsUnknown() && !b.IsUnknown() {
			if shape.AtLeast(b, a).Truth() != shape.True {
				b = b.Max(a)
			}
			return viewed(c, c.need("self"), true, std.Slice, std.SliceAttrs{Dim: axis, Start: a, Stop: b, Step: unlessOne(step)})
		}
	}
	return []*value{maybe(c, stretch(c, x, axis, c.bound("start", zero), c.bound("end", std.End), step))}
}

// bound is a bound of a slice as a value.
func (c *call) bound(name string, def shape.Dim) op.Value {
	if c.given(name) {
		return c.x(name)
	}
	return c.s.scalar(sizeValue(def))
}

// stretch takes the elements of an axis from start to stop, which are values: the run looks where they lie.
func stretch(c *call, x op.Value, axis int, start, stop op.Value, step int) op.Value {
	size := c.do(op.Dim, op.AxisAttrs{Axis: axis}, x)
	inside := func(v op.Value) op.Value {
		below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, v)
		v = c.do(std.Where, nil, below, c.do(std.Add, nil, v, size), v)
		return c.do(std.Minimum, nil, c.do(std.Maximum, std.BinaryAttrs{Other: op.Int(0)}, v), size)
	}
	from := inside(start)
	to := c.do(std.Maximum, nil, inside(stop), from)
	return c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, c.do(std.Range, nil, from, to, c.s.scalar(sizeValue(shape.Const(step)))))
}

func narrowed(c *call) []*value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	start, length := c.dim("start"), c.dim("length")
	if c.im.isLate(start) || c.im.isLate(length) {
		from := c.x("start")
		return []*value{maybe(c, stretch(c, x, axis, from, c.do(std.Add, nil, from, c.x("length")), 1))}
	}
	return viewed(c, c.need("self"), true, std.Narrow, std.NarrowAttrs{Dim: axis, Start: start, Length: length})
}

// mostPieces bounds the results of a split.
const mostPieces = 1 << 12

func pieces(c *call, n int) int {
	if n < 1 || n > mostPieces {
		panic(refuse(CodeProgram, "it has "+count(n, "result")+", expected 1 to "+strconv.Itoa(mostPieces)))
	}
	return n
}

// splitEvery cuts into pieces of one size, of which the last is the rest.
func splitEvery(c *call) []*value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	size := x.Type().Dim(axis)
	each := c.dim("split_size")
	n := results(c)
	if k, ok := size.Int(); ok {
		if e, ok := each.Int(); ok && e > 0 {
			n = max((k+e-1)/e, 1)
		}
	}
	sizes := make([]shape.Dim, pieces(c, n))
	rest := size
	for i := range sizes {
		sizes[i] = each
		if i == len(sizes)-1 {
			sizes[i] = rest
		}
		rest = rest.Sub(each)
	}
	return listed(viewed(c, c.need("self"), true, std.Split, std.SplitAttrs{Sizes: shape.Of(sizes...), Dim: axis}))
}

// chunked cuts into as many pieces as asked for, or fewer.
func chunked(c *call) []*value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	size := x.Type().Dim(axis)
	n := pieces(c, c.int("chunks"))
	each := size.AddInt(n - 1).FloorDivInt(n)
	if k, ok := size.Int(); ok {
		e := (k + n - 1) / n
		if e > 0 {
			n = max((k+e-1)/e, 1)
		}
	} else {
		n = pieces(c, results(c))
	}
	sizes := make([]shape.Dim, n)
	rest := size
	for i := range sizes {
		sizes[i] = each
		if i == n-1 {
			sizes[i] = rest
		}
		rest = rest.Sub(each)
	}
	return listed(viewed(c, c.need("self"), true, std.Split, std.SplitAttrs{Sizes: shape.Of(sizes...), Dim: axis}))
}

// results is the number of results that the file has.
func results(c *call) int {
	n := 0
	for _, o := range c.n.Outputs {
		if o.kind != "as_tensors" {
			n++
			continue
		}
		var list []named
		c.s.decode(o.raw, &list)
		n += len(list)
	}
	return n
}

// windows are the stretches of a dimension, each step apart, with their elements in a new last dimension.
func windows(c *call) []*value {
	x := c.tensor("self")
	rank := x.Type().Rank()
	axis := c.axis("dimension", x)
	size, step := c.int("size"), c.int("step")
	n := x.Type().Dim(axis)
	if size < 1 || step < 1 || rank == 0 {
		panic(refuse(CodeProgram, "size and step must be positive"))
	}
	windows := n.AddInt(-size).FloorDivInt(step).AddInt(1)
	starts := c.do(std.Arange, std.ArangeAttrs{End: windows}) // times step
	if step != 1 {
		starts = c.do(std.Mul, std.BinaryAttrs{Other: op.Int(int64(step))}, starts)
	}
	index := c.do(std.Add, nil, c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, starts), c.do(std.Arange, std.ArangeAttrs{End: shape.Const(size)}))
	flat := c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, index)
	v := c.do(std.IndexSelect, std.DimAttrs{Dim: axis}, x, flat)
	v = c.do(std.Unflatten, std.UnflattenAttrs{Dim: axis, Sizes: shape.Of(windows, shape.Const(size))}, v)
	return []*value{maybe(c, c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(axis + 1), Destination: op.IntList(-1)}, v))}
}

// asStrided takes elements of memory by strides: of a tensor that is all of its memory, in order.
func asStrided(c *call) []*value {
	self := c.need("self")
	if self.ref == nil || !self.ref.IsWhole() || self.ref.Storage.Loose || inOrder(c, "self") != shape.True {
		panic(refuse(CodeArgument, "strides of a tensor that is a view are not supported"))
	}
	sizes, strides := c.dims("size"), c.dims("stride")
	if len(sizes) != len(strides) {
		panic(refuse(CodeProgram, "there are "+count(len(sizes), "size")+" and "+count(len(strides), "stride")))
	}
	at := c.do(std.Full, std.FullAttrs{Value: op.Int(0), DType: array.I64})
	if c.given("storage_offset") {
		at = c.s.scalar(sizeValue(c.dim("storage_offset")))
	}
	for i, n := range sizes {
		step := c.do(std.Mul, nil, c.do(std.Arange, std.ArangeAttrs{End: n}), c.s.scalar(sizeValue(strides[i])))
		for range len(sizes) - 1 - i {
			step = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, step)
		}
		at = c.do(std.Add, nil, at, step)
	}
	flat := func(x op.Value) op.Value { return c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, x) }
	v := c.do(std.IndexSelect, std.DimAttrs{}, flat(c.x("self")), flat(at))
	return []*value{maybe(c, c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(sizes...)}, v))}
}
