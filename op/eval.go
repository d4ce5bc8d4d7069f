package op

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/shape"
)

// Step returns the kernel step of a primitive operator for operands of known
// element types and ranks (the zero Type for absent ones); nil when the operator
// is composite, structural or ad hoc. Where it needs sizes that are symbols it is
// an *Unsized. attrs nil stands for the zero value.
func (o *Op) Step(attrs any, in []shape.Type) (s kernel.Step, err error) {
	defer diag.Catch(&err)
	if attrs, err = o.codec.Given(attrs); err != nil {
		return nil, err
	}
	switch {
	case o.expr != nil:
		e, err := o.elementwise(attrs, in)
		if err != nil {
			return nil, err
		}
		return e, nil
	case o.kernel != nil:
		return o.kernel(attrs, in), nil
	}
	return nil, nil
}

// Expand runs the decomposition of a composite operator on b.
func (o *Op) Expand(b Builder, attrs any, in []Value) Value {
	return o.decompose(b, orZero(o, attrs), in)
}

// Eval computes the operator on arrays: the reference semantics that every
// engine is compared with. attrs is the operator's struct, nil for its zero
// value; in has nil for absent operands. Several results come from operators
// with a tuple type. A result may share storage with an operand when the operator
// is a view. Mistakes are returned as *diag.Error, and so is a panic of a kernel of the
// user's.
func (o *Op) Eval(w *kernel.Workspace, attrs any, in []*array.Array) (out []*array.Array, err error) {
	return AppendEval(nil, o, w, attrs, in)
}

// AppendEval is o.Eval that appends the results to out, so that engines can have them in a list
// that they use again.
func AppendEval(out []*array.Array, o *Op, w *kernel.Workspace, attrs any, in []*array.Array) (_ []*array.Array, err error) {
	if o.AdHoc {
		made, err := o.call(in)
		return append(out, made...), err
	}
	defer kernel.Catch(&err)
	return o.eval(out, w, attrs, in)
}

// HasReference reports whether the operator stands for others (Spec.Reference).
func (o *Op) HasReference() bool { return o.reference != nil }

// Reference writes on b what the operator stands for. It must not be called unless
// HasReference.
func (o *Op) Reference(b Builder, attrs any, in []Value) Value {
	return o.reference(b, orZero(o, attrs), in)
}

// EvalReference computes Reference as Eval computes the operator.
func (o *Op) EvalReference(w *kernel.Workspace, attrs any, in []*array.Array) (out []*array.Array, err error) {
	defer diag.Catch(&err)
	attrs, err = o.codec.Given(attrs)
	if err != nil {
		return nil, err
	}
	res, ok := o.reference(&arrayBuilder{w: w}, attrs, values(in)).(arrays)
	if !ok {
		return nil, diag.Bug(o.Name + ": the reference returned a foreign value")
	}
	return res.a, nil
}

// values are arrays as operands of a decomposition.
func values(in []*array.Array) []Value {
	vals := make([]Value, len(in))
	for i, a := range in {
		if a != nil {
			vals[i] = arrays{[]*array.Array{a}, false}
		}
	}
	return vals
}

func (o *Op) eval(out []*array.Array, w *kernel.Workspace, attrs any, in []*array.Array) ([]*array.Array, error) {
	if err := o.CheckRequired(len(in), func(i int) bool { return in[i] != nil }); err != nil {
		return nil, err
	}
	attrs, err := o.codec.Given(attrs)
	if err != nil {
		return nil, err
	}
	if e, shape := o.knownStep(attrs, in); e != nil {
		return runElements(out, w, e, shape, in)
	}
	types := shape.TypesOf(in...)
	typ, err := o.Type(nil, attrs, types)
	if err != nil {
		return nil, err
	}
	if o.decompose != nil {
		res, ok := o.decompose(&arrayBuilder{w: w}, attrs, values(in)).(arrays)
		if !ok {
			return nil, diag.Bug(o.Name + ": decomposition returned a foreign value")
		}
		return append(out, o.copyShared(res.a, in)...), nil
	}
	if o == Dim {
		axis, err := sizedAxis(attrs.(AxisAttrs).Axis, in[0].Rank())
		if err != nil {
			return nil, err
		}
		return append(out, array.Scalar(int64(in[0].Dim(axis)))), nil
	}
	step, err := o.Step(attrs, types)
	if err != nil {
		return nil, err
	}
	if step == nil {
		return nil, diag.New(NoMeaning, o.Key()+" has no meaning as array arithmetic")
	}
	if o.ByValue {
		typ = sizedBy(step, typ, in)
	}
	had := len(out)
	v, views := step.(kernel.Viewer)
	if views = views && o.ViewOf > 0; views {
		if out, err = appendOutputs(out, typ, true); err != nil {
			return nil, err
		}
		if v.View(out[had:], in) {
			return out, nil
		}
	}
	if out, err = appendOutputs(out[:had], typ, false); err != nil {
		return nil, err
	}
	step.Run(w, out[had:], in)
	return out, nil
}

