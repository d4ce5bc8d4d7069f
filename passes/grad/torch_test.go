package grad_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/api"
	"github.com/gofx-dev/gofx/passes/grad"
)

// judged is a call with its gradient here, to be held to that of PyTorch.
type judged struct {
	call
	name  string // of the sample, and where the operands are from
	by    map[int]*array.Array
	lacks string // why there is no gradient
}

// TestTorch holds the gradients of all operators to those of PyTorch's autograd: of the
// samples, and of operands with ties, zeros of both signs, infinities and NaN.
// GOFX_GRAD_OPS chooses operators, GOFX_NIGHTLY=1 compares more operands in f32, too.
func TestTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: PyTorch computes thousands of calls")
	}
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	nightly := os.Getenv("GOFX_NIGHTLY") != ""
	var calls []judged
	var asked []oracle.GradientCall
	for _, o := range api.Ops() {
		if way, _ := grad.How(o); way == grad.NoWay || !strings.HasPrefix(o.Name, os.Getenv("GOFX_GRAD_OPS")) {
			continue
		}
		for _, c := range torchCalls(o, nightly) {
			calls = append(calls, c)
			asked = append(asked, oracle.GradientCall{Call: oracle.Call{Op: o, Sample: op.Sample{Attrs: c.attrs, In: c.in}}, Seeds: c.seeds})
		}
	}
	answers, err := oracle.AskGradients(ctx, t.TempDir(), asked)
	require.NoError(t, err)
	v := verdicts{used: map[string]bool{}, ops: map[*op.Op]int{}}
	for i, c := range calls {
		v.judge(t, c, answers[i])
	}
	t.Log(v.String())
	if os.Getenv("GOFX_GRAD_OPS") == "" {
		for _, o := range op.All() {
			for _, d := range o.Differences() {
				if d.Kind < op.GradExtends {
					continue
				}
				if !v.used[o.Name+d.Text] {
					t.Errorf("%s: no call departs from PyTorch as its entry says: %s", o.Name, d.Text)
				}
			}
		}
	}
}

// torchCalls makes the calls of an operator that are compared, with their gradients.
func torchCalls(o *op.Op, nightly bool) (list []judged) {
	types := []array.DType{array.F64, array.F32}
	for i, s := range o.Samples() {
		for _, d := range types {
			for k, in := range operandsLike(o, s, d, rand.New(rand.NewPCG(uint64(i), uint64(d)))) {
				if d == array.F32 && k > 2 && !nightly {
					continue
				}
				c, err := callWith(o, s.Attrs, in, rand.New(rand.NewPCG(uint64(i), uint64(k))))
				if err != nil {
					continue
				}
				j := judged{call: c, name: s.Name + ", " + d.String() + " " + variants[k]}
				j.differentiate()
				list = append(list, j)
			}
		}
	}
	return list
}

// callWith makes a call with seeds of its results that are floats.
func callWith(o *op.Op, attrs any, in []*array.Array, r *rand.Rand) (c call, err error) {
	c = call{o: o, attrs: attrs, in: in}
	if _, operands := c.wrt(); len(operands) == 0 {
		return c, errSkip
	}
	out, err := c.eval(in)
	if err != nil {
		return c, errSkip
	}
	some := false
	for _, a := range out {
		var seed *array.Array
		if a.DType().IsFloat() && !a.DType().IsNarrow() {
			some, seed = true, array.Cast(random(r, a.Shape()...), a.DType())
		}
		c.out, c.seeds = append(c.out, a), append(c.seeds, seed)
	}
	if !some {
		return c, errSkip
	}
	return c, nil
}

// differentiate computes the gradient here.
func (j *judged) differentiate() {
	names, operands := j.wrt()
	m, err := grad.VJP(ctx, j.module(), grad.Options{Wrt: names, AllowUnused: true, AllowEvaluation: true})
	if err == nil {
		var out []*array.Array
		if out, err = fx.NewGraphModule(m).RunArrays(ctx, j.inputs()); err == nil {
			j.by = map[int]*array.Array{}
			for k, g := range out[len(out)-len(operands):] {
				j.by[operands[k]] = g
			}
			return
		}
	}
	j.lacks, _, _ = strings.Cut(err.Error(), "\n")
	if !errors.Is(err, op.NoGradient) {
		j.lacks = "fails: " + err.Error()
	}
}

// verdicts counts what was compared.
type verdicts struct {
	calls, elements, excused, silent, forward int
	ops                                       map[*op.Op]int
	used                                      map[string]bool // declared departures that occurred
}

