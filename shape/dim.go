package shape

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/diag"
)

// Dim is one dimension: a known number, an integer expression over symbols, or
// Unknown. The zero value is the number 0. Dims are immutable; compare with Equal.
//
// An expression is kept as a polynomial with integer coefficients whose variables are
// symbols, floor divisions and minima of such polynomials, so that sums, products and
// exact quotients that are equal have one form. Symbols stand for sizes: integers that
// are never negative; divisors are assumed to be nonzero.
type Dim struct {
	n int64
	e *expr // nil for numbers
}

var unknownExpr = &expr{key: "?"}

// Unknown is the dimension about which nothing is known. It is never equal to
// anything and arithmetic with it is Unknown.
var Unknown = Dim{e: unknownExpr}

// Const returns the known dimension n; Unknown for the least int64, which is out
// of the range of sizes.
func Const(n int) Dim { return fold(int64(n), int64(n) != math.MinInt64) }

// Sym returns the dimension called name. It panics with a *diag.Error when the
// name is not a letter or underscore followed by letters, digits and
// underscores; see ValidSymbol for names from outside.
func Sym(name string) Dim {
	if !ValidSymbol(name) {
		panic(diag.New(CodeText, "symbol name is "+strconv.Quote(clip(name))+", expected a letter or underscore followed by letters, digits, underscores"))
	}
	return Dim{e: &expr{key: name, terms: []term{{c: 1, m: []*atom{{key: name}}}}}}
}

// Cost returns the cost of arithmetic with the expression: the number of its factors and
// terms, written out as a sum of products, those inside of divisions and minima included. It
// is 0 for numbers.
func (d Dim) Cost() int {
	if d.e == nil {
		return 0
	}
	n := 0
	for _, t := range d.e.terms {
		n += 2 + len(t.m)
		for _, a := range t.m {
			if !a.isSym() {
				n += a.num.Cost() + a.den.Cost()
			}
		}
	}
	return n
}

// ValidSymbol reports whether name can name a symbol: [A-Za-z_][A-Za-z0-9_]*, at
// most 256 bytes.
func ValidSymbol(name string) bool {
	if name == "" || len(name) > maxName || !isLetter(name[0]) {
		return false
	}
	for i := 1; i < len(name); i++ {
		if !isLetter(name[i]) && !isDigit(name[i]) {
			return false
		}
	}
	return true
}

// Int returns the number; ok is false for symbolic and unknown dimensions.
func (d Dim) Int() (n int, ok bool) {
	n = int(d.n)
	return n, d.e == nil && int64(n) == d.n
}

// IsUnknown reports whether nothing is known about d.
func (d Dim) IsUnknown() bool { return d.e == unknownExpr }

// Is reports whether d is the known number n.
func (d Dim) Is(n int) bool { return d.e == nil && d.n == int64(n) }

// IsSymbol returns the name when d is one symbol and nothing else.
func (d Dim) IsSymbol() (name string, ok bool) {
	if d.e == nil || len(d.e.terms) != 1 {
		return "", false
	}
	t := d.e.terms[0]
	if t.c != 1 || len(t.m) != 1 || !t.m[0].isSym() {
		return "", false
	}
	return t.m[0].key, true
}

// Equal reports whether d and o are provably equal; Unknown equals nothing.
func (d Dim) Equal(o Dim) bool { return !d.IsUnknown() && d.Same(o) }

// Same is Equal, but Unknown is the same as Unknown.
func (d Dim) Same(o Dim) bool {
	if d.e == nil || o.e == nil {
		return d.e == nil && o.e == nil && d.n == o.n
	}
	return d.e == o.e || d.e.key == o.e.key
}

// String returns the canonical text, which ParseDim reads back: "3", "N",
// "2*N+1", "(H-1)//2", "min(N,100)", "?".
func (d Dim) String() string {
	if d.e == nil {
		return strconv.FormatInt(d.n, 10)
	}
	return d.e.key
}

// Add returns d+o. Like all arithmetic here it is Unknown when an operand is
// Unknown, when a coefficient leaves the range of int64, or when the expression
// grows past a fixed size (128 terms, degree 32, 2048 bytes of text).
func (d Dim) Add(o Dim) Dim {
	if d.e == nil && o.e == nil {
		return fold(addOv(d.n, o.n))
	}
	return addScaled(d, o, 1)
}

// Sub returns d-o; see Add.
func (d Dim) Sub(o Dim) Dim {
	if d.e == nil && o.e == nil {
		return fold(subOv(d.n, o.n))
	}
	return addScaled(d, o, -1)
}

// Mul returns d*o; see Add.
func (d Dim) Mul(o Dim) Dim {
	if d.e == nil && o.e == nil {
		return fold(mulOv(d.n, o.n))
	}
	if d.IsUnknown() || o.IsUnknown() {
		return Unknown
	}
	return mulPoly(d, o)
}

