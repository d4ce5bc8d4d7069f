package op

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// Infer is the context of a type rule: it decides whether what the rule needs of
// symbolic sizes may be taken as given, and keeps the record of having done so.
// Each of Equal, AtLeast and Multiple refuses with the rule's own error what is
// false for all sizes, accepts silently what is true for all, and assumes what
// depends on them: it becomes a guard of the graph.
type Infer struct {
	// Assume is asked about a relation of sizes that symbols decide. nil takes it
	// as given, without a record.
	Assume func(r shape.Relation) error
	// Compare tells what is relied on about the equality of two sizes: that they are equal, that they differ,
	// or neither (known is false). nil knows what their expressions say.
	Compare func(a, b shape.Dim) (equal, known bool)
}

// Is tells whether a size is n, where that is known or relied on.
func (c *Infer) Is(d shape.Dim, n int) (yes, known bool) {
	if k, ok := d.Int(); ok {
		return k == n, true
	}
	if c == nil || c.Compare == nil || d.IsUnknown() {
		return false, false
	}
	return c.Compare(d, shape.Const(n))
}

// Equal returns the better known of first and second after requiring them to be equal.
// An unknown dimension yields the other. what builds the message.
func (c *Infer) Equal(first, second shape.Dim, code diag.Code, what func() string) (shape.Dim, error) {
	switch {
	case first.IsUnknown():
		return second, nil
	case second.IsUnknown() || first.Equal(second):
		return first, nil
	}
	_, aok := first.Int()
	_, bok := second.Int()
	if aok && bok {
		return first, diag.New(code, what())
	}
	if err := c.assume(shape.Equality(first, second)); err != nil {
		return first, err
	}
	if bok {
		return second, nil
	}
	return first, nil
}

// AtLeast requires n to be least or more; an unknown dimension is taken to be.
func (c *Infer) AtLeast(n, least shape.Dim, code diag.Code, what func() string) error {
	return c.require(shape.AtLeast(n, least), code, what)
}

// Multiple requires n to be a multiple of k; an unknown dimension is taken to be.
func (c *Infer) Multiple(n, k shape.Dim, code diag.Code, what func() string) error {
	return c.require(shape.Multiple(n, k), code, what)
}

func (c *Infer) require(r shape.Relation, code diag.Code, what func() string) error {
	if r.IsUnknown() {
		return nil
	}
	switch r.Truth() {
	case shape.True:
		return nil
	case shape.False:
		return diag.New(code, what())
	}
	return c.assume(r)
}

func (c *Infer) assume(r shape.Relation) error {
	if c == nil || c.Assume == nil {
		return nil
	}
	return c.Assume(r)
}

// Broadcast returns the broadcast of two dimension lists by PyTorch's rules:
// aligned at the end, 1 stretches.
func (c *Infer) Broadcast(first, second shape.Dims) (shape.Dims, error) {
	switch {
	case second.Len() == 0 || first.Equal(second):
		return first, nil
	case first.Len() == 0:
		return second, nil
	}
	n := max(first.Len(), second.Len())
	out := make([]shape.Dim, n)
	for i := 1; i <= n; i++ {
		left, right := first.FromEnd(i), second.FromEnd(i)
		switch {
		case left.Is(1):
			out[n-i] = right
		case right.Is(1):
			out[n-i] = left
		case left.IsUnknown() || right.IsUnknown():
			// A known size other than 1 wins: the unknown one is 1 or that size.
			out[n-i] = left
			if left.IsUnknown() {
				out[n-i] = right
			}
		default:
			d, err := c.meet(left, right, func() string {
				return "shapes " + first.String() + " and " + second.String() + " do not broadcast: dimension " +
					strconv.Itoa(-i) + " is " + left.String() + " and " + right.String()
			})
			if err != nil {
				return shape.Dims{}, err
			}
			out[n-i] = d
		}
	}
	return shape.Of(out...), nil
}

// meet is the size of two that follow from other sizes: one of them is 1 where it is never
// more, and equals the other elsewhere.
func (c *Infer) meet(left, right shape.Dim, what func() string) (shape.Dim, error) {
	if atMostOne(left) != atMostOne(right) && !left.Equal(right) {
		one, other := left, right
		if atMostOne(right) {
			one, other = right, left
		}
		if _, err := c.Equal(one, shape.Const(1), ShapeMismatch, what); err != nil {
			return other, err
		}
		return other, nil
	}
	return c.Equal(left, right, ShapeMismatch, what)
}

