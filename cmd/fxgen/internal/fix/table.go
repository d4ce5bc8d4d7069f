package fix

import (
	"slices"

	"github.com/gofx-dev/gofx/op/api"
	_ "github.com/gofx-dev/gofx/op/std" // the operators whose calls are rewritten
)

const module = "github.com/gofx-dev/gofx/"

// The packages whose names are rewritten.
const (
	pkgTensor = module + "tensor"
	pkgStd    = module + "op/std"
	pkgOp     = module + "op"
	pkgShape  = module + "shape"
	pkgInterp = module + "interp"
	pkgGuard  = module + "graph/guard"
	pkgDebug  = module + "passes/debug"
	pkgShard  = module + "lowering/shard"
)

// becameArguments lists the fields of attributes structs that were options and are
// arguments of the calls now.
var becameArguments = map[string][]string{
	"ReduceAttrs": {"Dim"},
	"VarAttrs":    {"Dim"},
	"ArgAttrs":    {"Dim"},
	"NormAttrs":   {"P", "Dim"},
	"RollAttrs":   {"Dims"},
	"TriAttrs":    {"Diagonal"},
}

// absent is what a call writes for an argument that was an option and not given. A list
// at the end is left out.
var absent = map[api.Kind]string{api.Int: "0", api.Ints: "nil", api.Scalar: "nil"}

// rename is a declaration that has another name now. For a file that does not import the
// package of the new name the old one stays.
type rename struct{ fromPkg, from, toPkg, to string }

// form is a function of an operator: what it took, and the function with options that
// it has now, if there is one.
type form struct {
	*api.Func
	with     *api.Func
	operands int      // parameters that are tensors
	old      []string // fields of the arguments that it had already
	inPlace  bool
	options  bool // there were options
}

// forms returns the functions whose calls may have to be rewritten, by Go name.
func forms() map[string]*form {
	out := map[string]*form{}
	for _, o := range api.Ops() {
		list := api.Of(o)
		moved := becameArguments[list[0].AttrsType()]
		for i, f := range list {
			if f.Form == api.With || f.AttrsType() == "" {
				continue
			}
			entry := &form{Func: f, options: len(f.Options) > 0 || len(moved) > 0}
			if i+1 < len(list) && list[i+1].Form == api.With {
				entry.with, entry.options = list[i+1], true
			}
			for _, p := range f.Params {
				switch {
				case p.Operand != "":
					entry.operands++
				case !slices.Contains(moved, p.Field):
					entry.old = append(entry.old, p.Field)
				}
			}
			out[f.Name] = entry
			if f.InPlace != "" {
				written := *entry
				written.inPlace = true
				out[f.InPlace] = &written
			}
		}
	}
	return out
}

// renames returns the declarations with new names.
func renames() []rename {
	out := []rename{
		{pkgOp, "IntList", pkgTensor, "Ints"},
		{pkgOp, "FloatList", pkgTensor, "Floats"},
		{pkgShape, "Ints", pkgShape, "ConstDims"},
		{pkgInterp, "Value", pkgInterp, "Result"},
		{pkgGuard, "Value", pkgGuard, "Argument"},
		{pkgDebug, "Value", pkgDebug, "Observation"},
		{pkgShard, "Value", pkgShard, "Tensor"},
	}
	seen := map[string]bool{}
	for _, o := range api.Ops() {
		if t := api.Of(o)[0].AttrsType(); t != "" && !seen[t] {
			seen[t] = true
			out = append(out, rename{pkgStd, t, pkgTensor, t})
		}
	}
	return out
}
