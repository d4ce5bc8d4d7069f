package codegen_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/cases"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/plan"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

func planOf(t testing.TB, m *graph.Module) *plan.Plan {
	t.Helper()
	e, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	return e.Plan()
}

func kernelFiles(t testing.TB, m *graph.Module, o codegen.KernelOptions) *codegen.Files {
	t.Helper()
	f, err := codegen.Kernel(planOf(t, m), state(m), o)
	require.NoError(t, err)
	return f
}

func TestKernelIsTheSameEverywhere(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var want *codegen.Files
	for i := range 20 {
		runtime.GOMAXPROCS(1 + i%4)
		t.Chdir(t.TempDir())
		t.Setenv("TZ", []string{"UTC", "Asia/Tokyo", "America/New_York"}[i%3])
		t.Setenv("LANG", []string{"C", "de_DE.UTF-8"}[i%2])
		t.Setenv("GOARCH", []string{"amd64", "arm64"}[i%2])
		m := kernelModule(t, attentionText)
		got := kernelFiles(t, m, codegen.KernelOptions{Weights: codegen.WeightsEmbed})
		for _, m := range []*graph.Module{kernelModule(t, branchText), traceWith(t, newMemory(), fx.Input("x", "f32[2,3]"))} {
			got.List = append(got.List, kernelFiles(t, m, codegen.KernelOptions{Weights: codegen.WeightsLiteral}).List...)
		}
		if want == nil {
			want = got
		}
		require.Equal(t, want, got)
	}
	require.NotNil(t, want.Get("weights.safetensors"))
}

// lines counts the lines of all Go files.
func lines(f *codegen.Files) int {
	n := 0
	for _, x := range f.List {
		if strings.HasSuffix(x.Name, ".go") {
			n += bytes.Count(x.Data, []byte("\n"))
		}
	}
	return n
}

func TestRepeatedBlocksAreOutlined(t *testing.T) {
	gen := func(n, odd int) *codegen.Files {
		return kernelFiles(t, traced(t, newEncoder(n, odd), encoderSpec("f32[N,S,16]")), codegen.KernelOptions{Weights: codegen.WeightsEmbed})
	}
	two, twelve := gen(2, 2), gen(12, 12)
	require.LessOrEqual(t, float64(lines(twelve)), 1.3*float64(lines(two)))
	steps := string(twelve.Get("model_steps.go"))
	require.Equal(t, 1, strings.Count(steps, "func modelLayers("))
	require.Equal(t, 12, strings.Count(steps, "\tmodelLayers(s, "))

	changed := string(gen(12, 11).Get("model_steps.go"))
	require.Equal(t, 11, strings.Count(changed, "\tmodelLayers(s, "), "the changed layer does not share the function")
	require.Contains(t, changed, "// layers.11.up (nn.Linear): linear+silu f32[N,S,48]")
}

// hostile are names that end comments, strings and lines, or mean something in Go.
var hostile = []string{"a\nfunc init() { panic(1) }", "*/ /*", "\"+panic(1)+\"", "`", "type", "range", "s", "w", "array", "kernel", "nil", "x\u2028y", "é", "", "9", "_", "m.b",
	"model", "New", "\x00", "ctx", "err", "Model", "init", "%s\\", "at", "ins", "a", "a ", "a-", "A", "len",
	"+build windows", " +build windows", "\n+build windows\n\n", "//go:build windows", "go:build windows", "//go:embed x", "//line x.go:1", "/*line x.go:1*/", "#cgo LDFLAGS: -lx",
	"//export x", "x\u2029y", "x\u0085y", "\r+build windows", "\t+build windows", "\ufeff", "\xff\xfe", "\u202e", "import \"C\"", "Deprecated: x", "${x}", "a`b"}

