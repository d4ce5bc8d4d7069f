// Command gen writes the functions and methods of package tensor, one set for
// every operator of op/std, from the operators' records. Run it in package
// tensor through go generate, or anywhere in the module:
//
//	go run ./internal/gen
//
// What the functions look like is decided by package api; this program only
// writes them down.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/opsrc"
	"github.com/gofx-dev/gofx/internal/repo"
	"github.com/gofx-dev/gofx/op/api"
	_ "github.com/gofx-dev/gofx/op/std" // the operators to generate for
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "tensor")
	files, err := Generate(dir)
	if err != nil {
		return err
	}
	old, err := generated(dir)
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, keep := files[name]; !keep {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
	}
	for name, src := range files {
		if err := os.WriteFile(filepath.Join(dir, name), src, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Generate returns the generated files of package tensor, which lies in dir, by
// name: one for each file of op/std. A generated name that a file written by hand
// declares too is an error.
func Generate(dir string) (map[string][]byte, error) {
	var funcs []*api.Func
	for _, o := range api.Ops() {
		funcs = append(funcs, api.Of(o)...)
	}
	slices.SortStableFunc(funcs, func(a, b *api.Func) int { return strings.Compare(a.Name, b.Name) })
	taken, err := declared(dir)
	if err != nil {
		return nil, err
	}
	if err := collisions(funcs, taken); err != nil {
		return nil, err
	}
	sources, err := opsrc.Load()
	if err != nil {
		return nil, err
	}
	families := map[string]*family{}
	users := optionUsers(funcs)
	for _, f := range funcs {
		name := sources[f.Op].Family
		if families[name] == nil {
			families[name] = &family{}
		}
		families[name].add(f, users)
	}
	files := map[string][]byte{}
	for name, fam := range families {
		if files[name+suffix], err = render(slices.Concat(fam.types, fam.funcs)); err != nil {
			return nil, err
		}
	}
	return files, nil
}
