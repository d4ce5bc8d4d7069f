package compiled

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/tensor"
)

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_sizes.go Heads Positions Cropped OfMiddle Stated Compared2 AsNumber Fixed Unused Sized2 SizeField SizeInAny SizeOfResult Windows Overwrites ShownWeight Doomed Helps Shortened TwoSizes

// Sizes: what becomes of a size that code asks for.

// Heads cuts the last axis into heads, as attention does.
func Heads(m *Model, x, y *tt) *tt {
	a := x.Flatten(0, -1)
	h := a.Reshape(1, a.Size(0), 1).Expand(2, a.Size(0), 3)
	return h.Permute(1, 0, 2).Reshape(a.Size(0), 6).Sum(1)
}

// Positions makes numbers of a size, which no tensor takes part in.
func Positions(m *Model, x, y *tt) *tt {
	at := tensor.Arange(x.Size(0)).Cast(array.F32)
	ones := tensor.Ones(x.Size(0).Add(2), 2)
	return at.MulScalar(m.Scale).Sum().Add(ones.Sum()).Add(x.Sum())
}

// Cropped takes parts whose bounds are computed from sizes.
func Cropped(m *Model, x, y *tt) *tt {
	n := x.Size(0)
	half := n.Add(1).Div(2)
	return x.Narrow(0, n.Sub(half), half).Mul(x.Slice(0, 0, half)).Sum(0).Add(x.Slice(0, n.Min(4).Sub(1), n).Mean())
}

// OfMiddle asks for sizes of what it has computed.
func OfMiddle(m *Model, x, y *tt) *tt {
	c := tensor.Cat([]*tt{x, x, y}, 0)
	odd := c.Slice(0, 0, c.Size(0), tensor.SliceAttrs{Step: 2})
	return odd.Reshape(odd.Size(0), 1).Mul(tensor.Arange(odd.Size(-1).Mul(2).Add(odd.Size(0))).Cast(array.F32).Unsqueeze(0)).Sum(0, 1)
}

// Stated says which sizes it is for.
func Stated(m *Model, x, y *tt) *tt {
	x.Size(0).MustBeAtLeast(3)
	x.Size(0).MustDiffer(9)
	return x.MulScalar(2)
}

// Compared2 branches on a size.
func Compared2(m *Model, x, y *tt) *tt {
	if x.Size(0).Equal(12) {
		return x.Neg()
	}
	return x.AddScalar(1)
}

// AsNumber is told a size as a number.
func AsNumber(m *Model, x, y *tt) *tt { return x.DivScalar(float64(x.Size(0).Int())) }

// Fixed looks at a size that is the same for all calls.
func Fixed(m *Model, x, y *tt) *tt {
	pairs := x.Flatten(0, -1).Unsqueeze(1).Expand(-1, 2)
	for range pairs.Dim(1) {
		pairs = pairs.AddScalar(m.Scale)
	}
	return pairs.Sum(1)
}

// Unused looks at a size where it is not run.
func Unused(m *Model, x, y *tt) *tt {
	if !m.On {
		x = x.DivScalar(float64(x.Dim(0)))
	}
	return x.Exp()
}

// Sized2 keeps sizes in a struct that it passes on.
func Sized2(m *Model, x, y *tt) *tt {
	s := extent{rows: x.Size(0), twice: x.Size(0).Mul(2)}
	return spread(x, s)
}

type extent struct{ rows, twice tensor.Size }

func spread(x *tt, s extent) *tt {
	return tensor.Cat([]*tt{x, x}, 0).Narrow(0, 1, s.twice.Sub(1)).Sum(0).Add(tensor.Zeros(s.rows).Sum())
}

// lastSize is a size that a function keeps.
var lastSize struct{ N tensor.Size }

// SizeField keeps a size in a variable.
func SizeField(m *Model, x, y *tt) *tt {
	lastSize.N = x.Size(0)
	return x.Exp()
}

// SizeInAny keeps a size in an interface.
func SizeInAny(m *Model, x, y *tt) *tt {
	m.Any = x.Size(0)
	return x.Exp()
}

// SizeOfResult returns a size.
func SizeOfResult(m *Model, x, y *tt) (tensor.Size, *tt) { return x.Size(0), x.Exp() }

// Windows makes views whose number is one, of a size.
func Windows(m *Model, x, y *tt) *tt {
	parts := x.Flatten(0, -1).Split([]int{1, 1}, 0)
	return parts[0].Mul(parts[1])
}

// Overwrites writes what it has made itself.
func Overwrites(m *Model, x, y *tt) *tt {
	z := x.Exp()
	z.Reshape(x.Size(0), -1).AddScalarInPlace(1)
	return z
}

// ShownWeight shows a weight in a size.
func ShownWeight(m *Model, x, y *tt) (*tt, *tt) {
	w := m.W.Flatten(0, -1).Slice(0, 0, 1).Expand(x.Size(0))
	return w, x.Add(w.Sum())
}

// Doomed computes what nobody uses, which fails for some sizes.
func Doomed(m *Model, x, y *tt) *tt {
	_ = x.Flatten(0, -1).Reshape(-1, 3)
	return x.Tanh()
}

// Helps gives a size to a closure.
func Helps(m *Model, x, y *tt) *tt {
	n := x.Size(0)
	cut := func(by int) *tt { return x.Narrow(0, 0, n.Sub(by)) }
	return cut(1).Sum(0).Sub(cut(0).Mean(0))
}

// Shortened keeps what is left of a division.
func Shortened(m *Model, x, y *tt) *tt {
	n := x.Size(0)
	return x.Narrow(0, 0, n.Sub(n.Mod(3))).Reshape(-1, 3).Sum(0, 1)
}

// TwoSizes computes with the sizes of both arguments.
func TwoSizes(m *Model, x, y *tt) *tt {
	return tensor.Arange(x.Size(0).Mul(y.Size(0)).Add(y.Size(-1))).Sum().Add(x.Sum().Cast(tensorInt)).Add(y.Sum().Cast(tensorInt))
}
