package pt2

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tracer/alias"
)

// castRules are operators that give elements another type, copy them, or leave them as they are.
var castRules = map[string]rule{
	"_to_copy":         {args: "self dtype=None | layout device pin_memory non_blocking memory_format", build: toCopy},
	"to.dtype":         {args: "self dtype copy=False | non_blocking memory_format", run: to},
	"to.device":        {args: "self dtype copy=False | device non_blocking memory_format", run: to},
	"to.dtype_layout":  {args: "self dtype=None copy=False | layout device pin_memory non_blocking memory_format", run: to},
	"to.other type_as": {args: "self other copy=False | non_blocking memory_format", run: to},
	"lift lift_fresh resolve_conj resolve_neg": {args: "self", run: same},
	"detach alias":          {args: "self", run: detached}, // run_decompositions writes alias for detach
	"contiguous":            {args: "self | memory_format", run: contiguous},
	"clone lift_fresh_copy": {args: "self | memory_format", build: copied},
	"detach_copy alias_copy": {args: "self", build: func(c *call) []op.Value {
		return c.one(std.Clone, nil, c.s.read(&value{ref: c.need("self").ref, still: true}))
	}},
	"copy":                                  {args: "self src | non_blocking", build: overwrite},
	"fill.Scalar fill.Tensor":               {args: "self value", build: fill},
	"zero":                                  {args: "self", build: func(c *call) []op.Value { return c.one(std.ZerosLike, nil, c.x("self")) }},
	"dropout feature_dropout alpha_dropout": {args: "input p train", run: func(c *call) []*value { return dropout(c, "input") }},
	"dropout_ feature_dropout_ alpha_dropout_": {args: "self p train", run: func(c *call) []*value { return dropout(c, "self") }},
	"native_dropout": {args: "input p train", build: nativeDropout},
	"view.dtype": {args: "self dtype", build: func(c *call) []op.Value {
		return c.one(std.Bitcast, std.BitcastAttrs{DType: c.dtype("dtype", array.Invalid)}, c.x("self"))
	}},
}

func toCopy(c *call) []op.Value {
	x := c.x("self")
	d := c.dtype("dtype", array.Invalid)
	if d == array.Invalid || d == x.Type().DType() {
		return c.one(std.Clone, nil, x)
	}
	return []op.Value{c.cast(d, x)}
}

// to gives the tensor itself where it has the type.
func to(c *call) []*value {
	self := c.need("self")
	var d array.DType
	if _, ok := c.def["other"]; ok {
		d = c.typ("other").DType()
	} else {
		d = c.dtype("dtype", array.Invalid)
	}
	x := c.x("self")
	if d == array.Invalid || d == x.Type().DType() {
		if c.bool("copy") {
			return []*value{fresh(nodeOf(c, c.do(std.Clone, nil, x)))}
		}
		return []*value{{ref: self.ref, still: self.still}}
	}
	return []*value{fresh(nodeOf(c, c.cast(d, x)))}
}

func same(c *call) []*value {
	v := *c.need("self")
	return []*value{&v}
}

// detached is the same memory, as a constant for gradients.
func detached(c *call) []*value {
	v := *c.need("self")
	v.still = v.ref != nil
	return []*value{&v}
}

// contiguous copies a tensor that does not lie in order, as far as that is known; the values are
// the same.
func contiguous(c *call) []*value {
	self := c.need("self")
	if self.ref == nil {
		return same(c)
	}
	order := inOrder(c, "self")
	if order == shape.True {
		return []*value{{ref: self.ref, still: self.still}}
	}
	v := fresh(nodeOf(c, c.do(std.Clone, nil, c.x("self"))))
	if order == shape.Open {
		alias.Maybe(self.ref.Storage, v.ref.Storage)
	}
	return []*value{v}
}

// inOrder tells whether the elements of an argument lie in row-major order when the program was exported.
func inOrder(c *call, name string) shape.Truth {
	for _, in := range c.n.Inputs {
		if m, ok := c.s.g.Tensors[in.Arg.name()]; ok && in.Name == name {
			return c.im.order(m)
		}
	}
	return shape.Open
}

func copied(c *call) []op.Value { return c.one(std.Clone, nil, c.x("self")) }

// overwrite is src in place of self, whose type and sizes it takes.
func overwrite(c *call) []op.Value {
	self := c.typ("self")
	x := c.cast(self.DType(), c.x("src"))
	if !x.Type().Dims().Equal(self.Dims()) {
		x = c.do(std.Expand, std.ExpandAttrs{Shape: self.Dims()}, x)
	}
	if c.need("src").ref != nil && x == op.Value(c.tensor("src")) {
		x = c.do(std.Clone, nil, x)
	}
	return []op.Value{x}
}

func fill(c *call) []op.Value {
	x := c.x("self")
	if n, ok := c.need("value").known(); ok {
		return c.one(std.FullLike, std.FullLikeAttrs{Value: n}, x)
	}
	return c.one(std.Expand, std.ExpandAttrs{Shape: x.Type().Dims()}, c.cast(x.Type().DType(), c.x("value")))
}

// dropout is the identity where a model runs.
func dropout(c *call, name string) []*value {
	if c.bool("train") && c.float("p") != 0 {
		panic(training)
	}
	return []*value{{ref: c.need(name).ref}}
}

var training = refuse(CodeArgument, "the operator is that of training, which is random").WithHint("export model.eval()")

func nativeDropout(c *call) []op.Value {
	if c.given("train") && c.bool("train") && c.float("p") != 0 {
		panic(training)
	}
	return []op.Value{c.x("input"), c.do(std.OnesLike, std.LikeAttrs{DType: array.Bool}, c.x("input"))}
}
