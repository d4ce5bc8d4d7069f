package source

import (
	"math"

	"github.com/gofx-dev/gofx/array"
)

// Reduce prints the kernel of kernel.Reduce: the kinds "sum", "prod", "mean", "max", "min",
// "any" and "all" over the axes red. Floats of up to 32 bits are summed in f32. The result is
// dense, whether it keeps reduced axes or not.
func Reduce(kind string, out array.DType, in View, red []int, group int) *Kernel {
	r := newRows(parameters([]array.DType{out}, []array.DType{in.DType}), in, red, group)
	w := wide(out)
	start, join := "", plus
	value := func(index, _ string) string { return cast(w, in.DType, load(in.DType, "x0", index)) }
	switch kind {
	case "sum", "mean":
		start = realOr(w, 0)
	case "prod":
		start = realOr(w, 1)
		join = func(a, x string) string { return a + " * " + x }
	case "max", "min":
		start = extreme(w, out, kind == "min")
		join = func(a, x string) string { return extremeOf(w, out, kind, a, x) }
	case "any", "all":
		start, join = "I64(0)", func(a, x string) string { return a + " | " + x }
		if kind == "all" {
			start, join = "I64(1)", func(a, x string) string { return a + " & " + x }
		}
		value = func(index, _ string) string { return "(i64)(" + load(in.DType, "x0", index) + " != 0)" }
	}
	r.reduce("acc", register(w), start, join, value)
	result := "acc"
	if kind == "mean" {
		result = "acc / " + realLiteral(w, float64(r.n))
	}
	r.once(store(out, "y0", "o", wrapOrRound(out, result)))
	return r.finish()
}

// wrapOrRound makes a register a value of type d.
func wrapOrRound(d array.DType, v string) string {
	if register(d) == "i64" {
		return wrap(d, v)
	}
	return v // storing rounds
}

// realOr is a number in a register of type w.
func realOr(w array.DType, x int) string {
	if w == array.I64 {
		return intLiteral(int64(x))
	}
	return realLiteral(w, float64(x))
}

// extreme is what every value of type d is above (or below, for least).
func extreme(w, d array.DType, least bool) string {
	sign := -1
	if least {
		sign = 1
	}
	if w != array.I64 {
		return realLiteral(w, math.Inf(sign))
	}
	switch {
	case d == array.U64 && least:
		return "(i64)~U64(0)"
	case d == array.U64:
		return "I64(0)"
	case least:
		return intLiteral(math.MaxInt64)
	}
	return intLiteral(math.MinInt64)
}

// extremeOf prints the larger or smaller of two registers; NaN wins.
func extremeOf(w, d array.DType, kind, a, x string) string {
	switch w {
	case array.F32:
		return "fx_" + kind + "(" + a + ", " + x + ")"
	case array.F64:
		return "fx_d" + kind + "(" + a + ", " + x + ")"
	}
	sign, kindOf := " > ", ""
	if kind == "min" {
		sign = " < "
	}
	if d == array.U64 {
		kindOf = "(u64)"
	}
	return "(" + kindOf + a + sign + kindOf + "(" + x + ") ? " + a + " : " + x + ")"
}

// Arg prints the kernel that finds the first greatest or least element along the axes red
// (kind "max" or "min"), whose number among them, row-major, it stores in y1 as i64, and which
// itself goes to y0; either is left out where the result has none. NaN is the most extreme.
func Arg(kind string, value, index bool, in View, red []int) *Kernel {
	var outs []array.DType
	if value {
		outs = append(outs, in.DType)
	}
	if index {
		outs = append(outs, array.I64)
	}
	r := newRows(parameters(outs, []array.DType{in.DType}), in, red, 1)
	ctype := register(in.DType)
	sign, number := " > ", ""
	if kind == "min" {
		sign = " < "
	}
	if in.DType == array.U64 {
		number = "(u64)"
	}
	r.line(ctype + " best = 0;")
	r.line("int at = -1;")
	r.each(func(index, k string) {
		r.line("\t" + ctype + " x = " + load(in.DType, "x0", index) + ";")
		r.line("\tif (at < 0 || " + number + "x" + sign + number + "best || (x != x && best == best)) { best = x; at = " + k + "; }")
	})
	last := 0
	if value {
		r.once(store(in.DType, "y0", "o", "best"))
		last = 1
	}
	if index {
		r.once(store(array.I64, "y"+num(last), "o", "at"))
	}
	return r.finish()
}

