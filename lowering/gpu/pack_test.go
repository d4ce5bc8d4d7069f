package gpu_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/run"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/shape"
)

// TestOnlyTheDriver: what was compiled elsewhere runs on a machine that has no compiler.
func TestOnlyTheDriver(t *testing.T) {
	drv := cudatest.New(t)
	m := parsed(t, mlp)
	o := lowering.Options{Shapes: map[string]int{"N": 3}}
	text, err := gpu.Text(m, o, gpu.CUDA)
	require.NoError(t, err)
	built, _, err := drv.Device().Build(text, nil)
	require.NoError(t, err)
	image, err := built.Binary()
	require.NoError(t, err)
	built.Free()
	var p gpu.Pack
	p.Add(text, image)
	read, err := gpu.ReadPack(p.Bytes())
	require.NoError(t, err)
	require.Equal(t, 1, read.Len())

	alone, err := cuda.DevicesOf([]string{drv.Path}, []string{"/no/such/libnvrtc.so"}, nil, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, alone[0].Close()) })
	compiled := drv.Compiled()
	d := run.NewDevice(alone[0])
	e, err := gpu.Target{Device: d, Cache: "-", Pack: read}.Compile(m, o)
	require.NoError(t, err)
	x := ramp(3, 8)
	got, err := e.Run(ctx, []*array.Array{x})
	require.NoError(t, err)
	fxtest.Close(t, "mlp", interpreted(t, m, x), got)
	require.NoError(t, e.Close())
	require.Equal(t, compiled, drv.Compiled())
	require.Equal(t, gpu.BuildStats{Loaded: 1}, d.Builds())

	for name, pack := range map[string]*gpu.Pack{"none": nil, "of other sizes": read} {
		_, err = gpu.Target{Device: d, Cache: "-", Pack: pack}.Compile(m, lowering.Options{Shapes: map[string]int{"N": 4}})
		require.ErrorIs(t, err, gpu.NoDevice, name)
		require.ErrorContains(t, err, "no NVRTC library is installed")
	}
}

// A pack is made where a compiler is, and embedded in the program that has none.
func ExampleReadPack() {
	const source = "extern \"C\" __global__ void k() {}" // of Text, or fxgen lower -target cuda
	var p gpu.Pack
	p.Add(source, []byte(".version 8.0 ...")) // what clang or nvcc made of it
	read, err := gpu.ReadPack(p.Bytes())
	fmt.Println(read.Len(), err)
	_ = gpu.Target{Pack: read}
	// Output: 1 <nil>
}

// TestPacksLeaveLibrariesOut: what follows a product of a library has kernels that no pack has; the
// settings of a target are in the sources that it prints.
func TestPacksLeaveLibrariesOut(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	m := parsed(t, libraryProducts)
	in := []*array.Array{ramp(130, 128), ramp(2, 130, 128), array.Cast(ramp(128, 130), array.F16)}
	g := gpu.Target{Cache: "-", TF32: true}
	text, err := g.Text(m, lowering.Options{}, gpu.CUDA)
	require.NoError(t, err)
	exact, err := gpu.Text(m, lowering.Options{}, gpu.CUDA)
	require.NoError(t, err)
	require.NotEqual(t, exact, text)
	built, _, err := drv.Device().Build(text, nil)
	require.NoError(t, err)
	image, err := built.Binary()
	require.NoError(t, err)
	built.Free()
	g.Pack = &gpu.Pack{}
	g.Pack.Add(text, image)

	for name, nvrtc := range map[string]string{"no compiler": "/no/such/libnvrtc.so", "a compiler": drv.NVRTC} {
		t.Run(name, func(t *testing.T) {
			list, err := cuda.DevicesOf([]string{drv.Path}, []string{nvrtc}, []string{drv.BLAS}, []string{drv.DNN})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, list[0].Close()) })
			g.Device = run.NewDevice(list[0])
			e, err := g.Compile(m, lowering.Options{})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Close()) }()
			_, err = e.Run(ctx, in)
			require.NoError(t, err)
			s := e.(*gpu.Executable).Stats()
			require.Zero(t, s.Library)
			require.Positive(t, s.Tensor, "tf32")
			require.Equal(t, gpu.BuildStats{Loaded: 1}, g.Device.Builds(), "the pack comes before a compiler")
		})
	}
}

// What a network's kernels are for sizes and settings is printed where a compiler is, and packed
// with what that makes of it. The other machine's target has the same settings.
func ExampleTarget_Text() {
	m, err := graph.Parse([]byte("gofx 1\ngraph g(%x: f32[N,64], %w: f32[64,64]) {\n  symbol N = dim(%x, 0)\n  %y = call_function[matmul](%x, %w)\n  return %y\n}\n"), "g.fx")
	if err != nil {
		fmt.Println(err)
		return
	}
	compile := func(source string) (ptx []byte) { return []byte(".version 8.0 ...") } // nvcc -ptx --fmad=false -arch=compute_80

	t := gpu.Target{TF32: true}
	text, err := t.Text(m, lowering.Options{Shapes: map[string]int{"N": 64}}, gpu.CUDA)
	if err != nil {
		fmt.Println(err)
		return
	}
	var p gpu.Pack
	p.Add(text, compile(text))
	file := p.Bytes() // which the program for the other machine embeds

	t.Pack, err = gpu.ReadPack(file)
	fmt.Println(t.Pack.Has(text), err)
	// Output: true <nil>
}

// TestTextOfWeightsThatAreNotLoaded: kernels are those of the types, and the module stays without data.
func TestTextOfWeightsThatAreNotLoaded(t *testing.T) {
	m := parsed(t, mlp)
	o := lowering.Options{Shapes: map[string]int{"N": 3}}
	want, err := gpu.Text(m, o, gpu.CUDA)
	require.NoError(t, err)
	for _, p := range m.Params() {
		bare := graph.Param{Path: p.Path, Type: p.TypeOf(), Buffer: p.Buffer}
		m.SetParam(bare)
	}
	text, err := gpu.Text(m, o, gpu.CUDA)
	require.NoError(t, err)
	require.Equal(t, want, text)
	for _, p := range m.Params() {
		require.Nil(t, p.Value)
	}
}

// TestAbsentKindsSayWhy: a device of a kind that this machine has none of is refused with the reason.
func TestAbsentKindsSayWhy(t *testing.T) {
	for kind, why := range gpu.Absent() {
		_, err := gpu.Open(kind + ":card")
		require.ErrorIs(t, err, gpu.NoDevice)
		e, ok := errors.AsType[*diag.Error](why)
		require.True(t, ok)
		require.ErrorContains(t, err, e.Msg)
	}
}

// TestNamesInComments: no name of a graph, an input or a call leaves the comments of a text.
func TestNamesInComments(t *testing.T) {
	g := graph.New("a\nint evil;")
	m := graph.NewModule(g)
	c := g.At()
	x := c.Placeholder("x\n} evil \\", shape.TensorType(array.F32, shape.ConstDims(2)), nil)
	c.Output(nil, c.Function(std.Relu, nil, x))
	text, err := gpu.Text(m, lowering.Options{}, gpu.OpenCL)
	require.NoError(t, err)
	comments, _, _ := strings.Cut(text, "\n\n")
	require.Contains(t, comments, "evil")
	for _, line := range strings.Split(comments, "\n") {
		require.True(t, strings.HasPrefix(line, "//"), line)
		require.False(t, strings.HasSuffix(line, `\`), line)
	}
}
