package fusion

import (
	"math"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

type tt = *tensor.Tensor

// sum and product are x + y and x * y with operands in either order.
func sum(x, y tt) tt     { return passes.AnyOf(x.Add(y), y.Add(x)) }
func product(x, y tt) tt { return passes.AnyOf(x.Mul(y), y.Mul(x)) }

// times is x * Number(i) or x / Number(i+1); see factor.
func times(x tt, i int) tt {
	return passes.AnyOf(x.MulScalar(passes.Number(i)), x.DivScalar(passes.Number(i+1)))
}

// square is x·x; a power is Number(i).
func square(x tt, i int) tt {
	return passes.AnyOf(x.PowScalar(passes.Number(i)), x.Square(), x.Mul(x))
}

// factor returns what times multiplied by.
func factor(m *passes.Match, i int) float64 {
	if v := m.Numbers[i]; !math.IsNaN(v) {
		return v
	}
	return 1 / m.Numbers[i+1]
}

// wanted is a number that a formula has. An absent one (NaN) was not needed.
type wanted struct {
	name      string
	got, want float64
}

// slack is how far, in relation, a number may be from the one of the formula:
// people write few digits.
const slack = 1e-6

// numbers says which number is not the one of the formula.
func numbers(all ...wanted) string {
	for _, w := range all {
		if math.IsNaN(w.got) || w.got == w.want || math.Abs(w.got-w.want) <= slack*math.Abs(w.want) {
			continue
		}
		return w.name + " is " + strconv.FormatFloat(w.got, 'g', 8, 64) + ", expected " + strconv.FormatFloat(w.want, 'g', 8, 64)
	}
	return ""
}

// precise says why a match is not of one element type that is not rounded at every
// step: what is computed in halves gets other digits from one operator.
func precise(m *passes.Match, inputs ...*graph.Node) string {
	d := m.Roots[0].Type().DType()
	if d != array.F32 && d != array.F64 {
		return "it is computed in " + m.Roots[0].Type().String() + ", which is rounded at every step, expected f32 or f64"
	}
	for _, n := range slices.Concat(inputs, m.Nodes) {
		if n != nil && n.Type().Kind() == shape.Tensor && n.Type().DType() != d {
			return n.String() + " is " + n.Type().String() + ", the result has " + d.String()
		}
	}
	return ""
}

// call returns the first matched call of an operator, nil when there is none.
func call(m *passes.Match, o *op.Op) *graph.Node {
	for _, n := range m.Nodes {
		if n.Op() == o {
			return n
		}
	}
	return nil
}

// calling returns a Build that calls an operator on the first input.
func calling(o *op.Op, attrs any) func(*graph.Cursor, *passes.Match) []*graph.Node {
	return func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		return []*graph.Node{c.Function(o, attrs, m.Inputs[0])}
	}
}

// Silu makes silu of x·sigmoid(x) and of x/(1+exp(-x)). The first is exact, the
// second differs by 4 roundings of the result, or, in f32, by 2^-121, where exp
// overflows.
var Silu = passes.Rule(passes.Rewrite{
	Name: "silu", Doc: "Makes silu of x * sigmoid(x).",
	Pattern: func(x tt) tt {
		return passes.AnyOf(product(x, x.Sigmoid()), x.Div(x.Neg().Exp().AddScalar(passes.Number(0))))
	},
	Where: func(m *passes.Match) string {
		if why := precise(m, m.Inputs...); why != "" {
			return why
		}
		return numbers(wanted{"the number next to exp", m.Numbers[0], 1})
	},
	Build: calling(std.Silu, nil),
})

// Hardswish makes hardswish of x·relu6(x+3)/6, whichever is divided. It is exact
// where the product is, else it differs by 4 roundings of the result and, beyond
// a sixth of the largest number, is infinite.
var Hardswish = passes.Rule(passes.Rewrite{
	Name: "hardswish", Doc: "Makes hardswish of x * relu6(x + 3) / 6.",
	Pattern: func(x tt) tt {
		y := x.AddScalar(passes.Number(0))
		gate := passes.AnyOf(y.Relu6(), y.Clamp(passes.Number(1), passes.Number(2)), y.Hardtanh(0, 6))
		return passes.AnyOf(times(product(x, gate), 3),
			product(x, passes.AnyOf(times(gate, 3), x.Hardsigmoid())), product(times(x, 3), gate))
	},
	Where: func(m *passes.Match) string {
		if why := precise(m, m.Inputs...); why != "" {
			return why
		}
		return numbers(wanted{"the addend", m.Numbers[0], 3}, wanted{"the lower limit", m.Numbers[1], 0},
			wanted{"the upper limit", m.Numbers[2], 6}, wanted{"the factor", factor(m, 3), 1.0 / 6})
	},
	Build: calling(std.Hardswish, nil),
})

// The numbers of gelu's formulas; those with two places are for times.
const (
	geluOne    = 0 // 1 + erf, 1 + tanh
	geluHalf   = 1
	geluScale  = 3 // sqrt(1/2) within erf, sqrt(2/pi) within tanh
	geluCubic  = 5 // 0.044715
	geluThree  = 7 // x to the power of 3
	geluTwo    = 8 // x to the power of 2
	geluInside = 9 // x·(1 + 0.044715·x²)
)

// Gelu makes gelu of its formula by erf and of its approximation by tanh. Results
// differ by 8 roundings of x and, where a number has few digits, a millionth of x.
var Gelu = passes.Rule(passes.Rewrite{
	Name: "gelu", Doc: "Makes gelu of x/2 * (1 + erf(x/sqrt(2))) and of its approximation by tanh.",
	Pattern: func(x tt) tt { return halved(x, times(x, geluScale).Erf()) },
	Or: []any{func(x tt) tt {
		cube := passes.AnyOf(x.PowScalar(passes.Number(geluThree)), product(x, square(x, geluTwo)))
		return halved(x, passes.AnyOf(times(sum(x, times(cube, geluCubic)), geluScale),
			product(times(x, geluScale), times(square(x, geluTwo), geluCubic).AddScalar(passes.Number(geluInside)))).Tanh())
	}},
	Where: func(m *passes.Match) string {
		if why := precise(m, m.Inputs...); why != "" {
			return why
		}
		all := []wanted{{"the number next to the function", m.Numbers[geluOne], 1}, {"the factor of the product", factor(m, geluHalf), 0.5}}
		if exactGelu(m) {
			return numbers(append(all, wanted{"the factor within erf", factor(m, geluScale), math.Sqrt2 / 2})...)
		}
		return numbers(append(all, wanted{"the factor within tanh", factor(m, geluScale), math.Sqrt(2 / math.Pi)},
			wanted{"the factor of the cube", factor(m, geluCubic), 0.044715}, wanted{"the power", m.Numbers[geluThree], 3},
			wanted{"the power", m.Numbers[geluTwo], 2}, wanted{"the addend of the square", m.Numbers[geluInside], 1})...)
	},
	Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		a := tensor.GeluAttrs{Approximate: "tanh"}
		if exactGelu(m) {
			a.Approximate = ""
		}
		return calling(std.Gelu, a)(c, m)
	},
})

// halved is x/2·(1+f), whichever is halved.
func halved(x, f tt) tt {
	e := f.AddScalar(passes.Number(geluOne))
	return passes.AnyOf(product(times(x, geluHalf), e), times(product(x, e), geluHalf), product(x, times(e, geluHalf)))
}

func exactGelu(m *passes.Match) bool { return call(m, std.Erf) != nil }
