package codegen_test

import (
	"bytes"
	"context"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/tracer"
)

var background = context.Background()

// kernelCase is a model that is generated, built and run.
type kernelCase struct {
	name    string // of the package
	module  *graph.Module
	opts    codegen.KernelOptions
	planned lowering.Options
	inputs  [][]*array.Array
	symbols []string // arguments of PeakBytes
	sizes   [][]int  // their values for each set of inputs
	flat    bool     // results are several, not a struct
	fields  []string // selectors of the results in the struct
	extra   string   // statements that the program runs for the case, about m
	flow    bool     // bodies of control flow share scratch memory, which those of the executor do not
	late    bool     // sizes follow from values: no code promises the memory

	exec  *cpu.Executable
	files *codegen.Files
}

// env returns the values of the symbols for a set of inputs.
func (c *kernelCase) env(k int) map[string]int {
	env := map[string]int{}
	for i, s := range c.symbols {
		env[s] = c.sizes[k][i]
	}
	return env
}

// kernelModule parses a module and fills its tensors.
func kernelModule(t testing.TB, text string) *graph.Module {
	t.Helper()
	m, err := graph.Parse([]byte("gofx 1\n"+text), "net.fx")
	require.NoError(t, err)
	fill(t, m)
	return m
}

// fill gives every tensor of the state without a value one.
func fill(t testing.TB, m *graph.Module) {
	t.Helper()
	var g op.Gen
	for _, p := range m.Params() {
		if p.Value != nil {
			continue
		}
		d, dims, ok := p.Type.Concrete()
		require.True(t, ok, p.Path)
		q := *p
		q.Value = array.Cast(g.Uniform(-0.5, 0.5, dims...), d)
		m.SetParam(q)
	}
}

// zoo traces a network with synthetic weights.
func zoo(t testing.TB, name string) *graph.Module {
	t.Helper()
	m := models.Lookup(name)
	require.NotNil(t, m, name)
	net := m.New()
	models.Synthetic(m, net, "codegen")
	return traced(t, net, m.Inputs...)
}

func traced(t testing.TB, fn any, inputs ...models.InputSpec) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	mod, err := p.Trace(background, fn)
	require.NoError(t, err)
	return mod
}

// traceWith traces with options of the facade.
func traceWith(t testing.TB, fn any, o ...fx.Option) *graph.Module {
	t.Helper()
	m, err := fx.Trace(background, fn, o...)
	require.NoError(t, err)
	return m.Module
}

func state(m *graph.Module) map[string]*array.Array {
	s := map[string]*array.Array{}
	for _, p := range m.Params() {
		s[p.Path] = p.Value
	}
	return s
}

func generate(t testing.TB, c *kernelCase) {
	t.Helper()
	var err error
	c.exec, err = cpu.Compile(c.module, c.planned)
	require.NoError(t, err, c.name)
	if c.opts.Package == "" {
		c.opts.Package = c.name
	}
	c.files, err = codegen.Kernel(c.exec.Plan(), state(c.module), c.opts)
	require.NoError(t, err, c.name)
}

// tempModule makes a Go module that uses this one.
func tempModule(t testing.TB) string {
	t.Helper()
	dir := workdir.Of(t)
	require.NoError(t, repo.WriteModule(dir, "example.com/gen"))
	return dir
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	require.NoError(t, os.WriteFile(path, data, 0o666))
}

func writeFiles(t testing.TB, dir string, f *codegen.Files) {
	t.Helper()
	for _, x := range f.List {
		write(t, filepath.Join(dir, x.Name), x.Data)
	}
}

// goTool runs the go command in dir.
func goTool(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(args, " "), out)
	return string(out)
}

// goType returns the Go element type of an array.
func goType(a *array.Array) string {
	return map[array.DType]string{array.F32: "float32", array.F64: "float64", array.I64: "int64", array.I32: "int32", array.Bool: "bool", array.U8: "uint8"}[a.DType()]
}

// probeText is added to each package, so that its caller sees its measurements.
const probeText = `
// Measure returns the memory that the last call took.
func (m *MODEL) Measure() int64 {
	s := m.free.Take()
	defer m.free.Give(s)
	return s.Held()
}
`