// rename gives everything in a plan a hostile name.
func rename(p *plan.Plan, st map[string]*array.Array) map[string]*array.Array {
	k := 0
	name := func() string {
		k++
		s := hostile[k%len(hostile)]
		if k >= len(hostile) {
			s += strconv.Itoa(k)
		}
		return s
	}
	p.Name = hostile[0]
	out := map[string]*array.Array{}
	paths := map[string]string{}
	for q := range p.All() {
		if q != p {
			q.Name = name()
		}
		for i := range q.Buffers {
			b := &q.Buffers[i]
			b.Name = name()
			if b.Kind != plan.Weight {
				continue
			}
			if paths[b.Path] == "" {
				fresh := strings.ToValidUTF8(name(), "") + "." + strconv.Itoa(i)
				out[fresh] = st[b.Path]
				paths[b.Path] = fresh
			}
			b.Path = paths[b.Path]
		}
		for i := range q.Steps {
			s := &q.Steps[i]
			s.Op, s.Nodes = name(), []string{name()}
			s.Scope = graph.Scope{Path: name() + "." + name(), Type: name()}
		}
		for i := range q.Guards {
			q.Guards[i].Text = name()
		}
	}
	return out
}

func TestHostileNamesStayHarmless(t *testing.T) {
	dir := tempModule(t)
	text := regexp.MustCompile(`\bS\b`).ReplaceAllString(regexp.MustCompile(`\bB\b`).ReplaceAllString(attentionText, "range"), "s")
	var packages []string
	for i, m := range []*graph.Module{kernelModule(t, text), traced(t, newEncoder(3, 3), encoderSpec("f32[N,S,16]")), kernelModule(t, guardText),
		kernelModule(t, branchText), kernelModule(t, guardedText), traced(t, &looped{newEncoder(3, 3)}, encoderSpec("f32[N,S,16]")),
		traceWith(t, newMemory(), fx.Input("x", "f32[2,3]"))} {
		for j, mode := range []codegen.WeightsMode{codegen.WeightsLiteral, codegen.WeightsEmbed} {
			p := planOf(t, m)
			st := rename(p, state(m))
			f, err := codegen.Kernel(p, st, codegen.KernelOptions{Package: "p", Weights: mode, Outputs: hostile})
			require.NoError(t, err)
			for _, x := range f.List {
				require.False(t, strings.HasSuffix(x.Name, ".go") && bytes.Contains(x.Data, []byte("\nfunc init()")), "%s", x.Data)
				noDirectives(t, x)
			}
			name := "p" + strconv.Itoa(i) + strconv.Itoa(j)
			writeFiles(t, filepath.Join(dir, name), f)
			packages = append(packages, "./"+name)
		}
	}
	goTool(t, dir, nil, append([]string{"vet"}, packages...)...)
	require.Equal(t, strings.Repeat("[]\n", len(packages)), goTool(t, dir, nil, append([]string{"list", "-f", "{{.IgnoredGoFiles}}"}, packages...)...))
}

// number is the comment after the bits of a constant.
var number = regexp.MustCompile(`^/\* [-+.0-9A-Za-z]+ \*/$`)

// noDirectives requires that no comment of a file is a directive to the Go tools,
// except the one that embeds the weights.
func noDirectives(t *testing.T, f codegen.File) {
	t.Helper()
	if !strings.HasSuffix(f.Name, ".go") {
		return
	}
	require.True(t, utf8.Valid(f.Data))
	file, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err, "%s", f.Data)
	for _, g := range file.Comments {
		for _, c := range g.List {
			require.True(t, number.MatchString(c.Text) || strings.HasPrefix(c.Text, "// ") || strings.HasPrefix(c.Text, "//\t") || c.Text == "//" || c.Text == "//go:embed model_weights.safetensors" ||
				c.Text == "//go:embed weights.safetensors", c.Text)
			require.False(t, constraint.IsPlusBuild(c.Text) || constraint.IsGoBuild(c.Text), c.Text)
			require.NotContains(t, strings.Map(func(r rune) rune {
				if unicode.IsPrint(r) || r == '\t' {
					return -1
				}
				return '!'
			}, c.Text), "!", "%q", c.Text)
		}
	}
}

