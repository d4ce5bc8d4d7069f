package passes_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/passtest"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
)

type (
	tt   = *tensor.Tensor
	fun1 = func(tt) tt
	fun2 = func(a, b tt) tt
)

var (
	doubleNeg = passes.Rewrite{Name: "double-neg", Doc: "Removes negation of a negation.",
		Pattern: func(x tt) tt { return x.Neg().Neg() }, Replacement: func(x tt) tt { return x }}
	linear = passes.Rewrite{Name: "linear", Doc: "Makes a linear layer of its parts.",
		Pattern:     func(x, w, b tt) tt { return x.Matmul(w.Transpose(0, 1)).Add(b) },
		Replacement: func(x, w, b tt) tt { return tensor.Linear(x, w, b) }}
)

// TestRule applies rules to graphs; out is the body expected after it, "" when
// the rule must not match, and why part of the reason.
func TestRule(t *testing.T) {
	for name, c := range map[string]struct {
		rule         passes.Rewrite
		in, out, why string
		matches      int
	}{
		"any spelling": {rule: doubleNeg, matches: 1, in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_method[neg](%a) : f32[4]
  return %b`, out: `
  return %x`},
		"chain": {rule: passes.Rewrite{Name: "relu-relu", Doc: "d", Pattern: func(x tt) tt { return x.Relu().Relu() }, Replacement: fun1(tensor.Relu)}, matches: 3, in: `
  %a = call_function[relu](%x) : f32[4]
  %b = call_function[relu](%a) : f32[4]
  %c = call_function[relu](%b) : f32[4]
  %d = call_function[relu](%c) : f32[4]
  return %d`, out: `
  %relu_2 = call_function[relu](%x) : f32[4]
  return %relu_2`},
		"outside use": {rule: doubleNeg, in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[add](%a, %b) : f32[4] at "net.go:30"
  return %c`, why: "matched 2 of 2: at %a: want no use outside of the match, is used by %c at net.go:30"},
		"wrong operator": {rule: linear, in: `
  %t = call_method[transpose](%x) {dim1=1} : f32[4,4]
  %m = call_function[mul](%x, %t) : f32[4,4]
  %c = call_function[add](%m, %x) : f32[4,4]
  return %c`, why: "matched 1 of 3: at %m: is mul, the pattern has matmul"},
		"attributes": {rule: linear, in: `
  %t = call_method[transpose](%x) {dim0=1} : f32[4,4]
  %m = call_function[matmul](%x, %t) : f32[4,4]
  %c = call_function[add](%m, %x) : f32[4,4]
  return %c`, why: "at %t: the attributes are {dim0=1}, the pattern has {dim1=1}"},
		"same value": {rule: passes.Rewrite{Name: "square", Doc: "d", Pattern: func(x tt) tt { return x.Mul(x) }, Replacement: fun1(tensor.Square)}, matches: 1, in: `
  %a = call_function[mul](%x, %y) : f32[4]
  %b = call_function[mul](%a, %a) : f32[4]
  return %b`, out: `
  %a = call_function[mul](%x, %y) : f32[4]
  %square = call_function[square](%a) : f32[4]
  return %square`, why: "at %y: the pattern has the same value as %x here"},
		"or": {rule: passes.Rewrite{Name: "half", Doc: "d", Pattern: func(x, y tt) tt { return x.Neg().Add(y) },
			Or: []any{func(x, y tt) tt { return y.Add(x.Neg()) }}, Replacement: func(x, y tt) tt { return y.Sub(x) }}, matches: 2, in: `
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[add](%a, %y) : f32[4]
  %c = call_function[neg](%x) : f32[4]
  %d = call_function[add](%y, %c) : f32[4]
  return %b, %d`, out: `
  %sub = call_function[sub](%y, %x) : f32[4]
  %sub_1 = call_function[sub](%y, %x) : f32[4]
  return %sub, %sub_1`},
		"where": {rule: passes.Rewrite{Name: "never", Doc: "d", Pattern: func(x tt) tt { return x.Neg() }, Replacement: func(x tt) tt { return x.Relu() },
			Where: func(m *passes.Match) string { return m.Inputs[0].String() + " has no luck" }}, in: `
  %a = call_function[neg](%x) : f32[4]
  return %a`, why: "matched 1 of 1: %x has no luck"},
	} {
		t.Run(name, func(t *testing.T) {
			args := "%x: f32[4], %y: f32[4]"
			if len(c.why) > 0 && (name == "wrong operator" || name == "attributes") {
				args = "%x: f32[4,4]"
			}
			m := passtest.Parse(t, "graph g("+args+") {"+c.in+"\n}\n")
			before := graph.Clone(m)
			r, err := run(m, passes.Options{}, passes.Rule(c.rule))
			require.NoError(t, err)
			require.Equal(t, c.matches, r.Passes[0].Matches)
			want := c.out
			if want == "" {
				want = c.in
			}
			require.Equal(t, passtest.Parse(t, "graph g("+args+") {"+want+"\n}\n").String(), m.String())
			if c.why != "" {
				require.NotEmpty(t, r.Passes[0].Refused)
				require.Contains(t, r.Passes[0].Refused[0].Why, c.why)
			}
			passtest.Same(t, before, m)
			passtest.Meta(t, before, m)
		})
	}
}

