package grad_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/ml"
	"github.com/gofx-dev/gofx/passes/grad"
	"github.com/gofx-dev/gofx/shape"
)

var ctx = context.Background()

// call is a call of an operator whose gradient is looked at, with floats in f64.
type call struct {
	o     *op.Op
	attrs any
	in    []*array.Array
	// out are the results, floats is which of them have seeds.
	out   []*array.Array
	seeds []*array.Array // of out, nil for those that are no floats
}

var errSkip = errors.New("no such call in f64")

// callOf makes the call of a sample in f64; errSkip where there is none.
func callOf(o *op.Op, s op.Sample, r *rand.Rand) (c call, err error) {
	c = call{o: o, attrs: s.Attrs}
	for _, a := range s.In {
		if a != nil && a.DType().IsFloat() {
			a = array.Contiguous(array.Cast(a, array.F64))
			for _, v := range array.Data[float64](a) {
				if math.IsNaN(v) || math.Abs(v) > 1e6 {
					return c, errSkip
				}
			}
		}
		c.in = append(c.in, a)
	}
	if !slices.ContainsFunc(c.in, func(a *array.Array) bool { return a != nil && a.DType().IsFloat() }) {
		return c, errSkip
	}
	out, err := c.eval(c.in)
	if err != nil {
		return c, errSkip
	}
	some := false
	for _, a := range out {
		var seed *array.Array
		switch {
		case a.DType() == array.F64:
			some, seed = true, random(r, a.Shape()...)
		case a.DType().IsFloat():
			return c, errSkip // it rounds: differences say nothing
		}
		c.out, c.seeds = append(c.out, a), append(c.seeds, seed)
	}
	if !some {
		return c, errSkip
	}
	return c, nil
}

// random makes normal numbers.
func random(r *rand.Rand, shape ...int) *array.Array {
	a := array.New(array.F64, shape...)
	for i := range array.Data[float64](a) {
		array.Data[float64](a)[i] = r.NormFloat64()
	}
	return a
}

func (c call) eval(in []*array.Array) ([]*array.Array, error) {
	return c.o.Eval(&kernel.Workspace{}, c.attrs, in)
}

// module returns a graph of the call; its results are all results that are floats.
func (c call) module() *graph.Module {
	g := graph.New("net")
	at := g.At()
	args := make([]*graph.Node, len(c.in))
	for i, a := range c.in {
		if a != nil {
			args[i] = at.Placeholder("x"+strconv.Itoa(i), shape.TypeOf(a), nil)
		}
	}
	n := at.Function(c.o, c.attrs, args...)
	var outs []*graph.Node
	_, tuple := c.o.NumResults(c.attrs)
	for k, s := range c.seeds {
		switch {
		case s == nil:
		case tuple:
			outs = append(outs, at.ItemNode(n, k))
		default:
			outs = append(outs, n)
		}
	}
	s := &graph.Structure{Kind: graph.Results}
	for k := range outs {
		s.Fields = append(s.Fields, graph.Leaf(k))
	}
	at.Output(s, outs...)
	return graph.NewModule(g)
}

// inputs are those of the graph with seeds.
func (c call) inputs() (in []*array.Array) {
	for _, list := range [][]*array.Array{c.in, c.seeds} {
		for _, a := range list {
			if a != nil {
				in = append(in, a)
			}
		}
	}
	return in
}

// wrt are the names of the operands that are floats, and which they are.
func (c call) wrt() (names []string, operands []int) {
	for i, a := range c.in {
		if a != nil && a.DType().IsFloat() {
			names, operands = append(names, "x"+strconv.Itoa(i)), append(operands, i)
		}
	}
	return names, operands
}

// loss is the sum of seeds times results for operand i with element k set to v.
func (c call) loss(i, k int, v float64) float64 {
	in := slices.Clone(c.in)
	in[i] = array.Clone(c.in[i])
	array.Data[float64](in[i])[k] = v
	out, err := c.eval(in)
	if err != nil {
		return math.NaN()
	}
	total := 0.0
	for k, s := range c.seeds {
		if s == nil {
			continue
		}
		if !slices.Equal(out[k].Shape(), s.Shape()) {
			return math.NaN()
		}
		for j := range s.Len() {
			if w := array.Float64At(s, j); w != 0 {
				total += w * array.Float64At(out[k], j)
			}
		}
	}
	return total
}

// tally counts what was compared.
type tally struct{ elements, kinks, calls int }

