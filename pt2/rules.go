package pt2

import (
	"math"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// rules are the operators that are imported, by their names in PyTorch without torch.ops.aten and the default
// overload: add.Tensor, relu.
var rules map[string]*rule

func init() { // bodies of control flow need the table that they are in
	rules = map[string]*rule{}
	for _, t := range []map[string]rule{unaryRules, binaryRules, selectRules, castRules, reduceRules, linearRules, normRules, poolRules,
		viewRules, moveRules, joinRules, indexRules, factoryRules, sizeRules, checkRules, controlRules, recurrentRules} {
		for names, r := range t {
			for _, name := range strings.Fields(names) {
				if rules[name] != nil {
					panic(diag.Bug("pt2: two rules for " + name))
				}
				rules[name] = &r
			}
		}
	}
}

// Operators lists the operators that are imported: core ATen's and others that export leaves in a program, by
// their names without torch.ops.aten and the default overload. An operator in place, relu_ for instance, is
// imported where the one without the underscore is.
func Operators() []string {
	var names []string
	for name := range rules {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// ruleOf finds the rule of a target; write tells that its first result goes into its first argument.
func ruleOf(target string) (r *rule, write bool, err *diag.Error) {
	name, aten := strings.CutPrefix(target, "torch.ops.aten.")
	if !aten {
		name = strings.TrimPrefix(name, "torch.ops.")
	}
	name = strings.TrimSuffix(name, ".default")
	if r := rules[name]; r != nil {
		return r, false, nil
	}
	base, overload, _ := strings.Cut(name, ".")
	if plain, ok := strings.CutSuffix(base, "_"); ok && aten && !strings.HasPrefix(base, "__") {
		if overload != "" {
			plain += "." + overload
		}
		if r := rules[plain]; r != nil && (r.build != nil || overwritten[plain]) {
			return r, true, nil
		}
	}
	if why := refusedOperators[base]; why != "" {
		return nil, false, diag.New(CodeOperator, "operator "+quote(name)+" is not supported: "+why)
	}
	return nil, false, diag.New(CodeOperator, "operator "+quote(name)+" is not supported").
		WithHint("export after run_decompositions(), which writes many operators as core ATen's, or export the model without it")
}

// refusedOperators are those that no rule will have, and why.
var refusedOperators = map[string]string{
	"rand": randomly, "randn": randomly, "randint": randomly, "randperm": randomly, "bernoulli": randomly, "multinomial": randomly,
	"rand_like": randomly, "randn_like": randomly, "uniform": randomly, "normal_functional": randomly, "uniform_": randomly, "normal_": randomly,
	"_fft_r2c": inComplex, "_fft_c2r": inComplex, "_fft_c2c": inComplex, "view_as_complex": inComplex, "view_as_real": inComplex, "stft": inComplex,
}

const (
	randomly  = "its results are random; give random numbers as inputs"
	inComplex = "it computes with complex numbers"
)

// overwritten are the operators with a rule of their own way whose result can go into their argument.
var overwritten = map[string]bool{"detach": true}

// write puts the first result into the memory of the first argument.
func (c *call) write(outs []*value) []*value {
	name := c.n.Inputs[0].Name
	self := c.args[name]
	if self == nil || self.ref == nil || len(outs) == 0 || outs[0].ref == nil {
		panic(refuse(CodeProgram, "what it writes to is no tensor"))
	}
	if outs[0].ref == self.ref {
		return []*value{{ref: self.ref, still: self.still || outs[0].still}}
	}
	have := c.s.read(self).Type()
	n := c.s.read(outs[0])
	x := c.cast(have.DType(), n)
	if t := x.Type(); t.Ranked() && have.Ranked() && !t.Dims().Equal(have.Dims()) {
		x = c.do(std.Expand, std.ExpandAttrs{Shape: have.Dims()}, x)
	}
	pos := sourceOf(c.n.Meta.Stack)
	if o, ok := self.ref.Storage.Of.(*origin); ok {
		o.pos = pos
	}
	if err := self.ref.Write(recorder{c.s}, nodeOf(c, x), pos); err != nil {
		e := err.(*diag.Error)
		e.Code = CodeWrite
		panic(e)
	}
	return append([]*value{{ref: self.ref, still: self.still}}, outs[1:]...)
}

// plain is an operator with the same arguments in order.
func plain(args string, o *op.Op) rule {
	return rule{args: args, build: func(c *call) []op.Value {
		var in []op.Value
		for _, word := range strings.Fields(args) {
			name, _, _ := strings.Cut(word, "=")
			in = append(in, c.opt(name))
		}
		return c.one(o, nil, in...)
	}}
}

// unaryRules are operators of one tensor without settings.
var unaryRules = unary()

func unary() map[string]rule {
	list := map[string]rule{}
	for name, o := range map[string]*op.Op{"abs absolute": std.Abs, "neg negative": std.Neg, "exp": std.Exp, "log": std.Log, "sqrt": std.Sqrt, "reciprocal": std.Reciprocal,
		"floor": std.Floor, "ceil": std.Ceil, "round": std.Round, "trunc fix": std.Trunc, "sin": std.Sin, "cos": std.Cos, "tan": std.Tan,
		"atan arctan": std.Atan, "asin arcsin": std.Asin, "acos arccos": std.Acos, "sinh": std.Sinh, "cosh": std.Cosh, "asinh": std.Asinh,
		"acosh": std.Acosh, "atanh": std.Atanh, "tanh": std.Tanh, "sigmoid special_expit": std.Sigmoid, "relu": std.Relu, "erf special_erf": std.Erf,
		"sign sgn": std.Sign, "isnan": std.Isnan, "isinf": std.Isinf, "isfinite": std.Isfinite, "logical_not": std.LogicalNot,
		"bitwise_not": std.BitwiseNot, "expm1 special_expm1": std.Expm1, "log1p special_log1p": std.Log1p, "log2": std.Log2, "rsqrt": std.Rsqrt,
		"square": std.Square, "silu": std.Silu, "mish": std.Mish, "relu6": std.Relu6, "hardswish": std.Hardswish, "hardsigmoid": std.Hardsigmoid,
		"selu": std.Selu, "log_sigmoid": std.Logsigmoid, "inverse": std.Inverse, "det": std.Det} {
		list[name] = plain("self", o)
	}
	for name, r := range map[string]rule{
		"linalg_inv": plain("A", std.Inverse), "linalg_det": plain("A", std.Det),
		"log10": {args: "self", build: func(c *call) []op.Value {
			return c.one(std.Mul, std.BinaryAttrs{Other: op.Float(0.43429448190325182765)}, c.do(std.Log, nil, c.x("self")))
		}},
		"exp2 special_exp2": {args: "self", build: func(c *call) []op.Value {
			return c.one(std.Pow, std.ReversibleAttrs{Other: op.Float(2), Reverse: true}, c.x("self"))
		}},
		"frac": {args: "self", build: func(c *call) []op.Value {
			return c.one(std.Sub, nil, c.x("self"), c.do(std.Trunc, nil, c.x("self")))
		}},
		"positive": {args: "self", build: func(c *call) []op.Value { return []op.Value{c.x("self")} }},
	} {
		list[name] = r
	}
	return list
}

// attrsOf are the attributes of an operator of two operands with a number in place of the second.
func attrsOf(o *op.Op, other op.Scalar) (any, bool) {
	switch o {
	case std.Add:
		return std.AddAttrs{Other: other}, true
	case std.Sub:
		return std.SubAttrs{Other: other}, true
	case std.Div:
		return std.DivAttrs{Other: other}, true
	case std.Pow, std.Fmod, std.Remainder, std.FloorDivide, std.BitwiseLeftShift, std.BitwiseRightShift:
		return std.ReversibleAttrs{Other: other}, true
	case std.LogicalAnd, std.LogicalOr, std.LogicalXor, std.Logaddexp:
		return nil, false
	}
	return std.BinaryAttrs{Other: other}, true
}

// pair computes an operator of two operands, of which the second may be a number.
func pair(c *call, o *op.Op, x op.Value, second string) op.Value {
	v := c.need(second)
	if n, ok := v.known(); ok {
		if attrs, has := attrsOf(o, n); has {
			return c.do(o, attrs, x)
		}
	}
	if v.ref != nil {
		return c.do(o, nil, x, c.x(second))
	}
	return c.do(o, nil, x, c.weak(second, x.Type()))
}

func binary(o *op.Op) rule {
	return rule{args: "self other", build: func(c *call) []op.Value { return []op.Value{pair(c, o, c.x("self"), "other")} }}
}

// binaryRules are operators of two operands that broadcast.
var binaryRules = map[string]rule{
	"mul.Tensor mul.Scalar multiply.Tensor multiply.Scalar":                                   binary(std.Mul),
	"add.Tensor add.Scalar":                                                                   {args: "self other alpha=1", build: func(c *call) []op.Value { return scaled(c, std.Add) }},
	"sub.Tensor sub.Scalar subtract.Tensor subtract.Scalar":                                   {args: "self other alpha=1", build: func(c *call) []op.Value { return scaled(c, std.Sub) }},
	"rsub.Scalar rsub.Tensor":                                                                 {args: "self other alpha=1", build: reversedSub},
	"div.Tensor div.Scalar true_divide.Tensor true_divide.Scalar divide.Tensor divide.Scalar": binary(std.Div),
	"div.Tensor_mode div.Scalar_mode divide.Tensor_mode divide.Scalar_mode":                   {args: "self other rounding_mode=None", build: divideMode},
	"floor_divide floor_divide.Scalar":                                                        binary(std.FloorDivide),
	"remainder.Tensor remainder.Scalar":                                                       binary(std.Remainder),
	"fmod.Tensor fmod.Scalar":                                                                 binary(std.Fmod),
	"maximum max.other":                                                                       binary(std.Maximum),
	"minimum min.other":                                                                       binary(std.Minimum),
	"eq.Tensor eq.Scalar":                                                                     binary(std.Eq),
	"ne.Tensor ne.Scalar not_equal.Tensor not_equal.Scalar":                                   binary(std.Ne),
	"lt.Tensor lt.Scalar less.Tensor less.Scalar":                                             binary(std.Lt),
	"le.Tensor le.Scalar less_equal.Tensor less_equal.Scalar":                                 binary(std.Le),
	"gt.Tensor gt.Scalar greater.Tensor greater.Scalar":                                       binary(std.Gt),
	"ge.Tensor ge.Scalar greater_equal.Tensor greater_equal.Scalar":                           binary(std.Ge),
	"logical_and": binary(std.LogicalAnd), "logical_or": binary(std.LogicalOr), "logical_xor": binary(std.LogicalXor),
	"bitwise_and.Tensor bitwise_and.Scalar __and__.Tensor __and__.Scalar":                              binary(std.BitwiseAnd),
	"bitwise_or.Tensor bitwise_or.Scalar __or__.Tensor __or__.Scalar":                                  binary(std.BitwiseOr),
	"bitwise_xor.Tensor bitwise_xor.Scalar __xor__.Tensor __xor__.Scalar":                              binary(std.BitwiseXor),
	"bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar __lshift__.Tensor __lshift__.Scalar":   binary(std.BitwiseLeftShift),
	"bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar __rshift__.Tensor __rshift__.Scalar": binary(std.BitwiseRightShift),
	"logaddexp":     binary(std.Logaddexp),
	"atan2 arctan2": {args: "self other", build: atan2},
	"pow.Tensor_Tensor pow.Tensor_Scalar": {args: "self exponent", build: func(c *call) []op.Value {
		return []op.Value{pair(c, std.Pow, c.x("self"), "exponent")}
	}},
	"pow.Scalar": {args: "self exponent", build: func(c *call) []op.Value {
		if n, ok := c.number("self"); ok {
			return c.one(std.Pow, std.ReversibleAttrs{Other: n, Reverse: true}, c.x("exponent"))
		}
		return c.one(std.Pow, nil, c.weak("self", c.typ("exponent")), c.x("exponent"))
	}},
}

// scaled is an operator whose second operand is multiplied by alpha first.
func scaled(c *call, o *op.Op) []op.Value {
	alpha, known := c.number("alpha")
	if !known {
		panic(refuse(CodeValue, "argument alpha is not known"))
	}
	x := c.x("self")
	if alpha.Float64() == 1 {
		return []op.Value{pair(c, o, x, "other")}
	}
	if n, ok := c.need("other").known(); ok {
		if o == std.Add {
			return c.one(o, std.AddAttrs{Other: n, Alpha: alpha}, x)
		}
		return c.one(o, std.SubAttrs{Other: n, Alpha: alpha}, x)
	}
	if o == std.Add {
		return c.one(o, std.AddAttrs{Alpha: alpha}, x, nextTo(c, "other", x.Type()))
	}
	return c.one(o, std.SubAttrs{Alpha: alpha}, x, nextTo(c, "other", x.Type()))
}

// nextTo is weak for a value that may be a tensor.
func nextTo(c *call, name string, x shape.Type) op.Value {
	if c.need(name).ref != nil {
		return c.x(name)
	}
	return c.weak(name, x)
}

func reversedSub(c *call) []op.Value {
	if a, ok := c.number("alpha"); !ok || a.Float64() != 1 {
		panic(refuse(CodeArgument, "argument alpha is not supported"))
	}
	if n, ok := c.need("other").known(); ok {
		return c.one(std.Sub, std.SubAttrs{Other: n, Reverse: true}, c.x("self"))
	}
	return c.one(std.Sub, nil, nextTo(c, "other", c.typ("self")), c.x("self"))
}

// atan2 is the angle of the point (other, self), in all four quadrants; zeros have signs.
func atan2(c *call) []op.Value {
	y, x := c.x("self"), c.x("other")
	d := op.Promote([]shape.Type{y.Type(), x.Type()})
	if !d.IsFloat() {
		d = array.F32
	}
	y, x = c.cast(d, y), c.cast(d, x)
	negative := func(v op.Value) op.Value {
		isZero := c.do(std.Eq, std.BinaryAttrs{Other: op.Int(0)}, v)
		below := c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, c.do(std.Reciprocal, nil, v))
		return c.do(std.LogicalOr, nil, c.do(std.Lt, std.BinaryAttrs{Other: op.Int(0)}, v), c.do(std.LogicalAnd, nil, isZero, below))
	}
	ay, ax := c.do(std.Abs, nil, y), c.do(std.Abs, nil, x)
	less, more := c.do(std.Minimum, nil, ay, ax), c.do(std.Maximum, nil, ay, ax)
	q := c.do(std.Div, nil, less, more)
	q = c.do(std.Where, std.WhereAttrs{Other: op.Float(1)}, c.do(std.Ne, nil, less, more), q)                         // of two infinities
	q = c.do(std.Where, std.WhereAttrs{Other: op.Float(0)}, c.do(std.Ne, std.BinaryAttrs{Other: op.Int(0)}, more), q) // of two zeros
	a := c.do(std.Atan, nil, q)
	from := func(whole float64) op.Value {
		return c.do(std.Sub, std.SubAttrs{Other: op.Float(whole), Reverse: true}, a)
	}
	a = c.do(std.Where, nil, c.do(std.Gt, nil, ay, ax), from(math.Pi/2), a)
	a = c.do(std.Where, nil, negative(x), from(math.Pi), a)
	return c.one(std.Where, nil, negative(y), c.do(std.Neg, nil, a), a)
}

func divideMode(c *call) []op.Value {
	a := std.DivAttrs{RoundingMode: c.text("rounding_mode", "")}
	if n, ok := c.need("other").known(); ok {
		a.Other = n
		return c.one(std.Div, a, c.x("self"))
	}
	return c.one(std.Div, a, c.x("self"), nextTo(c, "other", c.typ("self")))
}
