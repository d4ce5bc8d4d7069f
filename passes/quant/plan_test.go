package quant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/shape"
)

const residualPlan = `plan for cpu: 8 of 9 operators quantised
%x    value             any by global     u8 affine, histogram
%c1   conv2d            static by global  static
%c1   weight c1.weight  any by global     i8 symmetric channel, min_max
%r1   relu              static by global  static                          Q06 fused: computed with %c1
%r1   value             any by global     u8 affine, histogram
%c2   conv2d            static by global  static
%c2   weight c2.weight  any by global     i8 symmetric channel, min_max
%sum  add               static by global  static                          Q06 fused: computed with %c2
%r2   relu              static by global  static                          Q06 fused: computed with %c2
%r2   value             any by global     u8 affine, histogram = group 1
%p    max_pool2d        static by global  static
%p    value             any by global     u8 affine, histogram = group 1
%f    flatten           static by global  static
%f    value             any by global     u8 affine, histogram = group 1
%y    linear            static by global  static                          Q05 float result
%y    weight fc.weight  any by global     i8 symmetric channel, min_max
%s    softmax           static by global  float                           Q11 no form: cpu has none of softmax
group 1: %r2 %p %f
`

func TestPlan_residualNet(t *testing.T) {
	m := quanttest.Parse(t, quanttest.Residual)
	before := m.String()
	for range 3 {
		p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
		require.NoError(t, err)
		require.Equal(t, residualPlan, p.String())
	}
	require.Equal(t, before, m.String(), "resolving changes nothing")
	quanttest.Pipeline(t, m, quant.Prepare(quanttest.Static(), cpu.QuantBackend()))
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.Equal(t, residualPlan, p.String(), "a prepared graph has the same plan")
}

