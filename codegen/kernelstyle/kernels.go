package kernelstyle

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/shape"
)

// stepCode is a step made ready to print.
type stepCode struct {
	literal jen.Code       // the kernel's struct
	short   bool           // the literal stands where the kernel is called
	key     string         // equal for steps of equal kernels
	expr    *jen.Statement // how the step's code reaches its kernel
	field   string         // the kernel's field in the state, when it depends on sizes
}

// kernelVars are the variables that kernels and programs have, by their literals.
type kernelVars map[string]string

// variable is a kernel, or a program of kernels, that steps share.
type variable struct {
	name, doc string
	lines     int
	literal   jen.Code
}

// shortLiteral is the longest literal printed at the call itself, longLiteral the
// longest on one line.
const shortLiteral, longLiteral = 64, 150

// kernels decides for each step how its kernel is reached: a short literal
// without lists stands at the call, which costs nothing; others are variables
// that equal steps share; those that depend on sizes are kept in the state.
// Programs that kernels point to are variables of their own.
type kernels struct {
	*model
	steps    []stepCode
	programs []variable
	shared   []variable
	sized    []int // the first step of each kernel that is kept in the state
}

// newKernels prints the literals. Two steps have the same key exactly if they have
// the same kernel; outline compares the same keys.
func newKernels(m *model, n *names) *kernels {
	made := &kernels{model: m, steps: make([]stepCode, len(m.Steps))}
	for i := range m.Steps {
		s, code := &m.Steps[i], &made.steps[i]
		if s.Control() != nil {
			code.key = "flow " + strconv.Itoa(i) // like no other
			continue
		}
		if f := s.Told(); f != "" {
			code.key = "hook " + f
			continue
		}
		holes := gosrc.Holes{
			Dim:     func(d shape.Dim) jen.Code { return jen.Lit(d.String()) },
			Program: func(p *kernel.Program) *jen.Statement { return jen.Op("&").Id(made.program(p, s, n)) },
		}
		code.literal = gosrc.Literal(structOf(s), holes)
		code.key = (&jen.Statement{code.literal}).GoString()
		if v := structOf(s); len(code.key) > longLiteral && v.Kind() == reflect.Struct && programOf(s) == nil {
			code.literal = gosrc.Fieldwise(v, holes)
		}
		code.short = len(code.key) <= shortLiteral && !strings.Contains(code.key, "[]")
		for _, f := range s.Sizes {
			code.key += " " + f.Path.Selector(s.Kernel) + "=" + f.Size.String()
		}
	}
	return made
}

// program returns the variable of a program, which is named after the step's
// last operation.
func (g *kernels) program(p *kernel.Program, s *plan.Step, n *names) string {
	literal := gosrc.Literal(reflect.ValueOf(*p), gosrc.Holes{})
	text := (&jen.Statement{literal}).GoString()
	if n.kernelVars[text] == "" {
		name := n.top.Unique(goname.Lower(g.opts.Type) + goname.Upper(lastOp(s.Op)))
		n.kernelVars[text] = name
		g.programs = append(g.programs, variable{name, name + " is " + gosrc.Comment(gosrc.Formula(p)) + ".", strings.Count(text, "\n") + 1, literal})
	}
	return n.kernelVars[text]
}

