package op

import (
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// GradCall is a call of which a Spec.Grad makes the gradient.
type GradCall struct {
	// In are the operands, nil for absent ones; there is one for each of Op.In, and more
	// for a variadic operand.
	In []Value
	// Seeds are the derivatives of the loss with respect to the results, in their shapes
	// and element types, nil for results that it does not depend on.
	Seeds []Value
	// Needed tells of which operands the gradient is used.
	Needed []bool
	// Result returns result i. Those that are not asked for need not be kept.
	Result func(i int) Value
}

// Need reports whether the gradient of operand i is used.
func (c GradCall) Need(i int) bool { return i < len(c.Needed) && c.Needed[i] }

// HasGrad reports whether the operator has a rule of its own, Spec.Grad.
func (o *Op) HasGrad() bool { return o.grad != nil }

// Grad makes by the operator's own rule the derivatives with respect to its operands: one
// for each of c.In, nil where there is none or it is not needed; missing ones at the end
// are nil. One may have the shape that the operand is broadcast to, and another float
// type. It must not be called unless HasGrad. A call that the rule cannot differentiate
// panics with a *diag.Error (see NotDifferentiable).
func (o *Op) Grad(b Builder, attrs any, c GradCall) []Value { return o.grad(b, attrs, c) }

// StopsGrad reports whether no gradient goes back through a call, by intent: Spec.Stops.
func (o *Op) StopsGrad() bool { return o.stops }

// NoGrad returns why the operator has no gradient; "" where nothing is said.
func (o *Op) NoGrad() string { return o.noGrad }

// NotDifferentiable is the mistake that a Spec.Grad panics with for attributes or
// operands that it has no rule for.
func NotDifferentiable(why, hint string) *diag.Error {
	return diag.New(NoGradient, why).WithHint(hint)
}

// HasModes reports whether the operator computes something else in training.
func (o *Op) HasModes() bool { return o.training != nil }

// Smooth reports whether the operator has an expression of which derivatives are made:
// see Derivative.
func (o *Op) Smooth() bool { return o.expr != nil && !o.Variadic() && o.NumStatic() > 0 }

// NumStatic returns the number of results where it does not follow from attributes, else 0.
func (o *Op) NumStatic() int {
	switch {
	case o.Results == nil:
		return 1
	case len(o.Results) == 1 && o.Results[0] == "...":
		return 0
	}
	return len(o.Results)
}

// maxOrder bounds how often an expression is differentiated: names in files ask for it.
const maxOrder = 4

// derivation says of which operator another is the derivative.
type derivation struct {
	of    *Op
	wrt   int // the operand
	order int
}

// derivatives are those made of an operator, by operand.
type derivatives struct {
	sync.Mutex
	made map[int]*Op
}

// Derivative returns the operator that computes the gradient of operand i of o, an
// operator with an expression: gelu_grad of gelu, atan2_grad_other of atan2, which has
// several operands. It has the attributes of o. Its operands are those of o; then o's
// results, which the expression reads where the derivative is written by them (exp); then
// the derivatives with respect to the results. Its result is the derivative with respect
// to operand i in the shape that all operands broadcast to and the element type of operand i.
//
// An operand of o that may not be absent is absent where the expression does not read it
// and it has the element type of the seeds. A result may be absent: what the expression
// reads of it is then computed again. A seed is absent where it is zero. The derivative is an operator with an expression itself, and belongs to no
// table: Lookup makes it by its name. nil is returned where o is not Smooth, for
// operands that it does not have, and beyond the fourth order.
func (o *Op) Derivative(i int) *Op {
	order := 1
	if o.derived != nil {
		order = o.derived.order + 1
	}
	if !o.Smooth() || i < 0 || i >= len(o.In) || order > maxOrder {
		return nil
	}
	o.grads.Lock()
	defer o.grads.Unlock()
	if d := o.grads.made[i]; d != nil {
		return d
	}
	d := newDerivative(o, i, order)
	if o.grads.made == nil {
		o.grads.made = map[int]*Op{}
	}
	o.grads.made[i] = d
	return d
}

// DerivedFrom returns the operator and the operand whose gradient o computes; nil where o
// is no derivative.
func (o *Op) DerivedFrom() (of *Op, operand int) {
	if o.derived == nil {
		return nil, 0
	}
	return o.derived.of, o.derived.wrt
}

func newDerivative(o *Op, i, order int) *Op {
	suffix := ""
	if order > 1 {
		suffix = strconv.Itoa(order)
	}
	d := &Op{Name: o.Name + gradSuffix, Path: o.Path, Class: Elementwise, Tol: o.Tol, codec: o.codec, training: o.training,
		Doc: "the gradient of operand " + o.In[i].Name + " of " + o.Name + ".", derived: &derivation{o, i, order}}
	if len(o.In) > 1 {
		d.Name += "_" + o.In[i].Name
	}
	d.Doc = d.Name + " is " + d.Doc
	for _, a := range o.In {
		d.In = append(d.In, Operand{Name: a.Name, Optional: true})
	}
	results := o.Results
	if results == nil {
		results = []string{"result"}
	}
	for _, name := range results {
		d.In = append(d.In, Operand{Name: name + suffix, Optional: true})
	}
	for _, name := range results {
		seed := "grad" + suffix
		if len(results) > 1 {
			seed = "grad_" + name + suffix
		}
		d.In = append(d.In, Operand{Name: seed, Optional: true})
	}
	d.expr = func(b *expr.Builder, attrs any, in []shape.Type) []expr.Value { return derive(d, b, attrs, in) }
	return d
}

const gradSuffix = "_grad"

// derivedBy returns the derivative of that Key, nil where there is none. A name may come
// from a file: it is read once, from the operator on.
func derivedBy(key string) *Op {
	for at := 1; at < len(key); at++ {
		if !strings.HasPrefix(key[at:], gradSuffix) {
			continue
		}
		registry.RLock()
		of := registry.ops[key[:at]]
		registry.RUnlock()
		if of == nil {
			continue
		}
		if d := descend(of, key[at:]); d != nil {
			return d
		}
	}
	return nil
}

// descend returns the derivative of o whose name goes on with rest, nil where there is none.
// It goes no deeper than orders do.
func descend(o *Op, rest string) *Op {
	if rest == "" {
		return o
	}
	rest, ok := strings.CutPrefix(rest, gradSuffix)
	if !ok {
		return nil
	}
	for i, a := range o.In {
		tail, fits := rest, true
		if len(o.In) > 1 {
			tail, fits = strings.CutPrefix(rest, "_"+a.Name)
		}
		if !fits || tail != "" && !strings.HasPrefix(tail, gradSuffix) {
			continue
		}
		if d := o.Derivative(i); d != nil {
			if found := descend(d, tail); found != nil {
				return found
			}
		}
	}
	return nil
}

// derive builds the expression of a derivative.
func derive(o *Op, b *expr.Builder, attrs any, in []shape.Type) []expr.Value {
	of, wrt, at := o.derived.of, o.derived.wrt, len(o.derived.of.In)
	given := append(append([]shape.Type{}, in...), make([]shape.Type, max(0, len(o.In)-len(in)))...)
	n := (len(o.In) - at) / 2
	types, results, seeds := given[:at], given[at:at+n], given[at+n:]
	seed := array.Invalid
	for _, s := range seeds {
		if s.Kind() == shape.Tensor && seed == array.Invalid {
			seed = s.DType()
		}
	}
	if seed == array.Invalid {
		panic(diag.New(OperandCount, "operand "+o.In[at+n].Name+" is missing"))
	}
	types = append([]shape.Type{}, types...)
	for i := range types {
		if types[i].Kind() == shape.None && !of.In[i].Optional {
			types[i] = shape.Unranked(seed)
		}
	}
	if types[wrt].Kind() == shape.None {
		panic(diag.New(OperandCount, "operand "+of.In[wrt].Name+" is missing, whose gradient is asked for"))
	}
	inputs := func(list []shape.Type, from int) []expr.Value {
		vals := make([]expr.Value, len(list))
		for i, t := range list {
			if t.Kind() == shape.Tensor {
				vals[i] = b.Input(from+i, t.DType())
			}
		}
		return vals
	}
	x := inputs(types, 0)
	made := partials(of, b, attrs, types, wrt, x, inputs(results, at))
	out, _ := expr.Chain(b, types[wrt].DType(), made, inputs(seeds, at+n))
	requireRead(o, b, out, given)
	return []expr.Value{out}
}

// partials makes the derivatives of the results: what Spec.Deriv says, else that of the
// expression.
func partials(o *Op, b *expr.Builder, attrs any, types []shape.Type, wrt int, x, results []expr.Value) []expr.Value {
	if o.deriv != nil {
		if own := o.deriv(b, attrs, o.converted(b, attrs, types)); wrt < len(own) && own[wrt].DType() != array.Invalid {
			return own[wrt : wrt+1]
		}
	}
	body, err := o.Expression(attrs, types)
	if err != nil {
		panic(err)
	}
	return expr.Partials(b, body, wrt, x, results)
}

// requireRead refuses a call without an operand that its expression reads.
func requireRead(o *Op, b *expr.Builder, out expr.Value, in []shape.Type) {
	for i, read := range b.Graph(out).Reads(len(in)) {
		if read && in[i].Kind() != shape.Tensor {
			panic(diag.New(OperandCount, "operand "+o.In[i].Name+" is missing, which the derivative reads"))
		}
	}
}
