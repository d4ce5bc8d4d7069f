package ints

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_compile.go Above Between Switched Parity Differs Bounded Capped Halved Given Merged Helped Returned Positioned Fresh Cropped Asked Equals Told Level Levels Signed PinFloat PinLoop PinField PinSwap PinIndex PinShape PinTwice Weighed Coincides Negative Flagged Twice Mapped ByValue Inner Listed Unsigned Halfway Argued Grows Shrinks PinDrawn Spaced Padded Deferred Logged Ranked Outgrows AtMost Fits

type tt = tensor.Tensor

// Model has words and weights.
type Model struct {
	W     *tt
	Level int
	Rate  float64
	Big   bool
	Rows  int
	List  []float64
	Rates map[string]float64
	Conf  Conf
	Small uint8
}

// Conf is held by value.
type Conf struct{ Rate float64 }

// Above branches on a size.
func Above(m *Model, x, y *tt) *tt {
	if x.Dim(0) > 8 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Between has three ways.
func Between(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	if n < 6 {
		return x.Exp()
	} else if n <= 12 {
		return x.MulScalar(3)
	}
	return x.Tanh()
}

// Switched names two sizes.
func Switched(m *Model, x, y *tt) *tt {
	switch x.Dim(0) {
	case 7:
		return x.Neg()
	case 11:
		return x.Abs()
	}
	return x.AddScalar(2)
}

// Parity pads what is odd.
func Parity(m *Model, x, y *tt) *tt {
	if x.Dim(0)%2 == 1 {
		x = x.Pad(0, 0, 0, 1)
	}
	return x.Mean(0)
}

// Differs compares the sizes of two arguments.
func Differs(m *Model, x, y *tt) *tt {
	if x.Dim(0) != y.Dim(0) {
		return x.Sum(0).Add(y.Sum(0))
	}
	return x.Mul(y).Sum(0)
}

// Bounded compares what it computes of two sizes.
func Bounded(m *Model, x, y *tt) *tt {
	n, k := x.Dim(0), y.Dim(0)
	if n+2*k >= 20 && n*k > 30 {
		return x.Sum(0).Sub(y.Mean(0))
	}
	return x.Mean(0).Sub(y.Sum(0))
}

// Capped takes some rows at most.
func Capped(m *Model, x, y *tt) *tt {
	return x.Narrow(0, 0, min(x.Dim(0), 5)).Sum(0)
}

// Halved gives operators half of a size.
func Halved(m *Model, x, y *tt) *tt {
	half := (x.Dim(0) + 1) / 2
	a := x.Slice(0, 0, half)
	b := x.Slice(0, x.Dim(0)-half, x.Dim(0))
	return a.Sum(0).Sub(b.Mean(0))
}

// PinTwice has an operator twice on a line.
func PinTwice(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	return x.Slice(0, 0, n-1).Slice(0, 0, n)
}

// Given reshapes by a size as an int.
func Given(m *Model, x, y *tt) *tt {
	z := x.Reshape(1, x.Dim(0), -1)
	return z.Expand(2, -1, -1).Sum(0, 1)
}

// Merged joins two axes, and cuts them again.
func Merged(m *Model, x, y *tt) *tt {
	b, d := x.Dim(0), x.Dim(1)
	flat := x.Reshape(b * d)
	flat = flat.MulScalar(2)
	return flat.Reshape(b, d).Matmul(m.W)
}

func half(n int) int { return n / 2 }

func rows(x *tt) int { return x.Dim(0) }

func halves(x *tt, n int) (*tt, *tt) {
	lo := x.Narrow(0, 0, n)
	return lo, x.Narrow(0, n, n)
}

// Helped gives ints to functions, and has them from some.
func Helped(m *Model, x, y *tt) *tt {
	a, b := halves(x, half(rows(x)))
	return a.Mul(b).Sum(0).Add(y.Narrow(0, 0, half(rows(y))).Sum(0))
}

func both(x *tt) (int, int) { return x.Dim(0), x.Dim(1) }

// Returned has two ints of one function.
func Returned(m *Model, x, y *tt) *tt {
	n, d := both(x)
	if n > d {
		return x.Reshape(d*n, 1).Sum(0)
	}
	return x.Reshape(1, n*d).Sum(1)
}

// Positioned makes positions of a size.
func Positioned(m *Model, x, y *tt) *tt {
	at := tensor.Arange(x.Dim(0)).Cast(array.F32)
	return x.Mul(at.Unsqueeze(1)).Sum(0)
}

// Fresh makes tensors of sizes.
func Fresh(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	eye := tensor.Eye(n)
	ones := tensor.Ones(n, 3)
	full := tensor.Full(n, 0.5)
	zeros := tensor.Zeros(2, n)
	return eye.Matmul(ones).Mul(x).Sum(0).Add(full.Sum()).Add(zeros.Matmul(x).Sum())
}

// Cropped has a bound that depends on a branch.
func Cropped(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	if n > 9 {
		n = 9
	}
	return x.Narrow(0, 0, n).Sum(0)
}

// Asked asks what it has computed.
func Asked(m *Model, x, y *tt) *tt {
	z := tensor.Cat([]*tt{x, y}, 0)
	if z.Dim(0) > 14 {
		z = z.Narrow(0, 0, z.Dim(0)-4)
	}
	if z.Dim(0) > 12 {
		return z.Sum(0)
	}
	return z.Mean(0)
}

// Equals compares sizes that are no ints.
func Equals(m *Model, x, y *tt) *tt {
	if x.Size(0).Equal(12) || x.Size(0).Equal(y.Size(0)) {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Told has the number of a Size.
func Told(m *Model, x, y *tt) *tt {
	if x.Size(0).Mul(2).Int() > 15 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Level branches on a field.
func Level(m *Model, x, y *tt) *tt {
	if m.Level > 8 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Levels branches on numbers that operators are given, too.
func Levels(m *Model, x, y *tt) *tt {
	if m.Rate > 8.5 {
		x = x.Neg()
	}
	switch {
	case m.Level*2 == 20:
		return x.MulScalar(m.Rate)
	case 30 < m.Level:
		return x.MulScalar(m.Level)
	}
	return x.MulScalar(m.Rate).AddScalar(m.Level)
}

// Signed computes below 0.
func Signed(m *Model, x, y *tt) *tt {
	if (x.Dim(0)-6)%4 == 1 {
		return x.Neg()
	}
	return x.Exp()
}

// PinFloat computes with a size as a float.
func PinFloat(m *Model, x, y *tt) *tt { return x.DivScalar(float64(x.Dim(0))) }

// PinLoop has a round for each row.
func PinLoop(m *Model, x, y *tt) *tt {
	for i := range x.Dim(0) {
		x = x.AddScalar(i)
	}
	return x
}

// PinField keeps a size.
func PinField(m *Model, x, y *tt) *tt {
	m.Rows = x.Dim(0)
	return x.Exp()
}

type pair struct{ n, d int }

// PinSwap gives a size on in a struct.
func PinSwap(m *Model, x, y *tt) *tt {
	p := pair{x.Dim(0), x.Dim(1)}
	return swap(x, &p)
}

func swap(x *tt, p *pair) *tt { return x.Reshape(p.d, p.n) }

// PinIndex takes an element by a size.
func PinIndex(m *Model, x, y *tt) *tt { return x.MulScalar(m.List[x.Dim(0)%3]) }

// PinShape has all sizes on a line with one.
func PinShape(m *Model, x, y *tt) *tt {
	if s := x.Shape(); x.Dim(0) > 8 && s[0] < 12 {
		return x.Neg()
	}
	return x.Exp()
}

// Weighed has one line for sizes of arguments and of weights.
func Weighed(m *Model, x, y *tt) *tt {
	if rows(x) > rows(m.W) {
		return x.Narrow(0, 0, rows(m.W)).Sum(0)
	}
	return cut(x, rows(m.W)-1).Sum(0).Add(cut(x, rows(x)-1).Sum(0))
}

func cut(x *tt, n int) *tt { return x.Narrow(0, 0, n) }

// Coincides has a number that some sizes are.
func Coincides(m *Model, x, y *tt) *tt {
	z := y.Reshape(y.Dim(0), 1, 3).Sum(0)
	return x.Reshape(x.Dim(0), 3).Sum(0).Add(z)
}

// Negative counts from the end, for some sizes.
func Negative(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	return x.Slice(0, n-7, n).Sum(0)
}

// Flagged keeps what it has found.
func Flagged(m *Model, x, y *tt) *tt {
	m.Big = x.Dim(0) > 8
	return x.Exp()
}

// Twice asks one line for two sizes, and gives one line both.
func Twice(m *Model, x, y *tt) *tt {
	a, b := rows(x), rows(y)
	if a < b {
		a, b = b, a
	}
	z := tensor.Cat([]*tt{x, y}, 0)
	return cut(z, a).Sum(0).Sub(cut(z, b).Mean(0))
}

// Mapped multiplies by a number of a map.
func Mapped(m *Model, x, y *tt) *tt { return x.MulScalar(m.Rates["a"]) }

// ByValue gives a struct on.
func ByValue(m *Model, x, y *tt) *tt { return m.Conf.scaled(x) }

func (c Conf) scaled(x *tt) *tt { return x.MulScalar(c.Rate) }

// Inner has a number of a struct that is held by value, and compares it.
func Inner(m *Model, x, y *tt) *tt {
	if m.Conf.Rate >= 9.5 {
		x = x.Abs()
	}
	return x.MulScalar(m.Conf.Rate)
}

// Listed compares an element of a list.
func Listed(m *Model, x, y *tt) *tt {
	if m.List[0] < 7 {
		return x.AddScalar(3)
	}
	return x.Neg()
}

// Unsigned computes in 8 bits without a sign, and compares.
func Unsigned(m *Model, x, y *tt) *tt {
	if m.Small*8 > 100 && -m.Small != 240 {
		return x.AddScalar(3)
	}
	return x.Neg()
}

// Halfway compares what is rounded to 0.
func Halfway(m *Model, x, y *tt) *tt {
	switch (m.Level - 20) / 16 {
	case 0:
		return x.Neg()
	case 1:
		return x.Abs()
	}
	return x.Exp()
}

func least(n, k int) bool { return 2*n+1 <= k }

// Argued gives a number to a function that compares it.
func Argued(m *Model, x, y *tt) *tt {
	if least(m.Level, 21) {
		return x.Neg()
	}
	return x.Exp()
}

// Grows adds rows until there are enough.
func Grows(m *Model, x, y *tt) *tt {
	for x.Dim(0) < 12 {
		x = tensor.Cat([]*tt{x, x}, 0)
	}
	return x.Sum(0)
}

// Shrinks takes half of the rows while there are many.
func Shrinks(m *Model, x, y *tt) *tt {
	for x.Dim(0) > 6 {
		x = x.Narrow(0, 0, x.Dim(0)/2)
	}
	return x.Exp().Sum(0)
}

// PinDrawn draws as many numbers as there are rows.
func PinDrawn(m *Model, x, y *tt) *tt {
	key := tensor.Scalar(int64(7))
	n := x.Dim(0)
	a := tensor.Randn(key, n, 3)
	return a.Mul(x).Sum(0).Add(tensor.Rand(key, n-1).Sum())
}

// Spaced computes with what is left of a division, and with the greatest of two sizes.
func Spaced(m *Model, x, y *tt) *tt {
	n := x.Dim(0)
	k := max(n-n%4, y.Dim(0)-n)
	all := tensor.Cat([]*tt{x, y}, 0)
	return all.Narrow(0, 0, min(k, n)).Sum(0)
}

// Padded asks in a function that panics for some sizes.
func Padded(m *Model, x, y *tt) *tt {
	if rows(x) > 40 {
		panic("too long")
	}
	return x.Unflatten(0, rows(x), 1).Sum(0)
}

// Deferred compares in a deferred function.
func Deferred(m *Model, x, y *tt) (z *tt) {
	defer func() {
		if x.Dim(0) > 8 {
			z = z.Neg()
		}
	}()
	return x.Exp()
}

// Logged tells of sizes in a list that it makes.
func Logged(m *Model, x, y *tt) *tt {
	var flags []bool
	for _, t := range []*tt{x, y, x.Narrow(0, 0, (x.Dim(0)+1)/2)} {
		flags = append(flags, t.Dim(0) > 4)
	}
	for _, f := range flags {
		if f {
			x = x.MulScalar(2)
		} else {
			x = x.AddScalar(1)
		}
	}
	return x
}

// Ranked compares a size with the rank.
func Ranked(m *Model, x, y *tt) *tt {
	if n := x.Dim(0); n > 7 && n < 2*x.Dim(1)+9 {
		return x.Reshape(-1, 1).Sum(0)
	}
	return x.Sum(0)
}

// Outgrows compares a size with that of an eager tensor, by one line.
func Outgrows(m *Model, x, y *tt) *tt {
	if rows(x) > rows(tensor.FromSlice(make([]float32, 9))) {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// AtMost compares a word by "no more than".
func AtMost(m *Model, x, y *tt) *tt {
	if m.Level <= 10 {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// Fits gives operators a size next to numbers that it is in some calls.
func Fits(m *Model, x, y *tt) *tt {
	s, n := x.Sum(1).Unsqueeze(1), x.Dim(0)
	return s.Expand(n, 2).Sum(1).
		Add(s.Expand(n, 3).Sum(1)).
		Add(s.Expand(n, 4).Sum(1)).
		Add(s.Expand(n, 5).Sum(1))
}