func TestKernelRefusesEverythingAtOnce(t *testing.T) {
	seen := map[diag.Code]bool{}
	for _, c := range cases.All() {
		g, err := fx.Trace(background, c.Fn, c.Opts...)
		require.NoError(t, err, c.Name)
		e, err := cpu.Compile(g.Module, lowering.Options{})
		if errors.Is(err, lowering.UnknownSize) {
			continue // the target asks for types first
		}
		require.NoError(t, err, c.Name)
		f, err := codegen.Kernel(e.Plan(), state(g.Module), codegen.KernelOptions{})
		if !c.Opaque {
			require.NoError(t, err, c.Name)
			continue
		}
		require.Nil(t, f)
		var l diag.List
		require.ErrorAs(t, err, &l, c.Name)
		for _, d := range l {
			seen[d.Code] = true
			require.NotEmpty(t, d.Hint, c.Name)
			require.NotEmpty(t, d.Node, c.Name)
			require.Positive(t, d.Pos.Line, "%s: %v", c.Name, d)
		}
	}
	require.Equal(t, map[diag.Code]bool{codegen.CodeHost: true}, seen)

	p := planOf(t, kernelModule(t, typesText))
	p.Steps[0].Kernel = &foreign{}
	p.Steps[1].Kernel = &foreign{}
	for i := range p.Buffers {
		if p.Buffers[i].Kind == plan.Temp {
			p.Buffers[i].Type = shape.TensorType(array.F32, shape.Of(shape.Sym("Q")))
			break
		}
	}
	p.Steps[2].Sizes = []op.SizeField{{Path: op.Path{0}, Size: shape.Sym("Q")}}
	_, err := codegen.Kernel(p, map[string]*array.Array{"table.weight": array.New(array.F32, 1)}, codegen.KernelOptions{Package: "a b", Type: "lower", File: "../x", Weights: "none"})
	var l diag.List
	require.ErrorAs(t, err, &l)
	count := map[diag.Code]int{}
	for _, d := range l {
		count[d.Code]++
	}
	require.Equal(t, map[diag.Code]int{codegen.CodeOptions: 4, codegen.CodeHost: 2, codegen.CodeSize: 2, codegen.CodeWeight: 1}, count)
	_, err = codegen.Kernel(planOf(t, kernelModule(t, typesText)), nil, codegen.KernelOptions{})
	require.ErrorIs(t, err, codegen.CodeWeight)
}

type foreign struct{ kernel.Copy }

func TestLiteralWeightsKeepTheirBits(t *testing.T) {
	var g op.Gen
	c := &kernelCase{name: "bits", flat: true, opts: codegen.KernelOptions{Weights: codegen.WeightsLiteral}, inputs: [][]*array.Array{{g.Normal(1)}}}
	gr := graph.New("bits")
	c.module = graph.NewModule(gr)
	cur := gr.At()
	x := cur.Placeholder("x", shape.TensorType(array.F32, shape.ConstDims(1)), nil)
	outs := []*graph.Node{x}
	for _, d := range append(array.DTypes(), array.NarrowDTypes()...) {
		a := array.New(d, 2, 4)
		b := a.Storage().Bytes()
		for i := range b {
			switch b[i] = byte(i*73 + 5); {
			case d == array.Bool:
				b[i] = byte(i % 2)
			case d.IsNarrowInt():
				b[i] = byte(array.NarrowInt(d, b[i]))
			case d == array.F4E2M1FN:
				b[i] &= 15
			}
		}
		if d == array.F32 {
			copy(array.Data[float32](a), []float32{0, float32(math.Copysign(0, -1)), float32(math.NaN()), 1e-45})
			array.Raw[uint32](a)[4] = 0x7f800001
		}
		c.module.SetParam(graph.Param{Path: "w." + d.String(), Value: a})
		outs = append(outs, cur.GetAttr("w."+d.String()))
	}
	cur.Output(&graph.Structure{Kind: graph.Results, Fields: leaves(len(outs))}, outs...)
	c.inputs = [][]*array.Array{{g.Normal(1)}}
	runCases(t, []*kernelCase{c})
}

func leaves(n int) []*graph.Structure {
	var l []*graph.Structure
	for i := range n {
		l = append(l, graph.Leaf(i))
	}
	return l
}

// targets are the platforms that generated code is built for.
var targets = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"js", "wasm"}}

func TestKernelBuildsEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds the standard library for five platforms")
	}
	dir := tempModule(t)
	m := zoo(t, "mlp")
	writeFiles(t, filepath.Join(dir, "net"), kernelFiles(t, m, codegen.KernelOptions{Package: "net", Weights: codegen.WeightsExternal}))
	// No file is read here: the code that reads weights is not counted.
	write(t, filepath.Join(dir, "main.go"), []byte(`package main

import (
	"bytes"
	"context"

	"example.com/gen/net"
	"github.com/gofx-dev/gofx/array"
)

var weights []byte

func main() {
	m, err := net.Load(bytes.NewReader(weights), int64(len(weights)))
	if err != nil {
		println(err.Error())
		return
	}
	y, err := m.Forward(context.Background(), array.NewDense[float32](1, 784))
	if err != nil {
		println(err.Error())
		return
	}
	println(y.Data()[0])
}
`))
	for _, x := range targets {
		out := filepath.Join(dir, "out")
		goTool(t, dir, []string{"CGO_ENABLED=0", "GOOS=" + x[0], "GOARCH=" + x[1]}, "build", "-ldflags=-s -w", "-o", out, ".")
		st, err := os.Stat(out)
		require.NoError(t, err)
		t.Logf("%s/%s: %d bytes", x[0], x[1], st.Size())
		if x[1] == "wasm" {
			require.Less(t, st.Size(), int64(2_700_000))
		}
	}
}

// synthetic returns a graph of n nodes in modules of some fifty, of which long
// ones lie in no module.
func synthetic(n int) *graph.Module {
	g := graph.New("synthetic")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(16))), nil)
	g.DefineSymbol("N", x, 0)
	y, keep := x, x
	rows := []*op.Op{std.Softmax, std.LogSoftmax} // a step each
	for i := range n {
		if i < n/2 {
			c.SetScope(g.Scope(graph.Scope{Path: "stage" + strconv.Itoa(i/500) + ".block" + strconv.Itoa(i/50), Type: "demo.Block"}))
		} else {
			c.SetScope(0)
		}
		if i%7 == 3 {
			y = c.Function(std.Add, nil, y, keep)
			keep = y
		} else {
			y = c.Function(rows[i*i%len(rows)], std.DimAttrs{Dim: -1}, y)
		}
	}
	c.Output(nil, y)
	return m
}

func TestLargeGraphsAreCutIntoModuleFunctions(t *testing.T) {
	files, err := codegen.Module(synthetic(5000), codegen.ModuleOptions{Package: "large"})
	require.NoError(t, err)
	checkFunctions(t, files)
}

func TestLargeGraphsAreCutIntoFunctions(t *testing.T) {
	m := synthetic(1500)
	f := kernelFiles(t, m, codegen.KernelOptions{})
	checkStyle(t, f)
	checkFunctions(t, f)
	var all []byte
	for _, x := range f.List {
		all = append(all, x.Data...)
	}
	require.Contains(t, string(all), "\nfunc modelStage0(s *modelState, w *modelWeights) {")
	require.Contains(t, string(all), "\nfunc modelPart(s *modelState, w *modelWeights) {")
}

// checkFunctions makes sure that no function is longer than 400 lines.
func checkFunctions(t *testing.T, f *codegen.Files) {
	t.Helper()
	for _, x := range f.List {
		if !strings.HasSuffix(x.Name, ".go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, x.Name, x.Data, 0)
		require.NoError(t, err)
		for _, d := range tree.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				require.LessOrEqual(t, set.Position(fn.End()).Line-set.Position(fn.Pos()).Line, 400, fn.Name.Name)
			}
		}
	}
}

func TestNightlyLargeGraph(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") != "1" {
		t.Skip("GOFX_NIGHTLY is not 1")
	}
	var g op.Gen
	c := &kernelCase{name: "large", module: synthetic(5000), flat: true, symbols: []string{"N"}, sizes: [][]int{{3}}, inputs: [][]*array.Array{{g.Normal(3, 16)}}}
	start := time.Now()
	generate(t, c)
	t.Logf("generated in %v", time.Since(start))
	checkStyle(t, c.files)
	checkFunctions(t, c.files)
	dir := tempModule(t)
	writeFiles(t, filepath.Join(dir, "large"), c.files)
	start = time.Now()
	rss := buildRSS(t, dir)
	t.Logf("built in %v with %d MiB", time.Since(start), rss>>20)
	require.Less(t, rss, int64(2<<30))
	runCases(t, []*kernelCase{c})
}
