package pt2

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// indexRules are operators that take or put elements by indices.
var indexRules = map[string]rule{
	"index_select": {args: "self dim index", build: func(c *call) []op.Value {
		x, index := c.x("self"), c.x("index")
		if index.Type().Rank() == 0 {
			index = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(1)}, index)
		}
		return c.one(std.IndexSelect, std.DimAttrs{Dim: c.int("dim")}, x, index)
	}},
	"gather": {args: "self dim index | sparse_grad", build: func(c *call) []op.Value {
		return c.one(std.Gather, std.DimAttrs{Dim: c.int("dim")}, c.x("self"), c.x("index"))
	}},
	"take_along_dim":       {args: "self indices dim=None", build: takeAlong},
	"scatter.src":          {args: "self dim index src", build: func(c *call) []op.Value { return scattered(c, "", c.x("src")) }},
	"scatter.value":        {args: "self dim index value", build: func(c *call) []op.Value { return scattered(c, "", filled(c)) }},
	"scatter.reduce":       {args: "self dim index src reduce", build: func(c *call) []op.Value { return scattered(c, c.text("reduce", ""), c.x("src")) }},
	"scatter.value_reduce": {args: "self dim index value reduce", build: func(c *call) []op.Value { return scattered(c, c.text("reduce", ""), filled(c)) }},
	"scatter_add": {args: "self dim index src", build: func(c *call) []op.Value {
		return c.one(std.ScatterAdd, std.DimAttrs{Dim: c.int("dim")}, c.x("self"), c.x("index"), c.x("src"))
	}},
	"scatter_reduce.two": {args: "self dim index src reduce include_self=True", build: scatterReduce},
	"index.Tensor":       {args: "self indices", build: index},
	"index_put":          {args: "self indices values accumulate=False", build: indexPut},
	"index_add":          {args: "self dim index source alpha=1", build: indexAdd},
	"index_fill.int_Scalar": {args: "self dim index value", build: func(c *call) []op.Value {
		x := c.x("self")
		axis := c.axisOf(c.int("dim"), x.Type().Rank())
		n := along(c, c.x("index"), x.Type(), axis)
		v := c.do(std.Expand, std.ExpandAttrs{Shape: n.Type().Dims()}, c.cast(x.Type().DType(), c.x("value")))
		return c.one(std.Scatter, std.ScatterAttrs{Dim: axis}, x, n, v)
	}},
	"index_copy": {args: "self dim index source", build: func(c *call) []op.Value {
		x := c.x("self")
		axis := c.axisOf(c.int("dim"), x.Type().Rank())
		return c.one(std.Scatter, std.ScatterAttrs{Dim: axis}, x, along(c, c.x("index"), x.Type(), axis), c.x("source"))
	}},
	"nonzero":        {args: "self", build: func(c *call) []op.Value { return c.one(std.Nonzero, nil, c.x("self")) }},
	"where":          {args: "condition", run: func(c *call) []*value { return wherever(c, "condition") }},
	"nonzero_numpy":  {args: "self", run: func(c *call) []*value { return wherever(c, "self") }},
	"masked_scatter": {args: "self mask source", build: maskedScatter},
	"masked_select": {args: "self mask", build: func(c *call) []op.Value {
		x, mask := c.x("self"), c.x("mask")
		if !x.Type().Dims().Equal(mask.Type().Dims()) {
			both := c.do(std.Add, nil, c.do(std.ZerosLike, std.LikeAttrs{DType: array.F32}, x), c.do(std.ZerosLike, std.LikeAttrs{DType: array.F32}, mask))
			x = c.do(std.Expand, std.ExpandAttrs{Shape: both.Type().Dims()}, x)
			mask = c.do(std.Expand, std.ExpandAttrs{Shape: both.Type().Dims()}, mask)
		}
		flat := func(v op.Value) op.Value { return c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, v) }
		return c.one(std.IndexSelect, std.DimAttrs{}, flat(x), flat(places(c, flat(mask))[0]))
	}},
}

// maskedScatter puts the elements of source, in their order, where the mask is true.
func maskedScatter(c *call) []op.Value {
	x := c.x("self")
	flat := func(v op.Value) op.Value { return c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, v) }
	mask := c.do(std.Expand, std.ExpandAttrs{Shape: x.Type().Dims()}, c.x("mask"))
	at := c.do(std.Sub, std.SubAttrs{Other: op.Int(1)}, c.do(std.Cumsum, std.ScanAttrs{}, flat(mask)))
	at = c.do(std.Clamp, std.ClampAttrs{Min: op.Int(0)}, at)
	v := c.do(std.IndexSelect, std.DimAttrs{}, flat(c.x("source")), at)
	return c.one(std.Where, nil, mask, c.do(std.Reshape, std.ReshapeAttrs{Shape: x.Type().Dims()}, v), x)
}

