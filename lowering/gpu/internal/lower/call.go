package lower

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/source"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// rule is how calls of an operator become steps.
type rule struct {
	// supports judges a call by itself; its sizes may be unknown.
	supports func(n *graph.Node, doubles bool) (ok bool, reason string)
	// lower makes the steps of a call with known sizes.
	lower func(c *call) ([]*Operand, error)
}

// call is what a rule sees.
type call struct {
	b  *Builder
	n  *graph.Node
	in []*Operand // nil for absent operands
}

// result returns a new value of the type of result i.
func (c *call) result(i int) *Operand { return c.b.result(c.n, i) }

// emit adds a step of the call.
func (c *call) emit(k *source.Kernel, out, in []*Operand) { c.b.emit(c.n, k, out, in) }

// placed returns operand i in a buffer, with any layout; nil when it is absent.
func (c *call) placed(i int) *Operand {
	if i >= len(c.in) || c.in[i] == nil {
		return nil
	}
	c.b.place(c.in[i])
	return c.in[i]
}

// dense returns operand i in order; nil when it is absent.
func (c *call) dense(i int) *Operand {
	if c.placed(i) == nil {
		return nil
	}
	return c.b.dense(c.in[i])
}

// one makes the step of a kernel with one result.
func (c *call) one(k *source.Kernel, in ...*Operand) ([]*Operand, error) {
	out := c.result(0)
	c.emit(k, []*Operand{out}, in)
	return []*Operand{out}, nil
}

// refuse is the error of a call that no kernel computes with these sizes.
func (c *call) refuse(why string) error { return lowering.Refuse(c.n, TargetName, why) }

// group is how many work-items reduce n elements together.
func (c *call) group(n int) int {
	const together, least = 128, 256
	if c.b.info.Host || n < least {
		return 1
	}
	return min(together, max(c.b.info.Group, 1))
}

// moves takes every element type: elements are moved as bits.
func moves(*graph.Node, bool) (bool, string) { return true, "" }

// floats takes what kernels compute with and sums in floats.
func floats(n *graph.Node, doubles bool) (bool, string) {
	if ok, why := computes(n, doubles); !ok {
		return false, why
	}
	if t := n.OperandTypes()[0]; !t.DType().IsFloat() {
		return false, "there is no kernel for " + t.DType().String()
	}
	return true, ""
}

// TargetName is that of the target.
const TargetName = "gpu"

// computes refuses operand and result types that kernels do not compute with.
func computes(n *graph.Node, doubles bool) (bool, string) {
	types := append(n.OperandTypes(), n.Type().Members()...)
	for _, t := range types {
		if t.Kind() != shape.Tensor {
			continue
		}
		if !source.Computes(t.DType()) {
			return false, "kernels do not compute with " + t.DType().String()
		}
		if t.DType().Size() == 8 && t.DType().IsFloat() && !doubles {
			return false, "the device has no floats of 64 bits"
		}
	}
	return true, ""
}

// stepOf returns the operator's step, of the type that its rule is for.
func stepOf[S any](c *call) (S, error) {
	var none S
	s, err := attrsStep(c.n)
	if err != nil {
		return none, err
	}
	if k, ok := s.(S); ok {
		return k, nil
	}
	return none, c.refuse("its kernel is another one")
}

// formula computes an expression over values; nil ones are not read.
func (c *call) formula(d array.DType, dims []int, in []*Operand, f func(eb *expr.Builder, x []expr.Value) expr.Value) *Operand {
	eb, p := expr.NewBuilder(), &pending{node: c.n, acc: -1}
	x := make([]expr.Value, len(in))
	for i, v := range in {
		if v != nil {
			x[i] = eb.Input(p.index(v), v.DType())
		}
	}
	p.g = eb.Graph(eb.Cast(f(eb, x), d))
	v := &Operand{Header: Header(d, dims), todo: p}
	c.b.place(v)
	return v
}

// shared is what several products make of the same values, as those of the same states or weights do.
func (c *call) shared(what string, in []*Operand, make func() *Operand) *Operand {
	key := what
	for _, v := range in {
		if v != nil {
			key += fmt.Sprint(" ", v.Buf, v.view())
		}
	}
	if c.b.packs[key] == nil {
		c.b.packs[key] = make()
	}
	return c.b.packs[key]
}
