package quant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/quanttest"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
)

// decoder has what GPT-2 has: a table that tokens are looked up in and that scores are
// products with, and between them products with a right operand and a bias.
const decoder = `graph net(%i: i64[N,S]) {
  %wte = get_attr[wte] : f32[40,64]
  %e = call_function[embedding](%i, %wte)
  %w1 = get_attr[w1] : f32[64,96]
  %m1 = call_function[matmul](%e, %w1)
  %b1 = get_attr[b1] : f32[96]
  %a1 = call_function[add](%m1, %b1)
  %g = call_function[gelu](%a1)
  %w2 = get_attr[w2] : f32[96,64]
  %m2 = call_function[matmul](%g, %w2)
  %r = call_function[add](%e, %m2)
  %t = call_function[TURN
  %y = call_function[matmul](%r, %t)
  return %y
}
param wte : f32[40,64]
param w1 : f32[64,96]
param b1 : f32[96]
param w2 : f32[96,64]
`

func weightOnly(s quant.Scheme) *quant.Config {
	return &quant.Config{Global: quant.Setting{Mode: quant.WeightOnly, Weight: s}}
}

// calls counts the calls of each operator.
func callsOf(g *graph.Graph) map[*op.Op]int {
	all := map[*op.Op]int{}
	for n := range g.Nodes() {
		if n.Opcode().IsCall() {
			all[n.Op()]++
		}
	}
	return all
}

// TestRightOperands quantises the weights of a decoder alone: of each there is one copy,
// stored by rows, and one operator reads it with its bias.
func TestRightOperands(t *testing.T) {
	for _, turn := range []string{"t](%wte)", "transpose](%wte) {dim0=-1, dim1=0}", "permute](%wte) {dims=[1,0]}"} {
		for name, c := range map[string]struct {
			scheme             quant.Scheme
			product, embedding *op.Op
			table, matrix      string
			decibels           float64
		}{
			"8 bits": {quant.Scheme{}, std.Int8Linear, std.QEmbedding, "param wte_quantised : i8[40,64]", "param w1_quantised : i8[96,64]", 35},
			"affine": {quant.Scheme{Symmetry: quant.Affine}, std.Int8Linear, std.QEmbedding, "param wte_quantised : i8[40,64]", "param w1_zero : i8[96]", 35},
			"4 bits": {quant.Scheme{Bits: 4}, std.Int4Linear, std.Int4Embedding, "param wte_quantised : u8[40,32]", "param w1_scale : f32[96,2]", 14},
			"symmetric": {quant.Scheme{Bits: 4, Symmetry: quant.Symmetric}, std.Int4Linear, std.Int4Embedding, "param wte_quantised : u8[40,32]",
				"param w1_quantised : u8[96,32]", 14},
		} {
			m := quanttest.Parse(t, strings.Replace(decoder, "TURN", turn, 1))
			plain := graph.Clone(m)
			config := &quant.Config{Strict: true}
			for _, o := range []string{"matmul", "embedding"} {
				r := quanttest.Rule(quant.Selector{Op: o}, quant.WeightOnly)
				r.Weight = c.scheme
				config.Rules = append(config.Rules, r)
			}
			quanttest.Pipeline(t, m, quant.Convert(config, cpu.QuantBackend()))
			for _, want := range []string{c.table, c.matrix} {
				require.Contains(t, m.String(), want, name)
			}
			require.NotContains(t, m.String(), "param wte_quantised_1", "%s: the table is stored once", name)
			quanttest.Sounds(t, plain, m, c.decibels)
			sameInPlan(t, m)
			converted := graph.Clone(m)
			r := quanttest.Pipeline(t, m, integer.Lower)
			require.Empty(t, r.Passes[0].Refused, name)
			require.Equal(t, map[*op.Op]int{c.embedding: 1, c.product: 3, std.Gelu: 1, std.Add: 1}, callsOf(m.Graph), "%s: %s", name, m)
			quanttest.Sounds(t, converted, m, 100)
			sameInPlan(t, m)
		}
	}
}

