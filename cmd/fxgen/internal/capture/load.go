package capture

import (
	"context"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// loaded is the user's package and the objects found in it.
type loaded struct {
	pkg     *packages.Package
	dir     string
	overlay map[string][]byte // files that stand in for others

	sig     *types.Signature
	isFunc  bool
	pos     token.Position
	newExpr string
	how     making
	module  types.Type // that the method is of, where it is one
	linked  linked
}

// hostEnv is the environment without a foreign target: the package's code is to
// run here, whatever it is generated for.
func hostEnv() []string {
	var env []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GOOS=") && !strings.HasPrefix(v, "GOARCH=") {
			env = append(env, v)
		}
	}
	return env
}

// GoEnv is hostEnv for a go command whose temporary files, those of the linker included, are in
// a folder: they go with it where the command is ended.
func GoEnv(folder string) []string {
	return append(work.TemporaryIn(hostEnv(), folder), "GOTMPDIR="+folder)
}

// load reads the package and checks the target's declaration.
func (t *Target) load(ctx context.Context) (*loaded, error) {
	if err := userpkg.Folder(t.Pattern); err != nil {
		return nil, err
	}
	pkg, err := read(ctx, t.Pattern, nil)
	if err != nil {
		return nil, err
	}
	l := &loaded{pkg: pkg}
	if len(pkg.Errors) > 0 || pkg.IllTyped {
		if l, err = t.withoutGenerated(ctx, pkg); err != nil {
			return nil, err
		}
	}
	if len(l.pkg.GoFiles) == 0 {
		return nil, coded(userpkg.NoPackage, bad("package "+t.Pattern+" has no Go files", ""))
	}
	if m := l.pkg.Module; m == nil || m.Version != "" && m.Replace == nil {
		return nil, coded(userpkg.NoPackage, bad("package "+t.Pattern+" belongs to the standard library or to a module that was downloaded, in which nothing can be captured",
			"write a function in a package of your own that calls what you want, and name that"))
	}
	l.dir = filepath.Dir(l.pkg.GoFiles[0])
	t.parts = slices.Concat(userpkg.GoFiles(l.dir), l.pkg.OtherFiles, l.pkg.EmbedFiles)
	if t.Name != "" {
		if err := l.find(t); err != nil {
			return nil, err
		}
	}
	return l, l.link(ctx, t)
}

// find looks the target up and checks that it can be captured.
func (l *loaded) find(t *Target) error {
	obj := l.pkg.Types.Scope().Lookup(t.Name)
	if obj == nil {
		return coded(work.NoSymbol, bad("package "+l.pkg.PkgPath+" has no function or type "+t.Name, l.near(t.Name)))
	}
	l.pos = l.pkg.Fset.Position(obj.Pos())
	switch o := obj.(type) {
	case *types.Func:
		l.isFunc = true
		l.sig = o.Type().(*types.Signature)
		if t.Method != "" {
			return coded(work.NoSymbol, l.bad(t.Name+" is a function, it has no method "+t.Method, "name the function alone: "+t.Pattern+"#"+t.Name))
		}
		if t.New != "" {
			return coded(work.BadConstructor, l.bad(t.Name+" is a function, -new is for types", "leave -new out"))
		}
	case *types.TypeName:
		if err := l.findMethod(t, o); err != nil {
			return coded(work.BadSignature, err)
		}
		if err := l.constructor(t, o); err != nil {
			return coded(work.BadConstructor, err)
		}
	default:
		return coded(work.NoSymbol, l.bad(t.Name+" is neither a function nor a type", "name a function, or a type with a method Forward; a function of one line can call what a variable holds"))
	}
	return coded(work.BadSignature, l.checkSignature(t))
}

func (l *loaded) bad(msg, hint string) *diag.Error {
	return bad(msg, hint).At(diag.Pos{File: l.pos.Filename, Line: l.pos.Line, Col: l.pos.Column})
}

// near suggests a name that differs in case only, else those that can be captured.
func (l *loaded) near(name string) string {
	scope := l.pkg.Types.Scope()
	var names []string
	for _, n := range scope.Names() {
		o := scope.Lookup(n)
		f, ok := o.(*types.Func)
		if t, named := o.(*types.TypeName); named {
			m, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, t.Pkg(), "Forward")
			f, ok = m.(*types.Func)
		}
		if !ok || len(names) == maxNames {
			continue
		}
		sig := f.Type().(*types.Signature)
		_, isFunc := o.(*types.Func)
		if isFunc && givesGraph(sig) || sig.TypeParams().Len()+sig.RecvTypeParams().Len() == 0 && holdsTensors(sig.Params(), 0) && holdsTensors(sig.Results(), 0) {
			names = append(names, n)
		}
	}
	other := "the part after # is the name of a function or type in the package"
	if len(names) > 0 {
		other += ", such as " + strings.Join(names, ", ")
	}
	if out := userpkg.LeftOut(l.dir); out != "" {
		other += "; left out here: " + out
	}
	return near.Hint(name, append(slices.Clone(names), scope.Names()...), other)
}

