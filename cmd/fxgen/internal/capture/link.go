package capture

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/internal/userpkg"
)

// Operators and passes of the user's own exist only in a program that links them.
// A job that needs any also runs in a test binary: that of the captured package,
// else that of the first package to link.

// Link lists the further packages that a test binary needs.
type Link struct {
	Imports []string // packages with operators
	Passes  []string // PACKAGE#VAR
}

// Empty reports whether nothing is needed.
func (l Link) Empty() bool { return len(l.Imports) == 0 && len(l.Passes) == 0 }

// Check reports names that are not passes.
func (l Link) Check() error {
	for _, entry := range l.Passes {
		if _, name := passEntry(entry); !token.IsIdentifier(name) {
			return coded(work.BadPass, bad("-passes "+entry+": #"+name+" is no name of a variable", "write ./pkg#Var"))
		}
	}
	return nil
}

func passEntry(entry string) (pattern, name string) {
	pattern, name, _ = strings.Cut(entry, "#")
	if pattern == "" {
		pattern = "."
	}
	return pattern, name
}

// Host returns the target for a source that is no package: a file, or a built-in
// network.
func Host(l Link, file, model string) *Target {
	t := &Target{Link: l, File: file, Model: model}
	if len(l.Imports) > 0 {
		t.Pattern = l.Imports[0]
	} else {
		t.Pattern, _ = passEntry(l.Passes[0])
	}
	return t
}

// linked lists the packages that the harness imports in addition to the model's own.
type linked struct {
	imports  []string            // import paths
	packages []*packages.Package // of imports
	passes   map[string]string   // where the pass of each entry is declared: import path, dot, name
}

// link loads the packages that the job needs and looks the passes up.
func (l *loaded) link(ctx context.Context, t *Target) error {
	l.linked.passes = map[string]string{}
	known := map[string]*packages.Package{t.Pattern: l.pkg}
	find := func(pattern string) (*packages.Package, error) {
		if p := known[pattern]; p != nil {
			return p, nil
		}
		if err := userpkg.Folder(pattern); err != nil {
			return nil, err
		}
		p, err := read(ctx, pattern, nil)
		switch {
		case err != nil:
			return nil, err
		case len(p.Errors) > 0:
			return nil, userpkg.Problems(p.Errors)
		case p.PkgPath == l.pkg.PkgPath:
			p = l.pkg
		}
		known[pattern] = p
		return p, nil
	}
	for _, pattern := range t.Imports {
		p, err := find(pattern)
		if err == nil {
			err = l.add(p)
		}
		if err != nil {
			return err
		}
	}
	for _, entry := range t.Passes {
		pattern, name := passEntry(entry)
		p, err := find(pattern)
		if err == nil {
			err = coded(work.BadPass, l.pass(entry, p, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// self reports whether a package is the captured one.
func (l *loaded) self(p *packages.Package) bool { return p == l.pkg && l.sig != nil }

// add makes the harness import a package.
func (l *loaded) add(p *packages.Package) error {
	switch {
	case l.self(p) || slices.Contains(l.linked.imports, p.PkgPath):
		return nil
	case p.Name == "main":
		return bad("package "+p.PkgPath+" is a main package, which no other one can import", "move operators and passes to a package of their own")
	}
	l.linked.imports, l.linked.packages = append(l.linked.imports, p.PkgPath), append(l.linked.packages, p)
	return nil
}

// pass checks that a variable is a pass that the harness can name.
func (l *loaded) pass(entry string, p *packages.Package, name string) error {
	obj := p.Types.Scope().Lookup(name)
	v, ok := obj.(*types.Var)
	switch {
	case obj == nil:
		return bad("-passes "+entry+": package "+p.PkgPath+" has no variable "+name, near.Hint(name, append(passesOf(p, false), p.Types.Scope().Names()...), "the part after # is the name of a variable of type passes.Pass"))
	case !ok || !isPass(v):
		return bad("-passes "+entry+": "+name+" is "+obj.String()+", expected a variable of type passes.Pass",
			"declare it as var "+name+" = passes.Rule(...), passes.EachNode(...) or passes.Pass{...}").At(userpkg.Position(p.Fset.Position(obj.Pos()).String()))
	}
	l.linked.passes[entry] = p.PkgPath + "." + name
	if l.self(p) {
		return nil
	}
	if !v.Exported() {
		return bad("-passes "+entry+": "+name+" is not exported", "write it with a capital letter; only passes in the captured package itself may be without").
			At(userpkg.Position(p.Fset.Position(obj.Pos()).String()))
	}
	return l.add(p)
}

func isPass(v *types.Var) bool {
	return types.TypeString(types.Unalias(v.Type()), nil) == modulePath+"/passes.Pass"
}

// passesOf lists the variables of a package that are passes.
func passesOf(p *packages.Package, exported bool) (names []string) {
	for _, name := range p.Types.Scope().Names() {
		if v, ok := p.Types.Scope().Lookup(name).(*types.Var); ok && isPass(v) && (v.Exported() || !exported) {
			names = append(names, name)
		}
	}
	return names
}

// linkText is the imports of the harness, of the captured package and of the linked
// ones, and the passes of the latter; those without a pass are linked for their
// operators alone.
func (l *loaded) linkText() (imports, passes string) {
	var in, out strings.Builder
	if l.sig != nil {
		fmt.Fprintf(&in, "\tfxgen_package %q\n", l.pkg.PkgPath)
	}
	for i, path := range l.linked.imports {
		as := fmt.Sprintf("fxgen_link%d", i)
		names := passesOf(l.linked.packages[i], true)
		for _, name := range names {
			fmt.Fprintf(&out, "\t\t%q: %s.%s,\n", path+"."+name, as, name)
		}
		if len(names) == 0 {
			as = "_"
		}
		fmt.Fprintf(&in, "\t%s %q\n", as, path)
	}
	return in.String(), out.String()
}