func TestRule_severalResults(t *testing.T) {
	two := passes.Rewrite{Name: "two", Doc: "Shares a difference.",
		Pattern: func(x, y tt) (tt, tt) {
			d := x.Sub(y)
			return d.Neg(), d.Relu()
		},
		Replacement: func(x, y tt) (tt, tt) { return y.Sub(x), x.Sub(y).Relu() }}
	m := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %a = call_function[sub](%x, %y) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %d = call_function[relu](%a) : f32[4]
  return %b, %d
}
`)
	before := graph.Clone(m)
	r, err := run(m, passes.Options{}, passes.Rule(two))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("two"), r.Explain())
	require.Nil(t, m.Graph.Find("a"))
	passtest.Same(t, before, m)

	early := passtest.Parse(t, `
graph g(%x: f32[4], %y: f32[4]) {
  %a = call_function[sub](%x, %y) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  %c = call_function[exp](%b) : f32[4] at "net.go:5"
  %d = call_function[relu](%a) : f32[4]
  return %c, %d
}
`)
	r, err = run(early, passes.Options{}, passes.Rule(two))
	require.NoError(t, err)
	require.Contains(t, r.Explain(), "%c at net.go:5: uses %b before %d is computed")
}

func TestRule_comparesConstantsByValue(t *testing.T) {
	rule := passes.Rewrite{Name: "half", Doc: "d",
		Pattern:     func(x tt) tt { return x.Mul(tensor.Scalar(float32(0.5))) },
		Replacement: func(x tt) tt { return x.Div(tensor.Scalar(float32(2))) }}
	for value, matches := range map[float32]int{0.5: 1, 0.25: 0} {
		m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %c = get_attr[c] : f32[]
  %y = call_function[mul](%x, %c) : f32[4]
  %z = call_function[mul](%y, %c) : f32[4]
  return %z
}
param c : f32[]
`)
		p := *m.Param("c")
		p.Value = tensor.Scalar(value).Array()
		m.SetParam(p)
		before := graph.Clone(m)
		r, err := run(m, passes.Options{}, passes.Rule(rule))
		require.NoError(t, err)
		require.Equal(t, 2*matches, r.Passes[0].Matches, r.Explain())
		if matches == 0 {
			require.Contains(t, r.Explain(), "at %c: the constant is another one than")
		} else {
			require.Len(t, m.Params(), 2, "the rule's constant is stored once")
		}
		passtest.Same(t, before, m)
	}
}