// runElements runs the step of an elementwise operator, whose operands have one shape.
func runElements(out []*array.Array, w *kernel.Workspace, e *kernel.Elementwise, dims []int, in []*array.Array) ([]*array.Array, error) {
	had := len(out)
	for _, d := range e.Program.Outputs {
		if err := fits(d, dims); err != nil {
			return nil, err
		}
		out = append(out, array.NewUncleared(d, dims...)) // the step writes all elements
	}
	e.Run(w, out[had:], in)
	return out, nil
}

// TypeFor returns the type that the results have for these operands, sizes that follow
// from what they hold included. Mistakes are returned as *diag.Error.
func (o *Op) TypeFor(attrs any, in []*array.Array) (t shape.Type, err error) {
	defer kernel.Catch(&err)
	if attrs, err = o.codec.Given(attrs); err != nil {
		return t, err
	}
	types := shape.TypesOf(in...)
	if t, err = o.Type(nil, attrs, types); err != nil || !o.ByValue {
		return t, err
	}
	step, err := o.Step(attrs, types)
	if err != nil {
		return t, err
	}
	return sizedBy(step, t, in), nil
}

// sizedBy returns the type of results whose sizes the step reads in its operands.
func sizedBy(step kernel.Step, typ shape.Type, in []*array.Array) shape.Type {
	members := []shape.Type{typ}
	if typ.Kind() == shape.Tuple {
		members = make([]shape.Type, typ.Len())
		for i := range members {
			members[i] = typ.Member(i)
		}
	}
	sizes := make([][]int, len(members))
	for i, t := range members {
		sizes[i] = make([]int, t.Rank())
	}
	step.(kernel.Sizer).Sizes(sizes, in)
	for i, t := range members {
		members[i] = shape.TensorType(t.DType(), shape.ConstDims(sizes[i]...))
	}
	if typ.Kind() != shape.Tuple {
		return members[0]
	}
	return shape.TupleType(members...)
}

// copyShared returns the results of a decomposition, with memory of their own where the
// record says that they are no views: who relies on it may write to them.
func (o *Op) copyShared(out, in []*array.Array) []*array.Array {
	if o.ViewOf > 0 {
		return out
	}
	out = slices.Clone(out)
	for i, a := range out {
		shared := slices.ContainsFunc(in, func(x *array.Array) bool { return x != nil && x.Storage() == a.Storage() }) ||
			slices.ContainsFunc(out[:i], func(x *array.Array) bool { return x.Storage() == a.Storage() })
		if shared {
			out[i] = array.Clone(a)
		}
	}
	return out
}

// CheckRequired reports missing required operands, all in one error.
func (o *Op) CheckRequired(n int, present func(i int) bool) error {
	missing := ""
	for i, a := range o.In {
		if a.Optional || a.Variadic || (i < n && present(i)) {
			continue
		}
		if missing != "" {
			missing += ", "
		}
		missing += a.Name
	}
	if missing != "" {
		return diag.New(OperandCount, "operand "+missing+" is missing")
	}
	return nil
}

