package tables

import (
	"bytes"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/compile/source"
	"github.com/gofx-dev/gofx/internal/effects"
)

const (
	compilePath = gofx + "/compile"
	statePath   = compilePath + "/state"
	sourcePath  = compilePath + "/source"
)

// command is what writes the file.
func (m *maker) command() string {
	return "fxgen compile -o " + filepath.Base(m.r.File) + " " + strings.Join(m.r.Funcs, " ")
}

// file prints the generated file. Without tables, methods Call call the functions: that is for the analysis alone.
func (m *maker) file(t *tables) ([]byte, error) {
	f := jen.NewFilePathName(m.pkg.PkgPath, m.pkg.Name)
	f.HeaderComment("// " + gosrc.Header)
	f.HeaderComment(source.Mark + " " + strings.Join(m.r.Funcs, " "))
	f.ImportNames(map[string]string{compilePath: "compile", statePath: "state", sourcePath: "source"})
	if t != nil {
		f.Comment(m.codeName() + " is the code that the tables of this file are of.")
		f.Var().Id(m.codeName()).Op("=").Qual(sourcePath, "Code").Add(m.codeValue(&t.code))
	}
	for i, x := range m.targets {
		f.Line()
		var table *effects.Summary
		if t != nil {
			table = t.list[i]
		}
		m.compiled(f, x, table)
	}
	if t != nil {
		for i, x := range m.targets {
			m.again(f, x, t.list[i])
		}
	}
	for path, name := range m.known {
		f.ImportName(path, name)
	}
	var b bytes.Buffer
	err := f.Render(&b)
	return gosrc.GroupImports(b.Bytes()), err
}

// codeName is the variable of a generated file: a package may have several of them.
func (m *maker) codeName() string {
	name := "fxCode"
	for part := range strings.SplitSeq(strings.TrimSuffix(filepath.Base(m.r.File), ".go"), "_") {
		part = strings.Map(func(r rune) rune {
			if r > 127 || r != '_' && !token.IsIdentifier("x"+string(r)) {
				return -1
			}
			return r
		}, part)
		if part != "" && part != "fx" && part != "compile" {
			name += title(part)
		}
	}
	return name
}

func (m *maker) codeValue(c *source.Code) jen.Code {
	var packages, modules []jen.Code
	for _, p := range c.Packages {
		packages = append(packages, row(field{"Path", gosrc.Quoted(p.Path)}, field{"Hash", gosrc.Quoted(p.Hash)}))
	}
	for _, x := range c.Modules {
		modules = append(modules, row(field{"Path", gosrc.Quoted(x.Path)}, field{"Version", gosrc.Quoted(x.Version)}))
	}
	return record(
		field{"File", gosrc.Quoted(c.File)}, field{"Command", gosrc.Quoted(c.Command)}, field{"Go", gosrc.Quoted(c.Go)},
		field{"Lines", linesCode(c.Lines)},
		field{"Packages", list(sourcePath, "Package", packages)}, field{"Modules", list(sourcePath, "Module", modules)})
}

func linesCode(l source.Lines) jen.Code {
	if l == source.OfNothing {
		return nil
	}
	return jen.Qual(sourcePath, [...]string{"", "OfFunctions", "OfAll"}[l])
}

