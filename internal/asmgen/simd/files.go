package simd

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

// Unit is one pair of generated files, z<Name>_amd64.s and z<Name>_amd64.go.
type Unit struct {
	Name string
	Emit func(*build.Context)
}

// Files returns the contents of the units' files by name, as command writes them.
func Files(command string, units []Unit) (map[string][]byte, error) {
	files := map[string][]byte{}
	cfg := printer.Config{Name: command, Argv: []string{command}, Pkg: "kernel"}
	for _, u := range units {
		ctx := build.NewContext()
		u.Emit(ctx)
		f, err := ctx.Result()
		if err == nil {
			err = pass.Compile.Execute(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		s, err := printer.NewGoAsm(cfg).Print(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		f.Sections = exported(f)
		stubs, err := printer.NewStubs(cfg).Print(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", u.Name, err)
		}
		files["z"+u.Name+"_amd64.s"], files["z"+u.Name+"_amd64.go"] = s, stubs
	}
	return files, nil
}

// exported returns the sections of f without the functions that are static:
// those are jumped to, not called from Go, and have no stubs.
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

// Main writes what generate returns into the folder of package kernel, as seen
// from the root of the generators' module, and exits.
func Main(command string, generate func() (map[string][]byte, error)) {
	dir := flag.String("dir", "../../kernel", "folder of package kernel")
	flag.Parse()
	files, err := generate()
	for name, data := range files {
		path := filepath.Join(*dir, name)
		if old, e := os.ReadFile(path); err != nil || e == nil && bytes.Equal(old, data) {
			continue
		}
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, command+":", err)
		os.Exit(1)
	}
}

// Outdated names the files in dir that differ from what generate returns.
func Outdated(dir string, generate func() (map[string][]byte, error)) ([]string, error) {
	files, err := generate()
	if err != nil {
		return nil, err
	}
	var differ []string
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(got, want) {
			differ = append(differ, name)
		}
	}
	return differ, nil
}
