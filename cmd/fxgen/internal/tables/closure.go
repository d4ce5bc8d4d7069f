package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/effects"
)

// A function that returns a function literal, or a variable that has one, stands for the literal: its constructor takes a closure, and the table has the variables that
// the literal has captured. Which variables those are, in which order they lie in a closure, and that it has copies of
// them, is asked of the compiler, which tells it with the flags -m=2 and -d=closure=1.

// literal is the function literal that a target stands for.
type literal struct {
	at   token.Position
	vars []effects.Global // as they lie in a closure
}

// stands has a target stand for the function literal that the function returns. It does nothing for other functions.
func (t *target) stands() {
	if at := effects.FuncResult(t.sig); at >= 0 {
		t.maker, t.recv = true, nil
		t.sig = t.sig.Results().At(at).Type().Underlying().(*types.Signature)
	}
}

// what names a target for people.
func (t *target) what(m *maker) string {
	switch {
	case t.variable:
		return "the function of the variable " + t.name
	case t.maker:
		return "the function that " + t.name + " returns"
	case t.pkg.Path() != m.pkg.PkgPath:
		return t.pkg.Name() + "." + t.name
	}
	return t.name
}

// answer is what the compiler says of the closures of a package.
type answer struct {
	lists map[string][]string // names in order, by where the literal begins
	byRef map[string]bool     // by where a variable is declared, and its name
	known map[string]bool
}

var (
	captures = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):(\d+): (?:heap|stack) closure, captured vars = \[(.*)\]$`)
	manner   = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):(\d+): .* capturing by (value|ref): (\S+) \(`)
)

// ask compiles the package with a file in the place of the generated one.
func (m *maker) ask(ctx context.Context, bare []byte) (*answer, error) {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	file, list := filepath.Join(dir, "bare.go"), filepath.Join(dir, "overlay.json")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{m.r.File: file}})
	if err != nil {
		return nil, err
	}
	for name, data := range map[string][]byte{file: bare, list: overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			return nil, err
		}
	}
	c := proc.Command(ctx, "go", "list", "-export", "-overlay", list, "-gcflags=-m=2 -d=closure=1", "-f", "{{.ImportPath}}", ".")
	c.Dir, c.Env = filepath.Dir(m.r.File), m.r.Env
	text, err := proc.Output(ctx, c)
	if err != nil {
		return nil, diag.New(Uncallable, "the go command does not compile package "+m.pkg.PkgPath+": "+err.Error()).WithHint("have go build ./... pass first")
	}
	return read(string(text)), nil
}

// read reads what the compiler has told.
func read(text string) *answer {
	a := &answer{lists: map[string][]string{}, byRef: map[string]bool{}, known: map[string]bool{}}
	for _, s := range captures.FindAllStringSubmatch(text, -1) {
		a.lists[key(s[1], s[2], s[3])] = strings.Fields(s[4])
	}
	for _, s := range manner.FindAllStringSubmatch(text, -1) {
		k := key(s[1], s[2], s[3]) + " " + s[5]
		a.known[k] = true
		a.byRef[k] = a.byRef[k] || s[4] == "ref"
	}
	return a
}

func key(file, line, column string) string { return filepath.Base(file) + ":" + line + ":" + column }

func keyOf(p token.Position) string {
	return key(p.Filename, strconv.Itoa(p.Line), strconv.Itoa(p.Column))
}

// closure finds the literal that a target stands for, and takes what it has captured from the compiler's answer.
func (m *maker) closure(p *effects.Loaded, x *target, a *answer) (*effects.Summary, error) {
	lit, err := p.Root(x.pkg.Path(), x.name)
	if err != nil {
		return nil, err
	}
	s := p.Summary(lit)
	x.literal = &literal{at: p.Position(lit)}
	var names []string
	if len(lit.FreeVars) > 0 {
		var ok bool
		if names, ok = a.lists[keyOf(x.literal.at)]; !ok {
			return nil, x.bad("the compiler does not tell what "+x.what(m)+" has captured", "make it a method and name that")
		}
	}
	for _, v := range lit.FreeVars {
		k := keyOf(p.Declared(v)) + " " + v.Name()
		if !slices.Contains(names, v.Name()) || a.known[k] && !a.byRef[k] {
			continue
		}
		why := "it has more than 128 bytes, or its address is taken"
		if at := p.Assigned(v); at.IsValid() {
			why = fmt.Sprintf("code may assign it at %s", p.Line(at))
		}
		return nil, x.bad(fmt.Sprintf("%s has no copy of %s, declared at %s:%d: %s", x.what(m), v.Name(), filepath.Base(p.Declared(v).Filename), p.Declared(v).Line, why),
			"keep it in a struct that the closure has a pointer to, or make the function a method of one")
	}
	return s, x.order(m, s, names)
}

// order keeps the captured variables as they lie in a closure. Those that the compiler's code does not use are left out.
func (x *target) order(m *maker, s *effects.Summary, names []string) error {
	for _, name := range names {
		i := slices.IndexFunc(s.Globals, func(g effects.Global) bool { return g.Captured && g.Var.Name() == name })
		if i < 0 {
			return x.bad(x.what(m)+" has captured "+name+", which the analysis does not know", "make it a method and name that")
		}
		if h := m.hidden(s.Globals[i].Var.Type()); h != "" {
			return x.bad(x.what(m)+" has captured "+name+", a "+h+", which code in package "+m.pkg.Name+" cannot name", "declare the type at top level")
		}
		x.literal.vars = append(x.literal.vars, s.Globals[i])
	}
	s.Globals = slices.DeleteFunc(s.Globals, func(g effects.Global) bool { return g.Captured && !slices.Contains(names, g.Var.Name()) })
	return nil
}

// The names of constructors of closures. They hide nothing that a table speaks of.
const (
	funcName = "fxFunc"
	varsName = "fxVars"
)

// vars prints the struct of captured variables, and the function that makes a closure of them.
func (m *maker) vars(f *jen.File, x *target) {
	typ, probe := x.varsType(), x.probe()
	fields := []jen.Code{jen.Id("_").Uintptr()}
	var body, values []jen.Code
	for _, v := range x.literal.vars {
		name := v.Var.Name()
		fields = append(fields, jen.Id(name).Add(m.typeCode(v.Var.Type())))
		body = append(body, jen.Id(name).Op(":=").Id(varsName).Dot(name))
		values = append(values, jen.Id(name).Op(":").Id(name))
	}
	f.Commentf("%s are the variables that %s has captured, as they lie in its closures.", typ, x.what(m))
	f.Type().Id(typ).Struct(fields...)
	f.Line()
	f.Commentf("%s makes a closure of such variables.", probe)
	body = append(body, jen.Return(jen.Func().Params().Id(typ).Block(jen.Return(jen.Id(typ).Values(values...)))))
	f.Func().Id(probe).Params(jen.Id(varsName).Op("*").Id(typ)).Func().Params().Id(typ).Block(body...)
	f.Line()
}

func (x *target) varsType() string { return lower(x.short) + "Vars" }

func (x *target) probe() string { return lower(x.short) + "Probe" }

// checked prints the statement that looks at the closure.
func (x *target) checked() jen.Code {
	at := row(field{"File", gosrc.Quoted(filepath.Base(x.literal.at.Filename))}, field{"Line", jen.Lit(x.literal.at.Line)})
	call := jen.Qual(statePath, "Vars").Call(jen.Id(funcName), jen.Qual(statePath, "Literal").Add(at), jen.Id(x.probe()))
	if len(x.literal.vars) > 0 {
		call = jen.Id(varsName).Op(":=").Add(call)
	}
	return call
}
