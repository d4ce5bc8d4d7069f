package pt2

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
)

// selectRules are operators of each element that have settings or three operands.
var selectRules = map[string]rule{
	"clamp clip":                 {args: "self min=None max=None", build: clamp},
	"clamp.Tensor clip.Tensor":   {args: "self min=None max=None", build: clamp},
	"clamp_min clamp_min.Tensor": {args: "self min", build: func(c *call) []op.Value { return []op.Value{bounded(c, "min", "")} }},
	"clamp_max clamp_max.Tensor": {args: "self max", build: func(c *call) []op.Value { return []op.Value{bounded(c, "", "max")} }},
	"hardtanh":                   {args: "self min_val=-1 max_val=1", build: hardtanh},
	"leaky_relu": {args: "self negative_slope=0.01", build: func(c *call) []op.Value {
		return c.one(std.LeakyRelu, std.LeakyReluAttrs{NegativeSlope: c.float("negative_slope")}, c.x("self"))
	}},
	"elu":  {args: "self alpha=1 scale=1 input_scale=1", build: elu},
	"celu": {args: "self alpha=1", build: func(c *call) []op.Value { return c.one(std.Celu, std.AlphaAttrs{Alpha: c.float("alpha")}, c.x("self")) }},
	"gelu": {args: "self approximate=none", build: gelu},
	"softplus": {args: "self beta=1 threshold=20", build: func(c *call) []op.Value {
		return c.one(std.Softplus, std.SoftplusAttrs{Beta: c.float("beta"), Threshold: c.float("threshold")}, c.x("self"))
	}},
	"threshold": {args: "self threshold value", build: func(c *call) []op.Value {
		return c.one(std.Threshold, std.ThresholdAttrs{Threshold: c.float("threshold"), Value: c.float("value")}, c.x("self"))
	}},
	"hardshrink": {args: "self lambd=0.5", build: shrink(false)},
	"softshrink": {args: "self lambd=0.5", build: shrink(true)},
	"glu":        {args: "self dim=-1", build: func(c *call) []op.Value { return c.one(std.Glu, std.DimAttrs{Dim: c.int("dim")}, c.x("self")) }},
	"prelu":      plain("self weight", std.Prelu),
	"_prelu_kernel": {args: "self weight", build: func(c *call) []op.Value {
		x := c.x("self")
		return c.one(std.Where, nil, c.do(std.Gt, std.BinaryAttrs{Other: op.Int(0)}, x), x, c.do(std.Mul, nil, c.x("weight"), x))
	}},
	"addcmul":                 {args: "self tensor1 tensor2 value=1", build: addc(std.Addcmul)},
	"addcdiv":                 {args: "self tensor1 tensor2 value=1", build: addc(std.Addcdiv)},
	"lerp.Scalar lerp.Tensor": {args: "self end weight", build: lerp},
	"nan_to_num":              {args: "self nan=None posinf=None neginf=None", build: nanToNum},
	"where.self where.ScalarOther where.ScalarSelf where.Scalar": {args: "condition self other", build: where},
	"masked_fill.Scalar masked_fill.Tensor":                      {args: "self mask value", build: maskedFill},
}

func clamp(c *call) []op.Value {
	switch {
	case c.given("min") && c.given("max"):
		return []op.Value{bounded(c, "min", "max")}
	case c.given("min"):
		return []op.Value{bounded(c, "min", "")}
	case c.given("max"):
		return []op.Value{bounded(c, "", "max")}
	}
	panic(refuse(CodeProgram, "neither min nor max is there"))
}

// bounded clamps to arguments, of which one may have no name.
func bounded(c *call, low, high string) op.Value {
	var a std.ClampAttrs
	known := true
	for name, to := range map[string]*op.Scalar{low: &a.Min, high: &a.Max} {
		if name != "" {
			n, ok := c.number(name)
			*to, known = n, known && ok
		}
	}
	x := c.x("self")
	if known && !(low != "" && high != "" && a.Min.Float64() > a.Max.Float64()) && fitsKind(c, x, a.Min) && fitsKind(c, x, a.Max) {
		return c.do(std.Clamp, a, x)
	}
	if low != "" {
		x = pair(c, std.Maximum, x, low)
	}
	if high != "" {
		x = pair(c, std.Minimum, x, high)
	}
	return x
}

// fitsKind reports whether a number leaves the element type of x as it is.
func fitsKind(c *call, x op.Value, n op.Scalar) bool {
	return !n.Present() || n.Promote(x.Type().DType()) == x.Type().DType()
}

