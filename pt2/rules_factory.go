package pt2

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

const unlike = " | layout device pin_memory memory_format"

// factoryRules are operators that make tensors of numbers. Memory that PyTorch leaves uninitialised
// (empty) is 0.
var factoryRules = map[string]rule{
	"full":                      {args: "size fill_value dtype=None" + unlike, build: func(c *call) []op.Value { return filledWith(c, "fill_value", array.Invalid) }},
	"zeros empty.memory_format": sized(0), "ones": sized(1),
	"new_zeros new_empty": likeSelf(0), "new_ones": likeSelf(1),
	"new_full":       {args: "self size fill_value dtype=None" + unlike, build: func(c *call) []op.Value { return filledWith(c, "fill_value", c.typ("self").DType()) }},
	"empty_strided":  {args: "size stride dtype=None" + unlike, build: func(c *call) []op.Value { return fullOf(c, op.Int(0), c.dtype("dtype", array.F32)) }},
	"empty_permuted": {args: "size physical_layout dtype=None" + unlike, build: func(c *call) []op.Value { return fullOf(c, op.Int(0), c.dtype("dtype", array.F32)) }},
	"zeros_like empty_like": {args: "self dtype=None" + unlike, build: func(c *call) []op.Value {
		return c.one(std.ZerosLike, std.LikeAttrs{DType: c.dtype("dtype", array.Invalid)}, c.x("self"))
	}},
	"ones_like": {args: "self dtype=None" + unlike, build: func(c *call) []op.Value {
		return c.one(std.OnesLike, std.LikeAttrs{DType: c.dtype("dtype", array.Invalid)}, c.x("self"))
	}},
	"full_like": {args: "self fill_value dtype=None" + unlike, build: func(c *call) []op.Value {
		d := c.dtype("dtype", array.Invalid)
		if n, ok := c.number("fill_value"); ok {
			return c.one(std.FullLike, std.FullLikeAttrs{Value: n, DType: d}, c.x("self"))
		}
		if d == array.Invalid {
			d = c.typ("self").DType()
		}
		return c.one(std.Expand, std.ExpandAttrs{Shape: c.typ("self").Dims()}, c.cast(d, c.x("fill_value")))
	}},
	"scalar_tensor": {args: "s dtype=None" + unlike, build: func(c *call) []op.Value {
		d := c.dtype("dtype", array.F32) // which is PyTorch's default for any number
		if n, ok := c.number("s"); ok {
			return c.one(std.Full, std.FullAttrs{Value: n, DType: d})
		}
		return []op.Value{c.cast(d, c.x("s"))}
	}},
	"arange":            {args: "end dtype=None" + unlike, build: arange},
	"arange.start":      {args: "start end dtype=None" + unlike, build: arange},
	"arange.start_step": {args: "start end step=1 dtype=None" + unlike, build: arange},
	"linspace": {args: "start end steps dtype=None" + unlike, build: func(c *call) []op.Value {
		return c.one(std.Linspace, std.LinspaceAttrs{Start: c.float("start"), End: c.float("end"), Steps: c.int("steps"), DType: c.dtype("dtype", array.F32)})
	}},
	"eye": {args: "n dtype=None" + unlike, build: func(c *call) []op.Value {
		return c.one(std.Eye, std.EyeAttrs{N: c.dim("n"), DType: c.dtype("dtype", array.F32)})
	}},
	"eye.m": {args: "n m dtype=None" + unlike, build: func(c *call) []op.Value {
		return c.one(std.Eye, std.EyeAttrs{N: c.dim("n"), M: c.dim("m"), DType: c.dtype("dtype", array.F32)})
	}},
}

func sized(n int64) rule {
	return rule{args: "size dtype=None" + unlike, build: func(c *call) []op.Value { return fullOf(c, op.Int(n), c.dtype("dtype", array.F32)) }}
}

func likeSelf(n int64) rule {
	return rule{args: "self size dtype=None" + unlike, build: func(c *call) []op.Value { return fullOf(c, op.Int(n), c.dtype("dtype", c.typ("self").DType())) }}
}

// fullOf fills the sizes of the argument size.
func fullOf(c *call, n op.Scalar, d array.DType) []op.Value {
	return c.one(std.Full, std.FullAttrs{Size: shape.Of(c.dims("size")...), Value: n, DType: d})
}