// Var prints the kernel of the variance over the axes red: the sum of squares of differences
// from the mean, divided by the number of elements less correction, or its root. Under the
// root the differences are parts of the greatest, so that no square leaves the range of floats.
func Var(out array.DType, in View, red []int, correction float64, root bool, group int) *Kernel {
	r := newRows(parameters([]array.DType{out}, []array.DType{in.DType}), in, red, group)
	w := wide(in.DType)
	count := realLiteral(w, math.Max(float64(r.n)-correction, 0))
	if !root {
		r.moments(w, in.DType)
		r.once(store(out, "y0", "o", "square / "+count))
		return r.finish()
	}
	r.mean(w, in.DType)
	most := func(a, x string) string { return "fmax(" + a + ", " + x + ")" }
	r.reduce("far", register(w), realOr(w, 0), most, func(index, _ string) string { return "fabs" + deviation(in.DType, index) })
	r.line(register(w) + " unit = far > 0 && far - far == 0 ? far : " + realOr(w, 1) + ";")
	r.reduce("square", register(w), realOr(w, 0), plus, func(index, _ string) string {
		x := "(" + deviation(in.DType, index) + " / unit)"
		return x + " * " + x
	})
	r.once(store(out, "y0", "o", "unit * sqrt(square / "+count+")"))
	return r.finish()
}

// mean declares first, the first element, and mean, the mean of what others are beyond it: sums
// of that round by what elements differ, not by what they have in common, and elements that are
// equal leave nothing. first is 0 in place of an element that is not finite or not there.
func (r *rows) mean(w, d array.DType) {
	first := realOr(w, 0)
	if r.n > 0 {
		first = load(d, "x0", "base")
	}
	r.line(register(w) + " first = " + first + ";")
	r.line("first = first - first == 0 ? first : " + realOr(w, 0) + ";")
	r.reduce("total", register(w), realOr(w, 0), plus, func(index, _ string) string { return load(d, "x0", index) + " - first" })
	r.line(register(w) + " mean = total / " + realLiteral(w, float64(r.n)) + ";")
}

// deviation prints what an element is beyond the mean.
func deviation(d array.DType, index string) string {
	return "(" + load(d, "x0", index) + " - first - mean)"
}

// moments declares first and mean, and square, the sum of squares of deviations.
func (r *rows) moments(w, d array.DType) {
	r.mean(w, d)
	r.reduce("square", register(w), realOr(w, 0), plus, func(index, _ string) string {
		x := deviation(d, index)
		return x + " * " + x
	})
}

// BatchStats prints the kernel of the mean (y0) and biased variance (y1) of each channel,
// dimension 1.
func BatchStats(in View, out array.DType, group int) *Kernel {
	r := newRows(parameters([]array.DType{out, out}, []array.DType{in.DType}), in, others(len(in.Shape), 1), group)
	w := wide(in.DType)
	r.moments(w, in.DType)
	r.once(store(out, "y0", "o", "first + mean") + " " + store(out, "y1", "o", "square / "+realLiteral(w, float64(r.n))))
	return r.finish()
}

func others(rank, axis int) []int {
	var o []int
	for i := range rank {
		if i != axis {
			o = append(o, i)
		}
	}
	return o
}