// appendOutputs appends results of a type: headers alone of views, which lie in an operand.
func appendOutputs(out []*array.Array, t shape.Type, views bool) ([]*array.Array, error) {
	count, tuple := 1, t.Kind() == shape.Tuple
	if tuple {
		count = t.Len()
	}
	for i := range count {
		m := t
		if tuple {
			m = t.Member(i)
		}
		d, dims, ok := m.Concrete()
		if !ok {
			return nil, diag.New(NoMeaning, "the result type "+m.String()+" is not known, so that it cannot be computed")
		}
		if views {
			if err := countable(d, dims); err != nil {
				return nil, err
			}
			a := &array.Array{}
			a.Reset(d, dims)
			out = append(out, a)
			continue
		}
		if err := fits(d, dims); err != nil {
			return nil, err
		}
		out = append(out, array.New(d, dims...))
	}
	return out, nil
}

// countable refuses results whose bytes no int counts.
func countable(d array.DType, dims []int) error {
	if !array.Countable(d, dims) {
		return diag.New(TooLarge, "the result "+shape.TensorType(d, shape.ConstDims(dims...)).String()+" takes more bytes than there are addresses")
	}
	return nil
}

// fits refuses results that no memory holds.
func fits(d array.DType, dims []int) error {
	if err := countable(d, dims); err != nil {
		return err
	}
	if n, _ := array.NumElems(dims); int64(n)*int64(d.Size()) > array.MaxBytes() {
		return array.TooLarge("the result "+shape.TensorType(d, shape.ConstDims(dims...)).String(), int64(n)*int64(d.Size()))
	}
	return nil
}

// TooLarge is the code of a result beyond array.MaxBytes.
const TooLarge = array.CodeTooLarge

// arrays is a Value that is there: one array, or a tuple of them.
type arrays struct {
	a     []*array.Array
	tuple bool
}

func (v arrays) Type() shape.Type {
	if !v.tuple {
		return shape.TypeOf(v.a[0])
	}
	return shape.TupleType(shape.TypesOf(v.a...)...)
}

// arrayBuilder runs decompositions eagerly.
type arrayBuilder struct{ w *kernel.Workspace }

func (b *arrayBuilder) Call(operator *Op, attrs any, in ...Value) Value {
	attrs, err := operator.codec.Given(attrs)
	if err != nil {
		panic(err)
	}
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if v == nil {
			continue
		}
		av := v.(arrays)
		if av.tuple {
			panic(diag.Bug(operator.Name + ": a decomposition passed a tuple as an operand"))
		}
		args[i] = av.a[0]
	}
	outs, err := operator.eval(nil, b.w, attrs, args)
	if err != nil {
		panic(err)
	}
	_, tuple := operator.NumResults(attrs)
	return arrays{outs, tuple}
}

func (b *arrayBuilder) Item(tuple Value, i int) Value {
	return arrays{[]*array.Array{tuple.(arrays).a[i]}, false}
}

// Flops returns the floating-point operations of one call with the given types.
func (o *Op) Flops(attrs any, in []shape.Type, out shape.Type) shape.Dim {
	if o.flops != nil {
		return o.flops(orZero(o, attrs), in, out)
	}
	switch o.Class {
	case Elementwise:
		return elements(out)
	case Reduction:
		if len(in) > 0 {
			return elements(in[0])
		}
	}
	return shape.Const(0)
}

// AtMost returns sizes that the results of a ByValue operator never go beyond, a list for
// each result; unknown ones have no bound, and nil says that none is known.
func (o *Op) AtMost(attrs any, in []shape.Type) []shape.Dims {
	if o.atMost == nil {
		return nil
	}
	given, err := o.codec.Given(attrs)
	if err != nil {
		return nil
	}
	return o.atMost(given, in)
}

func elements(t shape.Type) shape.Dim {
	switch {
	case t.Kind() == shape.Tuple && t.Len() > 0:
		return elements(t.Member(0))
	case t.Kind() != shape.Tensor || !t.Ranked():
		return shape.Unknown
	}
	n := shape.Const(1)
	for _, d := range t.Dims().Slice() {
		n = n.Mul(d)
	}
	return n
}

// Scatters reports whether writes through the operator's results can go back to
// the operand that they are views of.
func (o *Op) Scatters() bool { return o.scatter != nil }

// Scatter returns base with the elements that result item of the view shows
// replaced by v; see Spec.Scatter. It must not be called unless Scatters.
func (o *Op) Scatter(b Builder, attrs any, item int, base, v Value) Value {
	return o.scatter(b, orZero(o, attrs), item, base, v)
}
