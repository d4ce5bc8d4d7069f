package archtest

import (
	"go/ast"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKernelsSayWhatPlansRun holds docs/kernels.md to the truth about the steps
// that no operator and no rule of a target names.
func TestKernelsSayWhatPlansRun(t *testing.T) {
	steps, named := map[string]bool{}, map[string]bool{}
	for _, s := range handWritten(t) {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		switch dir := path.Dir(s.path); {
		case strings.HasPrefix(dir, "kernel/internal/"):
			for _, fn := range s.functions {
				if r := receiver(fn); fn.Name.Name == "Run" && ast.IsExported(r) {
					steps[r] = true
				}
			}
		case slices.Contains([]string{"op", "op/expr", "op/std", "lowering/cpu"}, dir):
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

// receiver returns the name of a method's type, "" for a function.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	t := fn.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