// atMostOne reports whether a size that a run tells is never more than 1. The number 0 meets
// what equals it.
func atMostOne(d shape.Dim) bool {
	_, number := d.Int()
	return !number && shape.AtLeast(shape.Const(1), d).Truth() == shape.True
}

// BroadcastAll broadcasts the dimensions of all present tensor operands; ranked
// is false when one of them has an unknown rank.
func (c *Infer) BroadcastAll(in []shape.Type) (dims shape.Dims, ranked bool, err error) {
	ranked = true
	for _, t := range in {
		if t.Kind() != shape.Tensor {
			continue
		}
		if !t.Ranked() {
			ranked = false
			continue
		}
		if dims, err = c.Broadcast(dims, t.Dims()); err != nil {
			return dims, ranked, err
		}
	}
	return dims, ranked, nil
}

// Axis normalises an axis against a rank (negative counts from the end).
func Axis(axis, rank int) (int, error) {
	n := axis
	if n < 0 {
		n += rank
	}
	if n < 0 || n >= rank {
		if rank == 0 && (axis == 0 || axis == -1) {
			return 0, nil // PyTorch lets a 0-dimensional tensor have one axis
		}
		return 0, diag.New(BadAxis, "axis "+strconv.Itoa(axis)+" is out of range for "+strconv.Itoa(rank)+" dimensions")
	}
	return n, nil
}

// Type applies the operator's type rule to operand types (the zero Type for
// absent operands), after checking their number. attrs is the operator's struct, nil for
// its zero value; the struct of another operator is an error.
func (o *Op) Type(infer *Infer, attrs any, in []shape.Type) (shape.Type, error) {
	if err := o.checkOperands(len(in), func(i int) bool { return in[i].Kind() == shape.None }); err != nil {
		return shape.Type{}, err
	}
	if o.AdHoc && o.infer == nil {
		return shape.Type{}, nil
	}
	attrs, err := o.codec.Given(attrs)
	if err != nil {
		return shape.Type{}, err
	}
	for i, t := range in {
		if t.Kind() != shape.Tuple && !t.DType().IsNarrow() {
			continue // without a text for the mistake: sessions infer the types of each call
		}
		if err := o.checkNarrow(t, "operand "+strconv.Itoa(i)); err != nil {
			return shape.Type{}, err
		}
		if t.Kind() == shape.Tuple {
			return shape.Type{}, diag.New(DTypeMismatch, "operand "+strconv.Itoa(i)+" is a tuple of "+strconv.Itoa(t.Len())+", expected a tensor").
				WithHint("take its members apart first")
		}
	}
	var t shape.Type
	switch {
	case o.infer != nil:
		t, err = o.infer(infer, attrs, in)
	case o.expr != nil:
		t, err = o.inferElementwise(infer, attrs, in)
	case o.decompose != nil:
		t, err = o.inferComposite(infer, attrs, in)
	}
	if err == nil {
		err = o.checkNarrow(t, "the result")
	}
	if is, found := t.Uncountable(); err == nil && found {
		err = diag.New(TooLarge, "the result is "+is.String()+", whose elements cannot be counted").WithHint("check the sizes")
	}
	if err != nil {
		return shape.Type{}, err // whatever a rule returned together with its mistake
	}
	return t, nil
}