// maxNames bounds the names that a hint lists.
const maxNames = 8

// methods lists the methods of a type.
func methods(o *types.TypeName) (names []string) {
	set := types.NewMethodSet(types.NewPointer(o.Type()))
	for i := range set.Len() {
		names = append(names, set.At(i).Obj().Name())
	}
	return names
}

// findMethod finds the method that is captured, and the type that has it: that of the
// name, the one that an alias stands for, or the instance of a generic type that -new
// makes.
func (l *loaded) findMethod(t *Target, o *types.TypeName) error {
	name := t.Method
	if name == "" {
		name = "Forward"
	}
	l.module = o.Type()
	if p, ok := types.Unalias(l.module).(*types.Pointer); ok {
		l.module = p.Elem() // type Net = *net
	}
	if open(o) {
		if err := l.instance(t, o); err != nil {
			return err
		}
	}
	if types.IsInterface(l.module) {
		return l.bad(t.Name+" is an interface", "name a type that implements it; what -new calls may return the interface")
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(l.module), true, o.Pkg(), name)
	fn, ok := m.(*types.Func)
	if !ok {
		return coded(work.NoSymbol, l.bad("type "+t.Name+" has no method "+name, near.Hint(name, methods(o), "give it a Forward method, or name another one: ./pkg#"+t.Name+".Method")))
	}
	if _, ok := l.module.Underlying().(*types.Struct); !ok {
		return l.bad(t.Name+" is a "+l.typeName(l.module.Underlying())+", expected a struct", "declare a struct with a field of it, or capture a function of tensors that calls it: ./pkg#Func")
	}
	if !fn.Exported() {
		return l.bad("method "+name+" is not exported, reflection cannot call it", "export it, or capture a function that calls it")
	}
	l.sig = fn.Type().(*types.Signature)
	l.pos = l.pkg.Fset.Position(fn.Pos())
	return nil
}

const tensorPath = "github.com/gofx-dev/gofx/tensor"

// checkSignature refuses functions that the tracer could not call.
func (l *loaded) checkSignature(t *Target) error {
	if l.sig.TypeParams().Len() > 0 {
		return l.bad(t.Name+" has type parameters", "capture a function that calls it with concrete types")
	}
	name := t.Name
	if t.Method != "" {
		name += "." + t.Method
	}
	if l.isFunc && givesGraph(l.sig) {
		return nil
	}
	if !holdsTensors(l.sig.Params(), 0) {
		return l.bad(name+" has no tensor parameter: its signature is "+l.signature(), "a network takes *tensor.Tensor")
	}
	if !holdsTensors(l.sig.Results(), 0) {
		return l.bad(name+" returns no tensor: its signature is "+l.signature(), "a network returns *tensor.Tensor")
	}
	return nil
}

func (l *loaded) signature() string {
	return types.TypeString(l.sig, func(p *types.Package) string {
		if p == l.pkg.Types {
			return ""
		}
		return p.Name()
	})
}

// holdsTensors reports whether values of a type can hold tensors.
func holdsTensors(t types.Type, depth int) bool {
	if depth > 8 {
		return false
	}
	switch t := types.Unalias(t).(type) {
	case *types.Tuple:
		for i := range t.Len() {
			if holdsTensors(t.At(i).Type(), depth) {
				return true
			}
		}
	case *types.Named:
		return !isTensor(t) && holdsTensors(t.Underlying(), depth+1)
	case *types.Pointer:
		return isTensor(t.Elem()) || holdsTensors(t.Elem(), depth+1)
	case *types.Slice:
		return holdsTensors(t.Elem(), depth+1)
	case *types.Array:
		return holdsTensors(t.Elem(), depth+1)
	case *types.Map:
		return holdsTensors(t.Elem(), depth+1)
	case *types.Struct:
		for i := range t.NumFields() {
			if holdsTensors(t.Field(i).Type(), depth+1) {
				return true
			}
		}
	case *types.Interface:
		return true
	}
	return false
}

// isTensor reports whether a type is that of tensors, of which pointers are passed.
func isTensor(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == tensorPath && n.Obj().Name() == "Tensor"
}

// paramNames returns the names of the parameters that are tensors themselves;
// none when some parameter holds several, or one has no name.
func paramNames(tuple *types.Tuple) []string {
	var names []string
	for i := range tuple.Len() {
		p := tuple.At(i)
		if !holdsTensors(p.Type(), 0) {
			continue
		}
		ptr, ok := types.Unalias(p.Type()).(*types.Pointer)
		if !ok || p.Name() == "" || p.Name() == "_" {
			return nil
		}
		if !isTensor(ptr.Elem()) {
			return nil
		}
		names = append(names, p.Name())
	}
	return names
}

// read loads a package with the files of an overlay in place of those on disk.
func read(ctx context.Context, pattern string, overlay map[string][]byte) (*packages.Package, error) {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return nil, err
	}
	defer remove()
	return userpkg.Load(ctx, pattern, GoEnv(dir), overlay)
}
