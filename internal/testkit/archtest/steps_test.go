package archtest

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// TestKernelsSayWhatPlansRun holds docs/kernels.md to the truth about the steps
// that no operator and no rule of a target names.
func TestKernelsSayWhatPlansRun(t *testing.T) {
	steps, named := map[string]bool{}, map[string]bool{}
	for _, name := range kernelScope(t).Names() {
		obj := kernelScope(t).Lookup(name)
		if _, isType := obj.(*types.TypeName); !isType || !obj.Exported() || types.IsInterface(obj.Type()) {
			continue
		}
		run, _, _ := types.LookupFieldOrMethod(obj.Type(), true, obj.Pkg(), "Run")
		if fn, ok := run.(*types.Func); ok && fn.Signature().Params().Len() == 3 && fn.Signature().Results().Len() == 0 {
			steps[name] = true
		}
	}
	for _, s := range handWritten(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		switch path.Dir(s.path) {
		case "op", "op/expr", "op/std", "op/ml", "lowering/cpu":
			ast.Inspect(s.file, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && x.Name == "kernel" {
						named[sel.Sel.Name] = true
					}
				}
				return true
			})
		}
	}
	require.Greater(t, len(steps), 50, "the steps were not found")
	maps.DeleteFunc(steps, func(step string, _ bool) bool { return named[step] })

	text, err := os.ReadFile(filepath.Join(root(t), "docs", "kernels.md"))
	require.NoError(t, err)
	var listed []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "> ") {
			for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(line, -1) {
				listed = append(listed, m[1])
			}
		}
	}
	require.Equal(t, slices.Sorted(maps.Keys(steps)), listed, "the list of docs/kernels.md")
}

var kernels *types.Scope // of package kernel

// kernelScope returns the declarations of package kernel, wherever they are written.
func kernelScope(t *testing.T) *types.Scope {
	t.Helper()
	if kernels == nil {
		list, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes, Dir: root(t)}, Module+"/kernel")
		require.NoError(t, err)
		require.Len(t, list, 1)
		require.Empty(t, list[0].Errors)
		kernels = list[0].Types.Scope()
	}
	return kernels
}
