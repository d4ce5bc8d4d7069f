package op

import (
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op/expr"
	"github.com/gofx-dev/gofx/shape"
)

// Class tells passes and targets how an operator moves data.
type Class uint8

// The classes. The zero value is Opaque: nothing may be assumed.
const (
	Opaque Class = iota
	Elementwise
	Reduction
	Contraction
	Movement
)

// String returns the lower-case name of the class.
func (c Class) String() string {
	return [...]string{"opaque", "elementwise", "reduction", "contraction", "movement"}[c]
}

// Effect tells what may be removed, merged or reordered.
type Effect uint8

// The effects. Operators made by Define are Pure unless they say otherwise;
// ad-hoc ones are Effectful.
const (
	Pure      Effect = iota
	Apart            // result counts as unlike that of any other call, and as unlike the operand: never merged, may be removed
	Random           // result differs from call to call: never merged, may be removed
	Effectful        // acts on the world: never removed, merged or reordered
)

// Quant is the quantisation kind of an operator.
type Quant uint8

// The quantisation kinds. The zero value means dequantise, compute, quantise.
const (
	QuantReference Quant = iota
	QuantShared          // the result shares the first operand's parameters
	QuantWeighted        // has a weight operand quantised per channel
	QuantFixed           // the result lies in a range that the operator fixes
	QuantNever
)

// Range is where the elements of a result lie.
type Range struct{ Lo, Hi float64 }

// Operand describes one operand of an operator.
type Operand struct {
	Name     string
	Optional bool // may be absent (nil)
	Variadic bool // stands for any number of values; at most one, last
}

// Args parses operand descriptions: "x", "bias?" (optional), "tensors..." (variadic).
func Args(names ...string) []Operand {
	out := make([]Operand, len(names))
	for i, n := range names {
		switch {
		case strings.HasSuffix(n, "?"):
			out[i] = Operand{Name: n[:len(n)-1], Optional: true}
		case strings.HasSuffix(n, "..."):
			out[i] = Operand{Name: n[:len(n)-3], Variadic: true}
		default:
			out[i] = Operand{Name: n}
		}
	}
	return out
}

// None is the attributes type of operators without attributes.
type None struct{}

// Value is an operand or result while a composite operator is being expanded.
type Value interface {
	// Type returns what is known about the value.
	Type() shape.Type
}

// Builder makes calls on behalf of Decompose: a graph cursor records
// them, the eager builder runs them. A nil operand is an absent optional one.
type Builder interface {
	// Call calls an operator; attrs nil stands for the zero attributes.
	Call(o *Op, attrs any, in ...Value) Value
	// Item takes member i out of a tuple.
	Item(tuple Value, i int) Value
}

