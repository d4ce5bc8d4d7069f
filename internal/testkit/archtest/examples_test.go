package archtest

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// shown lists the rooms, with those below them, whose every exported function is
// shown by an example.
var shown = []string{"fx", "lazy", "compile", "tracer", "graph", "op", "interp", "passes", "lowering", "codegen", "draw", "models", "optim", "train"}

// unshown are functions that need no example, each for a reason.
var unshown = map[string]string{}

// reached are packages that users reach through another one; the other one's
// examples cover them.
var reached = map[string]string{
	"codegen/module": "codegen", "codegen/kernelstyle": "codegen", "codegen/kernelstyle/outline": "codegen", "codegen/graphtable": "codegen", "codegen/gosrc": "codegen",
	"op/api":                       "codegen", // for printers of Go
	"lowering/gpu/internal/device": "lowering/gpu", "lowering/gpu/internal/opencl": "lowering/gpu", "lowering/gpu/internal/source": "lowering/gpu",
	"lowering/gpu/internal/cuda": "lowering/gpu", "lowering/gpu/internal/cuda/cudatest": "lowering/gpu", "lowering/gpu/internal/pack": "lowering/gpu", "lowering/gpu/internal/ptx": "lowering/gpu",
	"lowering/gpu/internal/lower": "lowering/gpu", "lowering/gpu/internal/run": "lowering/gpu",
	"lowering/internal/join":     "lowering/cpu",
	"passes/quant/internal/form": "passes/quant",
}

// TestEntryPointsHaveExamples holds that a stranger finds, for every exported
// function, constructors included, an example that runs: one that has its name or
// calls it.
func TestEntryPointsHaveExamples(t *testing.T) {
	var missing []string
	functions, examples := 0, 0
	for _, rooms := range Rows {
		for _, room := range rooms {
			if room == "op/std" || reached[room] != "" || !slices.ContainsFunc(shown, func(s string) bool { return room == s || strings.HasPrefix(room, s+"/") }) {
				continue // the operators of op/std are variables with samples
			}
			names, seen, n := surface(t, filepath.Join(root(t), filepath.FromSlash(room)))
			functions, examples = functions+len(names), examples+n
			for _, name := range names {
				_, allowed := unshown[room+"."+name]
				switch {
				case !seen[name] && !allowed:
					missing = append(missing, room+"."+name)
				case seen[name] && allowed:
					t.Errorf("%s.%s has an example: take it off the list", room, name)
				}
			}
		}
	}
	require.Greater(t, functions, 100, "the rooms were not found")
	require.Empty(t, missing, "%d functions, %d examples; each of these needs an example in its package", functions, examples)
}

// surface returns the exported functions of the package in a folder, the names
// that its examples show, and how many examples there are.
func surface(t *testing.T, dir string) (names []string, seen map[string]bool, examples int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	require.NoError(t, err)
	fset, seen := token.NewFileSet(), map[string]bool{}
	for _, path := range paths {
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		if strings.HasSuffix(path, "_test.go") {
			for _, e := range doc.Examples(f) {
				require.True(t, e.Output != "" || e.EmptyOutput, "%s: Example%s is not run: it has no // Output", path, e.Name)
			}
		}
		for _, decl := range f.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			switch {
			case !ok || fn.Recv != nil:
			case !strings.HasSuffix(path, "_test.go"):
				if fn.Name.IsExported() {
					names = append(names, fn.Name.Name)
				}
			case strings.HasPrefix(fn.Name.Name, "Example"):
				examples++
				mentions(fn, f.Name.Name, seen)
			}
		}
	}
	return names, seen, examples
}

// mentions enters the parts of a test package that an example shows: the
// example's name, and the names of its package that it uses.
func mentions(example *ast.FuncDecl, pkg string, seen map[string]bool) {
	name, _, _ := strings.Cut(strings.TrimPrefix(example.Name.Name, "Example"), "_")
	seen[name] = true
	room, outside := strings.CutSuffix(pkg, "_test")
	ast.Inspect(example.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == room {
				seen[n.Sel.Name] = true
			}
		case *ast.Ident:
			if !outside {
				seen[n.Name] = true
			}
		}
		return true
	})
}

func TestMentionsOfExamples(t *testing.T) {
	const src = `package p_test
func ExampleNamed() { helper() }
func ExampleT_method() { q.Other(p.Called(1)); p.V.Field() }
`
	f, err := parser.ParseFile(token.NewFileSet(), "p_test.go", src, parser.SkipObjectResolution)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, decl := range f.Decls {
		mentions(decl.(*ast.FuncDecl), f.Name.Name, seen)
	}
	require.Equal(t, map[string]bool{"Named": true, "T": true, "Called": true, "V": true}, seen)
}