func (v *verdicts) String() string {
	return fmt.Sprintf("%d operators, %d calls and %d elements of gradients agree with PyTorch; of others, %d calls depart as declared (%d departures), the results of %d differ already, and PyTorch says nothing of %d",
		len(v.ops), v.calls, v.elements, v.excused, len(v.used), v.forward, v.silent)
}

func (v *verdicts) judge(t *testing.T, j judged, g oracle.Gradients) {
	kind, difference := op.GradAlters, ""
	switch {
	case g.Outcome != oracle.Computed && g.Outcome != oracle.Backward:
		v.silent++
		return
	case !sameResults(j.out, g.Results):
		v.forward++
		return
	case strings.HasPrefix(j.lacks, "fails"):
		t.Errorf("%s (%s)%s: %s", j.o.Name, j.name, j.o.Codec().Print(j.attrs), j.lacks)
		return
	case g.Outcome == oracle.Backward && j.lacks != "":
		v.silent++
		return
	case g.Outcome == oracle.Backward:
		kind, difference = op.GradExtends, "PyTorch does not differentiate it: "+g.Text
	case j.lacks != "":
		kind, difference = op.GradRefuses, j.lacks
	default:
		difference = v.compare(j, g)
	}
	if difference == "" {
		v.calls++
		v.ops[j.o]++
		return
	}
	texts := j.o.Departs(kind, j.attrs, j.in)
	if len(texts) == 0 {
		t.Errorf("%s (%s)%s: %s\n%s", j.o.Name, j.name, j.o.Codec().Print(j.attrs), difference, shown(j.call))
		return
	}
	v.excused++
	for _, text := range texts {
		v.used[j.o.Name+text] = true
	}
}

// compare returns how the gradient departs from PyTorch's, "" where it does not.
func (v *verdicts) compare(j judged, g oracle.Gradients) string {
	for _, i := range slices.Sorted(maps.Keys(j.by)) {
		got, want := j.by[i], g.By[i]
		if want == nil { // it is a constant to PyTorch
			continue
		}
		if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) {
			return fmt.Sprintf("operand %d: %s, PyTorch has %v", i, array.Describe(got.DType(), got.Shape()), array.Describe(want.DType(), want.Shape()))
		}
		rel, abs := tolerances(j.o, want)
		for k := range want.Len() {
			x, w := array.Float64At(got, k), array.Float64At(want, k)
			if !within(x, w, rel, abs) {
				return fmt.Sprintf("operand %d, element %d of %s: got %v, PyTorch has %v", i, k, array.Format(got, 12), x, w)
			}
		}
		v.elements += want.Len()
	}
	return ""
}

// tolerances bounds errors by the size of an element, and of the greatest one, where
// elements are sums of several terms.
func tolerances(o *op.Op, want *array.Array) (rel, abs float64) {
	rel, abs = 1e-8, 1e-13
	if want.DType() == array.F32 {
		rel, abs = 1e-4, 1e-6
	}
	if o.Class == op.Elementwise || o.Class == op.Movement {
		return rel, abs
	}
	abs = rel * 0.1 // sums that cancel
	for k := range want.Len() {
		if v := math.Abs(array.Float64At(want, k)); !math.IsInf(v, 0) && !math.IsNaN(v) {
			abs = max(abs, rel*v)
		}
	}
	return rel, abs
}

func within(x, w, rel, abs float64) bool {
	if math.IsNaN(w) || math.IsInf(w, 0) {
		return x == w || math.IsNaN(x) && math.IsNaN(w)
	}
	return math.Abs(x-w) <= abs+rel*math.Abs(w)
}

// sameResults reports whether results are PyTorch's; where they are not, TestFresh of
// package oracle sees to it that the operator's entry says so.
func sameResults(got, want []*array.Array) bool {
	if len(got) != len(want) {
		return false
	}
	for i, a := range got {
		if a.DType() != want[i].DType() || !slices.Equal(a.Shape(), want[i].Shape()) {
			return false
		}
		for k := range a.Len() {
			if !within(array.Float64At(a, k), array.Float64At(want[i], k), 1e-3, 1e-3) {
				return false
			}
		}
	}
	return true
}

// shown prints the operands and seeds of a call.
func shown(c call) (s string) {
	for i, a := range c.in {
		if a != nil {
			s += "\toperand " + strconv.Itoa(i) + " " + array.Format(a, 24) + "\n"
		}
	}
	return s
}
