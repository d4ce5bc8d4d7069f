package compiled

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
)

// put is a number of a world or of its variables.
type put struct {
	path string
	set  func(w *world, g *globals, v float64)
}

var puts = []put{
	{"gain", func(_ *world, g *globals, v float64) { g.gain = v }},
	{"Rates[0]", func(w *world, _ *globals, v float64) { w.M.Rates[0] = v }},
	{"Rates[1]", func(w *world, _ *globals, v float64) { w.M.Rates[1] = v }},
	{"Arr[0]", func(w *world, _ *globals, v float64) { w.M.Arr[0] = float32(v) }},
	{"Arr[2]", func(w *world, _ *globals, v float64) { w.M.Arr[2] = float32(v) }},
	{"Scale", func(w *world, _ *globals, v float64) { w.M.Scale = v }},
	{"Bias", func(w *world, _ *globals, v float64) { w.M.Bias = v }},
	{"Items[0]", func(w *world, _ *globals, v float64) { w.M.Items[0] = int(v) }},
}

func (p put) all(j *judge, v float64) {
	p.set(j.plain, &j.gPlain, v)
	p.set(j.comp, &j.gComp, v)
	p.set(j.lazy, &j.gLz, v)
}

// passing are programs of such numbers, each with those that become inputs, those that a record is made for at each value, and those
// that have records for the sides of a comparison.
var passing = []struct {
	program
	inputs, compared, sides []string
}{
	{one("FromVariable", "built-in", FromVariable, CompileFromVariable, counts{}), []string{"gain"}, nil, nil},
	{one("Elements", "built-in", Elements, CompileElements, counts{}), []string{"Rates[0]", "Rates[1]"}, nil, nil},
	{one("EachElement", "built-in", EachElement, CompileEachElement, counts{}), []string{"Rates[0]", "Rates[1]"}, nil, nil},
	{one("ArrayElements", "built-in", ArrayElements, CompileArrayElements, counts{}), []string{"Arr[0]", "Arr[2]"}, nil, nil},
	{one("Halved", "built-in", Halved, CompileHalved, counts{}), []string{"Scale"}, nil, nil},
	{one("Deeper", "built-in", Deeper, CompileDeeper, counts{}), []string{"Scale", "Bias"}, nil, nil},
	{one("Descends", "built-in", Descends, CompileDescends, counts{}), nil, []string{"Scale"}, nil},
	{one("ComparesElement", "built-in", ComparesElement, CompileComparesElement, counts{}), nil, nil, []string{"Rates[0]", "Rates[1]"}},
	{one("PointsIn", "built-in", PointsIn, CompilePointsIn, counts{}), nil, []string{"Items[0]"}, nil},
	{one("Passes", "built-in", Passes, CompilePasses, counts{}), nil, nil, []string{"Rates[0]"}},
}

// pointed has the pointer of all worlds point to an element.
func pointed(j *judge) {
	for _, w := range []*world{j.plain, j.comp, j.lazy} {
		w.M.Count = &w.M.Items[0]
	}
}

// Variables, elements, and what functions are given and give become inputs where only operators take them.
func TestGivenNumbers(t *testing.T) {
	const n = 20
	for i := range passing {
		g := &passing[i]
		for _, s := range puts {
			for _, o := range [][]compile.Option{nil, {compile.Audit(2)}} {
				t.Run(fmt.Sprint(g.name, "/", s.path, len(o)), func(t *testing.T) {
					j := newJudge(t, &g.program, o...)
					pointed(j)
					for k := range n {
						s.all(j, float64(k+2))
						j.all(fmt.Sprint(s.path, " is ", k+2))
					}
					got := j.stats()
					for _, path := range g.inputs {
						if path == s.path && len(o) == 0 {
							require.LessOrEqual(t, got.Records, 5, "%s", got) // a number may be 1 on the way
							require.GreaterOrEqual(t, got.Hits, n-6, "%s", got)
						}
					}
					for _, path := range g.sides {
						if path == s.path {
							require.LessOrEqual(t, got.Records, 6, "%s", got)
						}
					}
					for _, path := range g.compared {
						if path == s.path {
							require.Equal(t, n, got.Records, "%s", got)
						}
					}
				})
			}
		}
	}
}

// All of them change together.
func TestGivenNumbers_together(t *testing.T) {
	for i := range passing {
		g := &passing[i]
		for _, o := range [][]compile.Option{{compile.Capacity(100)}, {compile.Audit(2), compile.Capacity(100)}, {compile.LiftAfter(1), compile.Capacity(100)}} {
			t.Run(fmt.Sprint(g.name, len(o)), func(t *testing.T) {
				j := newJudge(t, &g.program, o...)
				pointed(j)
				for k := range 30 {
					for i, s := range puts {
						s.all(j, float64((k*(i+3))%11)/2)
					}
					j.all(fmt.Sprint("step ", k))
				}
			})
		}
	}
}