// name gives kernels their places: a field of the state, or a variable, which is
// called after the first module that uses it.
func (g *kernels) name(whole *pkg) {
	first := map[string]int{} // step, by key
	users := map[string][]string{}
	for i := range g.Steps {
		if g.Steps[i].Control() != nil || g.Steps[i].Told() != "" {
			continue
		}
		key, user := g.steps[i].key, whole.user(i)
		if _, ok := first[key]; !ok {
			first[key] = i
		}
		if !slices.Contains(users[key], user) {
			users[key] = append(users[key], user)
		}
	}
	for i := range g.Steps {
		code := &g.steps[i]
		if g.Steps[i].Control() != nil || g.Steps[i].Told() != "" {
			continue
		}
		switch at, known := first[code.key], whole.kernelVars[code.key]; {
		case at < i:
			code.field, code.expr = g.steps[at].field, g.steps[at].expr
		case len(g.Steps[i].Sizes) > 0:
			code.field = whole.fields.Unique(goname.Lower(whole.kernelHint(i)) + "Kernel")
			code.expr = jen.Id("s").Dot(code.field)
			g.sized = append(g.sized, i)
		case code.short:
			code.expr = jen.Add(code.literal)
		case known != "": // in another body
			code.expr = jen.Id(known)
		default:
			name := whole.top.Unique(whole.kernelName(i))
			whole.kernelVars[code.key] = name
			code.expr = jen.Id(name)
			g.shared = append(g.shared, variable{name, name + g.doc(i, users[code.key]), strings.Count(code.key, "\n") + 1, code.literal})
		}
	}
}

// doc describes a kernel, and names its steps.
func (g *kernels) doc(step int, users []string) string {
	if p := programOf(&g.Steps[step]); p != nil {
		return " computes " + gosrc.Comment(gosrc.Formula(p)) + " for each element."
	}
	if len(users) > 3 {
		users = []string{users[0], users[1], "others"}
	}
	last := len(users) - 1
	of := strings.Join(users[:last], ", ")
	if last > 0 {
		of += " and "
	}
	of += users[last]
	return " is the kernel of " + gosrc.Comment(of) + "."
}

// programOf returns the program that is part of a kernel, nil for none.
func programOf(s *plan.Step) *kernel.Program {
	v := structOf(s)
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			if p, ok := v.Field(i).Interface().(kernel.Program); ok {
				return &p
			}
		}
	}
	return nil
}

// user is the step for people who look for where a kernel is used: its module, or
// its operator.
func (g *pkg) user(i int) string {
	s := &g.Steps[i]
	if !g.hints.module(s) {
		return g.kernelHint(i)
	}
	if b, call := g.blockAround(i); b != nil {
		return b.pattern() + strings.TrimPrefix(s.Scope.Path, call.Scope)
	}
	return s.Scope.Path
}

// kernelName names the kernel that a step is the first to use: after its module,
// within the block that the step is part of, or after its operator.
func (g *pkg) kernelName(i int) string {
	s, prefix := &g.Steps[i], goname.Lower(g.opts.Type)
	if !g.hints.module(s) {
		return prefix + goname.Upper(g.kernelHint(i))
	}
	if b, call := g.blockAround(i); b != nil {
		return b.fn + goname.Upper(strings.TrimPrefix(s.Scope.Path, call.Scope))
	}
	return prefix + goname.Upper(s.Scope.Path)
}

// kernelHint is the operation of a step, or its kernel's if the step has none.
func (g *pkg) kernelHint(i int) string {
	s := &g.Steps[i]
	if part := g.hints.part(s); part != "" {
		return part
	}
	if s.Op != "" {
		return s.Op
	}
	return structOf(s).Type().Name()
}

// structOf returns the kernel's struct.
func structOf(s *plan.Step) reflect.Value { return reflect.Indirect(reflect.ValueOf(s.Kernel)) }

// fieldLines sets the fields of a kernel that are sizes.
func (g *kernels) fieldLines(i int, target *jen.Statement, sizes *sizes) []jen.Code {
	s := &g.Steps[i]
	var lines []jen.Code
	if p := programOf(s); p != nil {
		lines = append(lines, jen.Comment("// "+gosrc.Comment(gosrc.Formula(p))))
	}
	lines = append(lines, jen.Add(target).Op("=").Add(g.steps[i].literal))
	for _, f := range s.Sizes {
		field := jen.Add(target)
		f.Path.Walk(structOf(s), func(part reflect.Value, next int) {
			if part.Kind() == reflect.Struct {
				field.Dot(part.Type().Field(next).Name)
			} else {
				field.Index(jen.Lit(next))
			}
		})
		lines = append(lines, field.Op("=").Add(sizes.dim(f.Size)))
	}
	return lines
}
