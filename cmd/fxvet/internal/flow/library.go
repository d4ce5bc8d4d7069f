package flow

import (
	"go/types"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/gofx-dev/gofx/op/api"
	_ "github.com/gofx-dev/gofx/op/std" // the records of the operators
)

// Observers are the functions and methods of package tensor that need data, or a number that
// a trace may not have, by name, with the code of a trace's report. The marks
// //gofx:observes in package tensor are the source; a test compares.
var Observers = map[string]string{
	"Data":             "FX1004",
	"Tensor.Array":     "FX1004",
	"Tensor.Bool":      "FX1004",
	"Tensor.Equal":     "FX1004",
	"Tensor.Item":      "FX1004",
	"Tensor.Dim":       "FX1005",
	"Tensor.Shape":     "FX1005",
	"Size.Equal":       "FX1005",
	"Size.Format":      "FX1005",
	"Size.Int":         "FX1005",
	"Size.MarshalJSON": "FX1005",
	"Size.String":      "FX1005",
	"Tensor.Rank":      "FX1006",
	"Tensor.DType":     "FX1040",
}

// regions are the functions of package tensor that call functions they are given.
var regions = []string{"Cond", "While", "WhileAtMost", "Scan"}

// IsRegion reports whether a function of package tensor takes regions.
func IsRegion(obj *types.Func) bool {
	return InTensor(obj) && receiver(obj) == "" && slices.Contains(regions, obj.Name())
}

// InTensor reports whether a function is one of package tensor.
func InTensor(obj *types.Func) bool {
	return obj != nil && obj.Pkg() != nil && obj.Pkg().Path() == tensorPath
}

// Is reports whether a function is one of a package of gofx: "fx.Trace", "lazy.Session.Program".
func Is(obj *types.Func, name string) bool {
	if obj == nil || obj.Pkg() == nil {
		return false
	}
	path, ok := strings.CutPrefix(obj.Pkg().Path(), Module)
	return ok && path+"."+local(obj) == name
}

// local is the name of a function in its package: "Data", "Tensor.Item".
func local(obj *types.Func) string {
	if r := receiver(obj); r != "" {
		return r + "." + obj.Name()
	}
	return obj.Name()
}

// receiver is the name of the type that a method belongs to.
func receiver(obj *types.Func) string {
	recv := obj.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// table has the functions of the operators by their Go names.
var table = sync.OnceValue(func() map[string]*api.Func {
	all := map[string]*api.Func{}
	for _, o := range api.Ops() {
		for _, f := range api.Of(o) {
			all[f.Name] = f
			if f.InPlace != "" {
				all[f.InPlace] = f
			}
		}
	}
	return all
})

// Operator returns the operator's function that a function or method of package tensor is, nil for others.
func Operator(obj *types.Func) *api.Func {
	if !InTensor(obj) || receiver(obj) != "" && receiver(obj) != "Tensor" {
		return nil
	}
	return table()[obj.Name()]
}

// inPlace reports whether a method writes to its receiver.
func inPlace(obj *types.Func) bool {
	if obj.Name() == "AssignInPlace" {
		return receiver(obj) == "Tensor"
	}
	f := Operator(obj)
	return f != nil && f.InPlace == obj.Name()
}

// library evaluates a call of package tensor.
func (f *Func) library(c ssa.CallInstruction, obj *types.Func, args []ssa.Value, trees []*Tree) *Tree {
	var flow uint64
	for _, t := range trees {
		flow |= t.flat().Flow
	}
	name := local(obj)
	if code := Observers[name]; code != "" {
		if fails(c.Block(), 8) {
			return nil
		}
		of := Bits{Flow: trees[0].flat().Flow}
		if obj.Name() == "Equal" {
			of.Flow = flow
		}
		f.Reads = append(f.Reads, Read{Call: c, What: name, Code: code, Bits: of})
		return nil
	}
	switch {
	case IsRegion(obj):
		return f.region(c, args, flow)
	case name == "Wrap" || name == "WrapPure":
		return nil
	}
	out := &Tree{Bits: Bits{Flow: flow}, Below: Bits{Flow: flow}}
	if len(trees) == 0 {
		return out
	}
	if inPlace(obj) {
		f.Writes = append(f.Writes, Write{Call: c, What: obj.Name(), Bits: trees[0].flat()})
		out.Same = trees[0].flat().Same
		return out
	}
	if name == "On" {
		out.Same = trees[1].self().Same
		return out
	}
	if o := Operator(obj); o != nil && o.Op.ViewOf > 0 {
		if of := operand(o, o.Op.ViewOf-1); of < len(trees) {
			same := trees[of].self().Same
			if !o.Op.Scatters() {
				same |= Expanded
			}
			out.Same, out.Below.Same = same, same
		}
	}
	return out
}

// fails reports whether a block ends the function with a panic or an error, wherever it goes: the
// text of a mistake may say what it likes.
func fails(b *ssa.BasicBlock, depth int) bool {
	switch last := b.Instrs[len(b.Instrs)-1].(type) {
	case *ssa.Panic:
		return true
	case *ssa.Jump:
		return depth > 0 && fails(b.Succs[0], depth-1)
	case *ssa.Return:
		if len(last.Results) == 0 {
			return false
		}
		err := last.Results[len(last.Results)-1]
		k, constant := err.(*ssa.Const)
		return types.Identical(err.Type(), types.Universe.Lookup("error").Type()) && !(constant && k.IsNil()) && fresh(err)
	}
	return false
}

// fresh reports whether an error is made here, not one that may be nil.
func fresh(err ssa.Value) bool {
	switch v := err.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.Call:
		fn, _ := Callee(v)
		obj := Object(fn)
		return obj != nil && obj.Pkg() != nil && (obj.FullName() == "fmt.Errorf" || obj.FullName() == "errors.New")
	}
	return false
}

// operand returns the index of an operand among the arguments of a call.
func operand(f *api.Func, i int) int {
	return slices.IndexFunc(f.Params, func(p api.Param) bool { return p.Operand == f.Op.In[i].Name })
}

// region evaluates Cond, While and Scan: the functions get values of the region, which are
// computed from the operands and are nobody's memory.
func (f *Func) region(c ssa.CallInstruction, args []ssa.Value, flow uint64) *Tree {
	value := Bits{Flow: flow}
	each := &Tree{Bits: value, Below: value}
	for _, t := range f.callbacks(c, each) {
		flow |= t.flat().Flow
	}
	return &Tree{Bits: Bits{Flow: flow}, Below: Bits{Flow: flow}}
}

// Aliases reports whether a method returns its receiver, or a view of it.
func Aliases(obj *types.Func) bool {
	if !InTensor(obj) {
		return false
	}
	o := Operator(obj)
	return inPlace(obj) || o != nil && o.Op.ViewOf > 0 && operand(o, o.Op.ViewOf-1) == 0
}
