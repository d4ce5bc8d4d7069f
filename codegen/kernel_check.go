package codegen

import (
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// The codes of kernel style.
const (
	CodeHost    diag.Code = "FX4020" // a step calls an opaque Go function
	CodeState   diag.Code = "FX4021" // a step writes the model's state
	CodeRegion  diag.Code = "FX4022" // a step is control flow with bodies of its own
	CodeWeight  diag.Code = "FX4023" // a weight has no data, or other data than planned
	CodeOptions diag.Code = "FX4024" // an option that no package can be printed with
	CodeSize    diag.Code = "FX4025" // a size that does not follow from the inputs
	CodeResults diag.Code = "FX4026" // a plan that computes nothing
)

// wellFormed reports whether every number in a plan that stands for something
// else of the plan does.
func wellFormed(p *plan.Plan) bool {
	within := func(list []int, least int) bool {
		return !slices.ContainsFunc(list, func(k int) bool { return k < least || k >= len(p.Buffers) })
	}
	ok := within(p.Inputs, 0) && within(p.Outputs, 0) && len(p.Defaults) <= len(p.Inputs)
	for i := range p.Steps {
		ok = ok && within(p.Steps[i].In, -1) && within(p.Steps[i].Out, -1)
	}
	for _, s := range p.Symbols {
		ok = ok && s.Input >= 0 && s.Input < len(p.Inputs)
	}
	eachStructure(p.Structure, func(s *graph.Structure) {
		ok = ok && (s.Kind != graph.LeafValue || s.Index >= 0 && s.Index < len(p.Outputs))
	})
	return ok
}

// refuse lists the steps and sizes that cannot be printed.
func (g *kernelGen) refuse() diag.List {
	var errs diag.List
	known := map[string]bool{}
	for _, s := range g.p.Symbols {
		known[s.Name] = true
	}
	for i := range g.p.Steps {
		s := &g.p.Steps[i]
		fault := func(c diag.Code, msg, hint string) {
			e := diag.New(c, msg).At(s.Pos).WithHint(hint)
			e.Op = s.Op
			if len(s.Nodes) > 0 {
				e.Node = s.Nodes[0]
			}
			errs = append(errs, e)
		}
		v := structOf(s)
		switch {
		case len(s.Regions) > 0:
			fault(CodeRegion, "control flow is not printed, expected straight steps", "unroll the loop while capturing, compute both branches and select, or generate module style")
			continue
		case v.Kind() != reflect.Struct || home(v.Type()) != root+"kernel" || !token.IsExported(v.Type().Name()):
			fault(CodeHost, "the step is a Go function that is not known, expected a kernel",
				"express it with operators, give the operator a Kernel or a Decompose, or generate module style")
			continue
		case hidden(v):
			fault(CodeHost, "kernel."+v.Type().Name()+" has values in unexported fields, expected a plain struct", "keep what the kernel needs in exported fields")
		}
		for _, k := range s.Out {
			if k >= 0 && g.p.Buffers[k].Kind == plan.Weight {
				fault(CodeState, "the step writes "+strconv.Quote(g.p.Buffers[k].Path)+", expected weights that do not change",
					"run the model in evaluation mode, return the new value as a result, or generate module style")
			}
		}
		for _, f := range s.Fields {
			if !computable(f.Expr, known) {
				fault(CodeSize, "field "+f.Name+" is "+f.Expr.String()+", expected a size that follows from the inputs", "pin the size")
			}
		}
	}
	for i := range g.p.Buffers {
		b := &g.p.Buffers[i]
		ok := b.Type.Ranked() && b.Type.DType() != array.Invalid && computable(b.Offset, known)
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

func checkWeight(b *plan.Buffer, a *array.Array) *diag.Error {
	var e *diag.Error
	switch {
	case a == nil:
		e = diag.New(CodeWeight, "weight "+strconv.Quote(b.Path)+" has no data, expected "+b.Type.String()).WithHint("load the weights before code is generated")
	case !shape.TypeOf(a).Same(b.Type):
		e = diag.New(CodeWeight, "weight "+strconv.Quote(b.Path)+" is "+shape.TypeOf(a).String()+", expected "+b.Type.String()).WithHint("plan again after the weights have changed")
	default:
		return nil
	}
	e.Node = b.Name
	return e
}

// checkFile refuses names of Go files that lead out of the folder, that the go
// command does not read, or reads on some machines or in tests only.
func checkFile(file string) diag.List {
	base, ok := strings.CutSuffix(file, ".go")
	ok = ok && base != "" && strings.Trim(base[:1], "._") != "" &&
		!strings.ContainsFunc(base, func(r rune) bool { return r > 126 || r <= ' ' || strings.ContainsRune("/\\:*?\"<>|`'", r) })
	if i := strings.LastIndexByte(base, '_'); i > 0 {
		ok = ok && base[i+1:] != "test" && !slices.Contains(constraints, base[i+1:])
	}
	if ok {
		return nil
	}
	return diag.List{diag.New(CodeOptions, "the file is "+strconv.Quote(file)+", expected a name without a folder").
		WithHint("choose letters, digits and underscores, and no end that means a machine or a test to the go command")}
}

// constraints are the ends of file names that stand for systems and processors.
var constraints = strings.Fields(`aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 windows zos
	386 amd64 amd64p32 arm arm64 arm64be armbe loong64 mips mips64 mips64le mips64p32 mips64p32le mipsle ppc ppc64 ppc64le riscv riscv64 s390 s390x
	sparc sparc64 wasm`)

// check refuses names that no Go file can have or declare.
func (o *ModuleOptions) check() diag.List {
	var errs diag.List
	bad := func(what, name string) {
		errs = append(errs, diag.New(CodeOptions, what+" is "+strconv.Quote(name)+", expected a Go identifier that nothing else has").
			WithHint("choose another name, or leave it empty"))
	}
	if !token.IsIdentifier(o.Package) || o.Package == "_" {
		bad("the package name", o.Package)
	}
	taken := map[string]bool{"_": true, "init": true, "main": o.Package == "main"}
	for _, name := range predeclared {
		taken[name] = taken[name] || name != "main"
	}
	for _, x := range [][2]string{{"the function's name", o.Func}, {"the type's name", o.Type}, {"the constructor's name", "New" + o.Type}, {"the loader's name", "Load" + o.Type}} {
		if !token.IsIdentifier(x[1]) || taken[x[1]] {
			bad(x[0], x[1])
		}
		taken[x[1]] = true
	}
	return append(errs, checkFile(o.File)...)
}

func checkOptions(pkg, typ, file string, mode WeightsMode) diag.List {
	var errs diag.List
	bad := func(msg, hint string) { errs = append(errs, diag.New(CodeOptions, msg).WithHint(hint)) }
	ascii := func(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r > 126 }) < 0 }
	if !token.IsIdentifier(pkg) || pkg == "_" || !ascii(pkg) {
		bad("the package name is "+strconv.Quote(pkg)+", expected a Go identifier", "choose a short lower-case name")
	}
	if !token.IsIdentifier(typ) || !token.IsExported(typ) || !ascii(typ) {
		bad("the type name is "+strconv.Quote(typ)+", expected an exported Go identifier", "begin the name with a capital letter")
	}
	errs = append(errs, checkFile(file+".go")...)
	if !slices.Contains([]WeightsMode{"", WeightsAuto, WeightsEmbed, WeightsExternal, WeightsLiteral}, mode) {
		bad("the weights mode is "+strconv.Quote(string(mode))+", expected auto, embed, external or literal", "leave it empty for auto")
	}
	return errs
}
