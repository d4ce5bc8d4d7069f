package main

import (
	"errors"
	"fmt"
	"go/token"
	"path/filepath"

	"github.com/gofx-dev/gofx/internal/generators/godecl"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/op/api"
)

// names are the identifiers that package tensor declares: functions, types and
// values under their name, methods and fields of Tensor under "Tensor.Name".
type names map[string]bool

// declared collects the declarations of files other than those of this command.
func declared(dir string) (names, error) {
	n := names{}
	files, err := repo.Parse(token.NewFileSet(), filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if len(f.Comments) > 0 && f.Comments[0].List[0].Text+"\n" == header {
			continue
		}
		godecl.Names(f, n)
	}
	return n, nil
}

// collisions reports every generated name that is taken, in one error.
func collisions(funcs []*api.Func, taken names) error {
	var errs []error
	claim := func(name string, f *api.Func) {
		if taken[name] {
			errs = append(errs, fmt.Errorf("operator %s needs the name %s, which package tensor declares already", f.Op.Name, name))
		}
		taken[name] = true
	}
	for _, f := range funcs {
		claim(f.Name, f)
		if f.Method {
			claim("Tensor."+f.Name, f)
		}
		if f.InPlace != "" {
			claim("Tensor."+f.InPlace, f)
		}
	}
	return errors.Join(errs...)
}
