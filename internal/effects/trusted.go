package effects

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// operator enters a call of tensor or of a room below it; i is nil where the function is made to
// a value. Such code is trusted to read what its arguments lead to, and no more.
func (f *facts) operator(fn *ssa.Function, i ssa.CallInstruction, pos token.Pos) {
	what := "a call of " + shortName(fn)
	if tellsSizes(fn) {
		f.numbered++
	}
	if isFlow(fn) {
		f.flow(fn, i, pos)
	}
	if looksAtSizes(fn) {
		f.sizes = append(f.sizes, Place{Line: f.line(pos), What: what, Why: "it looks at sizes, or what it does depends on them"})
	}
	switch treatment(fn) {
	case observes:
		f.observes = append(f.observes, f.spot(Place{Line: f.line(pos), What: what, Why: "it reads the data of a tensor"}))
		if slices.Contains(strings.Fields(givesAway), key(fn)) {
			f.inPlace = append(f.inPlace, Place{Line: f.line(pos), What: what, Why: "it gives code the data of a tensor, to write there"})
		}
	case writes:
		f.inPlace = append(f.inPlace, Place{Line: f.line(pos), What: what, Why: "it writes the data of a tensor"})
		f.arguments(fn, i, Load, pos)
	case keeps:
		f.arguments(fn, i, Load|Store, pos)
	case wraps:
		if !madeHere(i) {
			f.unknown(pos, what, "the data of an array that was made before is not watched; make the tensor where the array is made")
		}
	case operates:
		f.arguments(fn, i, Load, pos)
	default:
		f.unknown(pos, what, "it is for engines, or what it does is not known")
	}
}

// how says how a function of the trusted rooms is treated.
type how int

const (
	unlisted how = iota
	operates     // reads what its arguments lead to
	observes     // reads the data of a tensor
	writes       // writes the data of its first tensor
	keeps        // its result has the memory of its arguments
	wraps        // its result has the memory of an array
	refused      // for engines, or with effects that no record has
)

// byHand lists the functions of package tensor that are not generated from the table of
// operators: "F", "T.M" for a method. What it lacks is an operator.
var byHand = map[how]string{
	observes: "Data Tensor.Item Tensor.Bool Tensor.Array Tensor.Equal Tensor.String Tensor.Format",
	keeps:    "FromSlice",
	wraps:    "New Param StateParam",
	operates: "Apply ApplyMethod CallOp Cond While WhileAtMost Scan Grad GradWith Leaf RunScope On Scalar SplitSize Tensor.SplitSize Tensor.UnbindDim Tensor.At " +
		"Ints Floats Number Sizes Expect " +
		"Tensor.Type Tensor.DType Tensor.Rank Tensor.Size Tensor.Dim Tensor.Shape " +
		"Size.Int Size.Dim Size.Equal Size.String Size.Format Size.MarshalJSON Size.Add Size.Sub Size.Mul Size.Div Size.Min Size.Max Size.Mod " +
		"Size.MustEqual Size.MustDiffer Size.MustBeAtLeast Size.MustBeAtMost Size.MustBeMultiple",
	writes: "Tensor.AssignInPlace",
	refused: "Absent Asking Claim DeclareResults FieldName FuncName Following InRegion ModuleKey NewProxies NewProxy OnArrays Owned PermuteCall Signature SliceOver SortedKeys StateErrors Walk Watch Wrap WrapPure " +
		"In Maker.Apply Flow.Cond Flow.While Flow.Scan " +
		"Tensor.Baked Tensor.Engine Tensor.Freeze Tensor.ID Tensor.IsFrozen Tensor.IsParam Tensor.LastRead Tensor.LastWrite Tensor.MarkParam Tensor.Origin Tensor.Recipe " +
		"Tensor.SetComputed Tensor.SetEager Tensor.SetRecorded Tensor.SetValue Tensor.Value",
}

// givesAway lists those that give code the memory of a tensor.
const givesAway = "Data Tensor.Array"

// below lists the rooms below tensor that compute values of values: their functions read what
// their arguments lead to.
var below = []string{gofx + "/shape", gofx + "/diag", gofx + "/op"}

// arrays are the functions of package array that know no array, or make one.
const arrays = "New Scalar NumElems DTypeOf ParseDType DTypes NarrowDTypes BFloatFromFloat32 BFloatFromFloat64 HalfFromFloat32 HalfFromFloat64 DType. Half. BFloat."

// treatment looks a function up.
func treatment(fn *ssa.Function) how {
	k := key(fn)
	typ, _, _ := strings.Cut(k, ".")
	switch path := pathOf(fn); path {
	case tensorPath:
		for h, list := range byHand {
			if slices.Contains(strings.Fields(list), k) {
				return h
			}
		}
		if strings.HasSuffix(k, "InPlace") {
			return writes
		}
		return operates
	case gofx + "/array":
		switch list := strings.Fields(arrays); {
		case k == "FromSlice":
			return keeps
		case slices.Contains(list, k), strings.Contains(k, ".") && slices.Contains(list, typ+"."):
			return operates
		}
	default:
		if slices.Contains(below, path) && values(fn) {
			return operates
		}
	}
	return unlisted
}

// values reports whether a function takes and gives plain values: no function, channel or
// pointer, but that of an error.
func values(fn *ssa.Function) bool {
	for _, list := range []*types.Tuple{fn.Signature.Params(), fn.Signature.Results()} {
		for i := range list.Len() {
			if !plain(list.At(i).Type()) {
				return false
			}
		}
	}
	r := fn.Signature.Recv()
	return r == nil || plain(r.Type())
}

func plain(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Struct:
		return true
	case *types.Slice:
		return plain(u.Elem())
	case *types.Array:
		return plain(u.Elem())
	case *types.Interface:
		return u.NumMethods() == 0 || isError(t)
	case *types.Pointer:
		return isNamed(u.Elem(), gofx+"/diag", "Error")
	}
	return false
}

func isNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// sealed reports whether what lies in a type is the affair of the rooms below nn: tensors, whose
// data a walk reads itself, and records of operators, which nobody changes.
func sealed(t types.Type) bool {
	return isNamed(t, tensorPath, "Tensor") || isNamed(t, gofx+"/op", "Op") || isNamed(t, gofx+"/array", "Array")
}

// madeHere reports whether the array that a tensor is made of is a new one.
func madeHere(i ssa.CallInstruction) bool {
	if i == nil {
		return false
	}
	c, ok := i.Common().Args[0].(*ssa.Call)
	if !ok {
		return false
	}
	fn := c.Call.StaticCallee()
	return fn != nil && pathOf(fn) == gofx+"/array" && (treatment(fn) == operates || treatment(fn) == keeps)
}

// fixed reports whether nothing changes the memory that a struct leads to: sizes and the attributes
// of operators are made once.
func fixed(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && slices.Contains(below, n.Obj().Pkg().Path())
}