// checkNarrow refuses element types that only hold values where the operator does not
// take them: what computes with numbers has no rule for these, and would read their codes.
func (o *Op) checkNarrow(t shape.Type, what string) error {
	switch {
	case o.Narrow || o.AdHoc || o.Structural():
		return nil
	case t.Kind() == shape.Tuple:
		for i := range t.Len() {
			if err := o.checkNarrow(t.Member(i), what+", member "+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() != shape.Tensor || !t.DType().IsNarrow():
		return nil
	}
	return diag.New(DTypeMismatch, what+" has element type "+t.DType().String()+", which "+o.Name+" does not take: it only holds values").
		WithHint("cast or dequantize to f32 before, and cast or quantize back after")
}

// checkOperands checks the number of operands. Absence cannot be told from an
// unknown type here, so only the count is judged; the graph and the engines
// check required operands, where nil is visible.
func (o *Op) checkOperands(n int, _ func(int) bool) error {
	least := 0
	for i, a := range o.In {
		if !a.Optional && !a.Variadic {
			least = i + 1
		}
	}
	if n < least || (n > len(o.In) && !o.Variadic()) {
		want := strconv.Itoa(least)
		switch {
		case o.Variadic():
			want += " or more"
		case len(o.In) != least:
			want += " to " + strconv.Itoa(len(o.In))
		}
		return diag.New(OperandCount, strconv.Itoa(n)+" operands, expected "+want)
	}
	return nil
}

func (o *Op) inferElementwise(c *Infer, attrs any, in []shape.Type) (shape.Type, error) {
	dims, ranked, err := c.BroadcastAll(in)
	if err != nil {
		return shape.Type{}, err
	}
	for i, a := range o.In {
		if !a.Optional && !a.Variadic && in[i].Kind() == shape.None {
			return shape.Type{}, nil
		}
	}
	dts, err := o.outDTypes(attrs, in)
	if err != nil {
		if slices.ContainsFunc(in, func(t shape.Type) bool { return t.Kind() == shape.None }) {
			// The operand may be there, of unknown type, so that nothing is certain.
			return shape.Type{}, nil
		}
		return shape.Type{}, err
	}
	one := func(d array.DType) shape.Type {
		if !ranked {
			return shape.Unranked(d)
		}
		return shape.TensorType(d, dims)
	}
	if len(dts) == 1 {
		return one(dts[0]), nil
	}
	members := make([]shape.Type, len(dts))
	for i, d := range dts {
		members[i] = one(d)
	}
	return shape.TupleType(members...), nil
}

// typed is a Value that is only a type: what composite type rules run on.
type typed struct{ t shape.Type }

func (v typed) Type() shape.Type { return v.t }

type typeBuilder struct{ c *Infer }

func (b typeBuilder) Call(o *Op, attrs any, in ...Value) Value {
	types := make([]shape.Type, len(in))
	for i, v := range in {
		if v != nil {
			types[i] = v.Type()
		}
	}
	t, err := o.Type(b.c, attrs, types)
	if err != nil {
		panic(inferFailure{err})
	}
	return typed{t}
}

func (b typeBuilder) Item(tuple Value, i int) Value {
	t := tuple.Type()
	if t.Kind() != shape.Tuple || i >= t.Len() {
		return typed{shape.Type{}}
	}
	return typed{t.Member(i)}
}

type inferFailure struct{ err error }

func (o *Op) inferComposite(infer *Infer, attrs any, in []shape.Type) (t shape.Type, err error) {
	for _, x := range in {
		if x.Kind() == shape.Tensor && !x.Ranked() {
			return shape.Type{}, nil // composites look at ranks
		}
	}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(inferFailure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	vals := make([]Value, len(in))
	for i, x := range in {
		if x.Kind() != shape.None {
			vals[i] = typed{x}
		}
	}
	return o.decompose(typeBuilder{infer}, attrs, vals).Type(), nil
}

// Promote returns PyTorch's promoted element type of tensor operands: the widest
// category (bool, integer, float) among dimensioned tensors wins, 0-dimensional
// ones matter only when they are of a higher category.
// Ref: PyTorch documentation, "Tensor Attributes: type promotion".
func Promote(in []shape.Type) array.DType {
	dim, zero := array.Invalid, array.Invalid
	for _, t := range in {
		if t.Kind() != shape.Tensor || t.DType() == array.Invalid {
			continue
		}
		if t.Rank() == 0 {
			zero = promotePair(zero, t.DType())
		} else {
			dim = promotePair(dim, t.DType())
		}
	}
	if dim == array.Invalid {
		return zero
	}
	if zero == array.Invalid || category(zero) <= category(dim) {
		return dim
	}
	return zero
}

func category(d array.DType) int {
	switch {
	case d.IsFloat():
		return 3
	case d.IsInt():
		return 2
	}
	return 1
}

func promotePair(first, second array.DType) array.DType {
	switch {
	case first == array.Invalid || first == second:
		return second
	case second == array.Invalid:
		return first
	case category(first) != category(second):
		if category(first) > category(second) {
			return first
		}
		return second
	case first.IsFloat():
		if (first == array.F16 && second == array.BF16) || (first == array.BF16 && second == array.F16) {
			return array.F32
		}
	case first.IsSigned() != second.IsSigned():
		// An unsigned type meets a signed one: the next signed type that holds both.
		u, s := first, second
		if first.IsSigned() {
			u, s = second, first
		}
		if s.Size() > u.Size() {
			return s
		}
		switch u.Size() {
		case 1:
			return array.I16
		case 2:
			return array.I32
		}
		return array.I64
	}
	if first.Size() >= second.Size() {
		return first
	}
	return second
}
