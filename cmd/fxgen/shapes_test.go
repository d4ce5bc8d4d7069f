package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const softmaxGraph = "gofx 1\n\ngraph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  symbol Z = dim(%x, 0)\n  %y = call_function[relu](%x)\n" +
	"  %s = call_function[softmax](%y) {dim=1}\n  return %s\n}\n"

// Values of different types have no distance: both types are said.
func TestCompareOfOtherShapes(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.fx", []byte(softmaxGraph), 0o666))
	require.NoError(t, os.WriteFile("b.fx", []byte("gofx 1\n\ngraph g(%x: f32[N,4]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x)\n"+
		"  %s = call_function[sum](%y) {dim=[1]}\n  return %s\n}\n"), 0o666))
	require.NoError(t, os.WriteFile("c.fx", []byte("gofx 1\n\ngraph g(%x: f32[N,5]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[relu](%x)\n  return %y\n}\n"), 0o666))
	code, stdout, stderr := call("compare", "a.fx", "b.fx")
	require.Equal(t, 1, code, stderr)
	require.Contains(t, stdout, "first difference: %s (softmax): the first form gives f32[1,4], the second form f32[1]\n")
	require.Regexp(t, `(?m)^%s +softmax +another type +differs$`, stdout)
	code, stdout, _ = call("compare", "a.fx", "c.fx")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "the first form gives f32[1,4], the second form f32[1,5]")
	code, stdout, _ = call("compare", "-json", "a.fx", "b.fx")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, `"largest": null`)
}

func TestStatsNameSymbolsThatAreUsed(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("a.fx", []byte(softmaxGraph), 0o666))
	code, stdout, stderr := call("stats", "-shape", "x=3,4", "a.fx")
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, " at N=3\n")
	require.NotContains(t, stdout, "Z=")
	_, stdout, _ = call("stats", "-json", "a.fx")
	require.NotContains(t, stdout, `"Z"`)
}

// Two tests that minimise writes into one folder are one package.
func TestMinimisedTestsShareAFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("go.mod", []byte("module example.com/m\n\ngo 1.26.0\n"), 0o666))
	names := map[string]bool{}
	for file, flags := range map[string][]string{"first_test.go": nil, "second_case_test.go": nil, "third_test.go": {"-name", "TestNamed"}} {
		code, _, stderr := call(append(append([]string{"minimise", "-rtol", "1e-30", "-atol", "1e-30", "-engine", "plan", "-o", file}, flags...), "mlp", "-shape", "x=2,784")...)
		require.Zero(t, code, stderr)
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Base(file), nil, 0)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				require.False(t, names[f.Name.Name], f.Name.Name)
				names[f.Name.Name] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"TestFirst": true, "TestSecondCase": true, "TestNamed": true}, names)
}
