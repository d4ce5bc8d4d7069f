// Command asmgen writes the amd64 assembly of package kernel and its Go stubs
// with avo. The files it writes are checked in; a test regenerates them and
// compares byte for byte. It is a module of its own, so that users of gofx do
// not inherit what it imports.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

// unit is one pair of generated files, z<name>_amd64.s and z<name>_amd64.go.
type unit struct {
	name string
	emit func(*build.Context)
}

var units = []unit{
	{"gemm", emitGemm},
	{"pack", emitPack},
	{"thin", emitThin},
	{"depthwise", emitDepthwise},
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
		cfg := printer.Config{Name: "asmgen", Argv: []string{"asmgen"}, Pkg: "kernel"}
		for ext, p := range map[string]printer.Printer{".s": printer.NewGoAsm(cfg), ".go": printer.NewStubs(cfg)} {
			out, err := p.Print(f)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", u.name, err)
			}
			files["z"+u.name+"_amd64"+ext] = out
		}
	}
	return files, nil
}

func main() {
	dir := flag.String("dir", "../../kernel", "folder of package kernel")
	flag.Parse()
	files, err := generate()
	if err != nil {
		fmt.Fprintln(os.Stderr, "asmgen:", err)
		os.Exit(1)
	}
	for name, data := range files {
		path := filepath.Join(*dir, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
			continue
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "asmgen:", err)
			os.Exit(1)
		}
	}
}