// callerText runs every case of the program's folder.
const callerText = `package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
IMPORTS)

var ctx = context.Background()

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func load(path string) map[string]*array.Array {
	f, err := safetensors.ReadFile(path)
	check(err)
	in := map[string]*array.Array{}
	for _, n := range f.Names() {
		in[n], err = f.Get(n)
		check(err)
	}
	return in
}

func save(path string, out []*array.Array) {
	var list []safetensors.Named
	for i, a := range out {
		list = append(list, safetensors.Named{Name: fmt.Sprint(i), Array: a})
	}
	h, err := os.Create(path)
	check(err)
	check(safetensors.Write(h, list, nil))
	check(h.Close())
}

// together runs f on several goroutines.
func together(f func()) {
	var g sync.WaitGroup
	for range 8 {
		g.Add(1)
		go func() { defer g.Done(); f() }()
	}
	g.Wait()
}

func same(a, b []*array.Array) {
	for i := range a {
		if string(array.Bytes(a[i])) != string(array.Bytes(b[i])) {
			fmt.Println("error: goroutines disagree")
			os.Exit(1)
		}
	}
}

// polled is a context that calls f whenever a call asks whether it has ended.
type polled struct {
	context.Context
	f func()
}

func (p polled) Err() error { p.f(); return nil }

// failure prints an error on one line.
func failure(err error) {
	if err == nil {
		fmt.Println("error: none")
		os.Exit(1)
	}
	fmt.Println("FAIL " + strings.ReplaceAll(err.Error(), "\n", " | "))
}

func main() {
	_ = testing.AllocsPerRun
	_, _, _, _, _, _, _ = together, same, failure, strings.NewReader, bytes.NewReader, errors.Is, diag.Stopped
BODY}
`

// caller prints the program that runs the cases. For each set of inputs it writes
// the results, and prints peak, measured memory and allocations.
func caller(cases []*kernelCase) string {
	var imports, body strings.Builder
	for _, c := range cases {
		typ := c.opts.Type
		newName, peak := "New", "PeakBytes"
		if typ != "" {
			newName, peak = "New"+typ, typ+"PeakBytes"
		}
		imports.WriteString("\t" + c.name + " \"example.com/gen/" + c.name + "\"\n")
		body.WriteString("\t{\n")
		for k, in := range c.inputs {
			var args string
			body.WriteString("\t\t{\n\t\tm, err := " + c.name + "." + newName + "()\n\t\tcheck(err)\n\t\tin := load(\"" + c.name + strconv.Itoa(k) + ".in\")\n\t\t_ = in\n\t\tm.Threads = 1\n")
			for i, a := range in {
				args += ", array.Dense[" + goType(a) + "]{in[\"" + strconv.Itoa(i) + "\"]}"
			}
			outs := make([]string, len(c.exec.Plan().Outputs))
			list, into := "", ""
			for i := range outs {
				outs[i] = "y" + strconv.Itoa(i)
				sel := outs[i]
				if !c.flat {
					sel = "r" + c.fields[i]
				}
				list += sel + ".Array, "
				into += ", " + sel
			}
			lhs := strings.Join(outs, ", ")
			if !c.flat {
				lhs = "r"
			}
			call := lhs + ", err := m.Forward(ctx" + args + ")\n\t\tcheck(err)\n"
			body.WriteString("\t\t" + call + "\t\tsave(\"" + c.name + strconv.Itoa(k) + ".out\", []*array.Array{" + list + "})\n")
			arg := ""
			if c.symbols != nil {
				var v []string
				for _, n := range c.sizes[k] {
					v = append(v, strconv.Itoa(n))
				}
				arg = "(" + strings.Join(v, ", ") + ")"
			}
			body.WriteString("\t\tmeasured := m.Measure()\n")
			body.WriteString("\t\tallocs := testing.AllocsPerRun(5, func() { check(m.ForwardInto(ctx" + args + into + ")) })\n")
			body.WriteString("\t\tfmt.Println(\"" + c.name + "\", int64(" + c.name + "." + peak + arg + "), measured, allocs)\n")
			body.WriteString("\t\tfirst := []*array.Array{" + list + "}\n\t\tm.Threads = 2\n\t\ttogether(func() {\n\t\t" + call + "\t\tsame(first, []*array.Array{" + list + "})\n\t\t})\n\t\t}\n")
		}
		if c.extra != "" {
			body.WriteString("\t\tm, err := " + c.name + "." + newName + "()\n\t\tcheck(err)\n" + c.extra)
		}
		body.WriteString("\t}\n")
	}
	text := strings.Replace(callerText, "IMPORTS", imports.String(), 1)
	return strings.Replace(text, "BODY", body.String(), 1)
}