// filledWith fills sizes with an argument, whose type is the number's unless one is given.
func filledWith(c *call, name string, d array.DType) []op.Value {
	n, ok := c.number(name)
	if d = c.dtype("dtype", d); d == array.Invalid {
		switch {
		case !ok && c.typ(name).DType().IsFloat(): // a float of Python
			d = array.F32
		case !ok:
			d = c.typ(name).DType()
		case n.IsFloat():
			d = array.F32
		case n.IsInt():
			d = array.I64
		default:
			d = array.Bool
		}
	}
	if ok {
		return fullOf(c, n, d)
	}
	return c.one(std.Expand, std.ExpandAttrs{Shape: shape.Of(c.dims("size")...)}, c.cast(d, c.x(name)))
}

// arange counts from start to end by step; integers unless one of these is a float.
func arange(c *call) []op.Value {
	start, step := sizeValue(zero), sizeValue(one)
	if _, ok := c.def["start"]; ok {
		start = c.need("start")
	}
	if _, ok := c.def["step"]; ok {
		step = c.need("step")
	}
	end := c.need("end")
	if start.number.IsFloat() || step.number.IsFloat() || end.number.IsFloat() {
		return floatRange(c, start, end, step)
	}
	d := c.dtype("dtype", array.I64)
	from := c.s.sizeOf(start)
	by, ok := c.s.sizeOf(step).Int()
	if !ok {
		return []op.Value{c.cast(d, rangeBySize(c, from, c.s.sizeOf(end), step))}
	}
	if by == 0 {
		panic(refuse(CodeProgram, "the step of arange is 0"))
	}
	if n, ok := from.Int(); ok {
		return c.one(std.Arange, std.ArangeAttrs{Start: n, End: c.s.sizeOf(end), Step: unlessOne(by), DType: d})
	}
	v := c.do(std.Arange, std.ArangeAttrs{End: c.s.sizeOf(end).Sub(from), Step: unlessOne(by)})
	return []op.Value{c.cast(d, c.do(std.Add, nil, v, c.s.scalar(start)))}
}

// rangeBySize is arange from a size, by a size, which is positive.
func rangeBySize(c *call, from, end shape.Dim, step *value) op.Value {
	by, length := c.s.sizeOf(step), end.Sub(from)
	n, exact := length.DivExact(by)
	if !exact {
		n = floorDiv(length.Add(by).AddInt(-1), by)
	}
	if n.IsUnknown() || c.im.isLate(n) {
		panic(refuse(CodeValue, "the step of arange is "+by.String()+", expected a number that is known, or a size"))
	}
	v := c.do(std.Mul, std.BinaryAttrs{}, c.do(std.Arange, std.ArangeAttrs{End: n}), c.s.scalar(step))
	if from.Is(0) {
		return v
	}
	return c.do(std.Add, nil, v, c.s.scalar(sizeValue(from)))
}

// unlessOne is a step as attributes have it, where 0 stands for 1.
func unlessOne(step int) int {
	if step == 1 {
		return 0
	}
	return step
}

// floatRange is arange of floats, which PyTorch computes in f64.
func floatRange(c *call, start, end, step *value) []op.Value {
	var f [3]float64
	for i, v := range []*value{start, end, step} {
		n, ok := v.known()
		if !ok {
			panic(refuse(CodeValue, "a bound of arange is a float that is not known"))
		}
		f[i] = n.Float64()
	}
	n, ok := finiteInt(math.Ceil((f[1] - f[0]) / f[2]))
	if !ok || n < 0 {
		panic(refuse(CodeProgram, "arange has bounds from which its step leads away"))
	}
	v := c.do(std.Arange, std.ArangeAttrs{End: shape.Const(n), DType: array.F64})
	v = c.do(std.Mul, std.BinaryAttrs{Other: op.Float(f[2])}, v)
	v = c.do(std.Add, std.AddAttrs{Other: op.Float(f[0])}, v)
	return []op.Value{c.cast(c.dtype("dtype", array.F32), v)}
}

// checkRules are operators that check and compute nothing. Their conditions on sizes are guards of
// the graph; those on values are not checked in a run.
var checkRules = map[string]rule{
	"_assert_tensor_metadata":                          {args: " | a self size stride dtype device layout", run: nothing},
	"_assert_async.msg _assert_async":                  {args: " | self assert_msg dep_token", run: nothing},
	"_functional_assert_async.msg":                     {args: " | self assert_msg dep_token", run: nothing},
	"_assert_scalar":                                   {args: "self assert_msg", run: assertScalar},
	"sym_constrain_range_for_size sym_constrain_range": {args: " | size min max", run: nothing},
}

func nothing(*call) []*value { return nil }

// assertScalar guards relations of sizes.
func assertScalar(c *call) []*value {
	v := c.need("self")
	if n, ok := v.known(); ok {
		if n.Float64() == 0 {
			panic(refuse(CodeGuard, "the program asks for what never holds: "+quote(c.text("assert_msg", ""))))
		}
		return nil
	}
	for _, r := range v.claims {
		if c.s.outer != nil || c.im.isLate(r.A) || c.im.isLate(r.B) {
			continue
		}
		c.im.require(r, r.String())
	}
	return nil
}

