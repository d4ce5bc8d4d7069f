package compiled

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/internal/peek"
)

// setting is a number of a world.
type setting struct {
	path string
	set  func(w *world, v float64)
}

// of finds the number of a model by the names of fields.
func of(path ...string) func(w *world, v float64) {
	return func(w *world, v float64) {
		f := reflect.ValueOf(w.M).Elem()
		for _, name := range path {
			s, _ := f.Type().FieldByName(name)
			f = peek.Field(f, s.Index[0])
		}
		switch {
		case f.CanFloat():
			f.SetFloat(v)
		case f.CanInt():
			f.SetInt(int64(v))
		default:
			f.SetUint(uint64(v))
		}
	}
}

var settings = []setting{
	{"Scale", of("Scale")}, {"Half", of("Half")}, {"Depth", of("Depth")}, {"Small", of("Small")}, {"Big", of("Big")}, {"Bias", of("Inner", "Bias")},
	{"Low", of("Spec", "Low")}, {"High", of("Spec", "High")}, {"Next.Scale", func(w *world, v float64) { w.M.Next.Scale = v }},
	{"Layers[0].Scale", func(w *world, v float64) { w.M.Layers[0].Scale = v }}, {"Layers[1].Scale", func(w *world, v float64) { w.M.Layers[1].Scale = v }},
	{"rate", func(w *world, v float64) { w.rate = v }},
}

func rated(name string, plain func(m *Model, x, y *tt, rate float64) *tt, made func(...compile.Option) interface {
	Call(m *Model, x, y *tt, rate float64) *tt
	told
}) program {
	call := func(f func(m *Model, x, y *tt, rate float64) *tt) func(*world) []any {
		return func(w *world) []any { return []any{f(w.M, w.X, w.Y, w.rate)} }
	}
	return program{name, "built-in", call(plain), func(o ...compile.Option) (func(*world) []any, func() compile.Stats) {
		f := made(o...)
		return call(f.Call), f.Stats
	}, counts{}}
}

type rater = interface {
	Call(m *Model, x, y *tt, rate float64) *tt
	told
}

// givers are the programs of numbers, each with the numbers that become inputs.
var givers = []struct {
	program
	inputs []string
}{
	{one("Computed", "built-in", Computed, CompileComputed, counts{}), []string{"Scale", "Half", "Depth", "Small", "Big"}},
	{one("Several", "built-in", Several, CompileSeveral, counts{}), []string{"Scale", "Bias"}},
	{one("Branched", "built-in", Branched, CompileBranched, counts{}), nil},
	{rated("Rate", Rate, func(o ...compile.Option) rater { return CompileRate(o...) }), []string{"rate"}},
	{one("Repeated", "built-in", Repeated, CompileRepeated, counts{}), []string{"Scale", "Layers[0].Scale", "Layers[1].Scale"}},
	{one("Coincides", "built-in", Coincides, CompileCoincides, counts{}), []string{"Scale", "Depth"}},
	{one("Boxed", "built-in", Boxed, CompileBoxed, counts{}), []string{"Scale", "Half"}},
	{one("Kept", "built-in", Kept, CompileKept, counts{}), nil},
	{two("Returned", "built-in", Returned, CompileReturned, counts{}), nil},
	{one("Power", "built-in", Power, CompilePower, counts{}), []string{"Bias"}},
	{one("Decays", "built-in", Decays, CompileDecays, counts{}), []string{"Scale"}},
	{one("Switched", "built-in", Switched, CompileSwitched, counts{}), []string{"Scale"}},
	{one("Slopes", "built-in", Slopes, CompileSlopes, counts{}), []string{"Low", "High"}},
	{one("Helped", "built-in", Helped, CompileHelped, counts{}), []string{"Scale"}},
	{rated("Rated", Rated, func(o ...compile.Option) rater { return CompileRated(o...) }), nil},
	{one("Mixed", "built-in", Mixed, CompileMixed, counts{}), []string{"Scale", "Small"}},
	{one("Axes", "built-in", Axes, CompileAxes, counts{}), nil},
}

// A number that only operators are given has four records at most, whatever it is: three until it becomes an input, and
// that with the input. Each other one has a record for each value.
func TestInputs(t *testing.T) {
	const n = 24
	for i := range givers {
		g := &givers[i]
		for _, s := range settings {
			t.Run(g.name+"/"+s.path, func(t *testing.T) {
				j := newJudge(t, &g.program)
				for k := range n {
					v := float64(k + 2)
					s.set(j.plain, v)
					s.set(j.comp, v)
					s.set(j.lazy, v)
					j.all(fmt.Sprint(s.path, " is ", v))
				}
				got := j.stats()
				for _, path := range g.inputs {
					if path == s.path {
						most := 4
						if g.name == "Computed" && s.path == "Small" || g.name == "Mixed" && s.path == "Scale" { // is given as 0 or 1 on the way
							most++
						}
						require.LessOrEqual(t, got.Records, most, "%s", got)
						require.GreaterOrEqual(t, got.Hits, n-most-1, "%s", got)
					}
				}
				if g.inputs == nil && s.path == "Scale" && g.name != "Rate" && g.name != "Rated" && g.name != "Axes" {
					want := n
					if g.name == "Branched" { // which compares it with a constant
						want = 6
					}
					require.Equal(t, want, got.Captures, "%s", got)
				}
			})
		}
	}
}

// Numbers take strange values, one at a time and together, with Audit and without.
func TestNumbers_strange(t *testing.T) {
	values := []float64{3, 4, 5, 6, 7, 7, 0, 1, 2, 0.5, math.Copysign(0, -1), -1, math.NaN(), math.Inf(1), 7, 0.1, 1e300, 5e-324, 126, -126, 1, 0, 9, 2.5}
	for i := range givers {
		g := &givers[i]
		for _, o := range [][]compile.Option{nil, {compile.Audit(2)}, {compile.LiftAfter(1), compile.Capacity(1000)}} {
			t.Run(fmt.Sprint(g.name, len(o)), func(t *testing.T) {
				j := newJudge(t, &g.program, o...)
				for n := range 3 * len(values) {
					for k, s := range settings {
						if n < len(values) && k != n%len(settings) { // alone, in pairs, all
							continue
						} else if n < 2*len(values) && (n+k)%3 == 0 {
							continue
						}
						v := values[(n+k*(n/len(values)))%len(values)]
						if s.path == "Depth" && g.name == "Axes" { // any axis but these is a mistake
							v = float64(n % 3)
						}
						s.set(j.plain, v)
						s.set(j.comp, v)
						s.set(j.lazy, v)
					}
					j.all(fmt.Sprint("step ", n))
				}
			})
		}
	}
}
