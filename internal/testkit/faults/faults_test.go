package faults

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
)

func TestFaultsGiveExactlyTheirDiagnostics(t *testing.T) {
	want, err := Wants(".")
	require.NoError(t, err)
	all := All()
	require.GreaterOrEqual(t, len(all), 30)
	for _, f := range all {
		t.Run(f.Name, func(t *testing.T) {
			require.NotEmpty(t, want[f.Name])
			gm, err := fx.Trace(ctx, f.Fn, f.Opts()...)
			require.Error(t, err)
			require.Nil(t, gm)
			var list diag.List
			require.True(t, errors.As(err, &list), "%v", err)
			var got []string
			for _, e := range list {
				require.Equal(t, "faults.go", filepath.Base(e.Pos.File), "%v", e)
				got = append(got, fmt.Sprintf("%d %s", e.Pos.Line, e.Code))
			}
			slices.Sort(got)
			require.Equal(t, want[f.Name], got, "%v", err)
		})
	}
}

func TestFaultsUseEveryTracingAndTypingCode(t *testing.T) {
	used := map[string]bool{}
	want, err := Wants(".")
	require.NoError(t, err)
	for _, codes := range want {
		for _, c := range codes {
			used[strings.Fields(c)[1]] = true
		}
	}
	for _, c := range []string{"FX1001", "FX1002", "FX1004", "FX1005", "FX1006", "FX1007", "FX1008", "FX1010", "FX1011", "FX1012", "FX1013", "FX1014", "FX1015", "FX1016", "FX1017", "FX1019", "FX1040", "FX1041", "FX1042", "FX1043", "FX1044",
		"FX2001", "FX2002", "FX2003", "FX2004", "FX2005", "FX2006", "FX2007", "FX2008", "FX2010"} {
		require.True(t, used[c], c)
	}
}

func TestRunErrorsGiveTheirCodes(t *testing.T) {
	for code, f := range RunErrors {
		require.ErrorIs(t, f(), diag.Code(code))
	}
}

func TestValueErrorsPanicWithTheirCodesAtTheirLine(t *testing.T) {
	for code, f := range ValueErrors {
		func() {
			defer func() {
				e, ok := recover().(*diag.Error)
				require.True(t, ok, code)
				require.Equal(t, diag.Code(code), e.Code)
				if code != "FX2031" && code != "FX2032" { // steps run by hand know no line
					require.Equal(t, "values.go", filepath.Base(e.Pos.File), "%v", e)
				}
			}()
			f()
		}()
	}
}

// functions returns the source of every function of a file, without its "want"
// comments.
func functions(t *testing.T, file string) []string {
	t.Helper()
	src, err := os.ReadFile(file)
	require.NoError(t, err)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, 0)
	require.NoError(t, err)
	var out []string
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			lines := strings.Split(string(src[fset.Position(fn.Pos()).Offset:fset.Position(fn.End()).Offset]), "\n")
			for i, l := range lines {
				before, _, _ := strings.Cut(l, "// want ")
				lines[i] = strings.TrimRight(before, " \t")
			}
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return out
}

func TestExamplesOfTraceCodesAreTheseFunctions(t *testing.T) {
	all := append(append(functions(t, "faults.go"), functions(t, "run.go")...), functions(t, "values.go")...)
	for _, info := range diag.Codes() {
		if strings.HasPrefix(string(info.Code), "FX105") || strings.HasPrefix(string(info.Code), "FX107") {
			continue // of sessions and of compiled functions, whose packages have them
		}
		if strings.HasPrefix(string(info.Code), "FX1") || ValueErrors[string(info.Code)] != nil {
			require.Contains(t, all, info.Example, "%s", info.Code)
		}
	}
}
