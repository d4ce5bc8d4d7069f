package main

import (
	"fmt"
	"strings"

	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/ml" // its operators are listed, too
	"github.com/gofx-dev/gofx/passes/grad"
)

// gradPage lists how each operator is differentiated.
func gradPage() []byte {
	var b strings.Builder
	b.WriteString("# Gradients\n\nWritten by `go run ./internal/generators/docs` from the operators' entries.\n\n" +
		"`fx.GraphModule.ValueAndGrad`, `Gradient` and `VJP` make a graph that computes gradients. Each call is differentiated in the first\n" +
		"of these ways that its operator has:\n\n" +
		"- **rule**: the operator's own, `op.Spec.Grad`.\n" +
		"- **expression**: the derivative of its expression, in forward mode. It is an operator, too: `gelu_grad` of `gelu`, `atan2_grad_other` of an operator\n" +
		"  with several operands. It has the attributes of the operator; its operands are those of the operator, its results, and the derivatives with respect\n" +
		"  to these, each absent (`_`) where it is not read. `op.Spec.Deriv` overrides the derivative at kinks.\n" +
		"- **decomposition**: that of the operators that define it.\n" +
		"- **inverse of the view**: what comes back is put into zeros in the place of what the view shows.\n" +
		"- **expansion**: that of the operators that package `passes/expand` writes it with.\n" +
		"- **stops**: a loss counts the results as constants, as PyTorch's `detach` does.\n\n" +
		"The gradient of `cond`, `scan` and `while` is control flow again, whose bodies compute what they need of the forward bodies from their operands:\n" +
		"a `cond` with the same condition, a `scan` over the reversed sequences and what each trip began with, a `while` of as many trips as were made.\n" +
		"A `while` must say how many trips it makes at most (`tensor.WhileAtMost`), since it keeps what it carries of each; without that, and for bodies\n" +
		"that write state or act on the world, it is refused (FX3095).\n\n" +
		"An operator without a way is refused at the model's line (FX3094), with the reason below; where nothing is said, it takes no floats.\n" +
		"What the loss depends on through integers or steps only is refused, too (FX3090), as are calls that were made for evaluation (FX3093, FX3099).\n\n" +
		"Gradients at ties, zeros, infinities and NaN are those of PyTorch's autograd, except where the table says otherwise: a test of package\n" +
		"`passes/grad` compares them, and holds the exceptions to what the operators' entries declare (`op.Spec.Differs`).\n" +
		"The derivative of `where(x > 0, log(x), 0)` at 0 is NaN, as in PyTorch: what the other branch makes meets the seed 0.\n\n" +
		"| operator | how | why not, and how it departs from PyTorch |\n|---|---|---|\n")
	for _, o := range op.All() {
		if o.Structural() {
			continue
		}
		way, why := grad.How(o)
		how := string(way)
		if way == grad.NoWay {
			how, why = "none", o.NoGrad()
		}
		for _, d := range o.Differences() {
			if d.Kind < op.GradExtends {
				continue
			}
			if why != "" {
				why += "; "
			}
			why += d.Kind.String() + ": " + d.Text
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Key(), how, why)
	}
	return []byte(b.String())
}
