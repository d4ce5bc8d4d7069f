package quant

import (
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/passes/quant/internal/form"
)

// Backend says what a target can do with quantised values: data that a target
// supplies (lowering/cpu has QuantBackend) and that plans are made for.
type Backend struct {
	Name      string
	Operators []Operator
}

// Operator says how a target runs one operator on quantised values.
type Operator struct {
	Op *op.Op
	// Modes are those that the operator has, Static, Dynamic and WeightOnly.
	Modes []Mode
	// Activations are the element types of operands and result, the preferred one
	// first; none stands for u8.
	Activations []array.DType
	// Weight is what may be asked of the operator's weight; the zero value: it has none.
	Weight Weight
	// Fused are operators that the target computes together with this one where
	// they are the only users of its result, in stages: at most one of each list, in
	// this order, such as the sum with a residual and then an activation. What is
	// between is not rounded to 8 bits.
	Fused [][]*op.Op
	// FloatResult tells that the operator can take quantised operands and give a
	// float result. Without it the result is always quantised.
	FloatResult bool
	// Follows tells that the operator is quantised only between quantised ones, to
	// save conversions; on its own it gains nothing.
	Follows bool
	// Faster says what makes floats faster, where they are: the operator is quantised
	// then only where a rule for it, or for the node, asks for that.
	Faster string
	// Sharing says which parameters the result has.
	Sharing Sharing
}

// Weight says how the weight of an operator may be quantised.
type Weight struct {
	Operand int // which operand it is
	// Rest tells that matrices among the operands after it are weights, too, as those
	// of the layers of a recurrent network.
	Rest bool
	Axis int // of its channels; negative ones count from the end
	// DTypes are its element types, the preferred one first; none stands for no weight.
	DTypes        []array.DType
	Bits          []int         // 8 and 4; none stands for 8
	Granularities []Granularity // the preferred one first; none stands for PerTensor
	Affine        bool          // it may have zero points
	// GroupOf is what the size of a group must be a multiple of; 0 stands for 2.
	GroupOf int
}

// Sharing says whether the result of an operator has the parameters of its operands.
type Sharing uint8

// The kinds of sharing. The zero value goes by the operator's record (op.QuantShared).
const (
	AsDeclared Sharing = iota
	Equal              // operands and result have equal parameters
	Own                // each has parameters of its own
)

// Operator returns what the backend can do with an operator, nil for nothing.
func (b *Backend) Operator(o *op.Op) *Operator {
	for i := range b.Operators {
		if b.Operators[i].Op == o {
			return &b.Operators[i]
		}
	}
	return nil
}

// check returns what is wrong with the backend on its own.
func (b *Backend) check() diag.List {
	var errs diag.List
	seen := map[*op.Op]bool{}
	for i := range b.Operators {
		o := &b.Operators[i]
		bad := func(text string) {
			errs = append(errs, diag.New(BadConfig, "backend "+b.Name+": operator "+text).WithHint("mend the backend's table"))
		}
		switch w := o.Weight; {
		case o.Op == nil:
			bad(strconv.Itoa(i) + " of its table is nil")
			continue
		case seen[o.Op]:
			bad(o.Op.Key() + " is listed twice")
		case len(o.Modes) == 0 || o.has(Float):
			bad(o.Op.Key() + " has no modes, or float, which is none")
		case o.has(WeightOnly) && !w.exists():
			bad(o.Op.Key() + " has mode weight_only and no weight")
		case w.exists() && (w.Operand < 1 || w.Operand >= len(o.Op.In)):
			bad(o.Op.Key() + " has no operand " + strconv.Itoa(w.Operand) + " that can be a weight")
		case !eightBits(o.Activations) || !eightBits(w.DTypes):
			bad(o.Op.Key() + " has element types other than u8 and i8")
		case form.Recurrent[o.Op] != nil && o.has(Dynamic) && (w.Affine || !slices.Equal(w.DTypes, []array.DType{array.I8})):
			bad(o.Op.Key() + " has other weights than i8 without zero points, which is what " + form.Recurrent[o.Op].Key() + " takes")
		}
		seen[o.Op] = true
	}
	return errs
}

func eightBits(list []array.DType) bool {
	return !slices.ContainsFunc(list, func(d array.DType) bool { return d != array.U8 && d != array.I8 })
}

func (w Weight) exists() bool { return len(w.DTypes) > 0 }

func (o *Operator) has(m Mode) bool { return slices.Contains(o.Modes, m) }

// activations returns the element types of operands and result.
func (o *Operator) activations() []array.DType {
	if len(o.Activations) == 0 {
		return []array.DType{array.U8}
	}
	return o.Activations
}