// sizeRules are computations with sizes, numbers and truths.
var sizeRules = map[string]rule{
	"sym_size.int": {args: "self dim", run: func(c *call) []*value {
		x := c.tensor("self")
		return []*value{sizeValue(x.Type().Dim(c.axis("dim", x)))}
	}},
	"sym_numel":                  {args: "self", run: func(c *call) []*value { return []*value{sizeValue(c.typ("self").Dims().Prod())} }},
	"item _local_scalar_dense":   {args: "self", run: item},
	"_operator.add":              arithmetic(shape.Dim.Add, std.Add),
	"_operator.sub":              arithmetic(shape.Dim.Sub, std.Sub),
	"_operator.mul":              arithmetic(shape.Dim.Mul, std.Mul),
	"_operator.floordiv":         arithmetic(floorDiv, std.FloorDivide),
	"_operator.mod":              arithmetic(modulo, std.Remainder),
	"_operator.pow":              arithmetic(power, std.Pow),
	"torch.sym_max builtins.max": arithmetic(shape.Dim.Max, std.Maximum),
	"torch.sym_min builtins.min": arithmetic(shape.Dim.Min, std.Minimum),
	"_operator.truediv":          {args: "a b", run: trueDivide},
	"_operator.neg": {args: "a", run: func(c *call) []*value {
		return c.unary(shape.Const(0).Sub, func(f float64) float64 { return -f }, std.Neg)
	}},
	"torch.sym_float": {args: "a", run: symFloat},
	"torch.sym_int math.trunc math.floor math.ceil builtins.round builtins.int builtins.floor builtins.ceil": {args: "a", run: whole},
	"torch.sym_sum":                {args: "args", run: symSum},
	"torch.sym_not _operator.not_": {args: "a", run: symNot},
	"_operator.and_":               {args: "a b", run: symAnd},
	"_operator.or_":                {args: "a b", run: symOr},
	"_operator.eq":                 relation("==", std.Eq), "_operator.ne": relation("!=", std.Ne),
	"_operator.lt": relation("<", std.Lt), "_operator.le": relation("<=", std.Le), "_operator.gt": relation(">", std.Gt), "_operator.ge": relation(">=", std.Ge),
}

// item is the one element of a tensor.
func item(c *call) []*value {
	x := c.x("self")
	if x.Type().Rank() != 0 {
		x = c.do(std.Reshape, std.ReshapeAttrs{}, x)
	}
	return []*value{{node: nodeOf(c, x)}}
}

// numbers reports whether both arguments are known and one of them is a float.
func numbers(c *call) (a, b float64, ok bool) {
	x, known1 := c.number("a")
	y, known2 := c.number("b")
	return x.Float64(), y.Float64(), known1 && known2 && (x.IsFloat() || y.IsFloat())
}

// arithmetic computes on sizes where both operands are some, else on values.
func arithmetic(f func(a, b shape.Dim) shape.Dim, o *op.Op) rule {
	return rule{args: "a b", run: func(c *call) []*value {
		a, b := c.need("a"), c.need("b")
		if a.size != nil && b.size != nil {
			if d := f(*a.size, *b.size); !d.IsUnknown() {
				return []*value{sizeValue(d)}
			}
		}
		if x, y, ok := numbers(c); ok {
			return []*value{{number: op.Float(onFloats(o, x, y))}}
		}
		return []*value{{node: nodeOf(c, computed(c, o))}}
	}}
}

// computed is an operator on both arguments; floats are of 64 bits, as Python's are.
func computed(c *call, o *op.Op) op.Value {
	x := c.x("a")
	if n, ok := c.number("b"); ok {
		if n.IsFloat() {
			x = c.cast(array.F64, x)
		}
		if attrs, has := attrsOf(o, n); has {
			return c.do(o, attrs, x)
		}
	}
	y := c.x("b")
	if x.Type().DType().IsFloat() || y.Type().DType().IsFloat() {
		x, y = c.cast(array.F64, x), c.cast(array.F64, y)
	}
	return c.do(o, nil, x, y)
}

// onFloats computes an operator on two numbers.
func onFloats(o *op.Op, x, y float64) float64 {
	switch o {
	case std.Add:
		return x + y
	case std.Sub:
		return x - y
	case std.Mul:
		return x * y
	case std.FloorDivide:
		return math.Floor(x / y)
	case std.Remainder:
		return x - math.Floor(x/y)*y
	case std.Pow:
		return math.Pow(x, y)
	case std.Maximum:
		return max(x, y)
	}
	return min(x, y)
}