// saveInputs writes a set of inputs by number.
func saveInputs(t testing.TB, path string, in []*array.Array) {
	t.Helper()
	var list []safetensors.Named
	for i, a := range in {
		list = append(list, safetensors.Named{Name: strconv.Itoa(i), Array: a})
	}
	var b bytes.Buffer
	require.NoError(t, safetensors.Write(&b, list, nil))
	write(t, path, b.Bytes())
}

// runCases generates, vets, builds and runs all cases in one module, and compares
// with the executor: results bit by bit, memory with the documented amount.
func runCases(t *testing.T, cases []*kernelCase) (dir string, failures []string) {
	t.Helper()
	dir, lines, failures := runProgram(t, cases)
	for _, c := range cases {
		lines = compareCase(t, dir, c, lines)
	}
	return dir, failures
}

// runProgram generates, builds and runs all cases in one module, and returns the
// lines that they print.
func runProgram(t *testing.T, cases []*kernelCase) (dir string, lines, failures []string) {
	t.Helper()
	dir = tempModule(t)
	for _, c := range cases {
		generate(t, c)
		writeFiles(t, filepath.Join(dir, c.name), c.files)
		typ := c.opts.Type
		if typ == "" {
			typ = "Model"
		}
		write(t, filepath.Join(dir, c.name, "probe.go"), []byte("package "+c.opts.Package+"\n"+strings.ReplaceAll(probeText, "MODEL", typ)))
		for k, in := range c.inputs {
			saveInputs(t, filepath.Join(dir, c.name+strconv.Itoa(k)+".in"), in)
		}
	}
	write(t, filepath.Join(dir, "main.go"), []byte(caller(cases)))
	goTool(t, dir, []string{"CGO_ENABLED=0"}, "build", "-o", "run", ".")
	cmd := exec.Command(filepath.Join(dir, "run"))
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, l := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		if text, ok := strings.CutPrefix(l, "FAIL "); ok {
			failures = append(failures, text)
		} else {
			lines = append(lines, l)
		}
	}
	return dir, lines, failures
}

// compareCase compares a case with the executor, and returns the lines of the others.
func compareCase(t *testing.T, dir string, c *kernelCase, lines []string) []string {
	t.Helper()
	for k, in := range c.inputs {
		want, err := c.exec.Run(background, in)
		require.NoError(t, err)
		f, err := safetensors.ReadFile(filepath.Join(dir, c.name+strconv.Itoa(k)+".out"))
		require.NoError(t, err)
		for i, w := range want {
			got, err := f.Get(strconv.Itoa(i))
			require.NoError(t, err)
			require.Equal(t, w.Shape(), got.Shape(), "%s result %d", c.name, i)
			require.Equal(t, array.Bytes(array.Contiguous(w)), array.Bytes(got), "%s result %d of inputs %d", c.name, i, k)
		}
		fields := strings.Fields(lines[0])
		lines = lines[1:]
		require.Equal(t, c.name, fields[0])
		if c.late {
			continue
		}
		peak, err := c.exec.PeakBytes(c.env(k))
		require.NoError(t, err)
		if c.flow {
			promised, err := strconv.ParseInt(fields[1], 10, 64)
			require.NoError(t, err)
			require.LessOrEqual(t, promised, peak, "%s: PeakBytes for inputs %d", c.name, k)
			peak = promised
		}
		require.Equal(t, strconv.FormatInt(peak, 10), fields[1], "%s: PeakBytes for inputs %d", c.name, k)
		require.Equal(t, strconv.FormatInt(peak, 10), fields[2], "%s: what is held after inputs %d", c.name, k)
		require.Equal(t, "0", fields[3], "%s: allocations of ForwardInto, inputs %d", c.name, k)
	}
	return lines
}

// checkStyle makes sure that files are formatted and bear the header.
func checkStyle(t *testing.T, f *codegen.Files) {
	t.Helper()
	for _, x := range f.List {
		if !strings.HasSuffix(x.Name, ".go") {
			continue
		}
		want, err := format.Source(x.Data)
		require.NoError(t, err)
		require.Equal(t, string(want), string(x.Data), x.Name)
		require.True(t, bytes.HasPrefix(x.Data, []byte("// Code generated by fxgen. DO NOT EDIT.\n\n")), x.Name)
		require.LessOrEqual(t, bytes.Count(x.Data, []byte("\n")), 3000, x.Name)
	}
}
