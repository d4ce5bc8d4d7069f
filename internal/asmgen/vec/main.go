// Command vec writes the amd64 assembly of the elementwise programs, vector
// functions and memory-bound kernels of package kernel, and its Go stubs.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// unit is one pair of generated files, zvec_<name>_amd64.s and .go.
type unit struct {
	name string
	emit func(*build.Context)
}

var units = []unit{
	{"avx512", func(c *build.Context) { emitMachine(isa{c, true}) }},
	{"avx2", func(c *build.Context) { emitMachine(isa{c, false}) }},
	{"rows_avx512", func(c *build.Context) { emitRows(isa{c, true}) }},
	{"rows_avx2", func(c *build.Context) { emitRows(isa{c, false}) }},
}

// generate returns the contents of the generated files by name.
func generate() (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, u := range units {
		ctx := build.NewContext()
		u.emit(ctx)
		f, err := ctx.Result()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		if err := pass.Compile.Execute(f); err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		cfg := printer.Config{Name: "asmgen/vec", Argv: []string{"vec"}, Pkg: "kernel"}
		s, err := printer.NewGoAsm(cfg).Print(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		// Steps are jumped to, not called from Go: they have no stubs.
		f.Sections = exported(f)
		stubs, err := printer.NewStubs(cfg).Print(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.name, err)
		}
		files["zvec_"+u.name+"_amd64.s"], files["zvec_"+u.name+"_amd64.go"] = s, stubs
	}
	return files, nil
}

// exported returns the sections of f without the functions that are static.
func exported(f *ir.File) []ir.Section {
	var keep []ir.Section
	for _, s := range f.Sections {
		if fn, ok := s.(*ir.Function); ok && strings.HasSuffix(fn.Name, "<>") {
			continue
		}
		keep = append(keep, s)
	}
	return keep
}

func main() {
	dir := flag.String("dir", "../../kernel", "folder of package kernel")
	flag.Parse()
	files, err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "vec:", err)
		os.Exit(1)
	}
	for name, data := range files {
		path := filepath.Join(*dir, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			continue
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "vec:", err)
			os.Exit(1)
		}
	}
}