// Spec is what an operator's author writes. Exactly one of Expr, Decompose and
// Kernel gives the meaning; the zero value of every other field means "derive it".
type Spec[A any] struct {
	Doc string    // one sentence, starting with the operator's name
	In  []Operand // operands, see Args
	Ref string    // paper or specification, when there is one

	// Infer is the type rule. It must cope with unknown ranks, dimensions and
	// element types by returning unknown parts, and reports mistakes as errors.
	// Elementwise operators with Expr may leave it nil (broadcast, Expr's dtype).
	Infer func(c *Infer, a A, in []shape.Type) (shape.Type, error)

	// Expr builds the scalar meaning of an elementwise operator; x has one value
	// for each operand (the zero Value for absent ones).
	Expr func(b *expr.Builder, a A, x []expr.Value) []expr.Value
	// Decompose expresses the operator by others.
	Decompose func(b Builder, a A, in []Value) Value
	// Kernel returns the step that computes the operator; in has the zero Type
	// for absent operands. Sizes may be symbols: a field that is a size is declared
	// with WithSizes, and nothing else in the step follows from sizes, which Run
	// sees in its arrays.
	Kernel func(a A, in []shape.Type) kernel.Step

	// Reference is what an operator on quantised values stands for, written with
	// dequantize, operators on floats and quantize; results in 8 bits are at most one
	// apart, of several it has the first. It is no second meaning: engines compute Kernel or Decompose.
	Reference func(b Builder, a A, in []Value) Value

	// Promote is the element type rule of an elementwise operator without Infer:
	// from the operands' types (and attributes) to the type that Expr computes in.
	// nil means PyTorch's type promotion over tensor operands.
	Promote func(a A, in []shape.Type) array.DType

	Class   Class
	Effect  Effect
	Mutates []int // operands written in place
	ViewOf  int   // 1 + the operand that the results may alias; 0 for none
	MayCopy bool  // ViewOf: the results are copies where the layout has no such view
	Quant   Quant
	Range   Range // of the result, with QuantFixed
	// NoFold says that a call on stored tensors is how they are to be stored: its
	// value is larger and is not computed ahead.
	NoFold bool
	// Narrow says that the operator takes and gives element types that only hold values,
	// those of array.DType.IsNarrow. All others refuse them before Infer is asked.
	Narrow bool
	// ByValue says that sizes of results follow from what the operands hold. Infer leaves
	// these sizes unknown, and the step, a kernel.Sizer, says them when it is run.
	ByValue bool
	// AtMost returns sizes that the results of a ByValue operator never go beyond, a list
	// for each, for what is held ahead; unknown ones where there is no bound. nil: none.
	AtMost func(a A, in []shape.Type) []shape.Dims
	// Training tells whether a call with these attributes computes what only the
	// training of a model needs. nil: none does.
	Training func(a A) bool

	// Rows writes a call of an operator of one variadic operand on the slices of rows along its axis 0, however many there are.
	// nil: the number of operands has to be known.
	Rows func(b Builder, a A, rows Value) Value
	// Sliced is the axis of which a call takes the slice that its lifted position names, negative from the end.
	Sliced func(a A) int

	// Scatter is the inverse of a view, by which writes go back: it returns base,
	// which stands for the operand ViewOf, with the elements that result item shows
	// replaced by v. Types may be unknown. nil refuses writes through the view.
	Scatter func(b Builder, a A, item int, base, v Value) Value

	// Lift takes positions out of the attributes, so that what is compiled of a call serves
	// all of them: see Op.Lift. It is a *Positions[A]; nil: there are none. Numbers of an Expr need no Lift.
	Lift Lifter

	// Grad makes the gradient of a call: see GradCall and Op.Grad. nil: that of Expr, else
	// that of Decompose, else the inverse of the view, else that of an expansion.
	Grad func(b Builder, a A, c GradCall) []Value
	// NoGrad is the reason why there is no gradient.
	NoGrad string
	// Stops says that no gradient goes back through a call, by intent: a loss counts the
	// results as constants.
	Stops bool
	// Deriv overrides derivatives of Expr where another choice is right at a kink: it gets
	// what Expr gets and returns the derivative of the one result with respect to each operand,
	// the zero Value (or none) where that of Expr is right.
	Deriv func(b *expr.Builder, a A, x []expr.Value) []expr.Value

	// Flops returns the floating-point operations of one call; nil means one
	// for each element written (elementwise, reduction: read), none for movement.
	Flops func(a A, in []shape.Type, out shape.Type) shape.Dim

	// Func is the Go function that module-style code calls, as "import/path.Name".
	// Empty means tensor.<Name> for op/std and tensor.Call(pkg.<Name>, ...) else.
	Func string

	// Results names the results of an operator with a tuple type; the one name
	// "..." stands for a number that follows from the attributes. nil: one tensor.
	Results []string
	// Count returns the number of results when Results is "...".
	Count func(a A) int
	// InPlace gives the operator in-place methods (AddInPlace).
	InPlace bool

	Tol     Tolerance
	Samples func(g *Gen) []Sample
	Bad     func(g *Gen) []BadSample
	// Differs lists where the operator deliberately departs from PyTorch's.
	Differs []Difference[A]
}

