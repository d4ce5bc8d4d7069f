package module

import (
	"go/token"
	"reflect"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/gofx-dev/gofx/codegen/gosrc"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/goname"
)

// packages are the imports of a file and the identifiers that it declares. Every
// package that may be named has an identifier of its own before anything else has
// one, so that no local name shadows a package.
type packages struct {
	own     string // import path of the generated package
	file    *jen.File
	decls   *goname.Set       // package-level names
	names   *goname.Set       // local names
	imports map[string]string // import path to name
}

func newPackages(m *graph.Module, o *Options) *packages {
	p := &packages{own: o.Path, file: jen.NewFilePathName(o.Path, o.Package), imports: map[string]string{},
		decls: goname.NewSet(o.Func, o.Type, "New"+o.Type, "Load"+o.Type, o.Type+originName), names: goname.NewSet("m")}
	p.enterAll(m, o)
	p.names.Include(p.decls)
	return p
}

// enterAll enters the packages that printing may name.
func (p *packages) enterAll(m *graph.Module, opts *Options) {
	for _, room := range []string{"tensor", "nn", "op", "op/std", "array", "array/safetensors", "shape"} {
		p.enter(gosrc.Root+room, room[strings.LastIndexByte(room, '/')+1:])
	}
	p.enter("math", "math")
	p.enter("io", "io")
	if opts.Tests != nil {
		p.decls.Reserve(gosrc.Reserved[:4]...) // which tests import
	}
	add := func(full string) {
		path, _ := gosrc.SplitType(full)
		p.enter(path, "")
	}
	for n := range m.All() {
		if call := n.Op(); call != nil {
			p.enter(call.Path, "")
			add(call.Func)
			p.enter(call.Codec().GoType().PkgPath(), "")
		}
		if n.Opcode() == graph.Output {
			for s := range n.Structure().All() {
				add(s.Type)
			}
		}
	}
	if opts.Root != nil {
		eachPackage(reflect.TypeOf(opts.Root), p.enter, map[reflect.Type]bool{})
	}
	for _, t := range opts.Results {
		eachPackage(t, p.enter, map[reflect.Type]bool{})
	}
}

// enter enters a package; name is its name where that is known.
func (p *packages) enter(path, name string) {
	if path == "" || path == p.own || p.imports[path] != "" {
		return
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if name == "" && strings.HasPrefix(path, gosrc.Root) {
		name = base
	}
	hint := name
	if hint == "" {
		hint = base
	}
	alias := p.decls.Lower(hint)
	p.imports[path] = alias
	p.names.Reserve(alias)
	if alias == name {
		p.file.ImportName(path, name)
	} else {
		p.file.ImportAlias(path, alias)
	}
}

// eachPackage enters the packages of the types that a type is made of.
func eachPackage(typ reflect.Type, enter func(path, name string), seen map[reflect.Type]bool) {
	if seen[typ] {
		return
	}
	seen[typ] = true
	if typ.PkgPath() != "" {
		name, _, _ := strings.Cut(typ.String(), ".")
		enter(typ.PkgPath(), name)
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		eachPackage(typ.Elem(), enter, seen)
	case reflect.Struct:
		for i := range typ.NumField() {
			if typ.Field(i).IsExported() {
				eachPackage(typ.Field(i).Type, enter, seen)
			}
		}
	}
}

// usable reports whether generated code can name the declarations of path.
func (p *packages) usable(path, name string) bool {
	if !token.IsIdentifier(name) {
		return false
	}
	return path == p.own && path != "" || gosrc.Importable(path) && token.IsExported(name)
}

// typeOf writes a type as Go source; ok is false when the package cannot name it.
func (p *packages) typeOf(typ reflect.Type) (code source, ok bool) {
	prefix := func(before *jen.Statement) (source, bool) {
		inner, ok := p.typeOf(typ.Elem())
		return func() *jen.Statement { return before.Clone().Add(inner()) }, ok
	}
	switch {
	case typ.Name() != "" && typ.PkgPath() == "":
		return func() *jen.Statement { return jen.Id(typ.Name()) }, true
	case typ.Name() != "":
		eachPackage(typ, p.enter, map[reflect.Type]bool{})
		return func() *jen.Statement { return jen.Qual(typ.PkgPath(), typ.Name()) }, p.usable(typ.PkgPath(), typ.Name())
	case typ.Kind() == reflect.Pointer:
		return prefix(jen.Op("*"))
	case typ.Kind() == reflect.Slice:
		return prefix(jen.Index())
	case typ.Kind() == reflect.Array:
		return prefix(jen.Index(jen.Lit(typ.Len())))
	case typ.Kind() == reflect.Map && typ.Key().Name() == "string":
		return prefix(jen.Map(jen.String()))
	case typ.Kind() == reflect.Interface && typ.NumMethod() == 0:
		return func() *jen.Statement { return jen.Any() }, true
	}
	return nil, false
}
