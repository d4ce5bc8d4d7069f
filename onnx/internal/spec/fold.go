package spec

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// FoldBytes is how much memory an operator on constants may read and write if it is to be
// computed at once: sizes, tables and masks are. Weights are larger; they stay in the graph,
// where passes see them.
const FoldBytes = 1 << 20

// Constants is a known array as an operand of an op.Builder, or a tuple of them.
type Constants struct {
	A     []*array.Array
	Tuple bool
}

// Type is the type of the array, or of the tuple.
func (v Constants) Type() shape.Type {
	if !v.Tuple {
		return shape.TypeOf(v.A[0])
	}
	return shape.TupleType(shape.TypesOf(v.A...)...)
}

// TooLarge is the panic value of a Folder at a result above FoldBytes.
type TooLarge struct{}

// Folder is an op.Builder that computes: its values are Constants. It panics with a
// *diag.Error where an operator refuses its operands.
type Folder struct {
	Workspace *kernel.Workspace
	Unlimited bool // the results are no larger than the operands: FoldBytes does not count
}

// Call computes an operator.
func (f *Folder) Call(o *op.Op, attrs any, in ...op.Value) op.Value {
	args := make([]*array.Array, len(in))
	for i, v := range in {
		if v != nil {
			args[i] = v.(Constants).A[0]
		}
	}
	attrs, err := o.Codec().Given(attrs)
	if err == nil {
		var t shape.Type
		if t, err = o.TypeFor(attrs, args); err == nil {
			if n, ok := t.Bytes().Int(); (!ok && Known(t) || n > FoldBytes) && !f.Unlimited {
				panic(TooLarge{})
			}
			var out []*array.Array
			if out, err = o.Eval(f.Workspace, attrs, args); err == nil {
				_, tuple := o.NumResults(attrs)
				return Constants{out, tuple}
			}
		}
	}
	if e, ok := err.(*diag.Error); ok {
		panic(e)
	}
	panic(diag.Bug(err.Error()))
}

// Item is a member of a tuple.
func (f *Folder) Item(tuple op.Value, i int) op.Value {
	return Constants{A: []*array.Array{tuple.(Constants).A[i]}}
}

// Known reports whether all sizes of a type, or of its members, are numbers. Their product
// may overflow all the same.
func Known(t shape.Type) bool {
	for i := range t.Len() {
		if !Known(t.Member(i)) {
			return false
		}
	}
	if t.Kind() != shape.Tensor {
		return true
	}
	_, ok := t.Dims().Known()
	return t.Ranked() && ok
}

// IntArray is a list of integers as an array of one dimension, or of none for a scalar.
func IntArray(n []int, scalar bool, d array.DType) *array.Array {
	dims := []int{len(n)}
	if scalar {
		dims = nil
	}
	a := array.New(d, dims...)
	for i, v := range n {
		array.SetInt64At(a, i, int64(v))
	}
	return a
}

// ConstantOf is a number by its bits, as an array without dimensions.
func ConstantOf(d array.DType, bits uint64) *array.Array {
	a := array.New(d)
	b := array.Bytes(a)
	for i := range b {
		k := i
		if !LittleEndian {
			k = len(b) - 1 - i
		}
		b[k] = byte(bits >> (8 * i))
	}
	return a
}
