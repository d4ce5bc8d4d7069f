package onnx

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
	"github.com/gofx-dev/gofx/internal/testkit/ort"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx/internal/modelfile"
)

// TestAgainstONNXRuntime compares with ONNX Runtime's results. The cases are
// testdata/ort/*.txt, and the results are next to them in *.want. GOFX_ORT=NAME writes
// those of NAME.txt again, GOFX_ORT=1 writes all. That needs the packages that
// bench/peers/install.sh installs, and a processor with VNNI: on others ONNX Runtime's sums
// of products of u8 and i8 saturate.
func TestAgainstONNXRuntime(t *testing.T) {
	files, err := filepath.Glob("testdata/ort/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		cases := readORT(t, file)
		want := strings.TrimSuffix(file, ".txt") + ".want"
		if which := os.Getenv("GOFX_ORT"); which == "1" || which == strings.TrimSuffix(filepath.Base(file), ".txt") {
			writeORT(t, ort.Start(t), cases, want)
		}
		results := readWant(t, want)
		for _, c := range cases {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt")+"/"+c.name, func(t *testing.T) {
				require.NotNil(t, results[c.name], "%s lacks it; GOFX_ORT=1 writes it", want)
				c.check(t, results[c.name])
			})
			delete(results, c.name)
		}
		require.Empty(t, results, "%s has results of no case", want)
	}
}

// ortCase is a model in text syntax with the values that it is run on.
type ortCase struct {
	name  string
	tol   Tolerance
	model *pb.Model
	back  bool // whether it is exported and imported again
	plan  bool // whether plans compute it: not where sizes follow from values
	given map[string]*array.Array
}

// ortTolerance is the allowed difference of two ways of summing and two approximations of
// functions.
var ortTolerance = Tolerance{Rel: 1e-4, Abs: 2e-6}

// readORT reads a file of cases:
//
//	=== name opset=17 ml=3 tol=1e-4 interp
//	g (float[N,4] x, float[4] w) => (float[N,4] y) { y = Add(x, w) }
//	x [2,4] -1 1
//	const w
//	n = 1 2 3
//
// Lines of values follow the model: the sizes if the model has symbols, and the range
// of the pseudo-random numbers, or the numbers. const makes an initializer.
func readORT(t *testing.T, file string) (list []ortCase) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	parts := strings.Split("\n"+string(text), "\n=== ")
	for _, part := range parts[1:] {
		head, rest, _ := strings.Cut(part, "\n")
		c := ortCase{tol: ortTolerance, plan: true, back: true, given: map[string]*array.Array{}}
		opset, ml := "17", "3"
		for i, word := range strings.Fields(head) {
			switch key, value, _ := strings.Cut(word, "="); {
			case i == 0:
				c.name = word
			case key == "opset":
				opset = value
			case key == "ml":
				ml = value
			case key == "interp":
				c.plan = false
			case key == "oneway": // cases that ONNX has no operator for
				c.back = false
			case key == "tol":
				c.tol.Rel, err = strconv.ParseFloat(value, 64)
				require.NoError(t, err)
				c.tol.Abs = c.tol.Rel
			default:
				t.Fatalf("%s: %q", file, head)
			}
		}
		end := strings.LastIndex(rest, "}") + 1 // of the model, which may have functions
		c.model = parseText(`<ir_version: 8, opset_import: ["" : ` + opset + `, "ai.onnx.ml" : ` + ml + `, "com.microsoft" : 1, "my" : 1]> ` + rest[:end])
		c.values(t, rest[end:])
		list = append(list, c)
	}
	return list
}

// values fills the inputs of the model's graph.
func (c *ortCase) values(t *testing.T, lines string) {
	spec := map[string]string{}
	consts := map[string]bool{}
	for _, line := range strings.Split(lines, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line, isConst := strings.CutPrefix(strings.TrimSpace(line), "const ")
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "" {
			spec[name], consts[name] = rest, isConst
		}
	}
	g := c.model.Graph
	var keep []*pb.ValueInfo
	for _, in := range g.Inputs {
		a := c.fill(t, in, strings.TrimSpace(spec[in.Name]))
		if !consts[in.Name] {
			keep = append(keep, in)
			c.given[in.Name] = a
		} else {
			g.Initializers = append(g.Initializers, initializer(in, a))
		}
		delete(spec, in.Name)
	}
	require.Empty(t, spec, "%s: no such inputs", c.name)
	g.Inputs = keep
}

func initializer(in *pb.ValueInfo, a *array.Array) *pb.Tensor {
	w := &pb.Tensor{Name: in.Name, Type: in.Type.Tensor.Elem}
	for _, n := range a.Shape() {
		w.Dims = append(w.Dims, int64(n))
	}
	w.Raw = append([]byte{}, a.Storage().Bytes()...)
	return w
}

