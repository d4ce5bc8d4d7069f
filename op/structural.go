package op

import (
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/shape"
)

// GetItemAttrs are the attributes of getitem.
type GetItemAttrs struct {
	Index int
}

// AxisAttrs are the attributes of dim.
type AxisAttrs struct {
	Axis int
}

// LoopAttrs are the attributes of while and scan.
type LoopAttrs struct {
	// Carry is the number of leading operands that are loop-carried; the others
	// are, for scan, the sequences it runs over, then constants.
	Carry int
	// Seqs is the number of operands after the carried ones that scan slices
	// along axis 0.
	Seqs int
	// MaxTrips is the most trips that a while may make; one more is a mistake (TooManyTrips). 0
	// does not bound them. The gradient of a while keeps values of as many.
	MaxTrips int
}

// CallAttrs are the attributes of call.
type CallAttrs struct {
	// Graph is the name of the sub-graph that is run.
	Graph string
}

// The structural operators: those the IR itself is made of. Engines know them.
var (
	// GetItem takes member Index out of a tuple.
	//   %a = call_function[getitem](%split) {index=1} : f32[2]
	GetItem = Define("getitem", Spec[GetItemAttrs]{
		Doc: "getitem takes one member out of a tuple.", In: Args("tuple"), Class: Movement, ViewOf: 1,
		Infer: func(*Infer, GetItemAttrs, []shape.Type) (shape.Type, error) { return shape.Type{}, nil },
	})

	// Assign writes a value into a buffer; the first operand is the get_attr node
	// that reads it. Reads after it see the new value.
	Assign = Define("assign", Spec[None]{
		Doc: "assign writes a value into a buffer of the model and returns it.", In: Args("buffer", "value"),
		Effect: Effectful, Mutates: []int{0},
		Infer: func(c *Infer, _ None, in []shape.Type) (shape.Type, error) {
			if in[0].DType() != in[1].DType() && in[0].DType() != array.Invalid && in[1].DType() != array.Invalid {
				return shape.Type{}, diag.New(DTypeMismatch, "value has element type "+in[1].DType().String()+", the buffer has "+in[0].DType().String())
			}
			if err := sameSizes(c, in[0], in[1]); err != nil {
				return shape.Type{}, err
			}
			return in[1], nil
		},
	})

	// Dim returns one size of a tensor as a 0-dimensional i64 tensor.
	Dim = Define("dim", Spec[AxisAttrs]{
		Doc: "dim returns the size of one axis as a 0-dimensional i64 tensor.", In: Args("x"), Class: Movement,
		Infer: func(_ *Infer, a AxisAttrs, in []shape.Type) (shape.Type, error) {
			if in[0].Ranked() {
				if _, err := sizedAxis(a.Axis, in[0].Rank()); err != nil {
					return shape.Type{}, err
				}
			}
			return shape.TensorType(array.I64, shape.ConstDims()), nil
		},
	})

	// Cond runs its first region when the first operand (a 0-dimensional bool) is
	// true, else its second, on the other operands. Both return the same types.
	Cond = Define("cond", Spec[None]{
		Doc: "cond runs one of two regions, chosen by a 0-dimensional bool.", In: Args("pred", "operands..."), Effect: Effectful,
		Infer: unknownType[None],
	})

	// While runs its second region (carried values to carried values) as long as
	// its first (carried values to a 0-dimensional bool) yields true.
	While = Define("while", Spec[LoopAttrs]{
		Doc: "while repeats a region on carried values as long as another yields true.", In: Args("operands..."), Effect: Effectful,
		Infer: unknownType[LoopAttrs],
	})

	// Scan runs its region once for every index of axis 0 of its sequences. The
	// region takes the carried values, one slice of each sequence and the
	// constants, and returns the carried values and slices of the results.
	Scan = Define("scan", Spec[LoopAttrs]{
		Doc: "scan runs a region over axis 0 of sequences with carried values.", In: Args("operands..."), Effect: Effectful,
		Infer: unknownType[LoopAttrs],
	})

	// Call runs a sub-graph of the module, named by its attribute, on the operands:
	// one for each input. Its value is what the sub-graph returns: a tensor, or a
	// tuple where that returns several.
	Call = Define("call", Spec[CallAttrs]{
		Doc: "call runs a sub-graph of the module on its operands.", In: Args("operands..."), Effect: Effectful,
		Infer: unknownType[CallAttrs],
	})
)

// sameSizes requires a value to have the shape of the buffer that it is written to.
func sameSizes(c *Infer, buffer, value shape.Type) error {
	if !buffer.Ranked() || !value.Ranked() {
		return nil
	}
	differ := func() string { return "value is " + value.String() + ", the buffer " + buffer.String() }
	if buffer.Rank() != value.Rank() {
		return diag.New(ShapeMismatch, differ())
	}
	for i := range buffer.Rank() {
		if _, err := c.Equal(buffer.Dim(i), value.Dim(i), ShapeMismatch, differ); err != nil {
			return err
		}
	}
	return nil
}

// sizedAxis is Axis for what looks at the size of an axis, which a
// 0-dimensional tensor does not have.
func sizedAxis(axis, rank int) (int, error) {
	if rank == 0 {
		return 0, diag.New(BadAxis, "axis "+strconv.Itoa(axis)+" of a 0-dimensional tensor, which has no axes")
	}
	return Axis(axis, rank)
}

// unknownType is the type rule of operators whose type follows from regions
// or from a sub-graph, which the graph knows and the operator does not.
func unknownType[A any](*Infer, A, []shape.Type) (shape.Type, error) { return shape.Type{}, nil }

// ItemType returns the type of member index of a tuple type, an error when it
// has no such member, and nothing when the tuple's type is unknown.
func ItemType(t shape.Type, index int) (shape.Type, error) {
	switch {
	case index < 0:
		return shape.Type{}, diag.New(BadAttr, "member "+strconv.Itoa(index)+", expected 0 or more")
	case t.Kind() == shape.None:
		return shape.Type{}, nil
	case t.Kind() != shape.Tuple:
		return shape.Type{}, diag.New(DTypeMismatch, "getitem of "+t.String()+", expected a tuple")
	case index >= t.Len():
		return shape.Type{}, diag.New(BadAttr, "member "+strconv.Itoa(index)+" of a tuple of "+strconv.Itoa(t.Len()))
	}
	return t.Member(index), nil
}
