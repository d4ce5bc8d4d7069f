package capture

import (
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"iter"
	"strings"
)

// making is how an expression makes a module.
type making struct {
	err   bool   // it returns an error, too
	value bool   // it gives the module and not a pointer to it
	of    string // it gives an interface, expected to hold a module of this type
}

// body is the body of a function that makes a module by an expression, and returns it
// as (any, error).
func (m making) body(expr string) string {
	ref, err := "m", "nil"
	if m.value {
		ref = "&m"
	}
	if m.err {
		err = "err"
		expr = "m, err := " + expr
	} else {
		expr = "m := " + expr
	}
	if m.of != "" {
		expr += fmt.Sprintf("; if _, ok := m.(%s); m != nil && !ok { return nil, fxgen_fmt.Errorf(\"it gives a %%T, expected %s\", m) }", m.of, m.of)
	}
	return expr + "; return " + ref + ", " + err
}

// open reports whether the name of a type, or of an alias, wants type arguments.
func open(o *types.TypeName) bool {
	if a, ok := o.Type().(*types.Alias); ok && a.TypeParams().Len() > 0 {
		return true
	}
	n, ok := types.Unalias(o.Type()).(*types.Named)
	return ok && n.TypeParams().Len() > n.TypeArgs().Len()
}

// instance takes the instance of a generic type that -new makes.
func (l *loaded) instance(t *Target, o *types.TypeName) error {
	hint := "let -new make an instance, such as -new 'New" + t.Name + "[float32]()', or declare a name for one: type " + t.Name + "32 = " + t.Name + "[float32]"
	if t.New == "" {
		return l.bad(t.Name+" is a generic type, expected one with type arguments", hint)
	}
	made, err := l.made(t.New, o)
	if err != nil {
		return err
	}
	if p, ok := types.Unalias(made).(*types.Pointer); ok {
		made = p.Elem()
	}
	n, ok := types.Unalias(made).(*types.Named)
	generic, isNamed := types.Unalias(o.Type()).(*types.Named)
	if !ok || !isNamed || n.Origin() != generic.Origin() {
		return l.bad("-new "+t.New+" gives "+l.typeName(made)+", expected an instance of "+t.Name, hint)
	}
	l.module = n
	return nil
}

// constructor decides how the module is made: by -new, else by New and the type's
// name if that needs no arguments.
func (l *loaded) constructor(t *Target, o *types.TypeName) error {
	l.newExpr = t.New
	if l.newExpr == "" {
		f, ok := l.pkg.Types.Scope().Lookup("New" + t.Name).(*types.Func)
		if !ok || !callable(f.Type().(*types.Signature)) {
			return l.bad("no constructor is known for "+t.Name, l.constructors(o))
		}
		l.newExpr = f.Name() + "()"
	}
	result, err := l.made(l.newExpr, o)
	if err != nil {
		return err
	}
	switch {
	case types.Identical(result, types.NewPointer(l.module)):
	case types.Identical(result, l.module):
		l.how.value = true
	case types.IsInterface(result) && types.AssertableTo(types.Unalias(result).Underlying().(*types.Interface), types.NewPointer(l.module)):
		l.how.of = "*" + t.Name
		if _, ok := types.Unalias(o.Type()).(*types.Pointer); ok {
			l.how.of = t.Name
		}
	default:
		return l.bad("-new "+l.newExpr+" gives "+l.typeName(result)+", expected *"+t.Name, l.constructors(o))
	}
	return nil
}

// made is the type of the value that an expression makes, without an error that it also
// returns.
func (l *loaded) made(expr string, o *types.TypeName) (types.Type, error) {
	tv, err := types.Eval(l.pkg.Fset, l.pkg.Types, token.NoPos, expr)
	if err != nil {
		return nil, l.bad("-new "+expr+": "+strings.Join(strings.Fields(evalMessage(err)), " "),
			l.constructors(o)+"; it is evaluated in package "+l.pkg.PkgPath+", without its files' imports")
	}
	tuple, ok := tv.Type.(*types.Tuple)
	if !ok {
		return tv.Type, nil
	}
	if tuple.Len() != 2 || !isError(tuple.At(1).Type()) {
		return nil, l.bad("-new "+expr+" returns "+l.typeName(tuple)+", expected *"+o.Name()+" or (*"+o.Name()+", error)", l.constructors(o))
	}
	l.how.err = true
	return tuple.At(0).Type(), nil
}

