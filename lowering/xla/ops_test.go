package xla_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
	"github.com/gofx-dev/gofx/lowering/xla/internal/eval"
	"github.com/gofx-dev/gofx/lowering/xla/internal/stablehlo"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

var ctx = context.Background()

// oneCall returns a module of one call of the operator.
func oneCall(o *op.Op, attrs any, in []*array.Array) *graph.Module {
	g := graph.New("one")
	m := graph.NewModule(g)
	c := g.At()
	args := make([]*graph.Node, len(in))
	for i, a := range in {
		if a != nil {
			args[i] = c.Placeholder("x"+string(rune('a'+i)), shape.TypeOf(a), nil)
		}
	}
	call := c.Function(o, attrs, args...)
	n, tuple := o.NumResults(attrs)
	if !tuple {
		c.Output(nil, call)
		return m
	}
	s := &graph.Structure{Kind: graph.Results}
	items := make([]*graph.Node, n)
	for i := range items {
		items[i] = c.ItemNode(call, i)
		s.Fields = append(s.Fields, graph.Leaf(i))
	}
	c.Output(s, items...)
	return m
}

func present(in []*array.Array) []*array.Array {
	var out []*array.Array
	for _, a := range in {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

// evaluate reads the text of a program back and runs it.
func evaluate(t *testing.T, p *xla.Program, in []*array.Array) []*array.Array {
	t.Helper()
	text := p.String()
	code, err := stablehlo.Parse(text)
	require.NoError(t, err, text)
	require.Equal(t, text, code.String(), "the text reads back as itself")
	out, err := eval.Run(ctx, code, in)
	require.NoError(t, err)
	return out
}

// without are the operators of which no sample can be emitted; see docs/lowering.md.
var without = []string{"non_max_suppression", "non_max_suppression_limits", "nonzero", "observe", "range", "unique"}

// narrowOnly matches the reasons of single samples: element types, and regions whose number of
// points or whose order decides.
var narrowOnly = regexp.MustCompile(`(f8|f4|[iu][42]).* no rules|sampling_ratio is 0|mode is max`)

// sums are the quantised operators that add up floats; programs of the others have the bits of
// the kernels, except those with a tolerance, whose sums of integers become floats that are rounded
// again.
var sums = []string{"block_attention", "block_linear", "block_linear_dynamic", "int4_linear", "int8_linear"}

// triedOps are the operators of which programs are tried.
func triedOps() []*op.Op {
	return slices.DeleteFunc(op.All(), func(o *op.Op) bool {
		return o.Structural() || o.AdHoc || strings.Contains(o.Key(), "unsaid") || o.Name == "sized"
	})
}

func TestEveryOperatorSample(t *testing.T) {
	emitted, refusedAll := map[string]bool{}, map[string]bool{}
	for _, o := range triedOps() {
		t.Run(o.Key(), func(t *testing.T) {
			for _, s := range o.Samples() {
				if why := sample(t, o, s); why == "" {
					emitted[o.Key()] = true
				} else if refusedAll[o.Key()] = true; !slices.Contains(without, o.Key()) {
					require.Regexp(t, narrowOnly, why, s.Name)
				}
			}
		})
	}
	var none []string
	for o := range refusedAll {
		if !emitted[o] {
			none = append(none, o)
		}
	}
	slices.Sort(none)
	require.Equal(t, without, none)
}

// sample emits one sample and compares its results with the operator's; it returns why
// there is no program.
func sample(t *testing.T, o *op.Op, s op.Sample) (refused string) {
	m := oneCall(o, s.Attrs, s.In)
	list := lowering.Query(target{}, m.Graph)
	p, err := xla.Emit(m, lowering.Options{})
	if len(list) > 0 {
		require.ErrorIs(t, err, lowering.Unsupported, s.Name)
		return list[0].Msg
	}
	require.NoError(t, err, s.Name)
	want := evalCall(t, o, s)
	require.Empty(t, differsFrom(o, s, want, evaluate(t, p, present(s.In))), s.Name)
	return ""
}

// evalCall returns the results of the operator itself.
func evalCall(t testing.TB, o *op.Op, s op.Sample) []*array.Array {
	t.Helper()
	want, err := o.Eval(&kernel.Workspace{}, s.Attrs, s.In)
	require.NoError(t, err, s.Name)
	return want
}

// differsFrom says how results of a program differ from the operator's, "" when they do not.
func differsFrom(o *op.Op, s op.Sample, want, got []*array.Array) string {
	switch {
	case o.Tol != (op.Tolerance{}):
		if len(got) != len(want) {
			return strconv.Itoa(len(got)) + " results, expected " + strconv.Itoa(len(want))
		}
		for i := range want {
			if d := fxtest.Beyond(o, s.Attrs, s.In, want[i], got[i]); d != "" {
				return d
			}
		}
		return ""
	case (o.HasReference() || strings.HasSuffix(o.Name, "quantize")) && !slices.Contains(sums, o.Name):
		return fxtest.SameArrays(want, got)
	}
	return fxtest.CloseArrays(want, got)
}

type target struct{}

func (target) Name() string                                                         { return xla.Name }
func (target) Supports(n *graph.Node) (bool, string)                                { return xla.Supports(n) }
func (target) Compile(*graph.Module, lowering.Options) (lowering.Executable, error) { panic("unused") }

// TestScalars emits calls of tensors of rank 0.
func TestScalars(t *testing.T) {
	ran := 0
	for _, o := range triedOps() {
		t.Run(o.Key(), func(t *testing.T) {
			list := fxtest.Scalars(o)
			for _, s := range list[:min(len(list), 3)] {
				if sample(t, o, s) == "" {
					ran++
				}
			}
		})
	}
	require.Greater(t, ran, 150)
}