// compare holds a gradient to central differences. At a kink, where the differences to
// both sides disagree, the gradient lies between them.
func (c call) compare(i int, got *array.Array, n *tally) string {
	if !slices.Equal(got.Shape(), c.in[i].Shape()) || got.DType() != c.in[i].DType() {
		return fmt.Sprintf("gradient %v of operand %v", shape.TypeOf(got), shape.TypeOf(c.in[i]))
	}
	x, d := array.Data[float64](c.in[i]), array.Data[float64](array.Contiguous(got))
	step := max(1, len(x)/12)
	for k := 0; k < len(x); k += step {
		h := 1e-5 * max(1, math.Abs(x[k]))
		here, up, down := c.loss(i, k, x[k]), c.loss(i, k, x[k]+h), c.loss(i, k, x[k]-h)
		want := (up - down) / (2 * h)
		left, right := (here-down)/h, (up-here)/h
		tol := 1e-5 * (1 + math.Abs(want) + math.Abs(here))
		n.elements++
		switch {
		case math.Abs(d[k]-want) <= tol:
		case math.IsNaN(want) || math.IsInf(want, 0) || math.Abs(left-right) > 10*tol:
			n.kinks++
		default:
			return fmt.Sprintf("element %d, %v: got %v, differences say %v (%v and %v)", k, x[k], d[k], want, left, right)
		}
	}
	return ""
}

// coarse are samples that differences say nothing about, with the reason.
var coarse = map[string]string{
	"normalize, row of zeros":  "it is linear within 1e-12 of zero only; TestTraps has it",
	"std, variance beyond f16": "one row varies by less than the steps",
	"fake_quantize":            "the gradient goes straight through the steps, which is no derivative; TestTraps has it",
}

// TestSamples compares the gradient of every sample of every operator with differences.
func TestSamples(t *testing.T) {
	total := tally{}
	for _, o := range op.All() {
		if o.Path != "" && !strings.HasPrefix(o.Path, "github.com/gofx-dev/gofx/op") || o.Structural() {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			n := tally{}
			r := rand.New(rand.NewPCG(7, uint64(len(o.Name))))
			for _, s := range o.Samples() {
				if testing.Short() && n.calls == 2 {
					break
				}
				c, err := callOf(o, s, r)
				if err != nil {
					continue
				}
				if way, why := grad.How(o); way == grad.NoWay || way == grad.Stops {
					t.Skip(why)
				}
				if why := coarse[o.Name+", "+s.Name]; why != "" {
					continue
				}
				if why := coarse[o.Name]; why != "" {
					t.Skip(why)
				}
				n.calls++
				if msg := c.check(&n); msg != "" {
					t.Errorf("%s: %s", s.Name, msg)
				}
			}
			total.calls, total.elements, total.kinks = total.calls+n.calls, total.elements+n.elements, total.kinks+n.kinks
			if n.kinks > 0 {
				t.Logf("%d kinks among %d elements", n.kinks, n.elements)
			}
		})
	}
	t.Logf("%d calls, %d elements, %d of them at kinks", total.calls, total.elements, total.kinks)
}

// check differentiates a call, and compares. It returns what is wrong.
func (c call) check(n *tally) string {
	names, operands := c.wrt()
	m, err := grad.VJP(ctx, c.module(), grad.Options{Wrt: names, AllowUnused: true, AllowEvaluation: true})
	if errors.Is(err, op.NoGradient) {
		return "" // counted in docs/grad.md
	}
	if err != nil {
		return err.Error()
	}
	text := m.String()
	again, err := graph.Parse([]byte(text), "net.fx")
	if err != nil {
		return "the text form is not read again: " + err.Error() + "\n" + text
	}
	if again.String() != text {
		return "the text form is read as another graph"
	}
	out, err := fx.NewGraphModule(m).RunArrays(ctx, c.inputs())
	if err != nil {
		return err.Error() + "\n" + text
	}
	grads := out[len(out)-len(operands):]
	for j, i := range operands {
		if msg := c.compare(i, grads[j], n); msg != "" {
			return "operand " + strconv.Itoa(i) + ", " + msg + "\n" + text
		}
	}
	return ""
}

// TestGradients_everyOperatorHasARule: an operator that takes floats has a gradient or the
// reason why not.
func TestGradients_everyOperatorHasARule(t *testing.T) {
	for _, o := range op.All() {
		if o.Path != "" && !strings.HasPrefix(o.Path, "github.com/gofx-dev/gofx/op") || o.Structural() || !takesFloats(o) {
			continue
		}
		if way, why := grad.How(o); way == grad.NoWay {
			require.NotEmpty(t, o.NoGrad(), "%s has neither a gradient nor a reason in NoGrad", o.Name)
			require.NotContains(t, why, "no rule is written", o.Name)
		}
	}
}

// takesFloats tells whether a sample of the operator has an operand of floats.
func takesFloats(o *op.Op) bool {
	return slices.ContainsFunc(o.Samples(), func(s op.Sample) bool {
		return slices.ContainsFunc(s.In, func(a *array.Array) bool { return a != nil && a.DType().IsFloat() })
	})
}
