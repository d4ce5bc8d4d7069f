package codegen_test

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// named is a graph in which name stands wherever a name can stand.
func named(name string) *graph.Module {
	g := graph.New(name)
	m := graph.NewModule(g)
	m.Type = name
	at := func() *graph.Cursor { return g.At() }
	f32 := func(n int) shape.Type { return shape.TensorType(array.F32, shape.ConstDims(n)) }
	x := at().Placeholder(name, f32(2), array.FromSlice([]float32{1, 2}))
	y := at().Placeholder("y"+name, f32(2), nil)
	m.SetParam(graph.Param{Path: name, Value: array.New(array.F32, 2), Selector: name})
	m.SetParam(graph.Param{Path: "b." + name, Value: array.New(array.F32, 2), Buffer: true})
	c := at()
	c.SetScope(g.Scope(graph.Scope{Path: name, Type: name}))
	p := c.GetAttr(name)
	p.Rename(name)
	sum := c.Function(std.Add, nil, x, p)
	sum.Rename(name)
	c = at()
	c.SetScope(g.Scope(graph.Scope{Path: "a." + name, Type: "example.com/x." + name}))
	b := c.Function(std.Mul, nil, sum, c.GetAttr("b."+name))
	z := c.Function(std.Add, nil, b, y)
	g.NoteSpecialisation(graph.Specialisation{What: name, Pos: diag.Pos{File: name, Line: 1, Func: name}})
	at().Output(&graph.Structure{Kind: graph.StructOf, Type: name, Keys: []string{name, "m", "t"}, Fields: []*graph.Structure{
		graph.Leaf(0),
		{Kind: graph.MapOf, Type: name, Keys: []string{name}, Fields: []*graph.Structure{graph.Leaf(1)}},
		{Kind: graph.StructOf, Type: "example.com/" + name + ".t", Keys: []string{"X"}, Fields: []*graph.Structure{graph.Leaf(0)}},
	}}, z, b)
	return m
}

// TestNamesReachNoModuleStyleSourceUnescaped prints graphs whose names are meant
// to break out of comments, strings and declarations, and compiles the result.
func TestNamesReachNoModuleStyleSourceUnescaped(t *testing.T) {
	dir := tempModule(t)
	printed := 0
	var packages []string
	for i, name := range hostile {
		if name == "" {
			continue
		}
		m := named(name)
		if !strings.ContainsAny(name, "\x00") {
			text := graph.Print(m, graph.PrintOptions{Positions: true})
			again, err := graph.Parse([]byte(text), "g.fx")
			require.NoError(t, err, "%q:\n%s", name, text)
			same, diff := graph.Equal(m.Graph, again.Graph)
			require.True(t, same, "%q: %s", name, diff)
		}
		files, err := codegen.Module(m, codegen.ModuleOptions{Package: "p", MaxStatements: 2 - i%2})
		if err != nil {
			require.ErrorIs(t, err, codegen.StatePath, "%q: %v", name, err)
			continue
		}
		printed++
		noDirectives(t, files.List[0])
		folder := "m" + strconv.Itoa(i)
		writeFiles(t, filepath.Join(dir, folder), files)
		packages = append(packages, "./"+folder)
	}
	require.Greater(t, printed, 30)
	goTool(t, dir, nil, append([]string{"vet"}, packages...)...)
	require.Equal(t, strings.Repeat("[]\n", len(packages)), goTool(t, dir, nil, append([]string{"list", "-f", "{{.IgnoredGoFiles}}"}, packages...)...))
}

func TestOptionsThatNoPackageCanHave(t *testing.T) {
	m := parse(t, reluText)
	k := kernelModule(t, linearText)
	for _, name := range append([]string{"a b", "a-b", "1a", "_", "a\nb", "func", "../x"}, hostile[:4]...) {
		_, err := codegen.Module(m, codegen.ModuleOptions{Package: name})
		require.ErrorIs(t, err, codegen.CodeOptions, "%q", name)
		_, err = codegen.Module(m, codegen.ModuleOptions{Func: name})
		require.ErrorIs(t, err, codegen.CodeOptions, "%q", name)
		_, err = codegen.Module(m, codegen.ModuleOptions{Type: name})
		require.ErrorIs(t, err, codegen.CodeOptions, "%q", name)
		_, err = codegen.Kernel(planOf(t, k), state(k), codegen.KernelOptions{Package: name})
		require.ErrorIs(t, err, codegen.CodeOptions, "%q", name)
		_, err = codegen.Kernel(planOf(t, k), state(k), codegen.KernelOptions{Type: name})
		require.ErrorIs(t, err, codegen.CodeOptions, "%q", name)
	}
	for _, name := range []string{"init", "error", "New", "string"} {
		if name != "New" {
			_, err := codegen.Module(m, codegen.ModuleOptions{Func: name})
			require.ErrorIs(t, err, codegen.CodeOptions, name)
		}
	}
	for _, o := range []codegen.ModuleOptions{{Func: "Net", Type: "Net"}, {Func: "NewNet", Type: "Net"}, {Func: "LoadModel"}, {Package: "main", Func: "main"}} {
		_, err := codegen.Module(m, o)
		require.ErrorIs(t, err, codegen.CodeOptions, "%v", o)
	}
	for _, file := range []string{"../x", "a/b", `a\b`, "a\nb", "a b", ".a", "_a", "net_test", "net_windows", "net_linux_amd64", "a\"b", "a*b", "é", "a\x00b", "a`b"} {
		_, err := codegen.Module(m, codegen.ModuleOptions{File: file + ".go"})
		require.ErrorIs(t, err, codegen.CodeOptions, file)
		_, err = codegen.Kernel(planOf(t, k), state(k), codegen.KernelOptions{File: file})
		require.ErrorIs(t, err, codegen.CodeOptions, file)
	}
	_, err := codegen.Module(m, codegen.ModuleOptions{File: "model.txt"})
	require.ErrorIs(t, err, codegen.CodeOptions)
	for _, file := range []string{"linux_net", "robot_arm_model", "net-2", "net.v2", "amd64"} {
		_, err := codegen.Module(m, codegen.ModuleOptions{File: file + ".go"})
		require.NoError(t, err, file)
	}
}
