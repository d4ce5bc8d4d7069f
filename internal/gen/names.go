package main

import (
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/internal/godecl"
	"github.com/gofx-dev/gofx/op/api"
)

// names are the identifiers that package tensor declares: functions, types and
// values under their name, methods and fields of Tensor under "Tensor.Name".
type names map[string]bool

// suffix ends the names of the generated files.
const suffix = "_gen.go"

// generated lists the generated files in dir.
func generated(dir string) ([]string, error) {
	var out []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			out = append(out, e.Name())
		}
	}
	return out, err
}

// declared collects what the files written by hand declare.
func declared(dir string) (names, error) {
	n := names{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		if strings.HasSuffix(file, suffix) || strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
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
