package codegen_test

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/op"
	_ "github.com/gofx-dev/gofx/op/std" // the operators
	"github.com/gofx-dev/gofx/shape"
)

// callOf makes a graph of one call of a sample, all operands inputs.
func callOf(o *op.Op, s op.Sample, opcode graph.Opcode) (*graph.Module, error) {
	g := graph.New(o.Name)
	m := graph.NewModule(g)
	c := g.At()
	var failed error
	c.OnError = func(err error) { failed = err }
	args := make([]*graph.Node, len(s.In))
	for i, a := range s.In {
		if a != nil {
			args[i] = c.Placeholder(fmt.Sprintf("x%d", i), shape.TypeOf(a), nil)
		}
	}
	var n *graph.Node
	if opcode == graph.CallMethod {
		n = c.Method(o, s.Attrs, args...)
	} else {
		n = c.Function(o, s.Attrs, args...)
	}
	out := []*graph.Node{n}
	structure := (*graph.Structure)(nil)
	if count, several := o.NumResults(n.Attrs()); several {
		out = nil
		structure = &graph.Structure{Kind: graph.Results}
		for i := range count {
			out = append(out, c.ItemNode(n, i))
			structure.Fields = append(structure.Fields, graph.Leaf(i))
		}
	}
	c.Output(structure, out...)
	return m, failed
}

const opsMain = `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tracer"
)

func main() {
	for _, c := range table {
		src, err := os.ReadFile(c.name + ".fx")
		if err != nil {
			panic(err)
		}
		want, err := graph.Parse(src, c.name)
		if err != nil {
			panic(err)
		}
		got, err := fx.Trace(context.Background(), c.fn, fx.With(func(p *tracer.Tracer) {
			p.Root = c.root
			for _, n := range want.Graph.Inputs() {
				p.Inputs = append(p.Inputs, tracer.Input{Name: n.Target(), Type: n.Type()})
			}
		}))
		if err != nil {
			fmt.Println(c.name, c.what, err)
			continue
		}
		if equal, diff := graph.Equal(want.Graph, got.Graph); !equal {
			fmt.Println(c.name, c.what, diff)
		}
	}
	fmt.Println("traced", len(table))
}
`

// printed is a graph that is printed, compiled and traced again.
type printed struct {
	what string
	m    *graph.Module
}

// traceBack prints graphs into one package, compiles and runs it, and demands
// that each function traces to the graph that it was printed from.
func traceBack(t *testing.T, list []printed) {
	t.Helper()
	dir := workdir.Of(t)
	require.NoError(t, repo.WriteModule(dir, "example.com/ops"))
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	var table, models strings.Builder
	for i, p := range list {
		name, model := fmt.Sprintf("F%d", i), fmt.Sprintf("M%d", i)
		files, err := codegen.Module(p.m, codegen.ModuleOptions{Package: "main", File: name + ".go", Func: name, Type: model})
		require.NoError(t, err, p.what)
		formatted, err := format.Source(files.List[0].Data)
		require.NoError(t, err, p.what)
		require.Equal(t, string(formatted), string(files.List[0].Data), p.what)
		write(name+".go", files.List[0].Data)
		var text bytes.Buffer
		require.NoError(t, graph.Fprint(&text, p.m, graph.PrintOptions{}))
		write(name+".fx", text.Bytes())
		fn, root := name, "nil"
		if bytes.Contains(files.List[0].Data, []byte("type "+model+" struct")) {
			root = strings.ToLower(model)
			fn = root + "." + name
			fmt.Fprintf(&models, "var %s = New%s()\n", root, model)
		}
		fmt.Fprintf(&table, "\t{%q, %q, %s, %s},\n", name, p.what, fn, root)
	}
	write("main.go", []byte(opsMain))
	write("table.go", []byte("package main\n\nvar table = []struct {\n\tname, what string\n\tfn, root any\n}{\n"+table.String()+"}\n"+models.String()))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, fmt.Sprintf("traced %d\n", len(list)), string(out))
}

// TestEveryOperatorIsPrintedAsItTraces prints the samples of every operator, as
// function and as method.
func TestEveryOperatorIsPrintedAsItTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: compiles a package of all operators")
	}
	var list []printed
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc {
			continue
		}
		samples := o.Samples()
		picked := []int{0, len(samples) / 2, len(samples) - 1}
		for k, i := range picked {
			if len(samples) == 0 || slices.Contains(picked[:k], i) {
				continue
			}
			s := samples[i]
			if len(s.In) == 0 && (o.Class == op.Opaque || o.Effect != op.Pure) {
				continue // nothing tells a trace of such a call; it runs at once
			}
			for _, opcode := range []graph.Opcode{graph.CallFunction, graph.CallMethod} {
				if opcode == graph.CallMethod && (len(s.In) == 0 || s.In[0] == nil) {
					continue
				}
				m, err := callOf(o, s, opcode)
				require.NoError(t, err, "%s %s", o.Name, s.Name)
				list = append(list, printed{o.Name + " " + s.Name, m})
			}
		}
	}
	require.Greater(t, len(list), 1000)
	traceBack(t, list)
}