// wherever are the coordinates of the true elements of an argument.
func wherever(c *call, name string) []*value {
	out := &value{isList: true}
	for _, v := range places(c, c.x(name)) {
		out.list = append(out.list, fresh(nodeOf(c, v)))
	}
	return []*value{out}
}

// filled is the argument value in the sizes of the argument index.
func filled(c *call) op.Value {
	v := c.cast(c.typ("self").DType(), c.x("value"))
	return c.do(std.Expand, std.ExpandAttrs{Shape: c.typ("index").Dims()}, v)
}

func scattered(c *call, reduce string, src op.Value) []op.Value {
	if reduce != "" && reduce != "add" && reduce != "multiply" {
		panic(refuse(CodeArgument, "argument reduce is "+quote(reduce)+", expected add or multiply"))
	}
	return c.one(std.Scatter, std.ScatterAttrs{Dim: c.int("dim"), Reduce: reduce}, c.x("self"), c.x("index"), src)
}

// scatterReduce combines elements with those of self, or, without self, with one another: then
// self has the elements of src, or what changes no sum or product, wherever something is written.
func scatterReduce(c *call) []op.Value {
	self, index, src := c.x("self"), c.x("index"), c.x("src")
	axis, how := std.DimAttrs{Dim: c.int("dim")}, c.text("reduce", "")
	without := !c.bool("include_self")
	put := func(at, v op.Value) op.Value {
		if !without {
			return at
		}
		return c.do(std.Scatter, std.ScatterAttrs{Dim: axis.Dim}, at, index, v)
	}
	first := src
	zeros, ones := c.do(std.ZerosLike, std.LikeAttrs{}, src), c.do(std.OnesLike, std.LikeAttrs{}, src)
	switch how {
	case "sum", "mean":
		first = zeros
	case "prod":
		first = ones
	}
	if how != "mean" {
		return c.one(std.ScatterReduce, std.ScatterReduceAttrs{Dim: axis.Dim, Reduce: how}, put(self, first), index, src)
	}
	sum := c.do(std.ScatterAdd, axis, put(self, first), index, src)
	count := c.do(std.ScatterAdd, axis, put(c.do(std.OnesLike, std.LikeAttrs{}, self), zeros), index, ones)
	if self.Type().DType().IsFloat() {
		return c.one(std.Div, std.DivAttrs{}, sum, count)
	}
	return c.one(std.FloorDivide, std.ReversibleAttrs{}, sum, count)
}

func takeAlong(c *call) []op.Value {
	x, index, axis := c.x("self"), c.x("indices"), 0
	if c.given("dim") {
		axis = c.axisOf(c.int("dim"), x.Type().Rank())
	} else {
		x = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, x)
		index = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.ConstDims(-1)}, index)
	}
	wide, narrow := x.Type().Dims().Slice(), index.Type().Dims().Slice()
	for i := range wide {
		if i == axis || i >= len(narrow) {
			continue
		}
		if wide[i].Is(1) {
			wide[i] = narrow[i]
		} else {
			narrow[i] = wide[i]
		}
	}
	x = c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(wide...)}, x)
	index = c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(narrow...)}, index)
	return c.one(std.Gather, std.DimAttrs{Dim: axis}, x, index)
}

// along gives indices of one dimension the sizes of x except along the axis.
func along(c *call, index op.Value, x shape.Type, axis int) op.Value {
	index = wrapped(c, index, x.Dim(axis))
	n := index.Type().Dims().Prod()
	dims, flat := x.Dims().Slice(), make([]shape.Dim, x.Rank())
	for i := range flat {
		flat[i] = one
	}
	dims[axis], flat[axis] = n, n
	return c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(dims...)}, c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(flat...)}, index))
}

func indexAdd(c *call) []op.Value {
	x, src := c.x("self"), c.x("source")
	axis := c.axisOf(c.int("dim"), x.Type().Rank())
	if a := factor(c, "alpha"); a.Present() {
		src = c.do(std.Mul, std.BinaryAttrs{Other: a}, src)
	}
	return c.one(std.ScatterAdd, std.DimAttrs{Dim: axis}, x, along(c, c.x("index"), x.Type(), axis), src)
}

