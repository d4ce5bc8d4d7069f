package tables

import (
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/effects"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// target is a function or method to be compiled.
type target struct {
	pkg    *types.Package
	name   string     // "Classify", "Decoder.Step"
	short  string     // of what is generated: "Classify", "DecoderStep"
	recv   types.Type // as Call takes it, nil for none
	method string
	sig    *types.Signature
	at     diag.Pos
	// maker tells that it stands for the function literal that the function returns; sig is that of the literal.
	maker    bool
	variable bool     // and that it is the variable that has the literal
	literal  *literal // nil before the analysis
}

// find finds a function by the name that the user has given it.
func (m *maker) find(c *packages.Config, arg string) (*target, error) {
	pkg, name := m.pkg, arg
	if path, after, ok := strings.Cut(arg, "#"); ok {
		name = after
		if path != "" && path != "." && path != m.pkg.PkgPath {
			var err error
			if pkg, err = userpkg.LoadWith(c, path); err != nil {
				return nil, err
			}
		}
	}
	typ, method, isMethod := strings.Cut(strings.Trim(name, "("), ".")
	typ = strings.TrimPrefix(strings.TrimSuffix(typ, ")"), "*")
	obj := pkg.Types.Scope().Lookup(typ)
	if obj == nil {
		return nil, noFunction("package "+pkg.PkgPath+" has no function or type "+typ, "name a function, or a method as Type.Method")
	}
	t := &target{pkg: pkg.Types, name: name, at: userpkg.Position(pkg.Fset.Position(obj.Pos()).String())}
	if f, ok := obj.(*types.Func); ok && !isMethod {
		t.name, t.method, t.sig, t.short = typ, typ, f.Signature(), title(typ)
		return t, t.check(m, t.sig)
	}
	if v, ok := obj.(*types.Var); ok && !isMethod {
		if sig, ok := v.Type().Underlying().(*types.Signature); ok {
			t.name, t.method, t.sig, t.short, t.maker, t.variable = typ, typ, sig, title(typ), true, true
			return t, t.check(m, sig)
		}
	}
	n, ok := types.Unalias(obj.Type()).(*types.Named)
	if _, isType := obj.(*types.TypeName); !isType || !ok || types.IsInterface(n) {
		return nil, noFunction(typ+" is no function, and no type with methods of its own", "name a function, or a method as Type.Method").At(t.at)
	}
	if !isMethod {
		method = "Forward"
	}
	sel := types.NewMethodSet(types.NewPointer(n)).Lookup(pkg.Types, method)
	if sel == nil {
		return nil, noFunction("type "+typ+" has no method "+method, "name a method as Type.Method").At(t.at)
	}
	f := sel.Obj().(*types.Func)
	t.at = userpkg.Position(pkg.Fset.Position(f.Pos()).String())
	t.name, t.method, t.sig, t.short, t.recv = typ+"."+method, method, f.Signature(), title(typ)+title(method), types.NewPointer(n)
	if types.NewMethodSet(n).Lookup(pkg.Types, method) != nil && len(sel.Index()) == 1 {
		t.recv = n
	}
	return t, t.check(m, t.sig)
}

// check refuses functions that generated code cannot call.
func (t *target) check(m *maker, own *types.Signature) error {
	n, _ := t.recv.(*types.Named)
	if p, ok := t.recv.(*types.Pointer); ok {
		n = p.Elem().(*types.Named)
	}
	switch {
	case own.TypeParams().Len() > 0 || n != nil && n.TypeParams().Len() > 0:
		return t.bad(t.name+" has type parameters, and a table is of one instance", "name a function that calls the instance you want")
	case t.pkg.Path() != m.pkg.PkgPath && (!token.IsExported(t.method) || n != nil && !n.Obj().Exported()):
		return t.bad(t.pkg.Path()+"."+t.name+" is not exported, code in package "+m.pkg.Name+" cannot call it", "write a function that leads to it, or generate the file in its package")
	case t.pkg.Name() == "main" && t.pkg.Path() != m.pkg.PkgPath:
		return t.bad("package "+t.pkg.Path()+" is a program, which nothing imports", "generate the file in its package")
	}
	if !t.variable {
		t.stands()
	}
	if t.maker && t.pkg.Path() != m.pkg.PkgPath {
		return t.bad(t.pkg.Path()+"."+t.name+" stands for a function literal, whose closures only code in its package knows", "generate the file in its package")
	}
	name := t.name
	if t.maker {
		name = t.what(m)
	}
	for _, tuple := range []*types.Tuple{t.sig.Params(), t.sig.Results()} {
		for v := range tuple.Variables() {
			if s := m.hidden(v.Type()); s != "" {
				return t.bad(name+" takes or returns a "+s+", which code in package "+m.pkg.Name+" cannot name", "write a function of types that have names, and compile that")
			}
		}
	}
	return nil
}

func (t *target) bad(msg, hint string) error {
	return diag.New(Uncallable, msg).WithHint(hint).At(t.at)
}

func noFunction(msg, hint string) *diag.Error {
	return diag.New(effects.NoFunction, msg).WithHint(hint)
}

// distinct refuses two functions whose constructors have one name.
func (m *maker) distinct() error {
	seen := map[string]*target{}
	for _, t := range m.targets {
		if o := seen[t.short]; o != nil {
			return t.bad(o.name+" and "+t.name+" both get the constructor Compile"+t.short, "generate one of them in a file of another package, or name a function each time once")
		}
		seen[t.short] = t
	}
	return nil
}

// title is a name that begins with a capital letter.
func title(name string) string {
	r, n := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[n:]
}

func packageName(path string) string {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}
