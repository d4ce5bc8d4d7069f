package codegen_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
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
			for _, n := range want.Graph.Inputs() {
				p.Inputs = append(p.Inputs, tracer.Input{Name: n.Target(), Type: n.Type()})
			}
		}))
		if err != nil {
			fmt.Println(c.name, err)
			continue
		}
		if equal, diff := graph.Equal(want.Graph, got.Graph); !equal {
			fmt.Println(c.name, diff)
		}
	}
	fmt.Println("traced", len(table))
}
`

// TestEveryOperatorIsPrintedAsItTraces prints the samples of every operator, as
// function and as method, compiles all of that as one package and traces it.
func TestEveryOperatorIsPrintedAsItTraces(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a package of all operators")
	}
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	require.NoError(t, err)
	gomod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	write("go.sum", sum)
	write("go.mod", append(bytes.Replace(gomod, []byte("module github.com/gofx-dev/gofx"), []byte("module example.com/ops"), 1),
		[]byte("\nrequire github.com/gofx-dev/gofx v0.0.0\nreplace github.com/gofx-dev/gofx => "+root+"\n")...))
	var table strings.Builder
	count := 0
	for _, o := range op.All() {
		if o.Path != "" || o.AdHoc {
			continue
		}
		samples := o.Samples()
		// Three of the samples: with the defaults, in the middle and the last.
		picked := []int{0, len(samples) / 2, len(samples) - 1}
		for k, i := range picked {
			if len(samples) == 0 || slices.Contains(picked[:k], i) {
				continue
			}
			for _, opcode := range []graph.Opcode{graph.CallFunction, graph.CallMethod} {
				s := samples[i]
				if opcode == graph.CallMethod && (len(s.In) == 0 || s.In[0] == nil) {
					continue
				}
				if len(s.In) == 0 && (o.Class == op.Opaque || o.Effect != op.Pure) {
					continue // nothing tells a trace of such a call; it runs at once
				}
				m, err := callOf(o, s, opcode)
				require.NoError(t, err, "%s %s", o.Name, s.Name)
				name := fmt.Sprintf("F%d", count)
				files, err := codegen.Module(m, codegen.ModuleOptions{Package: "main", File: name + ".go", Func: name})
				require.NoError(t, err, "%s %s", o.Name, s.Name)
				write(name+".go", files.List[0].Data)
				var text bytes.Buffer
				require.NoError(t, graph.Fprint(&text, m, graph.PrintOptions{}))
				write(name+".fx", text.Bytes())
				fmt.Fprintf(&table, "\t{%q, %s},\n", name, name)
				count++
			}
		}
	}
	require.Greater(t, count, 1000)
	write("main.go", []byte(opsMain))
	write("table.go", []byte("package main\n\nvar table = []struct {\n\tname string\n\tfn   any\n}{\n"+table.String()+"}\n"))
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, fmt.Sprintf("traced %d\n", count), string(out))
}
