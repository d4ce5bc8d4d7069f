package xla_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/xlajax"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
)

// rewritten are pieces of graphs that XLA rewrites so that other values come out of them; each fails without
// the guards of guard.go, in programs of fixed sizes, of sizes that are left open, or in both.
var rewritten = map[string]string{
	"log of exp":                 "%a = call_function[exp](%x) : T\n  %r = call_function[log](%a) : T",
	"log of a power":             "%a = call_function[pow](%x, %y) : T\n  %r = call_function[log](%a) : T",
	"exp by exp":                 "%a = call_function[exp](%x) : T\n  %b = call_function[exp](%y) : T\n  %r = call_function[div](%a, %b) : T",
	"power of exp":               "%a = call_function[exp](%x) : T\n  %r = call_function[pow](%a) {other=0.5} : T",
	"quotient of a quotient":     "%a = call_function[div](%x, %y) : T\n  %r = call_function[div](%a, %y) : T",
	"quotient by a quotient":     "%a = call_function[div](%x, %y) : T\n  %r = call_function[div](%y, %a) : T",
	"what is added and taken":    "%a = call_function[add](%x) {other=3e7} : T\n  %r = call_function[sub](%a) {other=3e7} : T",
	"factors that overflow":      "%a = call_function[mul](%x) {other=1e30} : T\n  %r = call_function[mul](%a) {other=1e-30} : T",
	"divided and multiplied":     "%a = call_function[div](%x) {other=1e-30} : T\n  %r = call_function[mul](%a) {other=1e-30} : T",
	"nothing under a mask":       "%a = call_function[lt](%y) {other=0} : bool[N,4]\n  %b = call_function[cast](%a) {dtype=f32} : T\n  %r = call_function[mul](%x, %b) : T",
	"by a large broadcast":       "%a = call_function[nan_to_num](%y) : T\n  %b = call_function[amax](%a) {dim=[0], keep_dim=true} : f32[1,4]\n  %r = call_function[div](%x, %b) : T",
	"zero is added":              "%a = call_function[neg](%x) : T\n  %b = call_function[add](%a) {other=0} : T\n  %r = call_function[reciprocal](%b) : T",
	"a sum that is rounded":      "%a = call_function[mul](%x, %y) : T\n  %b = call_function[add](%a, %y) : T\n  %r = call_function[floor](%b) : T",
	"a moved product in a sum":   "%a = call_function[mul](%x, %y) : T\n  %b = call_function[neg](%a) : T\n  %c = call_function[sub](%y, %b) : T\n  %r = call_function[round](%c) : T",
	"a quotient that is rounded": "%a = call_function[div](%x) {other=0.3} : T\n  %r = call_function[floor](%a) : T",
}

// pairsOfNumbers are operands of these: integers and halves of which products and sums end, or nearly, at integers, large and
// small ones, and what is no number.
func pairsOfNumbers(n int) (x, y *array.Array) {
	some := []float64{0, 1, -1, 0.5, -2, 3, 100, -80, 1e-10, 1e10, 1e25, -1e25, 3e38, -3e38, 1e38, 0.1, 0.7, 1.1, 7.3, -0.3, 2.5e-30, 1e30, math.Inf(1), math.Inf(-1), math.NaN(), 255, 51, 17}
	x, y = array.New(array.F32, n, 4), array.New(array.F32, n, 4)
	for k := range x.Len() {
		array.SetFloat64At(x, k, some[k%len(some)])
		array.SetFloat64At(y, k, some[k/len(some)%len(some)])
	}
	return x, y
}

// TestXLA_computesGraphsAsWritten: XLA does not compute something else of what a graph says.
func TestXLA_computesGraphsAsWritten(t *testing.T) {
	x := xlajax.Start(t)
	const n = 196 // all pairs of the numbers
	a, b := pairsOfNumbers(n)
	for name, body := range rewritten {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll("graph g(%x: T, %y: T) {\n  symbol N = dim(%x, 0)\n  "+body+"\n", "T", "f32[N,4]")
			m, between := parsedModule(t, text+"  return %r\n}\n"), parsedModule(t, text+"  return (%r, %a)\n}\n")
			in := []*array.Array{a, b}
			want, err := (&interp.Interpreter{State: interp.NewState(between)}).RunArrays(ctx, in)
			require.NoError(t, err)
			r := &real{t: t}
			fixed, err := xla.Emit(m, lowering.Options{Shapes: map[string]int{"N": n}})
			require.NoError(t, err)
			r.add(fixed, realRun{"fixed", in, func(got []*array.Array) string { return nearest(want, got[0]) }})
			sizes := map[string]int{"N": n}
			bounded, err := xla.EmitBounded(m, lowering.Options{}, map[string]int{"N": n + 3})
			require.NoError(t, err)
			r.add(bounded, realRun{"bounded", filled(bounded, in, sizes), func(got []*array.Array) string {
				return nearest(want, cutTo(t, bounded, got, sizes)[0])
			}})
			r.check(x)
		})
	}
}

// nearest says where results differ by more than a few roundings of each, "" where they do not. Of what is
// expected the second is a value in between, which XLA takes for zero where it is below the normal numbers.
func nearest(want []*array.Array, got *array.Array) string {
	for k := range got.Len() {
		if m := math.Abs(array.Float64At(want[1], k%want[1].Len())); m > 0 && m < 0x1p-126 {
			continue
		}
		if w, g := array.Float64At(want[0], k), array.Float64At(got, k); !fxtest.Near(w, g, 1e-5, 0x1p-126) {
			return fmt.Sprintf("element %d is %g, expected %g", k, g, w)
		}
	}
	return ""
}

// TestXLAKeepsNaNInLargeReductions: reductions of more elements than samples have, of which XLA computes several at once.
func TestXLAKeepsNaNInLargeReductions(t *testing.T) {
	x := xlajax.Start(t)
	r, g := &real{t: t}, &op.Gen{}
	random := rand.New(rand.NewPCG(5, 754))
	for _, o := range triedOps() {
		if o.Class != op.Reduction && !strings.Contains(o.Name, "_pool") && !strings.Contains(o.Name, "softmax") ||
			!fxtest.IsNightly() && !slices.Contains([]string{"amax", "amin", "max_pool2d", "softmax"}, o.Name) {
			continue
		}
		added := 0
		for _, s := range o.Samples() {
			if s.In[0] == nil || s.In[0].DType() != array.F32 || s.In[0].Rank() < 2 || s.In[0].Len() == 0 || len(present(s.In)) > 1 || added == 3 {
				continue
			}
			dims := slices.Clone(s.In[0].Shape())
			for d := len(dims) - 1; d >= 0 && stablehlo.Of(array.F32, dims...).Len() < 20000; d-- {
				dims[d] *= 8
			}
			s.In = slices.Clone(s.In)
			s.In[0] = g.Normal(dims...)
			if _, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In); err != nil {
				continue
			}
			r.sample(o, s, random)
			added++
		}
	}
	require.Greater(t, r.check(x), 10)
}