func trueDivide(c *call) []*value {
	a, known1 := c.number("a")
	b, known2 := c.number("b")
	if known1 && known2 {
		return []*value{{number: op.Float(a.Float64() / b.Float64())}}
	}
	x := c.cast(array.F64, c.x("a"))
	if known2 {
		return []*value{{node: nodeOf(c, c.do(std.Div, std.DivAttrs{Other: op.Float(b.Float64())}, x))}}
	}
	return []*value{{node: nodeOf(c, c.do(std.Div, nil, x, c.cast(array.F64, c.x("b"))))}}
}

// unary computes on a size, a number or a value.
func (c *call) unary(onSize func(shape.Dim) shape.Dim, onFloat func(float64) float64, o *op.Op) []*value {
	v := c.need("a")
	switch {
	case v.size != nil:
		return []*value{sizeValue(onSize(*v.size))}
	case v.number.Present():
		return []*value{{number: op.Float(onFloat(v.number.Float64()))}}
	}
	return []*value{{node: nodeOf(c, c.do(o, nil, c.x("a")))}}
}

func symFloat(c *call) []*value {
	if n, ok := c.number("a"); ok {
		return []*value{{number: op.Float(n.Float64())}}
	}
	return []*value{{node: nodeOf(c, c.cast(array.F64, c.x("a")))}}
}

// whole makes an integer of a float, by the function that the target names.
func whole(c *call) []*value {
	f, o := math.Trunc, std.Trunc
	switch c.n.Target {
	case "math.floor", "builtins.floor":
		f, o = math.Floor, std.Floor
	case "math.ceil", "builtins.ceil":
		f, o = math.Ceil, std.Ceil
	case "builtins.round":
		f, o = math.RoundToEven, std.Round
	}
	v := c.need("a")
	if v.size != nil {
		return []*value{v}
	}
	if v.number.Present() {
		if n, ok := finiteInt(f(v.number.Float64())); ok {
			return []*value{sizeValue(shape.Const(n))}
		}
		panic(refuse(CodeProgram, "the number "+v.number.String()+" is no size"))
	}
	x := c.x("a")
	if x.Type().DType().IsFloat() {
		x = c.do(o, nil, x)
	}
	return []*value{{node: nodeOf(c, c.cast(array.I64, x))}}
}

func symSum(c *call) []*value {
	sum := zero
	for _, d := range c.dims("args") {
		sum = sum.Add(d)
	}
	return []*value{sizeValue(sum)}
}

// relation compares sizes, or values.
func relation(word string, o *op.Op) rule {
	return rule{args: "a b", run: func(c *call) []*value {
		a, b := c.need("a"), c.need("b")
		if a.size != nil && b.size != nil {
			return []*value{truth(compare(word, *a.size, *b.size))}
		}
		if x, y, ok := numbers(c); ok {
			return []*value{{number: op.BoolScalar(compareFloats(word, x, y))}}
		}
		return []*value{{node: nodeOf(c, computed(c, o))}}
	}}
}

func compareFloats(word string, x, y float64) bool {
	switch word {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func symNot(c *call) []*value {
	v := c.need("a")
	if n, ok := v.known(); ok {
		return []*value{{number: op.BoolScalar(n.Float64() == 0)}}
	}
	if len(v.claims) == 1 {
		if r, ok := v.claims[0].Not(); ok {
			return []*value{truth(r)}
		}
	}
	return []*value{{node: nodeOf(c, c.do(std.LogicalNot, nil, c.x("a")))}}
}

func symAnd(c *call) []*value {
	a, b := c.need("a"), c.need("b")
	for _, pair := range [][2]*value{{a, b}, {b, a}} {
		if n, ok := pair[0].known(); ok {
			if n.Float64() == 0 {
				return []*value{pair[0]}
			}
			return []*value{pair[1]}
		}
	}
	if a.claims != nil && b.claims != nil {
		return []*value{truth(append(append([]shape.Relation{}, a.claims...), b.claims...)...)}
	}
	return []*value{{node: nodeOf(c, c.do(std.LogicalAnd, nil, c.x("a"), c.x("b")))}}
}

func symOr(c *call) []*value {
	a, b := c.need("a"), c.need("b")
	for _, pair := range [][2]*value{{a, b}, {b, a}} {
		if n, ok := pair[0].known(); ok {
			if n.Float64() != 0 {
				return []*value{pair[0]}
			}
			return []*value{pair[1]}
		}
	}
	return []*value{{node: nodeOf(c, c.do(std.LogicalOr, nil, c.x("a"), c.x("b")))}}
}
