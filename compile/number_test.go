package compile_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/tensor"
)

// gains has numbers that only operators are given.
type gains struct {
	A, B  float64
	Halfs []*gain32
}

type gain32 struct{ By float32 }

type gainsIn struct {
	G    *gains
	X    *tensor.Tensor
	Rate float64
}

type gainsOut struct{ Y *tensor.Tensor }

const gainsName = pkg + ".gains"

// plus is what code computes with a number: x + 1.
var plus = state.Expr{{Kind: "float64", Op: "+", By: math.Float64bits(1)}}

var gainsTable = state.Table{
	Func: "gains", Receiver: true,
	Fields: []state.Field{
		{Type: gainsName, Name: "A", FieldType: "float64", Access: state.Load, Line: "gains.go:1"},
		{Type: gainsName, Name: "B", FieldType: "float64", Access: state.Load, Line: "gains.go:2"},
		{Type: gainsName, Name: "Halfs", FieldType: "[]*" + pkg + ".gain32", Access: state.Load, Line: "gains.go:3"},
		{Type: pkg + ".gain32", Name: "By", FieldType: "float32", Access: state.Load, Line: "gains.go:4"},
	},
	Elems: []state.Elem{{Type: "[]*" + pkg + ".gain32", Access: state.Load | state.Len}, {Type: "*" + pkg + ".gain32", Access: state.Load}},
	Numbers: []state.Number{
		{Type: gainsName, Name: "A", Exprs: []state.Expr{{}, plus}},
		{Type: gainsName, Name: "B", Exprs: []state.Expr{{}}},
		{Type: pkg + ".gain32", Name: "By", Exprs: []state.Expr{{}, {{Kind: "float64", Op: "convert"}}}},
		{Name: "Rate", Exprs: []state.Expr{{}}},
	},
}

func runGains(in *gainsIn, out *gainsOut) {
	x := in.X.MulScalar(in.G.A).MulScalar(in.G.B).AddScalar(7).AddScalar(in.G.A + 1)
	for _, h := range in.G.Halfs {
		x = x.Sub(tensor.Scalar(h.By)).MulScalar(float64(h.By))
	}
	out.Y = x.AddScalar(in.Rate)
}

func gainsWorld() gainsIn {
	return gainsIn{&gains{A: 2, B: 3, Halfs: []*gain32{{0.5}, {0.25}}}, vec(1, -2, 3), 4}
}

// A number from 1 to 1000 has four records: of 1, 2 and 3, and of an input.
func TestNumbersBecomeInputs(t *testing.T) {
	for name, set := range map[string]func(in *gainsIn, v float64){
		"field":        func(in *gainsIn, v float64) { in.G.A = v },
		"another":      func(in *gainsIn, v float64) { in.G.B = v },
		"argument":     func(in *gainsIn, v float64) { in.Rate = v },
		"of one value": func(in *gainsIn, v float64) { in.G.Halfs[1].By = float32(v) },
		"together": func(in *gainsIn, v float64) {
			in.G.A, in.G.B, in.Rate, in.G.Halfs[0].By = v+1000, v+2000, v+3000, float32(v+4000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJudge(t, gainsTable, runGains, gainsWorld)
			for v := 1; v <= 1000; v++ {
				j.each(func(in *gainsIn) { set(in, float64(v)) })
				if v < 20 || v%50 == 0 { // compared
					j.call()
				} else {
					j.f.Call(j.b)
				}
			}
			s := j.f.Stats()
			require.Equal(t, 4, s.Records, "%s", s)
			require.Equal(t, 996, s.Hits, "%s", s)
			var b bytes.Buffer
			require.NoError(t, j.f.Explain(&b))
			require.Contains(t, b.String(), "an input: ")
		})
	}
}

// 0 and 1 keep records of their own, and so do numbers that an expression makes 0 or 1.
func TestNumbersThatAreSpecial(t *testing.T) {
	j := newJudge(t, gainsTable, runGains, gainsWorld)
	for _, v := range []float64{5, 6, 7, 8, 9} {
		j.each(func(in *gainsIn) { in.G.A = v }).call()
	}
	require.Equal(t, 4, j.f.Stats().Records)
	for _, v := range []float64{0, 1, 0, 1, -1, math.Copysign(0, -1), 10, -1} {
		j.each(func(in *gainsIn) { in.G.A = v }).call()
	}
	s := j.f.Stats()
	require.Equal(t, 4+4, s.Records, "0, 1, -1, whose sum is 0, and -0: %s", s)
	require.Equal(t, 1+4, s.Hits, "%s", s)
}

