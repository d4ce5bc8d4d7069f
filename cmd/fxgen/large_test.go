package main

import (
	"encoding/binary"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	module "github.com/gofx-dev/gofx/internal/testkit/repo"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
	"github.com/gofx-dev/gofx/onnx"
)

// protoGraph is a model in the making, in the wire format.
type protoGraph struct{ parts [][]byte }

// node adds an operator with attributes of the form name, list of integers or an integer.
func (g *protoGraph) node(op, out string, in []string, attrs ...any) string {
	var b [][]byte
	for _, s := range in {
		b = append(b, str(1, s))
	}
	b = append(b, str(2, out), str(3, out), str(4, op))
	for i := 0; i < len(attrs); i += 2 {
		a := [][]byte{str(1, attrs[i].(string))}
		switch v := attrs[i+1].(type) {
		case int:
			a = append(a, num(3, v), num(20, 2))
		case []int:
			for _, n := range v {
				a = append(a, num(8, n))
			}
			a = append(a, num(20, 7))
		}
		b = append(b, msg(5, a...))
	}
	g.parts = append(g.parts, msg(1, b...))
	return out
}

// floats adds a constant of waves.
func (g *protoGraph) floats(name string, scale float64, dims ...int) string {
	n := 1
	var b []byte
	for _, d := range dims {
		n *= d
		b = append(b, num(1, d)...)
	}
	g.parts = append(g.parts, msg(5, b, num(2, 1), str(8, name), msg(9, floatBytes(n, func(i int) float64 { return scale * math.Sin(float64(i+len(name))) }))))
	return name
}

func (g *protoGraph) ints(name string, values ...int) string {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint64(raw, uint64(v))
	}
	g.parts = append(g.parts, msg(5, num(1, len(values)), num(2, 7), str(8, name), msg(9, raw)))
	return name
}

func floatBytes(n int, f func(i int) float64) (raw []byte) {
	for i := range n {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(float32(f(i))))
	}
	return raw
}

func (g *protoGraph) model(in, out string) []byte {
	g.parts = append(g.parts, str(2, "g"), protoValue(11, in), protoValue(12, out))
	return joined(num(1, 8), msg(7, g.parts...), msg(8, str(1, ""), num(2, 17)))
}

// picture is a small network whose batch is open, with the nodes that exporters write
// where a size follows from the input's.
func picture() []byte {
	g := &protoGraph{}
	g.node("Conv", "c", []string{"x", g.floats("w", 0.3, 4, 2, 3, 3), g.floats("b", 0.1, 4)}, "pads", []int{1, 1, 1, 1})
	g.node("Relu", "r", []string{"c"})
	g.node("MaxPool", "p", []string{"r"}, "kernel_shape", []int{2, 2}, "strides", []int{2, 2})
	g.node("Shape", "shape", []string{"p"})
	g.node("Gather", "n", []string{"shape", g.ints("zero", 0)}, "axis", 0)
	g.node("Concat", "to", []string{"n", g.ints("rest", -1)}, "axis", 0)
	g.node("Reshape", "flat", []string{"p", "to"})
	g.node("Gemm", "logits", []string{"flat", g.floats("fc", 0.2, 36, 5), g.floats("bias", 0.1, 5)})
	g.node("Softmax", "y", []string{"logits"}, "axis", 1)
	return g.model("x float[N,2,6,6]", "y float[N,5]")
}

// TestOnePackageAnswersAllBatches generates a package of each style and has its test
// compute batches of 1, 7 and 64, whose results are the interpreter's.
func TestOnePackageAnswersAllBatches(t *testing.T) {
	dir := workdir.Of(t)
	require.NoError(t, module.WriteModule(dir, "example.com/gen"))
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("m.onnx", picture(), 0o666))
	f, err := onnx.Read("m.onnx")
	require.NoError(t, err)
	m, err := f.Import(onnx.Options{})
	require.NoError(t, err)
	require.Equal(t, "f32[N,2,6,6]", m.Graph.Inputs()[0].Type().String())
	require.Equal(t, "f32[N,5]", m.Graph.Output().Arg(0).Type().String())
	row := func(i int) float64 { return math.Sin(0.7 * float64(i)) }
	var first []float32
	for k, n := range []int{1, 7, 64} {
		x := array.New(array.F32, n, 2, 6, 6)
		for i := range x.Len() {
			array.SetFloat64At(x, i, row(i))
		}
		out, err := fx.NewGraphModule(m).RunArrays(t.Context(), []*array.Array{x})
		require.NoError(t, err)
		y := array.Data[float32](array.Contiguous(out[0]))
		if first == nil {
			first = y
		}
		require.InDeltaSlice(t, first, y[:5], 1e-6, "rows do not depend on each other")
		set := fmt.Sprintf("samples/test_data_set_%d", k)
		require.NoError(t, os.MkdirAll(set, 0o777))
		tensor := func(f func(i int) float64, dims ...int) []byte {
			var b []byte
			size := 1
			for _, d := range dims {
				b, size = append(b, num(1, d)...), size*d
			}
			return joined(b, num(2, 1), msg(9, floatBytes(size, f)))
		}
		require.NoError(t, os.WriteFile(set+"/input_0.pb", tensor(row, n, 2, 6, 6), 0o666))
		require.NoError(t, os.WriteFile(set+"/output_0.pb", tensor(func(i int) float64 { return float64(y[i]) }, n, 5), 0o666))
	}
	for _, style := range []string{"kernel", "module"} {
		code, _, stderr := call("gen", "-style", style, "-o", style, "-package", "net", "-samples", "samples", "m.onnx")
		require.Zero(t, code, stderr)
	}
	out := goCommand(t, "test", "-v", "-run", "Certificate", "./...")
	for k := range 3 {
		require.Regexp(t, fmt.Sprintf(`(?s)test_data_set_%[1]d: output 0 is within.*test_data_set_%[1]d: output 0 is within`, k), out, "both styles")
	}
}