func TestStrict_listsAllRefusals(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %y = call_function[linear](%x, %w, _) at "model.go:10"
  %n = call_function[softmax](%y) {dim=1} at "model.go:11"
  %z = call_function[cumsum](%n) {dim=1} at "model.go:12"
  return %z
}
param w : f32[4,4]
`), "net.fx")
	require.NoError(t, err)
	quanttest.Fill(m)
	c := quanttest.Static()
	c.Strict = true
	c.Global.Weight.Bits = 4
	p, err := quant.Resolve(m, c, cpu.QuantBackend())
	require.NotNil(t, p)
	var l diag.List
	require.ErrorAs(t, err, &l)
	require.Len(t, l, 3)
	for i, want := range []string{
		"model.go:10: linear: weight w is asked to be 4 bits by global, cpu grants i8 symmetric channel, min_max: Q13 no such scheme",
		"model.go:11: softmax: operator is asked to be static by global, cpu grants float: Q11 no form",
		"model.go:12: cumsum: operator is asked to be static by global, cpu grants float: Q11 no form",
	} {
		require.Equal(t, quant.Refused, l[i].Code)
		require.ErrorContains(t, l[i], want)
	}
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Prepare(c, cpu.QuantBackend())}, passes.Options{})
	require.ErrorIs(t, err, quant.Refused)
	_, err = passes.Run(ctx, m, []passes.Pass{quant.Convert(c, cpu.QuantBackend())}, passes.Options{})
	require.ErrorIs(t, err, quant.Refused)
	c.Strict = false
	r := quanttest.Pipeline(t, m, quant.Prepare(c, cpu.QuantBackend()))
	require.Len(t, r.Passes[0].Refused, 3, "refusals are in the report")
}

// oddities are operators of a user's module.
var (
	twice = op.Define("twice", op.Spec[op.None]{Doc: "twice is x + x.", In: op.Args("x"), Class: op.Elementwise,
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
			return b.Call(std.Add, std.AddAttrs{}, in[0], in[0])
		}})
	never = op.Define("never", op.Spec[op.None]{Doc: "never is x.", In: op.Args("x"), Quant: op.QuantNever,
		Infer:  func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Kernel: func(op.None, []shape.Type) kernel.Step { return &kernel.Copy{} }})
	weighted = op.Define("weighted", op.Spec[op.None]{Doc: "weighted is x @ weightᵀ.", In: op.Args("x", "weight"), Quant: op.QuantWeighted,
		Infer: func(_ *op.Infer, _ op.None, in []shape.Type) (shape.Type, error) { return in[0], nil },
		Decompose: func(b op.Builder, _ op.None, in []op.Value) op.Value {
			return b.Call(std.Linear, nil, in[0], in[1], nil)
		}})
)

// TestReasons has a program for every reason.
func TestReasons(t *testing.T) {
	linear := func(inputs, body, params string) string {
		return "graph net(" + inputs + ") {\n" + body + "}\nparam w : f32[4,4]\n" + params
	}
	x, w := "%x: f32[2,4]", "  %w = get_attr[w] : f32[4,4]\n"
	user := func(name string) string { return "github.com/gofx-dev/gofx/passes/quant_test." + name }
	all := map[quant.Reason]bool{}
	for _, c := range []struct {
		reason quant.Reason
		text   string
		config func(*quant.Config)
	}{
		{quant.NotAsked, linear(x, w+"%y = call_function[linear](%x, %w, _)\nreturn %y\n", ""), func(c *quant.Config) { c.Exclude = []quant.Selector{{Name: "y"}} }},
		{quant.NoFloats, linear(x, w+"%y = call_function[gt](%x, %x)\nreturn %y\n", ""), nil},
		{quant.Structure, linear(x, "%s = call_function[split](%x) {sizes=[2,2],dim=1}\n%y = call_function[getitem](%s) {index=0}\nreturn %y\n", ""), nil},
		{quant.Unused, linear(x, "%y = call_function[relu](%x)\nreturn %y\n", ""), nil},
		{quant.FloatResult, linear(x, w+"%y = call_function[linear](%x, %w, _)\nreturn %y\n", ""), nil},
		{quant.Within, linear(x, w+"%y = call_function[linear](%x, %w, _)\n%z = call_function[relu](%y)\nreturn %z\n", ""), nil},
		{quant.Between, linear("%x: f32[2,4,3,3]", "%t = get_attr[t] : f32[4,3,2,2]\n%y = call_function[conv_transpose2d](%x, %t, _) {stride=[2],groups=2}\nreturn %y\n", "param t : f32[4,3,2,2]\n"), nil},
		{quant.NoForm, linear(x, "%y = call_function[cumsum](%x) {dim=1}\nreturn %y\n", ""), nil},
		{quant.NoMode, linear("%x: i64[2]", w+"%y = call_function[embedding](%x, %w)\nreturn %y\n", ""), nil},
		{quant.NoScheme, linear(x, w+"%y = call_function[linear](%x, %w, _)\nreturn %y\n", ""), func(c *quant.Config) { c.Global.Activation.Granularity = quant.PerChannel }},
		{quant.OtherScheme, linear(x, w+"%y = call_function[linear](%x, %w, _)\n%z = call_function[linear](%x, %w, _)\nreturn (%y, %z)\n", ""), func(c *quant.Config) {
			r := quanttest.Rule(quant.Selector{Name: "z"}, quant.Static)
			r.Activation.DType = array.I8
			c.Rules = append(c.Rules, r)
		}},
		{quant.NeverDeclared, linear(x, "%y = call_function["+user("never")+"](%x)\nreturn %y\n", ""), nil},
		{quant.OtherFloats, linear("%x: f64[2,4]", "%y = call_function[relu](%x)\nreturn %y\n", ""), nil},
		{quant.UnknownType, linear("%x: f32[*]", "%y = call_function[relu](%x)\nreturn %y\n", ""), nil},
		{quant.TupleResult, linear(x, "%s = call_function[split](%x) {sizes=[2,2],dim=1}\n%y = call_function[getitem](%s) {index=0}\nreturn %y\n", ""), nil},
		{quant.ComputedWeight, linear(x, w+"%v = call_function[neg](%w)\n%y = call_function[linear](%x, %v, _)\nreturn %y\n", ""), nil},
		{quant.InRegion, linear("%p: bool[], "+x, "%y = call_function[cond](%p, %x) {\nregion(%a: f32[2,4]) {\n%r = call_function[relu](%a)\nreturn %r\n}\nregion(%b: f32[2,4]) {\nreturn %b\n}\n}\nreturn %y\n", ""), nil},
		{quant.InTraining, linear(x, "%m = get_attr[m] : f32[4]\n%y = call_function[batch_norm](%x, %m, %m, %m, %m) {training=true}\nreturn %y\n", "param m : f32[4]\n"), nil},
		{quant.WrittenMemory, linear(x, "%b = get_attr[b] : f32[4,4]\n%o = call_function[linear](%x, %b, _)\n%y = call_function[linear](%b, %b, _)\n%z = call_function[assign](%b, %y)\n%q = call_function[matmul](%b, %y)\nreturn (%o, %q)\n", "param b : f32[4,4] buffer\n"), nil},
		{quant.FasterInFloat, linear("%q: f32[2,4,8]", "%y = call_function[scaled_dot_product_attention](%q, %q, %q)\nreturn %y\n", ""), nil},
	} {
		m := quanttest.Parse(t, c.text)
		config := quanttest.Static()
		if c.config != nil {
			c.config(config)
		}
		p, err := quant.Resolve(m, config, cpu.QuantBackend())
		require.NoError(t, err)
		require.Equal(t, c.reason == quant.Between, strings.Contains(p.String(), "  static, computed in f32 between  "), p)
		if !has(p, c.reason) {
			t.Errorf("no %s in\n%s", c.reason, p)
		}
		all[c.reason] = true
	}
	for _, r := range []quant.Reason{quant.OpaqueCode, quant.UnfitWeight, quant.InfiniteValue} {
		all[r] = true // the two tests below, and TestPlan_infinitiesStayInFloats
	}
	for _, r := range quant.Reasons() {
		require.True(t, all[r], r)
	}
}

func has(p *quant.Plan, r quant.Reason) bool {
	for _, e := range p.Entries {
		for _, w := range e.Why {
			if w.Reason == r {
				return true
			}
		}
	}
	return false
}

func TestPlan_opaqueCodeStaysInFloat(t *testing.T) {
	m := quanttest.Parse(t, "graph net(%x: f32[2,4]) {\n  return %x\n}\n")
	f := op.NewAdHoc("example.com/net", "f", op.Args("x"), false, false, nil)
	out := m.Graph.Output()
	out.SetArg(0, m.Graph.Before(out).Function(f, nil, m.Graph.First()))
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.True(t, has(p, quant.OpaqueCode), p)
}

func TestUnfitWeights(t *testing.T) {
	text := "graph net(%x: f32[2,4]) {\n  %w = get_attr[w] : f32[4,4]\n  %y = call_function[linear](%x, %w, _)\n  return %y\n}\nparam w : f32[4,4]\n"
	for i, bad := range []float32{float32(nan), float32(inf), float32(-inf)} {
		m := quanttest.Parse(t, text)
		array.Data[float32](m.Param("w").Value)[3+i] = bad
		p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
		require.NoError(t, err)
		require.True(t, has(p, quant.UnfitWeight), p)
	}
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	p, err := quant.Resolve(m, quanttest.Static(), cpu.QuantBackend())
	require.NoError(t, err)
	require.True(t, has(p, quant.ComputedWeight), "a weight without a value: %s", p)
}

// TestUsersOperators quantises operators of a user's module as they declare.
func TestUsersOperators(t *testing.T) {
	key := "github.com/gofx-dev/gofx/passes/quant_test."
	m := quanttest.Parse(t, `graph net(%x: f32[2,4]) {
  %w = get_attr[w] : f32[4,4]
  %a = call_function[`+key+`weighted](%x, %w)
  %b = call_function[`+key+`twice](%a)
  %c = call_function[`+key+`never](%b)
  %d = call_function[linear](%c, %w, _)
  return %d
}
param w : f32[4,4]
`)
	require.NotNil(t, twice)
	require.NotNil(t, never)
	require.NotNil(t, weighted)
	fm := graph.Clone(m)
	quanttest.Quantise(t, m, quanttest.Static(), quanttest.Batches(t, m, 40, nil))
	text := m.String()
	require.Equal(t, 2, strings.Count(text, "[dequantize](%w"), text)
	require.Contains(t, text, "%d = call_function[linear](%dequantize_")
	require.Regexp(t, `%c = call_function\[`+key+`never\]\(%dequantize_\d\)`, text, "never takes what twice gives, in floats")
	quanttest.Sounds(t, fm, m, 25)
}
