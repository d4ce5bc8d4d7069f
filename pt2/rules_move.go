package pt2

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// moveRules are operators that move elements into memory of their own.
var moveRules = map[string]rule{
	"permute_copy": {args: "self dims", build: func(c *call) []op.Value {
		return c.one(std.Permute, std.PermuteAttrs{Dims: op.IntList(c.ints("dims")...)}, c.x("self"))
	}},
	"flip": {args: "self dims", build: func(c *call) []op.Value {
		return c.one(std.Flip, std.FlipAttrs{Dims: op.IntList(c.ints("dims")...)}, c.x("self"))
	}},
	"roll": {args: "self shifts dims=[]", build: roll},
	"repeat": {args: "self repeats", build: func(c *call) []op.Value {
		return c.one(std.Repeat, std.RepeatAttrs{Repeats: shape.Of(c.dims("repeats")...)}, c.x("self"))
	}},
	"tile": {args: "self dims", build: func(c *call) []op.Value {
		return c.one(std.Tile, std.TileAttrs{Reps: shape.Of(c.dims("dims")...)}, c.x("self"))
	}},
	"repeat_interleave.self_int": {args: "self repeats dim=None output_size=None", build: func(c *call) []op.Value {
		x, axis := c.x("self"), 0
		if c.given("dim") {
			axis = c.int("dim")
		} else {
			x = c.do(std.Flatten, std.FlattenAttrs{EndDim: -1}, x)
		}
		return c.one(std.RepeatInterleave, std.RepeatInterleaveAttrs{Repeats: c.int("repeats"), Dim: axis}, x)
	}},
	"tril": triangle(std.Tril), "triu": triangle(std.Triu),
	"diff": {args: "self n=1 dim=-1 prepend=None append=None", build: diff},
	"select_scatter": {args: "self src dim index", build: func(c *call) []op.Value {
		return c.one(std.SelectScatter, std.SelectAttrs{Dim: c.int("dim"), Index: c.int("index")}, c.x("self"), c.x("src"))
	}},
	"slice_scatter": {args: "self src dim=0 start=None end=None step=1", build: sliceScatter},
	"diagonal_scatter": {args: "self src offset=0 dim1=0 dim2=1", build: func(c *call) []op.Value {
		return c.one(std.DiagonalScatter, std.DiagonalAttrs{Offset: c.int("offset"), Dim1: c.int("dim1"), Dim2: c.int("dim2")}, c.x("self"), c.x("src"))
	}},
}

// roll shifts the elements along dimensions: at once by the shifts that are numbers, and along one
// dimension after the other by those that are sizes.
func roll(c *call) []op.Value {
	x, dims, rest := c.x("self"), c.ints("dims"), []int(nil)
	if len(dims) == 0 { // of the flat elements
		return c.one(std.Roll, std.RollAttrs{Shifts: op.IntList(c.ints("shifts")...)}, x)
	}
	var by []int
	for i, shift := range c.dims("shifts") {
		if i == len(dims) {
			panic(refuse(CodeValue, "argument shifts has more numbers than dims"))
		}
		axis := c.axisOf(dims[i], x.Type().Rank())
		if n, ok := shift.Int(); ok {
			by, rest = append(by, n), append(rest, axis)
			continue
		}
		x = c.rollBySize(x, axis, shift)
	}
	if len(rest) == 0 {
		return []op.Value{x}
	}
	return c.one(std.Roll, std.RollAttrs{Shifts: op.IntList(by...), Dims: op.IntList(rest...)}, x)
}

// rollBySize shifts the elements along one dimension by a size.
func (c *call) rollBySize(x op.Value, axis int, shift shape.Dim) op.Value {
	size := x.Type().Dim(axis)
	by := modulo(shift, size)
	if by.IsUnknown() || c.im.isLate(by) {
		panic(refuse(CodeValue, "argument shifts is "+shift.String()+", expected a number that is known, or a size"))
	}
	at := size.Sub(by)
	back := c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: at, Stop: size}, x)
	return c.do(std.Cat, std.DimAttrs{Dim: axis}, back, c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: zero, Stop: at}, x))
}

func triangle(o *op.Op) rule {
	return rule{args: "self diagonal=0", build: func(c *call) []op.Value {
		return c.one(o, std.TriAttrs{Diagonal: c.int("diagonal")}, c.x("self"))
	}}
}

// diff is the difference of neighbours along a dimension, n times.
func diff(c *call) []op.Value {
	x := c.x("self")
	axis := c.axisOf(c.int("dim"), x.Type().Rank())
	parts := []op.Value{x}
	if p := c.opt("prepend"); p != nil {
		parts = append([]op.Value{p}, parts...)
	}
	if p := c.opt("append"); p != nil {
		parts = append(parts, p)
	}
	if len(parts) > 1 {
		x = c.do(std.Cat, std.DimAttrs{Dim: axis}, parts...)
	}
	n := c.int("n")
	if n < 1 || n > mostNested {
		panic(refuse(CodeArgument, "argument n is "+strconv.Itoa(n)+", expected 1 to "+strconv.Itoa(mostNested)))
	}
	for range n {
		size := x.Type().Dim(axis)
		after := c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: one, Stop: size}, x)
		before := c.do(std.Slice, std.SliceAttrs{Dim: axis, Start: zero, Stop: size.AddInt(-1)}, x)
		if x.Type().DType() == array.Bool {
			x = c.do(std.Ne, nil, after, before)
		} else {
			x = c.do(std.Sub, nil, after, before)
		}
	}
	return []op.Value{x}
}

func sliceScatter(c *call) []op.Value {
	x := c.tensor("self")
	axis := c.axis("dim", x)
	size := x.Type().Dim(axis)
	start, stop := zero, size
	if c.given("start") {
		start = c.dim("start")
	}
	if n, ok := stop.Int(); c.given("end") && !(ok && n >= wide) {
		if n, ok := c.dim("end").Int(); !ok || n < wide {
			stop = c.dim("end")
		}
	} else if c.given("end") {
		if n, ok := c.dim("end").Int(); !ok || n < wide {
			stop = c.dim("end")
		}
	}
	a := std.SliceAttrs{Dim: axis, Start: within(start, size), Stop: within(stop, size), Step: unlessOne(c.int("step"))}
	if a.Start.IsUnknown() || a.Stop.IsUnknown() || c.im.isLate(a.Start) || c.im.isLate(a.Stop) {
		panic(refuse(CodeValue, "where it writes follows from values"))
	}
	return c.one(std.SliceScatter, a, x, c.x("src"))
}
