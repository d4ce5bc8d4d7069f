package effects

import (
	"context"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// gofx is the path of this module, whose rooms trusted.go speaks of.
const gofx = "github.com/gofx-dev/gofx"

const (
	tensorPath  = gofx + "/tensor"
	compilePath = gofx + "/compile"
)

// Loaded is a package with all packages outside the standard library that it stands on.
type Loaded struct {
	Package  *packages.Package           // the one that was named
	Modules  map[string]*packages.Module // of all packages, by path
	ssa      *ssa.Program
	sources  map[string]*packages.Package // by path: those that are analysed
	trusted  map[string]bool              // paths of tensor and the rooms below it
	facts    map[*ssa.Function]*facts
	world    *world
	refusing map[*ssa.Function]bool                     // of refuses
	cleaned  map[*ssa.Function]bool                     // of clean
	dying    map[*ssa.Function]map[*ssa.BasicBlock]bool // of dead
	noises   map[*ssa.Function]*noise
}

// Open loads a package that a pattern names, as userpkg.Load does, and builds its SSA and that
// of the packages it imports, except for the standard library and the rooms below nn.
func Open(ctx context.Context, pattern string, env []string) (*Loaded, error) {
	return OpenOverlay(ctx, pattern, env, nil)
}

// OpenOverlay is Open with an overlay's files in place of those on disk.
func OpenOverlay(ctx context.Context, pattern string, env []string, overlay map[string][]byte) (*Loaded, error) {
	if err := userpkg.Folder(pattern); err != nil {
		return nil, err
	}
	c := packages.Config{Context: ctx, Env: env, Overlay: overlay, Mode: packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedModule}
	first, err := userpkg.LoadWith(&c, pattern)
	if err != nil {
		return nil, err
	}
	p := &Loaded{Modules: map[string]*packages.Module{}, sources: map[string]*packages.Package{}, trusted: map[string]bool{}, facts: map[*ssa.Function]*facts{},
		refusing: map[*ssa.Function]bool{}, cleaned: map[*ssa.Function]bool{}, dying: map[*ssa.Function]map[*ssa.BasicBlock]bool{}, noises: map[*ssa.Function]*noise{}}
	paths := p.split(first)
	c.Mode = packages.LoadSyntax | packages.NeedModule
	list, err := packages.Load(&c, paths...)
	if err != nil {
		return nil, err
	}
	var errs []packages.Error
	for _, q := range list {
		errs = append(errs, q.Errors...)
		p.sources[q.PkgPath] = q
		if q.PkgPath == first.PkgPath {
			p.Package = q
		}
	}
	if len(errs) > 0 {
		return nil, userpkg.Problems(errs)
	}
	if err := typed(list); err != nil {
		return nil, err
	}
	if p.Package == nil {
		return nil, diag.New(userpkg.NoPackage, "the go command lists the package "+first.PkgPath+", and then does not load it").WithHint("run fxgen again once no other program changes the module")
	}
	p.ssa, _ = ssautil.Packages(list, ssa.InstantiateGenerics)
	for _, q := range list {
		p.ssa.Package(q.Types).Build()
	}
	p.world = p.look()
	return p, nil
}

// typed refuses packages that use one without types, of which they tell nothing where they need none of it themselves: the go
// command's build cache has lost its export data since it was listed.
func typed(list []*packages.Package) (err error) {
	packages.Visit(list, nil, func(q *packages.Package) {
		if err != nil || q.Types != nil && !q.IllTyped {
			return
		}
		msg := "the types of package " + q.PkgPath + " are not known"
		if len(q.Errors) > 0 {
			msg += ": " + q.Errors[0].Msg
		}
		err = diag.New(userpkg.Compile, msg).WithHint("run fxgen again, while no other program cleans the go command's build cache (go env GOCACHE)")
	})
	return err
}

// split lists the packages to analyse, and notes those that are trusted. What only compiled functions are run by
// is left out: it is large, and no function that can be replayed calls it.
func (p *Loaded) split(first *packages.Package) (paths []string) {
	packages.Visit([]*packages.Package{first}, func(q *packages.Package) bool {
		if q.Module != nil {
			p.Modules[q.Module.Path] = q.Module
		}
		if q.PkgPath == tensorPath {
			packages.Visit([]*packages.Package{q}, nil, func(q *packages.Package) { p.trusted[q.PkgPath] = q.Module != nil })
		}
		return true
	}, nil)
	packages.Visit([]*packages.Package{first}, func(q *packages.Package) bool {
		if q.PkgPath == compilePath {
			return false
		}
		if q == first || q.Module != nil && !p.trusted[q.PkgPath] {
			paths = append(paths, q.PkgPath)
		}
		return true
	}, nil)
	slices.Sort(paths)
	return paths
}

// isStandard reports whether a package is of the standard library.
func (p *Loaded) isStandard(path string) bool {
	return p.sources[path] == nil && !p.trusted[path] && !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
}

// Function finds a function or method of the package that was named: "Classify", "Decoder.Step", "(*Decoder).Step".
func (p *Loaded) Function(name string) (*ssa.Function, error) {
	return p.FunctionOf(p.Package.PkgPath, name)
}

// Source returns a package whose code is analysed, nil for others.
func (p *Loaded) Source(path string) *packages.Package { return p.sources[path] }

// FunctionOf is Function for a package by its path.
func (p *Loaded) FunctionOf(path, name string) (*ssa.Function, error) {
	pkg := p.sources[path]
	if pkg == nil {
		return nil, noFunction("the code of package "+path+" is not analysed", "name a function of a package outside the standard library that is no part of gofx's own machinery")
	}
	scope := pkg.Types.Scope()
	typ, method, isMethod := strings.Cut(strings.Trim(name, "("), ".")
	typ = strings.TrimPrefix(strings.TrimSuffix(typ, ")"), "*")
	obj := scope.Lookup(typ)
	if f, ok := obj.(*types.Func); ok && !isMethod {
		if f.Signature().TypeParams().Len() > 0 {
			return nil, noFunction(name+" has type parameters, and a table is of one instance", "name a function that calls the instance you want")
		}
		return p.ssa.FuncValue(f), nil
	}
	t, ok := obj.(*types.TypeName)
	if !ok {
		return nil, noFunction("package "+path+" has no function or type "+typ, "name a function, or a method as Type.Method")
	}
	if !isMethod {
		method = "Forward"
	}
	if n, ok := t.Type().(*types.Named); ok && n.TypeParams().Len() > 0 {
		return nil, noFunction(typ+" has type parameters, and a table is of one instance", "name a function that calls the instance you want")
	}
	if types.IsInterface(t.Type()) {
		return nil, noFunction(typ+" is an interface, whose methods have no code", "name a type that implements it")
	}
	set := types.NewMethodSet(types.NewPointer(t.Type()))
	sel := set.Lookup(pkg.Types, method)
	if sel == nil {
		return nil, noFunction("type "+typ+" has no method "+method, "name a method as Type.Method")
	}
	return p.ssa.MethodValue(sel), nil
}

func noFunction(msg, hint string) error { return diag.New(NoFunction, msg).WithHint(hint) }
