package mutants

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/simplify"
	"github.com/gofx-dev/gofx/tensor"
)

// fault is the mutant that a pipeline has, and the node at which it does its harm. The
// others are passed over, and remembered.
type fault struct {
	kind, victim string
	seen         []string
}

// at reports whether a rewrite of a node goes wrong.
func (f *fault) at(kind string, n *graph.Node) bool {
	if f.kind != kind {
		return false
	}
	f.seen = append(f.seen, n.Name())
	return n.Name() == f.victim
}

type tt = *tensor.Tensor

// rule is a rewrite whose result right makes, or wrong at the victim.
func (f *fault) rule(name string, pattern any, faults []string, right func(c *graph.Cursor, m *passes.Match) *graph.Node,
	wrong ...func(c *graph.Cursor, m *passes.Match) *graph.Node) passes.Pass {
	return passes.Rule(passes.Rewrite{Name: name, Doc: "A rule.", Pattern: pattern, Build: func(c *graph.Cursor, m *passes.Match) []*graph.Node {
		for i, kind := range faults {
			if f.at(name+"/"+kind, m.Roots[0]) {
				return []*graph.Node{wrong[i](c, m)}
			}
		}
		return []*graph.Node{right(c, m)}
	}})
}

func input(_ *graph.Cursor, m *passes.Match) *graph.Node { return m.Inputs[0] }

func unary(o *op.Op, attrs any) func(c *graph.Cursor, m *passes.Match) *graph.Node {
	return func(c *graph.Cursor, m *passes.Match) *graph.Node { return c.Function(o, attrs, m.Inputs[0]) }
}

// scaled multiplies by a function of the numbers of a match, shifted adds it.
func scaled(f func(a, b float64) float64) func(c *graph.Cursor, m *passes.Match) *graph.Node {
	return func(c *graph.Cursor, m *passes.Match) *graph.Node {
		return c.Function(std.Mul, tensor.BinaryAttrs{Other: op.Float(f(m.Numbers[0], m.Numbers[1]))}, m.Inputs[0])
	}
}

func shifted(f func(a, b float64) float64) func(c *graph.Cursor, m *passes.Match) *graph.Node {
	return func(c *graph.Cursor, m *passes.Match) *graph.Node {
		return c.Function(std.Add, tensor.AddAttrs{Other: op.Float(f(m.Numbers[0], m.Numbers[1]))}, m.Inputs[0])
	}
}

// lostUse is right but that a user of the old value gets another one.
func lostUse(c *graph.Cursor, m *passes.Match) *graph.Node {
	for u := range m.Roots[0].Users() {
		u.ReplaceInput(m.Roots[0], c.Function(std.Neg, nil, m.Inputs[0]))
		break
	}
	return m.Inputs[0]
}

// difference returns one input less the other as a sum.
func difference(a, b int) func(c *graph.Cursor, m *passes.Match) *graph.Node {
	return func(c *graph.Cursor, m *passes.Match) *graph.Node {
		return c.Function(std.Add, nil, m.Inputs[a], c.Function(std.Neg, nil, m.Inputs[b]))
	}
}

