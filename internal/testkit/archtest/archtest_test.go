package archtest

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

type pkg struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...)
	cmd.Dir = root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); err == io.EOF {
			return all
		}
		all = append(all, p)
	}
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../..")
	require.NoError(t, err)
	return dir
}

func room(path string) (string, bool) { return strings.CutPrefix(path, Module+"/") }

func TestImportsGoDownward(t *testing.T) {
	var wrong []string
	for _, p := range list(t, "./...") {
		from, ok := room(p.ImportPath)
		if !ok {
			continue
		}
		for _, imp := range p.Imports {
			if to, ours := room(imp); ours {
				if w := Judge(from, to); w != "" {
					wrong = append(wrong, w)
				}
			}
		}
	}
	require.Empty(t, wrong)
}

func TestJudgeRefusesUpwardImports(t *testing.T) {
	require.NotEmpty(t, Judge("graph", "tracer"))
	require.NotEmpty(t, Judge("tensor", "graph"))
	require.NotEmpty(t, Judge("interp", "op/std"))
	require.NotEmpty(t, Judge("lowering", "op/ml"))
	require.NotEmpty(t, Judge("codegen", "lowering/cpu"))
	require.NotEmpty(t, Judge("kernel", "mystery"))
	require.NotEmpty(t, Judge("draw", "internal/testkit/viewfuzz"), "test machinery in a drawing")
	require.NotEmpty(t, Judge("cmd/fxgen", "internal/generators/gen"), "a generator in the command")
	require.NotEmpty(t, Judge("internal/scan", "internal/testkit/fxtest"))
	require.NotEmpty(t, Judge("kernel", "kernel/internal/kerneltest"))
	require.NotEmpty(t, Judge("internal/scan", "shape"))
	require.NotEmpty(t, Judge("draw", "internal/unknown"))
	require.Empty(t, Judge("internal/testkit/viewfuzz", "draw"))
	require.Empty(t, Judge("draw", "internal/near"))
	require.Empty(t, Judge("tracer", "graph"))
	require.Empty(t, Judge("op/expr", "kernel"))
	require.NotEmpty(t, Judge("kernel/internal/gemm", "kernel/internal/conv"))
	require.NotEmpty(t, Judge("kernel/internal/gemm", "kernel"))
	require.Empty(t, Judge("kernel/internal/conv", "kernel/internal/gemm"))
}

func TestSmallRoomsStaySmall(t *testing.T) {
	var args []string
	for _, r := range Small {
		args = append(args, "./"+r)
	}
	for _, p := range list(t, args...) {
		for _, b := range Banned {
			require.NotContains(t, p.Deps, b, "%s depends on %s", p.ImportPath, b)
		}
		require.NotContains(t, p.Deps, "runtime/cgo")
	}
}

func TestServicesNeedNoOtherModule(t *testing.T) {
	var args []string
	for _, r := range append(Service, Small...) {
		args = append(args, "./"+r)
	}
	require.Empty(t, foreign(list(t, args...)))
	require.NotEmpty(t, foreign(list(t, "./cmd/fxgen")), "which stands on cobra")
}

// foreign returns the packages of other modules that packages depend on.
func foreign(of []pkg) (paths []string) {
	for _, p := range of {
		for _, dep := range p.Deps {
			if first, _, _ := strings.Cut(dep, "/"); strings.Contains(first, ".") && !strings.HasPrefix(dep, Module+"/") {
				paths = append(paths, p.ImportPath+" depends on "+dep)
			}
		}
	}
	return paths
}

func TestOnlyTheDrawingRoomImportsGraphviz(t *testing.T) {
	for _, p := range list(t, "./...") {
		if slices.ContainsFunc(p.Imports, func(path string) bool { return strings.HasPrefix(path, "github.com/goccy/go-graphviz") }) {
			require.Contains(t, []string{Module + "/draw/graphviz"}, p.ImportPath)
		}
	}
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	top := root(t)
	documented, all := 0, 0
	var missing []string
	for _, rooms := range Rows {
		for _, r := range rooms {
			files, _ := filepath.Glob(filepath.Join(top, r, "*.go"))
			for _, path := range files {
				if strings.HasSuffix(path, "_test.go") {
					continue
				}
				f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
				require.NoError(t, err)
				for _, decl := range f.Decls {
					name, doc := exported(decl)
					if name == "" {
						continue
					}
					all++
					if doc {
						documented++
					} else {
						missing = append(missing, r+"."+name)
					}
				}
			}
		}
	}
	require.Empty(t, missing, "%d of %d exported declarations are documented", documented, all)
}

// exported returns the name of an exported function, method of an exported type
// or type declaration, and whether it is documented.
func exported(decl ast.Decl) (string, bool) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if !d.Name.IsExported() {
			return "", false
		}
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if s, ok := t.(*ast.StarExpr); ok {
				t = s.X
			}
			if ix, ok := t.(*ast.IndexExpr); ok {
				t = ix.X
			}
			id, ok := t.(*ast.Ident)
			if !ok || !id.IsExported() || interfaceMethod[d.Name.Name] {
				return "", false
			}
		}
		return d.Name.Name, d.Doc != nil
	case *ast.GenDecl:
		if d.Tok != token.TYPE {
			return "", false
		}
		for _, s := range d.Specs {
			ts := s.(*ast.TypeSpec)
			if ts.Name.IsExported() && d.Doc == nil && ts.Doc == nil {
				return ts.Name.Name, false
			}
		}
	}
	return "", false
}

// interfaceMethod lists methods whose contract stands at the interface.
var interfaceMethod = map[string]bool{"Run": true, "Do": true, "View": true, "ScratchBytes": true, "String": true, "Error": true, "Forward": true}