func TestRule_sizesStandForTheMatchedOnes(t *testing.T) {
	rule := passes.Rewrite{Name: "flatten", Doc: "d", Types: []string{"f32[A,B,C]"},
		Pattern:     func(x tt) tt { return x.Reshape(x.Size(0), x.Size(1).Mul(x.Size(2))) },
		Replacement: func(x tt) tt { return x.Reshape(x.Size(0), -1) }}
	body := `
graph g(%%x: f32[N,2,M]) {
  symbol N = dim(%%x, 0)
  symbol M = dim(%%x, 2)
  %%y = call_method[reshape](%%x) {shape=%s} : f32[%s]
  return %%y
}
`
	m := passtest.Parse(t, fmt.Sprintf(body, "[N,2*M]", "N,2*M"))
	before := graph.Clone(m)
	r, err := run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("flatten"), r.Explain())
	require.Contains(t, m.String(), "(%x) {shape=[N,-1]} : f32[N,2*M]")
	passtest.Same(t, before, m)

	m = passtest.Parse(t, fmt.Sprintf(body, "[2*N,M]", "2*N,M"))
	r, err = run(m, passes.Options{}, passes.Rule(rule))
	require.NoError(t, err)
	require.Contains(t, r.Explain(), "the attributes are {shape=[2*N,M]}, the pattern has {shape=[N,2*M]}")
}

func TestRule_doesNotMoveReadsAcrossWrites(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %m = get_attr[m] live : f32[4]
  %a = call_function[neg](%m) : f32[4]
  %w = call_function[assign](%m, %x) : f32[4]
  %b = call_function[neg](%a) : f32[4]
  return %b
}
param m : f32[4] buffer
`)
	r, err := run(m, passes.Options{}, passes.Rule(doubleNeg))
	require.NoError(t, err)
	require.Contains(t, r.Explain(), "at %w: may write what the match reads")
}

func TestRule_inRegionsAndModules(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%p: bool[], %x: f32[4]) {
  %c = call_function[cond](%p, %x) : (f32[4]) {
    region a(%u: f32[4]) {
      %n = call_module[act](%u) : f32[4]
      %n_1 = call_module[act](%n) : f32[4]
      return (%n_1)
    }
    region b(%u: f32[4]) {
      return (%u)
    }
  }
  %f = call_module[fc](%x) : f32[2]
  %y = call_function[getitem](%c) : f32[4]
  return %y, %f
}
param fc.weight : f32[2,4]
module act = neg ()
module fc = linear (weight=fc.weight, bias=_)
`)
	before := graph.Clone(m)
	r, err := run(m, passes.Options{}, passes.Rule(doubleNeg))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("double-neg"), "a module without parameters is its operator")
	passtest.Same(t, before, m)
	why, err := passes.Explain(passes.Rewrite{Pattern: func(x, w tt) tt { return tensor.Linear(x, w, nil) }, Replacement: func(x, w tt) tt { return x.Matmul(w) }}, m.Graph.Find("f"))
	require.NoError(t, err)
	require.Contains(t, why, "run functionalize first")
	why, err = passes.Explain(doubleNeg, m.Graph.Find("f"))
	require.NoError(t, err)
	require.Equal(t, "matched 0 of 2: at %f: is linear, the pattern has neg", why)
}

func TestRuleBuild(t *testing.T) {
	m := passtest.Parse(t, small)
	r, err := run(m, passes.Options{}, passes.Rule(passes.Rewrite{Name: "sum", Doc: "d", Pattern: func(x tt) tt { return x.Relu() },
		Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
			return []*graph.Node{c.Function(std.Neg, nil, c.Function(std.Neg, nil, c.Function(std.Relu, nil, m.Inputs[0])))}
		}}))
	require.NoError(t, err)
	require.Equal(t, 1, r.Matches("sum"))
	require.Equal(t, 6, m.Graph.Len())
}

