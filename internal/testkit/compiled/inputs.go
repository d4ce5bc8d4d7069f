package compiled

import "github.com/gofx-dev/gofx/tensor"

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_inputs.go Computed Several Branched Rate Repeated Coincides Boxed Kept Returned Power Decays Switched Slopes Helped Rated Mixed Axes AnyRows Attends Doubles Broadcasts AnyViews Halves Dims Parts Grows

// Numbers: fields and arguments that are given to operators, and those that are not only given to operators.

// Computed gives numbers that it computes with constants.
func Computed(m *Model, x, y *tt) *tt {
	x = x.MulScalar(float64(m.Depth) * 0.5).AddScalar((m.Small - 7) * 3).SubScalar(m.Scale / 3)
	return x.AddScalar(-m.Half).MulScalar(2 - m.Rate()).AddScalar(int(m.Big) / 2)
}

// Rate is a number that a method returns, which is not followed.
func (m *Model) Rate() float64 { return m.Bias }

// Several gives two numbers in one line.
func Several(m *Model, x, y *tt) *tt { return x.MulScalar(m.Scale).AddScalar(m.Bias).Mul(y) }

// Branched gives a number that it also branches on.
func Branched(m *Model, x, y *tt) *tt {
	if m.Scale > 5 {
		return x.MulScalar(m.Scale)
	}
	return x.AddScalar(m.Scale)
}

// Rate gives a number that is an argument.
func Rate(m *Model, x, y *tt, rate float64) *tt { return x.Add(y.MulScalar(rate)).SubScalar(2 * rate) }

// Repeated gives one number in a loop, and those of several layers at one line.
func Repeated(m *Model, x, y *tt) *tt {
	for range 3 {
		x = x.AddScalar(m.Scale)
	}
	for _, l := range m.Layers {
		x = x.MulScalar(l.Scale)
	}
	return x
}

// Coincides has constants that the number may be equal to.
func Coincides(m *Model, x, y *tt) *tt {
	l := &Layer{Scale: 7}
	return x.MulScalar(m.Scale).MulScalar(7).MulScalar(l.Scale).AddScalar(float64(m.Depth))
}

// Boxed makes tensors of numbers.
func Boxed(m *Model, x, y *tt) *tt {
	return x.Mul(tensor.Scalar(float32(m.Scale))).Add(tensor.Scalar(m.Half * 2))
}

// Kept stores the number, too.
func Kept(m *Model, x, y *tt) *tt {
	m.Spec.Low = m.Scale
	return x.MulScalar(m.Scale)
}

// Returned returns the tensor of a number.
func Returned(m *Model, x, y *tt) (*tt, *tt) {
	s := tensor.Scalar(float32(m.Scale))
	return s, x.Mul(s)
}

// Power gives a number for which operators have other ways of some values.
func Power(m *Model, x, y *tt) *tt { return x.Abs().PowScalar(m.Scale).DivScalar(m.Bias) }

// Decays writes a tensor in place.
func Decays(m *Model, x, y *tt) *tt {
	m.W.MulScalarInPlace(m.Scale)
	return m.W.Add(x)
}

// Switched gives the number on one of two ways.
func Switched(m *Model, x, y *tt) *tt {
	if m.On {
		return x.MulScalar(m.Scale).Sub(y)
	}
	return x.Sub(y)
}

// Slopes gives numbers to activations.
func Slopes(m *Model, x, y *tt) *tt {
	return x.LeakyRelu(m.Scale).Clamp(m.Spec.Low, m.Spec.High).Elu(m.Bias)
}

// Helped gives the number to a function of its own, which others call, too.
func Helped(m *Model, x, y *tt) *tt { return grown(grown(x, m.Scale), 2) }

func grown(x *tt, by float64) *tt { return x.MulScalar(by) }

// Rated calls itself with another number.
func Rated(m *Model, x, y *tt, rate float64) *tt {
	if m == nil {
		return x.MulScalar(rate)
	}
	return Rated(m.Next, x, y, 0.25).AddScalar(rate)
}

// Mixed gives one number in two forms, which are one for some values.
func Mixed(m *Model, x, y *tt) *tt {
	return x.MulScalar(m.Scale).AddScalar(2 * m.Scale).MulScalar(m.Scale - 2).AddScalar(int(m.Small) - 1)
}

// Axes gives an axis, of which two have one meaning, and a count of results.
func Axes(m *Model, x, y *tt) *tt {
	for _, part := range tensor.Split(x.Unsqueeze(0), []int{1}, 0) {
		x = x.Add(part.Sum(m.Depth - 1))
	}
	return x
}

// AnyRows does the same for all sizes, with a number.
func AnyRows(m *Model, x, y *tt) *tt { return x.Mul(x).AddScalar(m.Scale).Softmax(0).Sub(x.Mean(0)) }

// Attends multiplies matrices that it makes of rows.
func Attends(m *Model, x, y *tt) *tt {
	a := x.Unsqueeze(1)
	return a.Matmul(a.Transpose(0, 1)).Softmax(-1).Matmul(a).Squeeze(1)
}

// Doubles makes sizes that follow from others.
func Doubles(m *Model, x, y *tt) *tt { return tensor.Cat([]*tt{x, x, y}, 0).Cumsum(0).Exp() }

// Broadcasts takes tensors of one size, or of 1.
func Broadcasts(m *Model, x, y *tt) *tt { return x.Add(y).Mul(m.W) }

// AnyViews returns parts of its argument.
func AnyViews(m *Model, x, y *tt) (*tt, *tt) { return x.Unsqueeze(0), x.Slice(0, 1, 3) }

// Halves reshapes, which takes an even size.
func Halves(m *Model, x, y *tt) *tt { return x.Reshape(-1, 2).Sum(1) }

// Dims looks at a size.
func Dims(m *Model, x, y *tt) *tt { return x.MulScalar(float64(x.Dim(0))).DivScalar(m.Scale) }

// Parts makes as many results as there are rows.
func Parts(m *Model, x, y *tt) *tt {
	sum := x.Sum()
	for _, row := range x.UnbindDim(0) {
		sum = sum.Mul(row)
	}
	return sum
}

// Grows keeps the sum of all calls, whose size grows.
func Grows(m *Model, x, y *tt) *tt {
	m.Past = tensor.Cat([]*tt{m.Past, x}, 0)
	return m.Past.Mean()
}