func (l *loaded) typeName(t types.Type) string {
	return types.TypeString(t, types.RelativeTo(l.pkg.Types))
}

// callable reports whether a function can be called without arguments: options, which
// are variadic, may be left out.
func callable(sig *types.Signature) bool {
	return sig.Params().Len() == 0 || sig.Params().Len() == 1 && sig.Variadic()
}

func isError(t types.Type) bool { return t.String() == "error" }

// funcs yields the functions of the package, by name in order, with their signatures.
func (l *loaded) funcs() iter.Seq2[string, *types.Signature] {
	return func(yield func(string, *types.Signature) bool) {
		scope := l.pkg.Types.Scope()
		for _, name := range scope.Names() {
			if f, ok := scope.Lookup(name).(*types.Func); ok && !yield(name, f.Type().(*types.Signature)) {
				return
			}
		}
	}
}

// graphs lists the calls without arguments that return a graph which the user's code has captured,
// and tells how.
func (l *loaded) graphs() map[string]making {
	all := map[string]making{}
	for name, sig := range l.funcs() {
		if givesGraph(sig) {
			all[name+"()"] = making{err: sig.Results().Len() == 2}
		}
	}
	return all
}

// givesGraph reports whether a function without arguments returns a *fx.GraphModule, or what has one: a
// step of training.
func givesGraph(sig *types.Signature) bool {
	r := sig.Results()
	if !callable(sig) || sig.TypeParams().Len() > 0 || r.Len() == 0 || r.Len() > 2 || r.Len() == 2 && !isError(r.At(1).Type()) {
		return false
	}
	t := r.At(0).Type()
	if m, _, _ := types.LookupFieldOrMethod(t, false, nil, "Graph"); m != nil {
		if f, ok := m.(*types.Func); ok {
			of := f.Type().(*types.Signature)
			return of.Params().Len() == 0 && of.Results().Len() == 1 && isGraph(of.Results().At(0).Type())
		}
	}
	return isGraph(t)
}

// isGraph reports whether a type is *fx.GraphModule.
func isGraph(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return false
	}
	n, ok := types.Unalias(p.Elem()).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == modulePath+"/fx" && n.Obj().Name() == "GraphModule"
}

// constructors lists the possible constructors of a type of module: the
// functions of the package that return one.
func (l *loaded) constructors(o *types.TypeName) string {
	var names []string
	for name, sig := range l.funcs() {
		r := sig.Results()
		if r.Len() != 1 && (r.Len() != 2 || !isError(r.At(1).Type())) || !l.makes(r.At(0).Type(), o) {
			continue
		}
		if sig.TypeParams().Len() > 0 {
			name += "[...]"
		}
		if !callable(sig) {
			name += "(...)"
		} else if sig.TypeParams().Len() > 0 {
			name += "()"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "give it a function New" + o.Name() + "() *" + o.Name() + ", or an expression: -new '&" + o.Name() + "{}'"
	}
	return "-new takes a function or an expression that gives a *" + o.Name() + ", such as " + strings.Join(names, ", ")
}

// makes reports whether a type is that of a module called o: it, a pointer to it, or
// one of an instance.
func (l *loaded) makes(t types.Type, o *types.TypeName) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	of, isNamed := types.Unalias(l.module).(*types.Named)
	return ok && isNamed && (types.Identical(n, of) || open(o) && n.Origin() == of.Origin())
}

func evalMessage(err error) string {
	var e types.Error
	if errors.As(err, &e) {
		return e.Msg
	}
	return err.Error()
}

// makers lists the calls without arguments that make a value of a type of the
// package, and tells how.
func (l *loaded) makers() map[string]making {
	all := map[string]making{}
	for name, sig := range l.funcs() {
		r := sig.Results()
		if !callable(sig) || sig.TypeParams().Len() > 0 || r.Len() == 0 || r.Len() > 2 || r.Len() == 2 && !isError(r.At(1).Type()) {
			continue
		}
		t, how := types.Unalias(r.At(0).Type()), making{err: r.Len() == 2, value: true}
		if p, ok := t.(*types.Pointer); ok {
			t, how.value = types.Unalias(p.Elem()), false
		}
		if n, ok := t.(*types.Named); ok && n.Obj().Pkg() == l.pkg.Types && !types.IsInterface(n) {
			all[name+"()"] = how
		}
	}
	return all
}