// TestWeightsInTwoForms says of a weight which is quantised to save memory that it is
// stored in another form, too.
func TestWeightsInTwoForms(t *testing.T) {
	text := strings.Replace(decoder, "TURN", "t](%wte)", 1)
	for want, change := range map[string]func(c *quant.Config){
		"wte is stored in floats too, for %y": func(c *quant.Config) { c.Exclude = []quant.Selector{{Name: "y"}} },
		"wte is stored in floats too, for %e": func(c *quant.Config) { c.Exclude = []quant.Selector{{Op: "embedding"}} },
		"wte is stored as i8 symmetric channel, min_max too, for %e": func(c *quant.Config) {
			r := quanttest.Rule(quant.Selector{Op: "embedding"}, quant.WeightOnly)
			r.Weight = quant.Scheme{}
			c.Rules = []quant.Rule{r}
		},
	} {
		m, c := quanttest.Parse(t, text), weightOnly(quant.Scheme{Bits: 4})
		change(c)
		p, err := quant.Resolve(m, c, cpu.QuantBackend())
		require.NoError(t, err)
		require.Contains(t, p.String(), "Q14 other scheme: "+want)
		require.Equal(t, 1, strings.Count(p.String(), want))
		c.Strict = true
		_, err = quant.Resolve(m, c, cpu.QuantBackend())
		require.ErrorContains(t, err, want)
	}
}

// TestRightOperandsThatStay are no matrix, no parameter, or have rows that are no groups.
func TestRightOperandsThatStay(t *testing.T) {
	for text, c := range map[string]struct {
		bits int
		want string
	}{
		"  %w = get_attr[w] : f32[2,8,8]\n": {4, "Q13 no such scheme: 4 bits are for matrices"},
		"  %w = get_attr[w] : f32[8]\n":     {8, "Q20 computed weight"},
		"  %w = call_function[neg](%x)\n":   {8, "Q20 computed weight"},
		"  %w = get_attr[w] : f32[8,40]\n":  {4, "rows of 8 are not whole groups of 32"},
	} {
		src := "graph net(%x: f32[8,8]) {\n" + text + "  %y = call_function[matmul](%x, %w)\n  return %y\n}\n"
		if _, size, ok := strings.Cut(text, " : "); ok {
			src += "param w : " + size
		}
		p, err := quant.Resolve(quanttest.Parse(t, src), weightOnly(quant.Scheme{Bits: c.bits}), cpu.QuantBackend())
		require.NoError(t, err)
		require.Contains(t, p.String(), c.want, src)
	}
}

// TestBatchesOfRightOperands are stored as they are.
func TestBatchesOfRightOperands(t *testing.T) {
	m := quanttest.Parse(t, `graph net(%x: f32[2,3,8]) {
  %w = get_attr[w] : f32[2,8,5]
  %y = call_function[matmul](%x, %w)
  return %y
}
param w : f32[2,8,5]
`)
	plain := graph.Clone(m)
	r := quanttest.Pipeline(t, m, quant.Convert(weightOnly(quant.Scheme{}), cpu.QuantBackend()), integer.Lower)
	require.Contains(t, m.String(), "param w_quantised : i8[2,8,5]")
	require.Len(t, r.Passes[1].Refused, 1)
	quanttest.Sounds(t, plain, m, 35)
	sameInPlan(t, m)
}

// TestScalesOfWholeMatrices leaves exchanged axes to the product.
func TestScalesOfWholeMatrices(t *testing.T) {
	m := quanttest.Parse(t, strings.Replace(decoder, "TURN", "t](%wte)", 1))
	plain := graph.Clone(m)
	quanttest.Pipeline(t, m, quant.Convert(weightOnly(quant.Scheme{Granularity: quant.PerTensor}), cpu.QuantBackend()), integer.Lower)
	require.Equal(t, 3, callsOf(m.Graph)[std.Int8Linear], m)
	quanttest.Sounds(t, plain, m, 30)
	sameInPlan(t, m)
}

// TestVectorsByNarrowWeights multiplies a vector, and leaves alone what is added but no bias.
func TestVectorsByNarrowWeights(t *testing.T) {
	for add, left := range map[string]int{"f32[32]": 0, "f32[1]": 1, "f32[]": 1, "f32[2,32]": 1} {
		m := quanttest.Parse(t, `graph net(%x: f32[64]) {
  %w = get_attr[w] : f32[64,32]
  %m = call_function[matmul](%x, %w)
  %b = get_attr[b] : `+add+`
  %y = call_function[add](%b, %m)
  return %y
}
param w : f32[64,32]
param b : `+add+`
`)
		plain := graph.Clone(m)
		quanttest.Pipeline(t, m, quant.Convert(weightOnly(quant.Scheme{Bits: 4}), cpu.QuantBackend()), integer.Lower)
		require.Equal(t, left, callsOf(m.Graph)[std.Add], m)
		require.Equal(t, 1, callsOf(m.Graph)[std.Int4Linear])
		quanttest.Sounds(t, plain, m, 12)
		sameInPlan(t, m)
	}
}