// compiled prints one compiled function.
func (m *maker) compiled(f *jen.File, x *target, s *effects.Summary) {
	typ, low := "Compiled"+x.short, lower(x.short)
	frame, out := low+"In", low+"Out"
	in := m.inputs(x)
	var fields, params, values, names []jen.Code
	for _, p := range in {
		fields = append(fields, jen.Id(p.name).Add(p.typ))
		params = append(params, jen.Id(p.name).Add(p.passed))
		values = append(values, jen.Id(p.name))
	}
	var results, fills []jen.Code
	for i := range x.sig.Results().Len() {
		name := resultName(i)
		results = append(results, m.typeCode(x.sig.Results().At(i).Type()))
		fills = append(fills, jen.Id(name).Add(results[i]))
		names = append(names, jen.Id("out").Dot(name))
	}
	what := x.what(m)
	f.Commentf("%s is %s, run by what its calls have computed before.", typ, what)
	f.Type().Id(typ).Struct(jen.Op("*").Qual(compilePath, "Func").Types(jen.Id(frame), jen.Id(out)))
	f.Line()
	f.Type().Defs(jen.Id(frame).Struct(fields...), jen.Id(out).Struct(fills...))
	f.Line()
	if x.literal != nil {
		m.vars(f, x)
	}
	f.Commentf("Compile%s makes the compiled form of %s. It panics where the program's code is not that of which the table is.", x.short, what)
	run := jen.Func().Params(jen.Id("in").Op("*").Id(frame), jen.Id("out").Op("*").Id(out)).Block(m.trampoline(x, in, names))
	body := []jen.Code{jen.Return(jen.Op("&").Id(typ).Values(jen.Qual(compilePath, "New").Call(m.table(x, s), run, jen.Id("opts").Op("..."))))}
	if x.literal != nil {
		body = slices.Insert(body, 0, x.checked())
	}
	if s != nil {
		body = slices.Insert(body, 0, jen.Code(jen.Id(m.codeName()).Dot("Check").Call(jen.Id(sourceVar))))
	}
	given := []jen.Code{jen.Id("opts").Op("...").Qual(compilePath, "Option")}
	if x.maker {
		given = slices.Insert(given, 0, jen.Code(jen.Id(funcName).Func().Add(m.signature(x.sig))))
	}
	f.Func().Id("Compile" + x.short).Params(given...).Op("*").Id(typ).Block(body...)
	f.Line()
	f.Commentf("Call does what %s does.", what)
	call := jen.Id("fx").Dot("Func").Dot("Call").Call(jen.Id(frame).Values(values...))
	if s == nil && !x.maker { // which closures there are is not known
		call = x.call(in, func(name string) *jen.Statement { return jen.Id(name) })
	}
	method := f.Func().Params(jen.Id("fx").Op("*").Id(typ)).Id("Call").Params(params...).Params(results...)
	switch {
	case len(names) == 0:
		method.Block(call)
	case s == nil && !x.maker:
		method.Block(jen.Return(call))
	case len(names) == 1:
		method.Block(jen.Return(call.Dot(resultName(0))))
	default:
		method.Block(jen.Id("out").Op(":=").Add(call), jen.Return(names...))
	}
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }

func resultName(i int) string { return "r" + string(rune('0'+i%10)) + strings.Repeat("x", i/10) }

// input is a parameter of a method Call.
type input struct {
	name        string
	typ, passed *jen.Statement // in the frame, in the list of parameters
	variadic    bool
}

// inputs lists receiver and parameters, with names that hide none of the generated ones.
func (m *maker) inputs(x *target) (list []input) {
	taken := map[string]bool{"": true, "_": true, "fx": true, "out": true}
	add := func(name, other string, typ types.Type, passed *jen.Statement, variadic bool) {
		for taken[name] || strings.HasSuffix(name, "In") || types.Universe.Lookup(name) != nil {
			name, other = other, other+"_"
		}
		taken[name] = true
		list = append(list, input{name, m.typeCode(typ), passed, variadic})
	}
	if x.recv != nil {
		name := ""
		if x.sig.Recv() != nil {
			name = x.sig.Recv().Name()
		}
		add(name, "receiver", x.recv, m.typeCode(x.recv), false)
	}
	for i := range x.sig.Params().Len() {
		p := x.sig.Params().At(i)
		add(p.Name(), "p"+resultName(i)[1:], p.Type(), m.param(x.sig, i), x.sig.Variadic() && i == x.sig.Params().Len()-1)
	}
	return list
}

// call calls the function itself.
func (x *target) call(in []input, value func(name string) *jen.Statement) *jen.Statement {
	fn := jen.Qual(x.pkg.Path(), x.method)
	if x.maker {
		fn = jen.Id(funcName)
	}
	if x.recv != nil {
		fn = value(in[0].name).Dot(x.method)
		in = in[1:]
	}
	var args []jen.Code
	for _, p := range in {
		v := value(p.name)
		if p.variadic {
			v = v.Op("...")
		}
		args = append(args, v)
	}
	return fn.Call(args...)
}

// trampoline calls the function with the values of a frame.
func (m *maker) trampoline(x *target, in []input, results []jen.Code) jen.Code {
	call := x.call(in, func(name string) *jen.Statement { return jen.Id("in").Dot(name) })
	if len(results) == 0 {
		return call
	}
	return jen.List(results...).Op("=").Add(call)
}