// fill makes the value of an input: [sizes] range, or = numbers.
func (c *ortCase) fill(t *testing.T, in *pb.ValueInfo, spec string) *array.Array {
	d, derr := modelfile.DTypeOf(in.Type.Tensor.Elem)
	require.Nil(t, derr)
	var dims []int
	for _, s := range in.Type.Tensor.Shape.Dims {
		dims = append(dims, int(s.Size))
	}
	if strings.HasPrefix(spec, "[") {
		sizes, rest, _ := strings.Cut(spec[1:], "]")
		spec, dims = strings.TrimSpace(rest), nil
		for _, f := range strings.FieldsFunc(sizes, func(r rune) bool { return r == ',' || r == ' ' }) {
			n, err := strconv.Atoi(f)
			require.NoError(t, err)
			dims = append(dims, n)
		}
	}
	a := array.New(d, dims...)
	if numbers, ok := strings.CutPrefix(spec, "="); ok {
		fields := strings.Fields(numbers)
		require.Len(t, fields, a.Len(), "%s: %s", c.name, in.Name)
		for i, f := range fields {
			setText(t, a, i, f)
		}
		return a
	}
	low, high := -1.0, 1.0
	switch d {
	case array.U8:
		low, high = 0, 255
	case array.I8:
		low, high = -128, 127
	case array.Bool:
		low, high = 0, 1
	}
	if spec != "" {
		_, err := fmt.Sscan(spec, &low, &high)
		require.NoError(t, err, "%s: %s", c.name, in.Name)
	} else {
		require.True(t, d.IsFloat() || d.Size() == 1, "%s: %s has no range", c.name, in.Name)
	}
	h := fnv.New64a()
	h.Write([]byte(c.name + "/" + in.Name))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	for i := range a.Len() {
		if d.IsFloat() {
			array.SetFloat64At(a, i, low+(high-low)*r.Float64())
		} else {
			array.SetInt64At(a, i, int64(low)+int64(r.Float64()*(high-low+1)))
		}
	}
	return a
}

func setText(t *testing.T, a *array.Array, i int, text string) {
	if a.DType().IsFloat() {
		f, err := strconv.ParseFloat(text, 64)
		require.NoError(t, err)
		array.SetFloat64At(a, i, f)
		return
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	array.SetInt64At(a, i, n)
}

func textAt(a *array.Array, i int) string {
	if a.DType().IsFloat() {
		return strconv.FormatFloat(array.Float64At(a, i), 'g', -1, 32)
	}
	return strconv.FormatInt(array.Int64At(a, i), 10)
}

// check runs the case in the interpreter and as a plan, and prints it as Go in both styles.
func (c *ortCase) check(t *testing.T, want []*array.Array) {
	f, err := Parse(pb.Append(nil, c.model), "model.onnx")
	require.NoError(t, err)
	m, bound, err := f.ImportFor(c.given, Options{})
	require.NoError(t, err)
	require.NoError(t, graph.Lint(m.Graph).Err())
	s := Sample{Inputs: c.given, Outputs: want}
	args := f.Args(s, bound)
	p := interp.Interpreter{State: interp.NewState(m)}
	got, err := p.RunArrays(context.Background(), args)
	require.NoError(t, err)
	_, err = s.Check(got, c.tol)
	require.NoError(t, err, "interp")
	if c.back {
		c.again(t, m, args, s)
	}
	if !c.plan {
		return
	}
	exe, err := cpu.Compile(m, lowering.Options{})
	require.NoError(t, err)
	defer exe.Close()
	got, err = exe.Run(context.Background(), args)
	require.NoError(t, err)
	_, err = s.Check(got, c.tol)
	require.NoError(t, err, "plan")
	_, err = codegen.Kernel(exe.Plan(), m.Values(), codegen.KernelOptions{Package: "model", Weights: codegen.WeightsEmbed})
	require.NoError(t, err, "kernel style")
	_, err = codegen.Module(m, codegen.ModuleOptions{Package: "model", Path: "example.com/model", Weights: true})
	require.NoError(t, err, "module style")
}

// again exports an imported graph, and imports the result.
func (c *ortCase) again(t *testing.T, m *graph.Module, args []*array.Array, s Sample) {
	var b bytes.Buffer
	require.NoError(t, Export(&b, m, ExportOptions{}))
	f, err := Parse(b.Bytes(), "again.onnx")
	require.NoError(t, err)
	back, err := f.Import(Options{})
	require.NoError(t, err)
	p := interp.Interpreter{State: interp.NewState(back)}
	got, err := p.RunArrays(context.Background(), args)
	require.NoError(t, err)
	_, err = s.Check(got, c.tol)
	require.NoError(t, err, "imported again")
}

// readWant reads results: === name, then a line for each output, its type, its sizes and
// its elements.
func readWant(t *testing.T, file string) map[string][]*array.Array {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	results := map[string][]*array.Array{}
	name := ""
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if n, ok := strings.CutPrefix(line, "=== "); ok {
			name = n
			continue
		}
		fields := strings.Fields(line)
		typ, sizes, _ := strings.Cut(strings.TrimSuffix(fields[0], "]"), "[")
		var dims []int
		for _, s := range strings.Split(sizes, ",") {
			if s != "" {
				n, err := strconv.Atoi(s)
				require.NoError(t, err)
				dims = append(dims, n)
			}
		}
		d, ok := ort.ParseType(typ)
		require.True(t, ok, typ)
		a := array.New(d, dims...)
		require.Len(t, fields[1:], a.Len())
		for i, f := range fields[1:] {
			setText(t, a, i, f)
		}
		results[name] = append(results[name], a)
	}
	return results
}

// writeORT runs the cases with ONNX Runtime and writes the results.
func writeORT(t *testing.T, o *ort.Runtime, cases []ortCase, want string) {
	var b bytes.Buffer
	for _, c := range cases {
		results, err := o.Run(ort.Model{Data: pb.Append(nil, c.model), Plain: true}, c.given)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		fmt.Fprintf(&b, "=== %s\n", c.name)
		for _, a := range results[0] {
			fmt.Fprintf(&b, "%s%s", ort.TypeName(a.DType()), strings.ReplaceAll(fmt.Sprint(a.Shape()), " ", ","))
			for i := range a.Len() {
				b.WriteString(" " + textAt(a, i))
			}
			b.WriteString("\n")
		}
	}
	require.NoError(t, os.WriteFile(want, b.Bytes(), 0o644))
}
