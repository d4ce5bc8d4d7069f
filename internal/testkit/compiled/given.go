package compiled

//go:generate go run github.com/gofx-dev/gofx/cmd/fxgen compile -o fx_given.go FromVariable Elements EachElement ArrayElements Halved Deeper Descends ComparesElement PointsIn Passes

// Given numbers: those of variables and elements, and those that go through functions.

// FromVariable gives a variable of the package.
func FromVariable(m *Model, x, y *tt) *tt { return x.MulScalar(gain).AddScalar(gain / 2) }

// Elements gives elements of a list.
func Elements(m *Model, x, y *tt) *tt { return x.MulScalar(m.Rates[0]).AddScalar(m.Rates[1]) }

// EachElement gives all elements in turn.
func EachElement(m *Model, x, y *tt) *tt {
	for _, r := range m.Rates {
		x = x.MulScalar(r).AddScalar(1)
	}
	return x
}

// ArrayElements gives elements of an array.
func ArrayElements(m *Model, x, y *tt) *tt { return x.AddScalar(m.Arr[0]).MulScalar(m.Arr[2] * 2) }

// Halved gives the results of a function.
func Halved(m *Model, x, y *tt) *tt {
	low, high := around(m.Scale)
	return x.MulScalar(low).AddScalar(high)
}

func around(s float64) (low, high float64) { return s / 2, s * 3 }

// Deeper gives what has gone through several functions, with numbers of its own on the way.
func Deeper(m *Model, x, y *tt) *tt { return shifted(shifted(x, twice(m.Scale)), twice(m.Bias)) }

func twice(s float64) float64 { return 2 * unchanged(s) }

func unchanged(s float64) float64 { return s }

func shifted(x *tt, by float64) *tt { return grown(x, by).AddScalar(by) }

// Descends goes on for as long as it is told.
func Descends(m *Model, x, y *tt) *tt { return lower(x, m.Scale, 3) }

func lower(x *tt, s float64, n int) *tt {
	if n == 0 {
		return x
	}
	return lower(x.MulScalar(s), s, n-1)
}

// ComparesElement looks at an element.
func ComparesElement(m *Model, x, y *tt) *tt {
	if m.Rates[1] > 4 {
		x = x.Neg()
	}
	return x.MulScalar(m.Rates[0])
}

// PointsIn gives an element that it looks at through a pointer.
func PointsIn(m *Model, x, y *tt) *tt {
	if *m.Count > 6 {
		x = x.Neg()
	}
	return x.AddScalar(m.Items[0])
}

// Passes gives one element by name and looks at what a function has made of another.
func Passes(m *Model, x, y *tt) *tt {
	if unchanged(m.Rates[0]) > 5 {
		x = x.Neg()
	}
	return x.MulScalar(m.Rates[0])
}
