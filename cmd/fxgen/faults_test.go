package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/cli"
	"github.com/gofx-dev/gofx/internal/testkit/faults"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
)

// quickFaults are the faulty models that go through fxgen on every change.
var quickFaults = map[string]bool{"everything": true, "needsExample": true}

// beforeTracing has the faults that fxgen finds by reading the source, with its codes.
var beforeTracing = map[string]string{"returnsNothing": "FX8078", "tooManySpecs": "FX8051"}

var diagnostic = regexp.MustCompile(`(?m)faults\.go:(\d+)(?::\d+)?: .*\[(FX\d{4})\]$`)

// TestFaultyModelsGiveTheirDiagnosticsAndWriteNothing generates code from models
// that are wrong on purpose, as a user would.
func TestFaultyModelsGiveTheirDiagnosticsAndWriteNothing(t *testing.T) {
	want, err := faults.Wants("../../internal/testkit/faults")
	require.NoError(t, err)
	params := parameters(t, "../../internal/testkit/faults/faults.go")
	for _, f := range faults.All() {
		t.Run(f.Name, func(t *testing.T) {
			if !quickFaults[f.Name] {
				fxtest.Nightly(t)
			}
			if reflect.TypeOf(f.Fn).Kind() != reflect.Func {
				t.Skip("a module without a constructor; the tracer's tests have it")
			}
			dir := t.TempDir()
			args := []string{"gen", "-o", filepath.Join(dir, "net")}
			for i, typ := range f.Types {
				name := "extra"
				if i < len(params[f.Name]) {
					name = params[f.Name][i]
				}
				args = append(args, "-input", name+"="+typ)
			}
			var out, errs bytes.Buffer
			require.Equal(t, 1, cli.Main(append(args, "../../internal/testkit/faults#"+f.Name), &out, &errs), "%s", errs.String())
			var got []string
			for _, m := range diagnostic.FindAllStringSubmatch(errs.String(), -1) {
				got = append(got, fmt.Sprintf("%s %s", m[1], m[2]))
			}
			slices.Sort(got)
			if code := beforeTracing[f.Name]; code != "" {
				require.Equal(t, 1, strings.Count(errs.String(), "[FX"), errs.String())
				require.Contains(t, errs.String(), code)
			} else {
				require.Equal(t, want[f.Name], got, "%s", errs.String())
			}
			left, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// parameters returns the names of the parameters of a file's functions.
func parameters(t *testing.T, file string) map[string][]string {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	names := map[string][]string{}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			for _, p := range f.Type.Params.List {
				for _, n := range p.Names {
					names[f.Name.Name] = append(names[f.Name.Name], n.Name)
				}
			}
		}
	}
	return names
}