// A constant that is equal to the number in one call is not taken for it.
func TestNumbersAndConstants(t *testing.T) {
	j := newJudge(t, gainsTable, runGains, gainsWorld, compile.LiftAfter(1))
	for _, v := range []float64{7, 6, 7, 8, 9, 7, 6} { // 7 is a constant, and 6+1 is one
		j.each(func(in *gainsIn) { in.G.A = v }).call()
	}
	require.Equal(t, 2, j.f.Stats().Records)
	for _, v := range []float64{9, 8, 9, 7, 6} { // both numbers are the same all along
		j.each(func(in *gainsIn) { in.G.A, in.G.B = v, v }).call()
	}
	for _, v := range []float64{3, 4, 5} { // and one at a time
		j.each(func(in *gainsIn) { in.G.A = v }).call()
		j.each(func(in *gainsIn) { in.G.B = v + 1 }).call()
	}
}

// Two numbers that were the same in both calls are not told apart: they stay compared until they differ.
func TestNumbersThatAreTheSame(t *testing.T) {
	j := newJudge(t, gainsTable, runGains, gainsWorld, compile.LiftAfter(1))
	for _, v := range [][2]float64{{5, 5}, {6, 6}, {7, 9}, {9, 7}, {8, 8}, {9, 10}} {
		j.each(func(in *gainsIn) { in.G.A, in.G.B = v[0], v[1] }).call()
	}
	s := j.f.Stats()
	require.Equal(t, 3, s.Records, "%s", s)
	require.Equal(t, 3, s.Hits, "%s", s)
}

// A function that is called with ever other sizes has no more records than fit twice, and says why.
func TestSizesWithoutEnd(t *testing.T) {
	f := compile.New(gainsTable, runGains, compile.Capacity(8))
	in := gainsWorld()
	for n := range 300 {
		in.X = tensor.Zeros(n + 1)
		f.Call(in)
	}
	s := f.Stats()
	require.Equal(t, 16, s.Records, "%s", s)
	require.Equal(t, 300-16, s.Plain+s.Lazy, "%s", s)
	require.Contains(t, text(t, f), "X is what differs most")
}

// A number of which the table says too much is found out by Audit.
func TestNumbersAreAudited(t *testing.T) {
	run := func(in *gainsIn, out *gainsOut) {
		if out.Y = in.X.MulScalar(in.G.A); in.G.A > 6 {
			out.Y = in.X.AddScalar(in.G.A)
		}
	}
	f := compile.New(gainsTable, run, compile.Audit(1), compile.LiftAfter(1))
	in := gainsWorld()
	for _, v := range []float64{2, 3, 4} {
		in.G.A = v
		f.Call(in)
	}
	require.Equal(t, 2, f.Stats().Records)
	in.G.A = 7
	require.ErrorContains(t, caught(func() { f.Call(in) }), "another graph")
}

// A result that is the number itself keeps the number compared.
func TestNumbersInResults(t *testing.T) {
	run := func(in *gainsIn, out *gainsOut) { out.Y = tensor.Scalar(float32(in.G.A)) }
	table := gainsTable
	table.Numbers = []state.Number{{Type: gainsName, Name: "A", Exprs: []state.Expr{{{Kind: "float32", Op: "convert"}}}}}
	j := newJudge(t, table, run, gainsWorld)
	for v := range 8 {
		j.each(func(in *gainsIn) { in.G.A = float64(v + 2) }).call()
	}
	require.Zero(t, j.f.Stats().Hits)
	require.Equal(t, 7, j.f.Stats().Records, "one call finds out that nothing can be an input")
}

func TestNumbersAndEveryWord(t *testing.T) {
	hits := everyWord(t, gainsTable, runGains, gainsWorld, compile.LiftAfter(1))
	require.Positive(t, hits)
}
