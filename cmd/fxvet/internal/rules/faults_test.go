package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/gofx-dev/gofx/cmd/fxvet/internal/flow"
	"github.com/gofx-dev/gofx/internal/testkit/faults"
)

const top = "../../../.."

// found runs the rules on packages of this module and returns what they report: by file, the
// lines with their codes, sorted.
func found(t *testing.T, overlay map[string][]byte, patterns ...string) map[string][]string {
	t.Helper()
	return foundIn(t, top, overlay, patterns...)
}

func foundIn(t *testing.T, dir string, overlay map[string][]byte, patterns ...string) map[string][]string {
	t.Helper()
	pkgs, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes |
			packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedDeps | packages.NeedModule,
		Dir: dir, Overlay: overlay,
	}, patterns...)
	require.NoError(t, err)
	require.Zero(t, packages.PrintErrors(pkgs))
	res, err := checker.Analyze([]*analysis.Analyzer{together()}, pkgs, nil)
	require.NoError(t, err)
	out := map[string][]string{}
	for _, act := range res.Roots {
		require.NoError(t, act.Err)
		for _, d := range act.Diagnostics {
			at := act.Package.Fset.Position(d.Pos)
			code, _, _ := strings.Cut(d.Message, ":")
			out[at.Filename] = append(out[at.Filename], fmt.Sprintf("%d %s", at.Line, code))
		}
	}
	for _, list := range out {
		slices.Sort(list)
	}
	return out
}

// The codes of the table, and the lines of faults with one of them that only a trace finds,
// each with the reason.
var (
	codes = []string{"FX1002", "FX1004", "FX1005", "FX1008", "FX1011", "FX1014", "FX1015", "FX1017", "FX1041", "FX1042", "FX1043", "FX1044", "FX2005", "FX2006"}
	late  = map[string]string{
		"whileChangesType":  "the type of what the body returns follows from sizes",
		"everything FX2005": "the sizes of reshape have one -1 too many, next to a size that only a run has",
	}
	// elsewhere are faults that a trace can report at the entry alone, and fxvet at the field.
	elsewhere = map[string]string{"unnamed": "Tiles", "namesakes": "W, w"}
)

// TestFaults holds that each fault of the table is found at its line, and that nothing else is
// found in the package of faults.
func TestFaults(t *testing.T) {
	dir, err := filepath.Abs(filepath.Join(top, "internal/testkit/faults"))
	require.NoError(t, err)
	wants, err := faults.Wants(dir)
	require.NoError(t, err)
	file := filepath.Join(dir, "faults.go")
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	lines := strings.Split(string(src), "\n")

	var roots strings.Builder
	roots.WriteString("package faults\n\nimport \"github.com/gofx-dev/gofx/fx\"\n\nfunc captured() {\n")
	var want []string
	for _, f := range faults.All() {
		if reflect.TypeOf(f.Fn).Kind() == reflect.Func {
			fmt.Fprintf(&roots, "\t_, _ = fx.Trace(ctx, %s)\n", f.Name)
		}
		for _, w := range wants[f.Name] {
			_, code, _ := strings.Cut(w, " ")
			switch {
			case !slices.Contains(codes, code) || late[f.Name] != "" || late[f.Name+" "+code] != "":
			case elsewhere[f.Name] != "":
				at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "type "+f.Name+" struct") })
				want = append(want, fmt.Sprintf("%d %s", at+1, code))
			default:
				want = append(want, w)
			}
		}
	}
	roots.WriteString("}\n")
	slices.Sort(want)
	require.Greater(t, len(want), 30)
	got := found(t, map[string][]byte{filepath.Join(dir, "captured.go"): []byte(roots.String())}, "./internal/testkit/faults")
	require.Equal(t, want, got[file])
}

// TestModels holds that nothing is found in the code of gofx's own models, layers and examples.
func TestModels(t *testing.T) {
	require.Empty(t, found(t, nil, "./models/...", "./nn/...", "./examples/..."))
}

// TestPackagesWithoutTensorsAreLeftAlone holds that no form is built of other packages.
func TestPackagesWithoutTensorsAreLeftAlone(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax, Dir: top}, "./diag")
	require.NoError(t, err)
	res, err := checker.Analyze([]*analysis.Analyzer{flow.Analyzer}, pkgs, nil)
	require.NoError(t, err)
	require.Len(t, res.Roots, 1)
	require.NoError(t, res.Roots[0].Err)
	require.Nil(t, res.Roots[0].Result.(*flow.Result))
}
