package shape

// Arith builds results from the parts of size expressions: text, Go or device
// code, numbers, other expressions. T is the type of the result.
type Arith[T any] interface {
	// Const is a number, Symbol a size by its name.
	Const(n int64) T
	Symbol(name string) T
	// Neg is -x, Add x+y, Sub x-y and Mul x*y.
	Neg(x T) T
	Add(x, y T) T
	Sub(x, y T) T
	Mul(x, y T) T
	// FloorDiv is x/y rounded towards minus infinity. A language whose division
	// rounds towards zero, as Go's does, needs more than its operator.
	FloorDiv(x, y T) T
	// Min is the smaller one. There is no Max: the greater one is x+y-min(x,y).
	Min(x, y T) T
}

// Fold goes over an expression from its leaves up and returns the result of a.
// These are all the parts that an expression can have. They come in the order of
// String: a sum is built from the left, a product too, its leading number first.
// Negative numbers stand only at the start of a sum. ok is false for Unknown,
// which has no parts.
func Fold[T any](d Dim, a Arith[T]) (v T, ok bool) {
	if d.IsUnknown() {
		return v, false
	}
	return foldDim(d, a), true
}

func foldDim[T any](d Dim, a Arith[T]) T {
	if d.e == nil {
		return a.Const(d.n)
	}
	sum := foldTerm(d.e.terms[0], a)
	for _, t := range d.e.terms[1:] {
		if t.c < 0 {
			sum = a.Sub(sum, foldTerm(term{-t.c, t.m}, a))
		} else {
			sum = a.Add(sum, foldTerm(t, a))
		}
	}
	return sum
}

func foldTerm[T any](t term, a Arith[T]) T {
	if len(t.m) == 0 {
		return a.Const(t.c)
	}
	if t.c != 1 && t.c != -1 {
		return foldProduct(a.Const(t.c), t.m, a)
	}
	p := foldProduct(foldAtom(t.m[0], a), t.m[1:], a)
	if t.c < 0 {
		return a.Neg(p)
	}
	return p
}

func foldProduct[T any](p T, m []*atom, a Arith[T]) T {
	for _, x := range m {
		p = a.Mul(p, foldAtom(x, a))
	}
	return p
}

func foldAtom[T any](x *atom, a Arith[T]) T {
	switch {
	case x.isDiv():
		return a.FloorDiv(foldDim(x.num, a), foldDim(x.den, a))
	case x.isMin():
		return a.Min(foldDim(x.num, a), foldDim(x.den, a))
	}
	return a.Symbol(x.key)
}