// wrapped lets indices count from the end where they are negative.
func wrapped(c *call, index op.Value, size shape.Dim) op.Value {
	index = c.cast(array.I64, index)
	if notNegative(nodeOf(c, index), 0) {
		return index
	}
	below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, index)
	var over op.Value
	if n, ok := size.Int(); ok {
		over = c.do(std.Add, std.AddAttrs{Other: op.Int(int64(n))}, index)
	} else {
		over = c.do(std.Add, nil, index, c.s.scalar(sizeValue(size)))
	}
	return c.do(std.Where, nil, below, over, index)
}

// notNegative reports whether indices are known not to be negative.
func notNegative(n *graph.Node, depth int) bool {
	if depth > mostNested {
		return false
	}
	if n.Opcode() == graph.GetAttr {
		m := n.Graph().Module()
		if m == nil || m.Param(n.Target()) == nil {
			return false
		}
		a := m.Param(n.Target()).Value
		const most = 1 << 20
		if a == nil || !a.DType().IsInt() || a.Len() > most {
			return false
		}
		flat := array.Contiguous(a)
		for i := range flat.Len() {
			if array.Int64At(flat, i) < 0 {
				return false
			}
		}
		return true
	}
	switch o := n.Op(); o {
	case std.Arange:
		a := n.Attrs().(std.ArangeAttrs)
		return a.Start >= 0 && a.Step >= 0
	case std.Argmax, std.Argmin, std.Nonzero, op.Dim:
		return true
	case std.Add, std.Mul, std.FloorDivide, std.Maximum:
		if n.NumArgs() == 2 {
			return notNegative(n.Arg(0), depth+1) && notNegative(n.Arg(1), depth+1)
		}
		other := op.Int(-1)
		switch a := n.Attrs().(type) {
		case std.AddAttrs:
			if !a.Alpha.Present() {
				other = a.Other
			}
		case std.BinaryAttrs:
			other = a.Other
		}
		return other.Present() && other.Float64() >= 0 && notNegative(n.Arg(0), depth+1)
	case std.Reshape, std.View, std.Unsqueeze, std.Expand, std.Squeeze, std.Select, std.Slice, std.Clone, std.Transpose, std.Permute, std.Flatten:
		return notNegative(n.Arg(0), depth+1)
	}
	return false
}

// places are the coordinates of the true elements of a mask, one list for each of its
// dimensions.
func places(c *call, mask op.Value) []op.Value {
	if mask.Type().DType() != array.Bool {
		mask = c.do(std.Ne, std.BinaryAttrs{Other: op.Int(0)}, mask)
	}
	all := c.do(std.Nonzero, nil, mask) // a row for each element
	out := make([]op.Value, mask.Type().Rank())
	for i := range out {
		out[i] = c.do(std.Select, std.SelectAttrs{Dim: 1, Index: i}, all)
	}
	return out
}

// plan is how indices of several dimensions become one index of one.
type plan struct {
	axes  []int    // that have an index
	rest  []int    // that have none
	index op.Value // into the axes as one, in the sizes that the indices have together
	front int      // where the sizes of the index stand in the result
}

// indices reads the argument indices: masks become coordinates.
func indices(c *call, x shape.Type) *plan {
	p := &plan{}
	var list []op.Value
	axis := 0
	for _, v := range c.need("indices").list {
		if v.none {
			axis++
			continue
		}
		n := op.Value(c.node("indices", v))
		each := []op.Value{n}
		if d := n.Type().DType(); d == array.Bool || d == array.U8 {
			each = places(c, n)
		}
		for _, m := range each {
			p.axes, list = append(p.axes, axis), append(list, m)
			axis++
		}
	}
	if axis > x.Rank() || len(list) == 0 {
		panic(refuse(CodeProgram, "there are indices for "+count(axis, "dimension")+" of "+x.String()))
	}
	for i := range x.Rank() {
		if !slices.Contains(p.axes, i) {
			p.rest = append(p.rest, i)
		}
	}
	if last := len(p.axes) - 1; p.axes[last]-p.axes[0] == last {
		p.front = p.axes[0]
	}
	stride := one
	for i := len(list) - 1; i >= 0; i-- {
		size := x.Dim(p.axes[i])
		at := wrapped(c, list[i], size)
		if i < len(list)-1 {
			if n, ok := stride.Int(); ok {
				at = c.do(std.Mul, std.BinaryAttrs{Other: op.Int(int64(n))}, at)
			} else {
				at = c.do(std.Mul, nil, at, c.s.scalar(sizeValue(stride)))
			}
			at = c.do(std.Add, nil, at, p.index)
		}
		p.index = at
		stride = stride.Mul(size)
	}
	return p
}

