package gpu_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
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
	d := gpu.Using(alone[0])
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
