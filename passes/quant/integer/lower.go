package integer

import (
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
	"github.com/gofx-dev/gofx/shape"
)

// Lower rewrites operators between dequantize and quantize into operators on quantised
// values. Results move by a quantum at most; those of views, maxima and tables do not
// move. What has dequantised operands and stays in float is refused with the reason.
var Lower = passes.Pass{
	Name:  "quant-lower",
	Order: []passes.Before{{First: "quant-lower", Then: "decompose", Why: "what stands between dequantize and quantize is one call"}},
	Doc:   "Computes on quantised values what stands between dequantize and quantize.",
	// What is in a module's call has no operands to be quantised.
	Requires: []passes.Fact{passes.Functional, passes.Flat},
	Run: func(c *passes.Ctx, g *graph.Graph) (bool, error) {
		before := c.Matches()
		l := &lowerer{c: c, params: passes.NewParams(c.Module, g), effects: graph.EffectsOf(g)}
		for n := range g.All() {
			if err := c.Err(); err != nil {
				return false, err
			}
			if err := l.node(n); err != nil {
				return false, err
			}
		}
		if c.Matches() > before {
			c.Module.DropUnused()
		}
		return c.Matches() > before, nil
	},
}

// node lowers what begins at one call, if it reads dequantised values.
func (l *lowerer) node(n *graph.Node) error {
	o := n.Op()
	if o == nil || o.Quant == op.QuantNever && o != std.Quantize {
		return nil
	}
	if done, err := l.weightOnly(n); done || err != nil {
		return err
	}
	reads := false
	for a := range n.Inputs() {
		if a.Op() != std.Dequantize {
			continue
		}
		reads = true
		if d := a.Arg(0).Type().DType(); d.IsNarrow() {
			l.c.Refuse(n, "it reads values of "+d.String()+": kernels compute on 8 bits")
			return nil
		}
		if b := l.overwritten(a); b != nil {
			l.c.Refuse(n, "the graph writes "+b.String()+", which "+a.String()+" reads")
			return nil
		}
	}
	if !reads || rightOperand(n) {
		return nil
	}
	if d := n.Type().DType(); n.Type().Kind() == shape.Tensor && d.IsNarrow() {
		l.c.Refuse(n, "it makes values of "+d.String()+": kernels compute on 8 bits")
		return nil
	}
	if _, ok := form.ReadFourBits(n); ok {
		return nil // who reads the weight lowers it
	}
	if p, ok := products[o]; ok {
		return l.product(n, p)
	}
	if to := pairs[o]; to != nil {
		return l.pair(n, to)
	}
	if rule := values[o]; rule != nil {
		return rule(l, n)
	}
	switch {
	case o.ViewOf == 1:
		return l.view(n)
	case elementwise(o):
		return l.function(n)
	case form.Recurrent[o] != nil:
		l.c.Refuse(n, "its weights alone are quantised: each run dequantises them")
		return nil
	}
	l.c.Refuse(n, FloatsOnly(n))
	return nil
}

// FloatsOnly says why a call has no form on quantised values, "" where it may have one: it
// is computed in f32 between dequantize and quantize.
func FloatsOnly(n *graph.Node) string {
	o := n.Op()
	switch {
	case o == nil || o.Quant == op.QuantNever && o != std.Quantize:
	case o == std.ConvTranspose2d && n.Opcode() != graph.CallModule:
		_, why := phases(n, n.Arg(0).Type())
		return why
	case values[o] == nil && pairs[o] == nil && form.Recurrent[o] == nil && o.ViewOf != 1 && !elementwise(o):
		if _, ok := products[o]; !ok {
			return o.Name + " has no form on quantised values"
		}
	}
	return ""
}

// pairs are the operators of two operands that have an integer form.
var pairs = map[*op.Op]*op.Op{std.Add: std.QAdd, std.Mul: std.QMul}

// values are the operators of quantised values that do not multiply.
var values = map[*op.Op]func(l *lowerer, n *graph.Node) error{
	std.MaxPool1d:         (*lowerer).maxPool,
	std.MaxPool2d:         (*lowerer).maxPool,
	std.MaxPool3d:         (*lowerer).maxPool,
	std.AvgPool1d:         (*lowerer).avgPool,
	std.AvgPool2d:         (*lowerer).avgPool,
	std.AvgPool3d:         (*lowerer).avgPool,
	std.AdaptiveAvgPool1d: (*lowerer).avgPool,
	std.AdaptiveAvgPool2d: (*lowerer).avgPool,
	std.AdaptiveAvgPool3d: (*lowerer).avgPool,
	std.ConvTranspose2d:   (*lowerer).convTranspose,
	std.Mean:              (*lowerer).mean,
	std.Cat:               (*lowerer).cat,
	std.Embedding:         (*lowerer).embedding,
	std.Dropout:           (*lowerer).dropout,
	std.Quantize:          (*lowerer).function,
}