// turn brings the axes with indices of x to the front and joins them.
func turn(c *call, x op.Value, p *plan) (op.Value, []shape.Dim) {
	t := x.Type()
	order := append(slices.Clone(p.axes), p.rest...)
	if !slices.IsSorted(order) {
		x = c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(order...)}, x)
	}
	var rest []shape.Dim
	for _, i := range p.rest {
		rest = append(rest, t.Dim(i))
	}
	if len(p.axes) > 1 {
		x = c.do(std.Flatten, std.FlattenAttrs{EndDim: len(p.axes) - 1}, x)
	}
	return x, rest
}

// index is x[i, j, ...] with tensors for indices.
func index(c *call) []op.Value {
	x := c.x("self")
	p := indices(c, x.Type())
	at := p.index.Type().Dims().Slice()
	if len(p.axes) == 1 && len(at) == 1 {
		return c.one(std.IndexSelect, std.DimAttrs{Dim: p.axes[0]}, x, p.index)
	}
	x, rest := turn(c, x, p)
	flat := p.index
	if len(at) != 1 {
		flat = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(p.index.Type().Dims().Prod())}, flat)
	}
	v := c.do(std.IndexSelect, std.DimAttrs{}, x, flat)
	if len(at) != 1 {
		v = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(append(slices.Clone(at), rest...)...)}, v)
	}
	if p.front > 0 && len(at) > 0 {
		var from, to []int
		for i := range at {
			from, to = append(from, i), append(to, p.front+i)
		}
		v = c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(from...), Destination: op.IntList(to...)}, v)
	}
	return []op.Value{v}
}

// indexPut is x with values at [i, j, ...].
func indexPut(c *call) []op.Value {
	x := c.x("self")
	t := x.Type()
	values := c.cast(t.DType(), c.x("values"))
	if masked, ok := maskPut(c, x, values); ok {
		return []op.Value{masked}
	}
	p := indices(c, t)
	flat, rest := turn(c, x, p)
	at := p.index.Type().Dims().Slice()
	// Values have the sizes of the result of x[...]: those of the index where it stands.
	var result []shape.Dim
	result = append(result, rest[:min(p.front, len(rest))]...)
	result = append(append(result, at...), rest[min(p.front, len(rest)):]...)
	values = c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(result...)}, values)
	if p.front > 0 && len(at) > 0 {
		var from, to []int
		for i := range at {
			from, to = append(from, p.front+i), append(to, i)
		}
		values = c.do(std.Movedim, std.MovedimAttrs{Source: op.IntList(from...), Destination: op.IntList(to...)}, values)
	}
	n := p.index.Type().Dims().Prod()
	rows := append([]shape.Dim{n}, rest...)
	values = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(rows...)}, values)
	column := make([]shape.Dim, len(rows))
	for i := range column {
		column[i] = one
	}
	column[0] = n
	i := c.do(std.Expand, std.ExpandAttrs{Shape: shape.Of(rows...)}, c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(column...)}, p.index))
	if c.bool("accumulate") {
		flat = c.do(std.ScatterAdd, std.DimAttrs{}, flat, i, values)
	} else {
		flat = c.do(std.Scatter, std.ScatterAttrs{}, flat, i, values)
	}
	return []op.Value{back(c, flat, p, t)}
}

// back undoes turn.
func back(c *call, x op.Value, p *plan, t shape.Type) op.Value {
	order := append(slices.Clone(p.axes), p.rest...)
	dims := make([]shape.Dim, len(order))
	inverse := make([]int, len(order))
	for i, k := range order {
		dims[i], inverse[k] = t.Dim(k), i
	}
	if len(p.axes) > 1 {
		x = c.do(std.Reshape, std.ReshapeAttrs{Shape: shape.Of(dims...)}, x)
	}
	if !slices.IsSorted(order) {
		x = c.do(std.Permute, std.PermuteAttrs{Dims: op.IntList(inverse...)}, x)
	}
	return x
}

// maskPut is x[mask] = number.
func maskPut(c *call, x, values op.Value) (op.Value, bool) {
	list := c.need("indices").list
	if len(list) != 1 || list[0].none || c.bool("accumulate") || !values.Type().Dims().Prod().Is(1) {
		return nil, false
	}
	mask := op.Value(c.node("indices", list[0]))
	if mask.Type().DType() != array.Bool {
		return nil, false
	}
	for range x.Type().Rank() - mask.Type().Rank() {
		mask = c.do(std.Unsqueeze, std.DimAttrs{Dim: -1}, mask)
	}
	if values.Type().Rank() > 0 {
		values = c.do(std.Reshape, std.ReshapeAttrs{}, values)
	}
	return c.do(std.Where, nil, mask, values, x), true
}