// FloorDiv returns d/o rounded towards minus infinity; Unknown when o is the
// number 0. See Add.
func (d Dim) FloorDiv(o Dim) Dim {
	if d.e == nil && o.e == nil {
		return fold(floorDivOv(d.n, o.n))
	}
	if d.IsUnknown() || o.IsUnknown() || o.Is(0) {
		return Unknown
	}
	return floorDiv(d, o)
}

// AddInt returns d+n.
func (d Dim) AddInt(n int) Dim { return d.Add(Const(n)) }

// MulInt returns d*n.
func (d Dim) MulInt(n int) Dim { return d.Mul(Const(n)) }

// FloorDivInt returns d/n rounded towards minus infinity.
func (d Dim) FloorDivInt(n int) Dim { return d.FloorDiv(Const(n)) }

// DivExact returns d/o when o divides d for all values of the symbols:
// N*768 by 64*12 is N. ok is false when that cannot be shown.
func (d Dim) DivExact(o Dim) (q Dim, ok bool) {
	if d.IsUnknown() || o.IsUnknown() || o.Is(0) {
		return Unknown, false
	}
	if d.e == nil && o.e == nil {
		q, ok := floorDivOv(d.n, o.n)
		if !ok || d.n%o.n != 0 {
			return Unknown, false
		}
		return Dim{n: q}, true
	}
	return divExact(d, o)
}

// Bind replaces symbols by the results of env; a symbol for which env returns
// Unknown makes the result Unknown only where it is used. To keep a symbol, env
// returns Sym of its name.
func (d Dim) Bind(env func(symbol string) Dim) Dim {
	if d.e == nil || d.IsUnknown() {
		return d
	}
	sum := Dim{}
	for _, t := range d.e.terms {
		p := Dim{n: t.c}
		for _, a := range t.m {
			var v Dim
			switch {
			case a.isDiv():
				v = a.num.Bind(env).FloorDiv(a.den.Bind(env))
			case a.isMin():
				v = a.num.Bind(env).Min(a.den.Bind(env))
			default:
				v = env(a.key)
			}
			p = p.Mul(v)
		}
		sum = sum.Add(p)
	}
	return sum
}

// Symbols returns the names of the symbols in d, sorted, each once.
func (d Dim) Symbols() []string {
	var names []string
	d.eachSymbol(func(s string) { names = append(names, s) })
	slices.Sort(names)
	return slices.Compact(names)
}

func (d Dim) eachSymbol(f func(string)) {
	if d.e == nil {
		return
	}
	for _, t := range d.e.terms {
		for _, a := range t.m {
			if !a.isSym() {
				a.num.eachSymbol(f)
				a.den.eachSymbol(f)
			} else {
				f(a.key)
			}
		}
	}
}

// Uses reports whether the symbol occurs in d.
func (d Dim) Uses(symbol string) bool {
	found := false
	d.eachSymbol(func(s string) { found = found || s == symbol })
	return found
}

// Eval computes d from the values of its symbols. The error, a *diag.Error with
// CodeEval, says which symbol has no value, that a divisor is zero, that the
// result leaves the range of int, or that d is Unknown.
func (d Dim) Eval(env func(symbol string) (int, bool)) (int, error) {
	if n, ok := d.Int(); ok {
		return n, nil
	}
	v, why := d.eval(env)
	if why == "" && int64(int(v)) != v {
		why = "leaves the range of int"
	}
	if why != "" {
		return 0, diag.New(CodeEval, "size "+d.String()+" "+why)
	}
	return int(v), nil
}

const tooLarge = "leaves the range of 64-bit integers"

// eval returns the value, or why there is none.
func (d Dim) eval(env func(string) (int, bool)) (int64, string) {
	if d.e == nil {
		return d.n, ""
	}
	if d.IsUnknown() {
		return 0, "is unknown, expected a known or symbolic size"
	}
	var sum int64
	for _, t := range d.e.terms {
		p := t.c
		for _, a := range t.m {
			v, why := a.eval(env)
			if why != "" {
				return 0, why
			}
			var ok bool
			if p, ok = mulOv(p, v); !ok {
				return 0, tooLarge
			}
		}
		var ok bool
		if sum, ok = addOv(sum, p); !ok {
			return 0, tooLarge
		}
	}
	return sum, ""
}

func (a *atom) eval(env func(string) (int, bool)) (int64, string) {
	if a.isSym() {
		v, ok := env(a.key)
		if !ok {
			return 0, "needs symbol " + a.key + ", which has no value"
		}
		return int64(v), ""
	}
	num, why := a.num.eval(env)
	if why != "" {
		return 0, why
	}
	den, why := a.den.eval(env)
	if why != "" {
		return 0, why
	}
	if a.isMin() {
		return min(num, den), ""
	}
	if den == 0 {
		return 0, "divides by " + a.den.String() + ", which is zero"
	}
	q, ok := floorDivOv(num, den)
	if !ok {
		return 0, tooLarge
	}
	return q, ""
}
