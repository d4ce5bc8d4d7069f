package codegen_test

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/codegen"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// withDefault adds a parameter and an input with a default to its first input.
func withDefault() *graph.Module {
	g := graph.New("scaled")
	m := graph.NewModule(g)
	m.SetParam(graph.Param{Path: "w", Value: array.FromSlice([]float32{10, 20, 30})})
	c := g.At()
	x := c.Placeholder("x", shape.TensorType(array.F32, shape.Of(shape.Sym("N"), shape.Const(3))), nil)
	g.DefineSymbol("N", x, 0)
	b := c.Placeholder("bias", shape.TensorType(array.F32, shape.ConstDims(3)), array.FromSlice([]float32{1, 2, 3}))
	y := c.Function(std.Add, nil, x, b)
	c.Output(nil, c.Function(std.Add, nil, y, c.GetAttr("w")))
	return m
}

// defaultText calls the model without the input that has a default, then with
// weights of which a byte has changed.
const defaultText = `
		x := array.NewDense[float32](2, 3)
		y, err := m.Forward(ctx, x, array.Dense[float32]{})
		check(err)
		if got := y.Data(); got[0] != 11 || got[5] != 33 {
			fmt.Println("error: the default was not used:", got)
			os.Exit(1)
		}
		check(m.ForwardInto(ctx, x, array.DenseOf([]float32{0, 0, 1}), y))
		if got := y.Data(); got[0] != 10 || got[5] != 31 {
			fmt.Println("error: the default was used:", got)
			os.Exit(1)
		}
		_, err = m.Forward(ctx, array.Dense[float32]{}, array.Dense[float32]{})
		failure(err)
		file, err := os.ReadFile("PACKAGE/weights.safetensors")
		check(err)
		check(m.Reload(bytes.NewReader(file), int64(len(file))))
		file[len(file)-1] ^= 1
		failure(m.Reload(bytes.NewReader(file), int64(len(file))))
		y, err = m.Forward(ctx, x, array.Dense[float32]{})
		check(err)
		if y.Data()[0] != 11 {
			fmt.Println("error: the weights are gone")
			os.Exit(1)
		}
`

func TestInputsHaveDefaultsAndWeightsAreChecked(t *testing.T) {
	var g op.Gen
	c := &kernelCase{name: "scaled", module: withDefault(), flat: true, symbols: []string{"N"}, sizes: [][]int{{4}}, opts: codegen.KernelOptions{Weights: codegen.WeightsEmbed},
		inputs: [][]*array.Array{{g.Normal(4, 3), g.Normal(3)}}, extra: strings.ReplaceAll(defaultText, "PACKAGE", "scaled")}
	_, failures := runCases(t, []*kernelCase{c})
	require.Len(t, failures, 2)
	require.Regexp(t, `^input "x" is missing \[FX1020\]`, failures[0])
	require.Regexp(t, `tensor "w" has checksum [0-9a-f]{8}, expected [0-9a-f]{8} \[FX8016\]`, failures[1])

	want, err := c.exec.Run(background, []*array.Array{array.New(array.F32, 1, 3), nil})
	require.NoError(t, err)
	require.Equal(t, []float32{11, 22, 33}, array.Data[float32](want[0]), "the executor agrees")
	file, err := safetensors.Parse(c.files.Get("weights.safetensors"))
	require.NoError(t, err)
	require.Equal(t, []string{"bias.default", "w"}, file.Names())
	require.Contains(t, string(c.files.Get("model.go")), "//\tbias f32[3], with a default\n")
}

func TestEjectedCodeIsTheUsers(t *testing.T) {
	allowed := regexp.MustCompile(`^(github\.com/gofx-dev/gofx/(array|array/safetensors|kernel|diag)|[a-z/]+)$`)
	for _, mode := range []codegen.WeightsMode{codegen.WeightsLiteral, codegen.WeightsEmbed} {
		kept := kernelFiles(t, withDefault(), codegen.KernelOptions{Weights: mode})
		for i, f := range kernelFiles(t, withDefault(), codegen.KernelOptions{Weights: mode, Eject: true}).List {
			if !strings.HasSuffix(f.Name, ".go") {
				require.Equal(t, kept.List[i], f)
				continue
			}
			require.NotContains(t, string(f.Data), "DO NOT EDIT")
			require.Equal(t, string(kept.List[i].Data), "// "+codegen.Header+"\n\n"+string(bytes.TrimLeft(f.Data, "\n")), "nothing else differs")
			tree, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.ImportsOnly)
			require.NoError(t, err)
			for _, x := range tree.Imports {
				require.Regexp(t, allowed, strings.Trim(x.Path.Value, `"`))
			}
		}
	}
}

// raceText shares one model between goroutines while its weights are replaced.
const raceText = `package main

import (
	"bytes"
	"context"
	"os"
	"sync"

	"example.com/gen/net"
	"github.com/gofx-dev/gofx/array"
)

func main() {
	m, err := net.New()
	if err != nil {
		panic(err)
	}
	file, err := os.ReadFile("net/weights.safetensors")
	if err != nil {
		panic(err)
	}
	m.Threads = 3
	var all sync.WaitGroup
	for i := range 6 {
		all.Go(func() {
			for k := range 20 {
				if i == 0 {
					if err := m.Reload(bytes.NewReader(file), int64(len(file))); err != nil {
						panic(err)
					}
					continue
				}
				x := array.NewDense[float32](1+k%3, 40+i, 16)
				if _, err := m.Forward(context.Background(), x); err != nil {
					panic(err)
				}
			}
		})
	}
	all.Wait()
}
`

func TestNightlyGeneratedCodeHasNoRaces(t *testing.T) {
	if os.Getenv("GOFX_NIGHTLY") != "1" {
		t.Skip("GOFX_NIGHTLY is not 1")
	}
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("the race detector needs a C compiler")
	}
	dir := tempModule(t)
	files := kernelFiles(t, traced(t, newEncoder(3, 3), encoderSpec("f32[N,S,16]")), codegen.KernelOptions{Package: "net", Weights: codegen.WeightsEmbed})
	writeFiles(t, filepath.Join(dir, "net"), files)
	write(t, filepath.Join(dir, "main.go"), []byte(raceText))
	goTool(t, dir, []string{"CGO_ENABLED=1"}, "run", "-race", ".")
}