func hardtanh(c *call) []op.Value {
	low, high := c.float("min_val"), c.float("max_val")
	if low == 0 && high == 6 && c.typ("self").DType().IsFloat() {
		return c.one(std.Relu6, nil, c.x("self"))
	}
	return c.one(std.Hardtanh, std.HardtanhAttrs{MinVal: low, MaxVal: high}, c.x("self"))
}

func elu(c *call) []op.Value {
	alpha, scale := c.float("alpha"), c.float("scale")
	if c.float("input_scale") != 1 {
		panic(refuse(CodeArgument, "argument input_scale is not supported"))
	}
	v := c.do(std.Elu, std.AlphaAttrs{Alpha: alpha}, c.x("self"))
	if scale != 1 {
		v = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(scale)}, v)
	}
	return []op.Value{v}
}

func gelu(c *call) []op.Value {
	switch how := c.text("approximate", "none"); how {
	case "none":
		return c.one(std.Gelu, nil, c.x("self"))
	case "tanh":
		return c.one(std.Gelu, std.GeluAttrs{Approximate: "tanh"}, c.x("self"))
	default:
		panic(refuse(CodeArgument, "argument approximate is "+quote(how)+", expected none or tanh"))
	}
}

// shrink makes elements no further than lambd from 0 zero, and moves the rest towards 0 if soft
// is set.
func shrink(soft bool) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		x, l := c.x("self"), c.float("lambd")
		v := c.do(std.Mul, std.BinaryAttrs{Other: op.Int(0)}, x) // NaN stays
		high, low := x, x
		if soft {
			high, low = c.do(std.Sub, std.SubAttrs{Other: op.Float(l)}, x), c.do(std.Add, std.AddAttrs{Other: op.Float(l)}, x)
		}
		v = c.do(std.Where, nil, c.do(std.Lt, std.BinaryAttrs{Other: op.Float(-l)}, x), low, v)
		return c.one(std.Where, nil, c.do(std.Gt, std.BinaryAttrs{Other: op.Float(l)}, x), high, v)
	}
}

func addc(o *op.Op) func(c *call) []op.Value {
	return func(c *call) []op.Value {
		n, ok := c.number("value")
		if !ok {
			panic(refuse(CodeValue, "argument value is not known"))
		}
		if n.Float64() == 1 {
			n = op.Scalar{}
		}
		return c.one(o, std.AddcAttrs{Value: n}, c.x("self"), c.x("tensor1"), c.x("tensor2"))
	}
}

func lerp(c *call) []op.Value {
	if n, ok := c.number("weight"); ok {
		return c.one(std.Lerp, std.LerpAttrs{Weight: n}, c.x("self"), c.x("end"))
	}
	return c.one(std.Lerp, nil, c.x("self"), c.x("end"), nextTo(c, "weight", c.typ("self")))
}

func nanToNum(c *call) []op.Value {
	var a std.NanToNumAttrs
	for name, to := range map[string]*op.Scalar{"nan": &a.Nan, "posinf": &a.Posinf, "neginf": &a.Neginf} {
		if c.given(name) {
			*to = op.Float(c.float(name))
		}
	}
	return c.one(std.NanToNum, a, c.x("self"))
}

func where(c *call) []op.Value {
	cond := c.x("condition")
	if cond.Type().DType() != array.Bool {
		cond = c.do(std.Ne, std.BinaryAttrs{Other: op.Int(0)}, cond)
	}
	x, y := c.need("self"), c.need("other")
	if n, ok := y.known(); ok && x.ref != nil {
		return c.one(std.Where, std.WhereAttrs{Other: n}, cond, c.x("self"))
	}
	if n, ok := x.known(); ok && y.ref != nil {
		return c.one(std.Where, std.WhereAttrs{Other: n}, c.do(std.LogicalNot, nil, cond), c.x("other"))
	}
	if x.ref == nil && y.ref == nil {
		return c.one(std.Where, nil, cond, c.x("self"), c.x("other"))
	}
	return c.one(std.Where, nil, cond, nextTo(c, "self", c.typ("other")), nextTo(c, "other", c.typ("self")))
}

func maskedFill(c *call) []op.Value {
	mask, x := c.x("mask"), c.x("self")
	if n, ok := c.need("value").known(); ok && mask.Type().DType() == array.Bool {
		return c.one(std.MaskedFill, std.MaskedFillAttrs{Value: n}, x, mask)
	}
	v := c.cast(x.Type().DType(), c.x("value"))
	return c.one(std.Where, nil, mask, v, x)
}