// Tolerance bounds the difference that two right implementations may have.
// The zero value is derived from the class: exact for movement, 1e-5 otherwise.
type Tolerance struct {
	Rel, Abs float64
}

// Op is the record of an operator. Read its fields; only Define makes one.
type Op struct {
	Name    string // lower_snake, PyTorch's or ONNX's
	Path    string // import path of the package that defines it; "" for op and op/std
	Doc     string
	Ref     string
	In      []Operand
	Class   Class
	Effect  Effect
	Mutates []int
	ViewOf  int
	MayCopy bool
	Quant   Quant
	Range   Range
	NoFold  bool
	Narrow  bool // takes element types that only hold values
	ByValue bool // sizes of results follow from what the operands hold
	Func    string
	Results []string
	InPlace bool
	Tol     Tolerance

	// AdHoc marks a wrapped Go function or leaf module: it has no array-level meaning
	// but Host, and a type rule only where one was declared.
	AdHoc bool
	// Host runs an ad-hoc operator on arrays.
	Host func(in []*array.Array) ([]*array.Array, error)
	// Rows is Spec.Rows, nil for none; attrs are those of a call.
	Rows func(b Builder, attrs any, rows Value) Value
	// Sliced is Spec.Sliced, nil for none.
	Sliced func(attrs any) int

	codec     *Codec
	dtypes    cache[[]array.DType]
	steps     cache[*kernel.Elementwise] // of elementwise operators, shared
	infer     func(c *Infer, a any, in []shape.Type) (shape.Type, error)
	expr      func(b *expr.Builder, a any, in []shape.Type) []expr.Value
	promote   func(a any, in []shape.Type) array.DType
	decompose func(b Builder, a any, in []Value) Value
	reference func(b Builder, a any, in []Value) Value
	kernel    func(a any, in []shape.Type) kernel.Step
	training  func(a any) bool
	scatter   func(b Builder, a any, item int, base, v Value) Value
	positions *Positions[any]
	lifts     cache[Lifted]
	forms     cache[liftForm]
	flops     func(a any, in []shape.Type, out shape.Type) shape.Dim
	atMost    func(a any, in []shape.Type) []shape.Dims
	count     func(a any) int
	samples   func(g *Gen) []Sample
	bad       func(g *Gen) []BadSample
	differs   []Difference[any]
	grad      func(b Builder, a any, c GradCall) []Value
	noGrad    string
	stops     bool
	deriv     func(b *expr.Builder, a any, x []expr.Value) []expr.Value
	derived   *derivation // nil where the operator is no derivative
	grads     derivatives
}

// Key returns the name by which text forms refer to the operator: the bare name
// for op and op/std, "import/path.name" for others.
func (o *Op) Key() string {
	if o.Path == "" {
		return o.Name
	}
	return o.Path + "." + o.Name
}

// String returns Key.
func (o *Op) String() string { return o.Key() }

// Codec returns the codec of the operator's attributes.
func (o *Op) Codec() *Codec { return o.codec }

// Structural reports whether the operator belongs to the IR itself and has no
// meaning as array arithmetic (getitem, assign, cond, while, scan).
func (o *Op) Structural() bool {
	return !o.AdHoc && o.expr == nil && o.decompose == nil && o.kernel == nil
}

// Composite reports whether the operator is defined by others.
func (o *Op) Composite() bool { return o.decompose != nil }

// Scalar reports whether the operator has an elementwise expression.
func (o *Op) Scalar() bool { return o.expr != nil }

// Training reports whether a call with these attributes is in training mode.
func (o *Op) Training(attrs any) bool {
	attrs = orZero(o, attrs)
	return o.training != nil && o.codec.Accepts(attrs) && o.training(attrs)
}

