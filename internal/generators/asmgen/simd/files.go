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

// Unit is the generated files of some functions of a family, a package below
// kernel/internal: z<Name>_amd64.s, their prototypes z<Name>_amd64.go, and
// z<Name>_other.go, with which their callers compile for other processors.
type Unit struct {
	Family, Name string
	Emit         func(*build.Context)
}

// Files returns the contents of the units' files by their paths below
// kernel/internal, as command writes them.
func Files(command string, units []Unit) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, u := range units {
		cfg := printer.Config{Name: command, Argv: []string{command}, Pkg: u.Family}
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
		at := filepath.Join(u.Family, "z"+u.Name+"_amd64")
		files[at+".s"], files[at+".go"] = s, stubs
		files[filepath.Join(u.Family, "z"+u.Name+"_other.go")] = others(command, u.Family, f)
	}
	return files, nil
}

// others returns functions with the signatures of those of f for processors that f
// is not for. Levels lead no call there (package cpu), and the linker drops them.
func others(command, family string, f *ir.File) []byte {
	var b bytes.Buffer
	b.WriteString(Header(command) + "//go:build !amd64\n\npackage " + family + "\n")
	for _, fn := range f.Functions() {
		b.WriteString("\n" + fn.Stub() + " {\n\tpanic(\"kernel: no assembly for this processor\")\n}\n")
	}
	return b.Bytes()
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

// Main writes the files that generate returns into the folders of the families, as
// seen from the root of the generators' module, and exits.
func Main(command string, generate func() (map[string][]byte, error)) {
	dir := flag.String("dir", "../../../kernel/internal", "folder of the families")
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

// Outdated names the files in dir, the folder of the families, that differ from
// those that generate returns.
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