// largeModel has 5,000 nodes: blocks that repeat, and in their midst nodes that do not.
func largeModel() []byte {
	g := &protoGraph{}
	g.floats("scale", 1, 16)
	x, count := "x", 0
	add := func(op string, in ...string) string {
		count++
		return g.node(op, fmt.Sprintf("/stage%d/n%d", count/500, count), in)
	}
	for count < 4990 {
		switch k := count / 10; {
		case k%7 == 3:
			w := g.floats(fmt.Sprintf("stage%d.w%d", count/500, count), 0.2, 16, 16)
			y := add("MatMul", x, w)
			x = add("Tanh", add("Add", y, x))
		case k%11 == 5:
			y := add("Softmax", x)
			x = add("Mul", add("Add", y, x), "scale")
		default:
			x = add([]string{"Sigmoid", "Relu", "Tanh", "Softsign", "Sin"}[(k*k+count)%5], add("Add", x, "scale"))
		}
	}
	for count < 4999 {
		x = add("Neg", x)
	}
	g.node("Identity", "y", []string{x})
	return g.model("x float[N,16]", "y float[N,16]")
}

// TestLargeModel: no function of the code of a large model has more than 400 lines.
func TestLargeModel(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("m.onnx", largeModel(), 0o666))
	for _, style := range []string{"kernel", "module"} {
		code, _, stderr := call("gen", "-style", style, "-o", style, "-package", "net", "-test=false", "m.onnx")
		require.Zero(t, code, stderr)
		files, err := filepath.Glob(style + "/*.go")
		require.NoError(t, err)
		functions := 0
		for _, path := range files {
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					functions++
					lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
					require.LessOrEqual(t, lines, 400, "%s: %s", path, fn.Name.Name)
				}
			}
		}
		require.Greater(t, functions, 10, style)
	}
}

// BenchmarkLargeModel measures how long the code of a large model takes to be generated
// and to be compiled, and the memory of the compiler.
func BenchmarkLargeModel(b *testing.B) {
	dir := b.TempDir()
	require.NoError(b, module.WriteModule(dir, "example.com/gen"))
	b.Chdir(dir)
	require.NoError(b, os.WriteFile("m.onnx", largeModel(), 0o666))
	for _, style := range []string{"kernel", "module"} {
		b.Run(style, func(b *testing.B) {
			var generate, compile, imported time.Duration
			peak := 0.0
			for i := range b.N {
				start := time.Now()
				f, err := onnx.Read("m.onnx")
				require.NoError(b, err)
				_, err = f.Import(onnx.Options{})
				require.NoError(b, err)
				imported += time.Since(start)
				start = time.Now()
				pkg := fmt.Sprintf("%s%d", style, i)
				code, _, stderr := call("gen", "-style", style, "-o", pkg, "-package", "net", "-test=false", "m.onnx")
				require.Zero(b, code, stderr)
				generate += time.Since(start)
				start = time.Now()
				cmd := exec.Command("go", "build", "./"+pkg)
				cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOWORK=off", "CGO_ENABLED=0")
				out, err := cmd.CombinedOutput()
				require.NoError(b, err, "%s", out)
				compile += time.Since(start)
				if used := reflect.Indirect(reflect.ValueOf(cmd.ProcessState.SysUsage())); used.Kind() == reflect.Struct && runtime.GOOS == "linux" {
					peak = float64(used.FieldByName("Maxrss").Int()) / 1024
				}
			}
			b.ReportMetric(imported.Seconds()/float64(b.N), "s-import")
			b.ReportMetric(generate.Seconds()/float64(b.N), "s-generate")
			b.ReportMetric(compile.Seconds()/float64(b.N), "s-compile")
			b.ReportMetric(peak, "MB-compiler")
		})
	}
}