// pipeline returns the twelve passes.
func (f *fault) pipeline() []passes.Pass {
	sum, product := func(a, b float64) float64 { return a + b }, func(a, b float64) float64 { return a * b }
	last := func(_, b float64) float64 { return b }
	return []passes.Pass{
		f.functional(),
		f.fold(),
		f.rule("double-neg", func(x tt) tt { return x.Neg().Neg() }, []string{"wrong-rewrite", "lost-use"}, input, unary(std.Neg, nil), lostUse),
		f.rule("scale", func(x tt) tt { return x.MulScalar(passes.Number(0)).MulScalar(passes.Number(1)) },
			[]string{"wrong-number", "lost-number"}, scaled(product), scaled(sum), scaled(last)),
		f.rule("shift", func(x tt) tt { return x.AddScalar(passes.Number(0)).AddScalar(passes.Number(1)) },
			[]string{"wrong-number"}, shifted(sum), shifted(product)),
		f.rule("double-relu", func(x tt) tt { return x.Relu().Relu() }, []string{"lost-call"}, unary(std.Relu, nil), input),
		f.rule("untranspose", func(x tt) tt { return x.Transpose(0, 1).Transpose(0, 1) }, []string{"wrong-rewrite"}, input, unary(std.Transpose, swap)),
		f.rule("abs-neg", func(x tt) tt { return x.Neg().Abs() }, []string{"wrong-operator"}, unary(std.Abs, nil), unary(std.Neg, nil)),
		f.merge(),
		f.rule("sub-add", func(x, y tt) tt { return x.Sub(y) }, []string{"swapped-operands"}, difference(0, 1), difference(1, 0)),
		f.rule("silu", func(x tt) tt { return x.Mul(x.Sigmoid()) }, []string{"wrong-operator"}, unary(std.Silu, nil), unary(std.Sigmoid, nil)),
		f.dead(),
	}
}

// functional is simplify.Functionalize, and loses the attributes of a transpose.
func (f *fault) functional() passes.Pass {
	p := simplify.Functionalize
	right := p.Run
	p.Run = func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		changed, err := right(c, g)
		for n := range g.Nodes() {
			if err == nil && n.Op() == std.Transpose && f.at("functionalize/lost-attribute", n) {
				if err = n.SetAttrs(tensor.TransposeAttrs{}); err == nil {
					c.Rewrote(n, nil, "made functional")
				}
			}
		}
		return changed, err
	}
	return p
}

// fold computes products of constants.
func (f *fault) fold() passes.Pass {
	return passes.EachNode("fold", "Computes products of constants.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Op() != std.Mul || n.NumArgs() != 2 {
			return nil
		}
		var in [2]*array.Array
		for i, a := range n.Args() {
			if a.Opcode() != graph.GetAttr || graph.EffectsOf(c.Module.Graph).WrittenState(a.Target()) {
				return nil
			}
			in[i] = c.Module.Param(a.Target()).Value
		}
		if f.at("fold/wrong-operand", n) {
			in[1] = in[0]
		}
		out := tensor.New(in[0]).Mul(tensor.New(in[1])).Array()
		if f.at("fold/wrong-value", n) {
			array.SetFloat64At(out, 5, array.Float64At(out, 5)+0.5)
		}
		path := c.Module.FreshPath("folded")
		c.Module.SetParam(graph.Param{Path: path, Value: out})
		return c.Replace(n, n.Graph().Before(n).GetAttr(path), "computed ahead")
	})
}

// merge replaces calls by equal ones before them.
func (f *fault) merge() passes.Pass {
	return passes.EachNode("merge", "Merges equal calls.", func(c *passes.Ctx, n *graph.Node) error {
		if n.Opcode() != graph.CallFunction || n.Effect() != op.Pure {
			return nil
		}
		for o := n.Prev(); o != nil; o = o.Prev() {
			if o.Op() != n.Op() || o.NumArgs() != n.NumArgs() || !o.Type().Same(n.Type()) {
				continue
			}
			attrs, operands := n.Op().Codec().Equal(o.Attrs(), n.Attrs()), true
			for i := range n.NumArgs() {
				operands = operands && o.Arg(i) == n.Arg(i)
			}
			if attrs && operands || operands && f.at("merge/lost-attribute", n) || attrs && !operands && f.at("merge/lost-operand", n) {
				return c.Replace(n, o, "computes the same as "+o.String())
			}
		}
		return nil
	})
}

// dead removes unused nodes.
func (f *fault) dead() passes.Pass {
	return passes.Pass{Name: "dead", Doc: "Removes unused calls.", Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		for n := range g.Backward() {
			if n.NumUses() > 0 || n.Opcode() == graph.Placeholder || n.Opcode() == graph.Output {
				continue
			}
			if n.Effect() == op.Pure || f.at("dead/lost-effect", n) {
				if err := c.Erase(n, "unused"); err != nil {
					return false, err
				}
			}
		}
		return c.Matches() > 0, nil
	}}
}