// orZero returns the zero value for nil, as in every call of an operator.
func orZero(o *Op, attrs any) any {
	if attrs == nil {
		return o.codec.Zero()
	}
	return attrs
}

// NumResults returns how many values a call gives: 1 for a plain tensor, the
// number of members for a tuple (tuple is then true).
func (o *Op) NumResults(attrs any) (n int, tuple bool) {
	switch {
	case o.Results == nil:
		return 1, false
	case len(o.Results) == 1 && o.Results[0] == "...":
		return o.count(orZero(o, attrs)), true
	}
	return len(o.Results), true
}

// Variadic reports whether the last operand stands for any number of values.
func (o *Op) Variadic() bool { return len(o.In) > 0 && o.In[len(o.In)-1].Variadic }

var registry = struct {
	sync.RWMutex
	ops map[string]*Op
}{ops: map[string]*Op{}}

const root = "github.com/gofx-dev/gofx/"

func (o *Op) incomplete() string {
	meanings := 0
	for _, has := range []bool{o.expr != nil, o.decompose != nil, o.kernel != nil} {
		if has {
			meanings++
		}
	}
	switch {
	case o.Name == "" || strings.ToLower(o.Name) != o.Name:
		return "the name must be lower_snake"
	case o.Doc == "":
		return "Doc is empty"
	case meanings > 1:
		return "more than one of Expr, Decompose, Kernel"
	case meanings == 0 && o.Path != "":
		return "one of Expr, Decompose, Kernel is needed"
	case o.deriv != nil && (o.expr == nil || o.NumStatic() != 1):
		return "Deriv is for an Expr of one result"
	case o.noGrad != "" && o.grad != nil:
		return "both Grad and NoGrad"
	case o.stops && (o.noGrad != "" || o.grad != nil):
		return "Stops is for an operator without Grad and NoGrad"
	case (o.Quant == QuantFixed) != (o.Range.Lo < o.Range.Hi):
		return "Range is needed with QuantFixed, and only there"
	case o.infer == nil && o.expr == nil && o.decompose == nil && o.Path != "":
		return "Infer is needed"
	}
	if len(o.Results) == 1 && o.Results[0] == "..." && o.count == nil {
		return "Count is needed when Results is \"...\""
	}
	for i, a := range o.In {
		if a.Variadic && i != len(o.In)-1 {
			return "only the last operand may be variadic"
		}
	}
	return ""
}

func register(o *Op) {
	registry.Lock()
	defer registry.Unlock()
	if registry.ops[o.Key()] != nil {
		panic(diag.Bug("op " + o.Key() + " is defined twice"))
	}
	registry.ops[o.Key()] = o
}

// Lookup returns the operator with that Key, nil when no linked package defines it.
// Derivatives of operators are found by their names, too (see Op.Derivative).
func Lookup(key string) *Op {
	registry.RLock()
	o := registry.ops[key]
	registry.RUnlock()
	if o == nil {
		return derivedBy(key)
	}
	return o
}

// All returns every operator that Define made, sorted by Key.
func All() []*Op {
	registry.RLock()
	defer registry.RUnlock()
	all := make([]*Op, 0, len(registry.ops))
	for _, o := range registry.ops {
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b *Op) int { return strings.Compare(a.Key(), b.Key()) })
	return all
}

// callerPackage returns the import path of the package that called Define, ""
// for op and op/std.
func callerPackage() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		name := f.Function
		slash := strings.LastIndexByte(name, '/') + 1
		dot := strings.IndexByte(name[slash:], '.')
		if dot < 0 {
			return ""
		}
		pkg := name[:slash+dot]
		isTest := strings.HasSuffix(f.File, "_test.go")
		// The family helpers of op and op/std call Define on behalf of others.
		if (pkg == root+"op" || pkg == root+"op/std") && !isTest {
			if !more || strings.Contains(name[slash+dot:], ".init") {
				return ""
			}
			continue
		}
		return pkg
	}
}
