package pt2

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/shape"
)

// Expressions of sizes, as sympy writes them: Mul(Integer(2), Symbol('s0', positive=True)).

// sizeParser reads expressions. An unknown construct is shape.Unknown: types of the file are
// compared with those that gofx infers, and unknown sizes are not.
type sizeParser struct {
	text  string
	at    int
	depth int
	env   func(symbol string) shape.Dim
}

// mostNested bounds expressions in expressions.
const mostNested = 100

// dimOf is the size that a symbolic stands for, in the sizes that symbols of the file stand for.
func dimOf(s symbolic, env func(symbol string) shape.Dim) shape.Dim {
	switch {
	case s.Int != nil:
		return shape.Const(int(*s.Int))
	case s.Expr == nil:
		return shape.Unknown
	}
	p := &sizeParser{text: s.Expr.Text, env: env}
	d := p.expr()
	if p.skip(); p.at != len(p.text) {
		return shape.Unknown
	}
	return d
}

func (p *sizeParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take reads a character, if it is the next one.
func (p *sizeParser) take(c byte) bool {
	if p.skip(); p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// word reads letters, digits, and the other characters of numbers and names.
func (p *sizeParser) word() string {
	p.skip()
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '.' && c != '-' && c != '+' {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

// fail ends the reading.
func (p *sizeParser) fail() shape.Dim {
	p.at = len(p.text) + 1
	return shape.Unknown
}

// expr reads an expression.
func (p *sizeParser) expr() shape.Dim {
	if p.depth++; p.depth > mostNested || p.at > len(p.text) {
		return p.fail()
	}
	defer func() { p.depth-- }()
	name := p.word()
	if n, err := strconv.Atoi(name); err == nil {
		return shape.Const(n)
	}
	if !p.take('(') {
		return p.fail()
	}
	if name == "Symbol" {
		return p.symbol()
	}
	var args []shape.Dim
	for !p.take(')') {
		args = append(args, p.expr())
		if p.take(','); p.at > len(p.text) {
			return shape.Unknown
		}
	}
	return apply(name, args)
}

// symbol reads 'name', and skips its assumptions.
func (p *sizeParser) symbol() shape.Dim {
	if !p.take('\'') {
		return p.fail()
	}
	name := p.word()
	if !p.take('\'') {
		return p.fail()
	}
	for p.at < len(p.text) && p.text[p.at] != ')' {
		p.at++
	}
	if !p.take(')') {
		return p.fail()
	}
	return p.env(name)
}

// apply computes a function of sympy, Unknown for one that sizes do not have.
func apply(name string, args []shape.Dim) shape.Dim {
	for _, a := range args {
		if a.IsUnknown() {
			return shape.Unknown
		}
	}
	fold := func(f func(a, b shape.Dim) shape.Dim) shape.Dim {
		if len(args) == 0 {
			return shape.Unknown
		}
		v := args[0]
		for _, a := range args[1:] {
			v = f(v, a)
		}
		return v
	}
	switch name {
	case "Add":
		return fold(shape.Dim.Add)
	case "Mul":
		return fold(shape.Dim.Mul)
	case "Max":
		return fold(shape.Dim.Max)
	case "Min":
		return fold(shape.Dim.Min)
	}
	switch {
	case (name == "Integer" || name == "TruncToInt" || name == "ToFloat") && len(args) == 1:
		return args[0]
	case len(args) != 2:
		return shape.Unknown
	}
	switch name {
	case "FloorDiv", "CleanDiv":
		return floorDiv(args[0], args[1])
	case "Mod", "PythonMod":
		return modulo(args[0], args[1])
	case "Pow":
		return power(args[0], args[1])
	}
	return shape.Unknown
}

// floorDiv divides and rounds down, as Python does; Unknown for a divisor that may be negative.
func floorDiv(a, b shape.Dim) shape.Dim {
	if n, ok := b.Int(); ok && n < 0 {
		return zero.Sub(a).FloorDiv(zero.Sub(b))
	}
	if b.Is(0) || shape.AtLeast(b, zero).Truth() != shape.True {
		return shape.Unknown
	}
	return a.FloorDiv(b)
}

// modulo has the sign of its divisor.
func modulo(a, b shape.Dim) shape.Dim {
	q := floorDiv(a, b)
	if q.IsUnknown() {
		return q
	}
	return a.Sub(q.Mul(b))
}

// mostPower bounds exponents: sizes are small polynomials.
const mostPower = 8

func power(a, b shape.Dim) shape.Dim {
	n, ok := b.Int()
	if !ok || n < 0 || n > mostPower {
		return shape.Unknown
	}
	v := one
	for range n {
		v = v.Mul(a)
	}
	return v
}

var zero, one = shape.Const(0), shape.Const(1)

// wide is the least absolute value of a bound that means "no bound": writers also express
// int_oo by numbers.
const wide = math.MaxInt32