func TestRuleMistakes(t *testing.T) {
	neg := func(x tt) tt { return x.Neg() }
	for name, c := range map[string]struct {
		rule passes.Rewrite
		msg  string
	}{
		"no replacement":  {passes.Rewrite{Pattern: neg}, "needs either Replacement or Build"},
		"parameters":      {passes.Rewrite{Pattern: neg, Replacement: func(x, y tt) tt { return x }}, "2 parameters and 1 results"},
		"unused":          {passes.Rewrite{Pattern: func(x, y tt) tt { return x.Neg() }, Replacement: fun2(tensor.Maximum)}, "is not used"},
		"everything":      {passes.Rewrite{Pattern: func(x tt) tt { return x }, Replacement: neg}, "match everything"},
		"everything else": {passes.Rewrite{Pattern: func(x tt) tt { return passes.AnyOf(x.Neg(), x) }, Replacement: neg}, "match everything"},
		"data":            {passes.Rewrite{Pattern: func(x tt) tt { return x.Mul(tensor.Scalar(x.Item())) }, Replacement: neg}, "cannot be traced"},
		"type":            {passes.Rewrite{Pattern: neg, Replacement: func(x tt) tt { return x.Sum() }}, "the replacement gives f32[] instead of f32[N,3]"},
		"build":           {passes.Rewrite{Pattern: neg, Build: func(*graph.Cursor, *passes.Match) []*graph.Node { return nil }}, "Build returned 0"},
		"or":              {passes.Rewrite{Pattern: neg, Or: []any{func(x, y tt) tt { return x.Add(y) }}, Replacement: neg}, "different numbers"},
		"no function":     {passes.Rewrite{Pattern: 3, Replacement: neg}, "cannot be traced"},
		"dead": {passes.Rewrite{Pattern: func(x tt) tt {
			x.Exp()
			return x.Neg()
		}, Replacement: neg}, "no result of the pattern is made of %exp"},
		"several results": {passes.Rewrite{Pattern: func(x tt) (tt, tt) { return passes.AnyOf(x.Neg(), x.Exp()), x.Relu() },
			Replacement: func(x tt) (tt, tt) { return x, x.Relu() }}, "several spellings and several results"},
		"no spelling":     {passes.Rewrite{Pattern: func(x tt) tt { return passes.AnyOf() }, Replacement: neg}, "AnyOf has no spelling"},
		"great number":    {passes.Rewrite{Pattern: func(x tt) tt { return x.MulScalar(passes.Number(64)) }, Replacement: neg}, "Number(64), expected 0 to 63"},
		"loose parameter": {passes.Rewrite{Pattern: func(x tt) tt { return passes.Loose(x).Neg() }, Replacement: neg}, "the attributes of %x open, which is no call"},
		"control flow": {passes.Rewrite{Pattern: neg, Replacement: func(x tt) tt {
			same := func(in []tt) []tt { return in }
			return tensor.Cond(tensor.Scalar(true), same, same, x)[0]
		}}, "has control flow"},
		"open replacement": {passes.Rewrite{Pattern: neg, Replacement: func(x tt) tt { return x.MulScalar(passes.Number(0)) }}, "leaves something open"},
		"region": {passes.Rewrite{Pattern: func(x tt) tt {
			return tensor.Cond(x, func(in []tt) []tt { return in }, func(in []tt) []tt { return in }, x)[0]
		}, Replacement: neg}, "control flow"},
	} {
		t.Run(name, func(t *testing.T) {
			c.rule.Name = "bad"
			m := passtest.Parse(t, small)
			_, err := run(m, passes.Options{}, passes.Rule(c.rule))
			require.ErrorIs(t, err, passes.BadRule)
			require.ErrorContains(t, err, c.msg)
			require.ErrorContains(t, err, "pass bad")
		})
	}
}

func TestRulesToAFixpoint(t *testing.T) {
	m := passtest.Parse(t, `
graph g(%x: f32[4]) {
  %a = call_function[neg](%x) : f32[4]
  %b = call_function[relu](%a) : f32[4]
  %c = call_function[relu](%b) : f32[4]
  %d = call_function[neg](%c) : f32[4]
  return %d
}
`)
	drop := passes.Rewrite{Name: "drop", Doc: "d", Pattern: func(x tt) tt { return x.Relu() }, Replacement: func(x tt) tt { return x }}
	r, err := run(m, passes.Options{}, passes.Rules("clean", "Cleans up.", 10, passes.Rule(doubleNeg), passes.Rule(drop)))
	require.NoError(t, err)
	require.Equal(t, 3, r.Matches("clean"))
	require.Equal(t, 2, m.Graph.Len())
}