// Softmax prints the kernel of exp(x - max) / Σ exp(x - max) along dim, or of its logarithm.
// The result is dense.
func Softmax(in View, dim int, log bool, group int) *Kernel {
	out := Dense(in.DType, in.Shape)
	r := newRows(parameters([]array.DType{in.DType}, []array.DType{in.DType}), in, []int{dim}, group)
	w := wide(in.DType)
	c := register(w)
	x := func(index string) string { return load(in.DType, "x0", index) }
	r.reduce("most", c, extreme(w, in.DType, false), func(a, v string) string { return extremeOf(w, in.DType, "max", a, v) },
		func(index, _ string) string { return x(index) })
	r.reduce("total", c, realOr(w, 0), plus, func(index, _ string) string { return "exp(" + x(index) + " - most)" })
	r.line(c + " scale = " + map[bool]string{false: realLiteral(w, 1) + " / total", true: "log(total)"}[log] + ";")
	r.target(out, dim)
	_, stride := out.Axis(dim)
	r.each(func(index, k string) {
		v := "exp(" + x(index) + " - most) * scale"
		if log {
			v = x(index) + " - most - scale"
		}
		r.line("\t" + store(in.DType, "y0", sum("to", term("("+k+")", stride)), v))
	})
	return r.finish()
}

// target declares to, where a row of a dense result begins.
func (r *rows) target(out View, dim int) {
	v := View{}
	for i := range out.Shape {
		if i != dim {
			size, stride := out.Axis(i)
			v.Shape, v.Strides = append(v.Shape, size), append(v.Strides, stride)
		}
	}
	coords := unravel(r.b, "o", "t", "\t", v.Shape)
	r.line("int to = " + v.at(coords) + ";")
}

// Norm describes a normalisation of rows of a dense operand.
type Norm struct {
	Rows, N    int     // rows, and their elements
	Eps        float64 // added to the variance, or the mean square
	Root       bool    // by the root mean square: the mean is not taken away
	Weight     bool    // x1 scales
	Bias       bool    // the operand after it is added
	PerChannel int     // elements that share a weight, 1 for one weight an element
	Groups     int     // rows of an image whose weights follow each other
}

// Normalise prints the kernel of layer, group and root-mean-square norms. types are those of
// the operands; the result is dense with the type of the first.
func Normalise(n Norm, types []array.DType, group int) *Kernel {
	d := types[0]
	r := newRows(parameters([]array.DType{d}, types), Dense(d, []int{n.Rows, n.N}), []int{1}, group)
	w := wide(d)
	c := register(w)
	x := func(index string) string { return load(d, "x0", index) }
	count, eps := realLiteral(w, float64(n.N)), realLiteral(w, n.Eps)
	if n.Root {
		r.reduce("square", c, realOr(w, 0), plus, func(index, _ string) string { return x(index) + " * " + x(index) })
	} else {
		r.moments(w, d)
	}
	r.line(c + " scale = " + realLiteral(w, 1) + " / sqrt(square / " + count + " + " + eps + ");")
	r.each(func(index, k string) {
		v := x(index)
		if !n.Root {
			v = deviation(d, index)
		}
		v += " * scale"
		at := "(" + k + ")"
		if n.PerChannel > 1 {
			at = "(" + at + " / " + num(n.PerChannel) + ")"
		}
		if n.Groups > 1 {
			at = "(o % " + num(n.Groups) + " * " + num(n.N/max(n.PerChannel, 1)) + " + " + at + ")"
		}
		next := 1
		if n.Weight {
			v, next = v+" * "+load(types[1], "x1", at), 2
		}
		if n.Bias {
			v += " + " + load(types[next], "x"+num(next), at)
		}
		r.line("\t" + store(d, "y0", index, v))
	})
	return r.finish()
}

// Scan prints the kernel of running sums or products ("sum", "prod") along dim. The result is
// dense.
func Scan(kind string, out array.DType, in View, dim int) *Kernel {
	r := newRows(parameters([]array.DType{out}, []array.DType{in.DType}), in, []int{dim}, 1)
	w := wide(out)
	start, sign := 0, " + "
	if kind == "prod" {
		start, sign = 1, " * "
	}
	to := Dense(out, in.Shape)
	r.target(to, dim)
	_, stride := to.Axis(dim)
	r.line(register(w) + " acc = " + realOr(w, start) + ";")
	r.each(func(index, k string) {
		r.line("\tacc = acc" + sign + cast(w, in.DType, load(in.DType, "x0", index)) + ";")
		r.line("\t" + store(out, "y0", sum("to", term("("+k+")", stride)), wrapOrRound(out, "acc")))
	})
	return r.finish()
}
