package kernelstyle

import (
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// wellFormed reports whether every number in a plan that stands for something
// else of the plan does.
func wellFormed(printed *plan.Plan) bool {
	within := func(list []int, least int) bool {
		return !slices.ContainsFunc(list, func(k int) bool { return k < least || k >= len(printed.Buffers) })
	}
	ok := within(printed.Inputs, 0) && within(printed.Outputs, 0) && len(printed.Defaults) <= len(printed.Inputs)
	for i := range printed.Steps {
		ok = ok && within(printed.Steps[i].In, -1) && within(printed.Steps[i].Out, -1) && within(printed.Steps[i].Spare, 0)
	}
	for _, s := range slices.Concat(printed.Symbols, printed.Same) {
		ok = ok && s.Input >= 0 && s.Input < len(printed.Inputs)
	}
	for s := range printed.Structure.All() {
		ok = ok && (s.Kind != graph.LeafValue || s.Index >= 0 && s.Index < len(printed.Outputs))
	}
	return ok
}

// refuse lists the steps and sizes that cannot be printed.
func refuse(printed *plan.Plan) diag.List {
	var errs diag.List
	known := map[string]bool{}
	for _, step := range printed.Symbols {
		known[step.Name] = true
	}
	for i := range printed.Steps {
		step := &printed.Steps[i]
		fault := func(c diag.Code, msg, hint string) {
			e := diag.New(c, msg).At(step.Pos).WithHint(hint)
			e.Op = step.Op
			if len(step.Nodes) > 0 {
				e.Node = step.Nodes[0]
			}
			errs = append(errs, e)
		}
		v := structOf(step)
		switch {
		case step.Control() != nil:
			if lateInside(printed, step) {
				fault(CodeSize, "a result has sizes that only a body of it finds, expected sizes that are known outside", "say in the graph which sizes the result has")
			}
			continue // its bodies are plans of their own
		case step.Told() != "":
			continue
		case step.Effects():
			fault(CodeHost, "the step is a Go function that has effects and gives a value, expected one or the other",
				"let the function return nothing: it is then a call of the caller's Hook, which stays where it is in the model (y := f(x) becomes f(x)). Else express it with operators, call it pure (tensor.WrapPure) and give it a Kernel, or generate module style")
			continue
		case v.Kind() != reflect.Struct || ours(v.Type()) && gosrc.Home(v.Type()) != gosrc.Root+"kernel":
			fault(CodeHost, "the step is a Go function that is not known, expected a kernel",
				"express it with operators, give the operator a Kernel or a Decompose, or generate module style")
			continue
		case unnamable(v.Type()):
			fault(CodeHost, "the kernel is "+v.Type().String()+", which other packages cannot name, expected an exported type of a package that can be imported",
				"export the type, and put it into a package that is no command")
			continue
		case !v.Type().Implements(reflect.TypeFor[kernel.Step]()):
			fault(CodeHost, "the kernel is *"+v.Type().String()+", expected a struct that has Run itself", "declare Run with a receiver that is no pointer")
			continue
		case hidden(v):
			fault(CodeHost, v.Type().String()+" has values in unexported fields, expected a plain struct", "keep what the kernel needs in exported fields")
		}
		for _, k := range step.Out {
			at := k
			if k >= 0 && printed.Buffers[k].Within {
				at = printed.Buffers[k].Of
			}
			if at >= 0 && printed.Buffers[at].Kind == plan.Input && !printed.Buffers[at].Updated {
				fault(CodeOptions, "the step overwrites input "+strconv.Quote(printed.Buffers[at].Name)+", expected inputs that are only read",
					"plan without donated inputs")
			}
		}
		for _, f := range step.Sizes {
			if !computable(f.Size, known) {
				fault(CodeSize, "field "+f.Path.Selector(step.Kernel)+" is "+f.Size.String()+", expected a size that follows from the inputs", "pin the size")
			}
		}
	}
	for i := range printed.Buffers {
		b := &printed.Buffers[i]
		ok := b.Type.Ranked() && b.Type.DType() != array.Invalid && computable(b.Offset, known)
		if b.Late && ok {
			continue
		}
		for _, d := range b.Type.Dims().Slice() {
			ok = ok && computable(d, known)
		}
		if !ok {
			e := diag.New(CodeSize, "the value is "+b.Type.String()+", expected a type that follows from the inputs").WithHint("pin the sizes that are not known")
			e.Node = b.Name
			errs = append(errs, e)
		}
	}
	return errs
}

// lateInside reports whether a body of a step finds sizes of results that the plan around
// it has computed otherwise.
func lateInside(printed *plan.Plan, step *plan.Step) bool {
	for _, r := range step.Regions {
		for i, k := range r.Outputs {
			late := i < len(step.Out) && step.Out[i] >= 0 && printed.Buffers[step.Out[i]].Late
			if r.Buffers[k].Late && !late {
				return true
			}
		}
	}
	return false
}

// ours reports whether a type is declared in gofx, whose kernels are all in kernel.
func ours(t reflect.Type) bool {
	return t.PkgPath() == "" || strings.HasPrefix(t.PkgPath(), gosrc.Root)
}

// unnamable reports whether generated code cannot name a type.
func unnamable(t reflect.Type) bool {
	return !token.IsExported(t.Name()) || t.PkgPath() == "main" || strings.HasSuffix(t.PkgPath(), "_test")
}

func computable(d shape.Dim, known map[string]bool) bool {
	return !d.IsUnknown() && !slices.ContainsFunc(d.Symbols(), func(s string) bool { return !known[s] })
}

// hidden reports whether a struct has unexported fields that are not zero.
func hidden(v reflect.Value) bool {
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() && !v.Field(i).IsZero() {
			return true
		}
	}
	return false
}
