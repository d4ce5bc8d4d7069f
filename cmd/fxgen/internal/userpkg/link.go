package userpkg

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Operators and passes of the user's own exist only in a program that links them:
// what needs any is done in a test binary too, that of the captured package, else
// that of the first package which is to be linked.

// Link says what else a test binary needs.
type Link struct {
	Imports []string // packages with operators
	Passes  []string // PACKAGE#VAR
}

// Empty reports whether nothing is needed.
func (l Link) Empty() bool { return len(l.Imports) == 0 && len(l.Passes) == 0 }

// Check reports what is no name of a pass.
func (l Link) Check() error {
	for _, entry := range l.Passes {
		if _, name := passEntry(entry); !token.IsIdentifier(name) {
			return bad("-passes "+entry+": #"+name+" is no name of a variable", "write ./pkg#Var")
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

// linked is what the harness imports beside the package itself.
type linked struct {
	imports []string          // import paths
	passes  map[string]string // the expression for each entry
	places  map[string]string // where each is declared
	own     []string          // variables of the captured package that are passes
}

// link loads the packages that the job needs and looks the passes up.
func (l *loaded) link(ctx context.Context, t *Target) error {
	l.linked.passes, l.linked.places = map[string]string{}, map[string]string{}
	known := map[string]*packages.Package{t.Pattern: l.pkg}
	find := func(pattern string) (*packages.Package, error) {
		if p := known[pattern]; p != nil {
			return p, nil
		}
		if err := folder(pattern); err != nil {
			return nil, err
		}
		p, err := read(ctx, pattern, nil)
		switch {
		case err != nil:
			return nil, err
		case len(p.Errors) > 0:
			return nil, problems(p.Errors)
		case p.PkgPath == l.pkg.PkgPath:
			p = l.pkg
		}
		known[pattern] = p
		return p, nil
	}
	for _, pattern := range t.Imports {
		p, err := find(pattern)
		if err == nil {
			_, err = l.add(p)
		}
		if err != nil {
			return err
		}
	}
	for _, entry := range t.Passes {
		pattern, name := passEntry(entry)
		p, err := find(pattern)
		if err == nil {
			err = l.pass(entry, p, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// self reports whether a package is the captured one.
func (l *loaded) self(p *packages.Package) bool { return p == l.pkg && l.sig != nil }

// add makes the harness import a package, and returns the number of the import.
func (l *loaded) add(p *packages.Package) (int, error) {
	switch i := slices.Index(l.linked.imports, p.PkgPath); {
	case i >= 0 || l.self(p):
		return i, nil
	case p.Name == "main":
		return 0, bad("package "+p.PkgPath+" is a main package, which no other one can import", "move operators and passes to a package of their own")
	}
	l.linked.imports = append(l.linked.imports, p.PkgPath)
	return len(l.linked.imports) - 1, nil
}

// pass checks that a variable is a pass that the harness can name.
func (l *loaded) pass(entry string, p *packages.Package, name string) error {
	obj := p.Types.Scope().Lookup(name)
	v, ok := obj.(*types.Var)
	switch {
	case obj == nil:
		return bad("-passes "+entry+": package "+p.PkgPath+" has no variable "+name, nearest(p.Types.Scope(), name, "the part behind # is the name of a variable of type passes.Pass"))
	case !ok || types.TypeString(types.Unalias(v.Type()), nil) != modulePath+"/passes.Pass":
		return bad("-passes "+entry+": "+name+" is "+obj.String()+", expected a variable of type passes.Pass",
			"declare it as var "+name+" = passes.Rule(...), passes.EachNode(...) or passes.Pass{...}").At(position(p.Fset.Position(obj.Pos()).String()))
	}
	l.linked.places[entry] = p.PkgPath + "." + name
	if l.self(p) {
		l.linked.passes[entry] = fmt.Sprintf("fxgen_package.%s%d", ownName, len(l.linked.own))
		l.linked.own = append(l.linked.own, name)
		return nil
	}
	if !v.Exported() {
		return bad("-passes "+entry+": "+name+" is not exported", "write it with a capital letter; only passes in the captured package itself may be without").
			At(position(p.Fset.Position(obj.Pos()).String()))
	}
	i, err := l.add(p)
	if err != nil {
		return err
	}
	l.linked.passes[entry] = fmt.Sprintf("fxgen_link%d.%s", i, name)
	return nil
}

// importText is the imports of the captured package and of the linked ones in the
// harness; those without a pass are linked for their operators alone.
func (l *loaded) importText() string {
	var b strings.Builder
	if l.sig != nil {
		fmt.Fprintf(&b, "\tfxgen_package %q\n", l.pkg.PkgPath)
	}
	for i, path := range l.linked.imports {
		name := fmt.Sprintf("fxgen_link%d", i)
		used := false
		for _, e := range l.linked.passes {
			used = used || strings.HasPrefix(e, name+".")
		}
		if !used {
			name = "_"
		}
		fmt.Fprintf(&b, "\t%s %q\n", name, path)
	}
	return b.String()
}
