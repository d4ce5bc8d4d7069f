//go:build linux && amd64

package pjrt_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

// xlaCPU loads XLA's plugin for processors, which a Python wheel brings.
func xlaCPU(t testing.TB) *pjrt.Plugin {
	t.Helper()
	p, err := pjrt.Load(pyenv.File(t, "fastatomstruct_xla_cpu", "libpjrt_cpu.so"))
	require.NoError(t, err)
	return p
}

// xlaClient makes a client of some devices.
func xlaClient(t testing.TB, devices int) *pjrt.Client {
	t.Helper()
	c, err := xlaCPU(t).NewClient(pjrt.NamedValue{Name: "cpu_device_count", Value: int64(devices)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// onAll uploads an array for each device.
func onAll(t testing.TB, c *pjrt.Client, e *pjrt.Executable, part func(i int) *array.Array) [][]*pjrt.Buffer {
	t.Helper()
	var args [][]*pjrt.Buffer
	for i, d := range e.Devices() {
		b, err := c.Upload(ctx, part(i), d)
		require.NoError(t, err)
		args = append(args, []*pjrt.Buffer{b})
	}
	return args
}

func TestXLATellsOfItself(t *testing.T) {
	p := xlaCPU(t)
	major, minor := p.Version()
	require.Zero(t, major)
	require.GreaterOrEqual(t, minor, 104)
	i := slices.IndexFunc(p.Attributes(), func(v pjrt.NamedValue) bool { return v.Name == "stablehlo_current_version" })
	require.GreaterOrEqual(t, i, 0)
	require.Len(t, p.Attributes()[i].Value, 3)
	c := xlaClient(t, 8)
	require.Equal(t, "cpu", c.Platform())
	require.Len(t, c.Devices(), 8)
	for i, d := range c.Devices() {
		require.Equal(t, i, d.ID())
		require.True(t, d.Addressable())
		require.Equal(t, "cpu", d.Kind())
		require.NotEmpty(t, d.Memories())
		_, err := d.MemoryStats()
		require.ErrorIs(t, err, pjrt.Unimplemented)
	}
}

// The plugin is found where pip has put it.
func TestXLAIsFound(t *testing.T) {
	alone(t)
	path := xlaCPU(t).Path()
	t.Setenv("VIRTUAL_ENV", filepath.Join(filepath.Dir(path), "..", "..", "..", ".."))
	p, err := pjrt.Open("cpu")
	require.NoError(t, err)
	have, err := os.Stat(p.Path())
	require.NoError(t, err)
	want, err := os.Stat(path)
	require.NoError(t, err)
	require.True(t, os.SameFile(want, have))
}

func TestXLAArraysGoThereAndBack(t *testing.T) {
	c := xlaClient(t, 2)
	for _, d := range append(array.DTypes(), array.NarrowDTypes()...) {
		for _, shape := range [][]int{{}, {3}, {2, 0, 3}, {2, 3, 4}, {5, 7}} {
			a := array.New(d, shape...)
			for i := range array.Bytes(a) {
				array.Bytes(a)[i] = byte(i * 7)
			}
			if d.Bits() < 8 || d == array.Bool { // values that the type has
				for i := range a.Len() {
					array.SetFloat64At(a, i, float64(i%2))
				}
			}
			b, err := c.Upload(ctx, a, c.Devices()[1])
			require.NoError(t, err, "%s", d)
			require.Equal(t, d, b.DType())
			require.True(t, slices.Equal(shape, b.Shape()))
			require.Equal(t, array.Bytes(a), array.Bytes(download(t, b)), "%s %v", d, shape)
			require.NoError(t, b.Close())
		}
	}
	require.Zero(t, c.Stats().Live)
}

const addText = `module @add {
  func.func public @main(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<i1>) {
    %c = stablehlo.add %a, %b : tensor<2x3xf32>
    %t = stablehlo.constant dense<true> : tensor<i1>
    return %c, %t : tensor<2x3xf32>, tensor<i1>
  }
}
`

// Text, the bytecode that JAX writes of it, and what the plugin kept of it run the same.
func TestXLACompilesRunsAndKeeps(t *testing.T) {
	c := xlaClient(t, 1)
	x := upload(t, c, array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	y := upload(t, c, array.FromSlice([]float32{10, 20, 30, 40, 50, 60}, 2, 3))
	runs := func(e *pjrt.Executable) {
		require.Equal(t, []pjrt.Output{{array.F32, []int{2, 3}}, {array.Bool, []int{}}}, e.Outputs())
		require.Equal(t, c.Devices(), e.Devices())
		for range 3 { // arguments are not donated
			out, err := e.Execute(ctx, []*pjrt.Buffer{x, y})
			require.NoError(t, err)
			require.Equal(t, []float32{11, 22, 33, 44, 55, 66}, array.Data[float32](download(t, out[0])))
			require.Equal(t, []bool{true}, array.Data[bool](download(t, out[1])))
		}
		require.NoError(t, e.Close())
	}
	e := compile(t, c, addText, pjrt.CompileOptions{})
	require.Equal(t, "add", e.Name())
	data, err := e.Serialize()
	require.NoError(t, err)
	runs(e)
	e, err = c.Load(data)
	require.NoError(t, err)
	runs(e)
	bytecode, err := os.ReadFile("testdata/add.mlirbc")
	require.NoError(t, err)
	runs(compile(t, c, string(bytecode), pjrt.CompileOptions{}))
	for _, broken := range [][]byte{data[1:], data[:len(data)/2], []byte("nonsense")} {
		_, err := c.Load(broken)
		require.ErrorIs(t, err, pjrt.PluginFailed)
	}
}

// The plugin's errors have its text and its code.
func TestXLAReportsErrors(t *testing.T) {
	c := xlaClient(t, 1)
	for _, p := range []struct {
		text, says string
		kind       pjrt.Status
	}{
		{"nonsense", "error: custom op 'nonsense' is unknown", pjrt.Unknown}, // and nothing after the text is read
		{"module {}", "requires module with `main` function", pjrt.Unknown},
		{"module { func.func @main() -> tensor<f32> { %0 = stablehlo.custom_call @nowhere() : () -> tensor<f32> return %0 : tensor<f32> } }", "custom call to nowhere", pjrt.NotFound},
	} {
		_, err := c.Compile(p.text, pjrt.CompileOptions{})
		require.ErrorIs(t, err, pjrt.PluginFailed)
		require.ErrorIs(t, err, p.kind)
		require.ErrorContains(t, err, p.says)
	}
	huge := compile(t, c, "module { func.func @main() -> tensor<1000000000000x100xf32> { %0 = stablehlo.iota dim = 0 : tensor<1000000000000x100xf32> return %0 : tensor<1000000000000x100xf32> } }", pjrt.CompileOptions{})
	_, err := huge.Execute(ctx, nil)
	require.ErrorIs(t, err, pjrt.ResourceExhausted)
	add := compile(t, c, addText, pjrt.CompileOptions{})
	x := upload(t, c, array.New(array.F32, 2, 3))
	for _, args := range [][]*pjrt.Buffer{{x}, {x, upload(t, c, array.New(array.F32, 7))}, {x, upload(t, c, array.New(array.F64, 2, 3))}} {
		_, err = add.Execute(ctx, args)
		require.ErrorIs(t, err, pjrt.InvalidArgument)
	}
}

// What is given up for a program that takes it is gone: the error comes with the event of the copy.
func TestXLATakesDonatedArguments(t *testing.T) {
	c := xlaClient(t, 1)
	e := compile(t, c, `module { func.func public @main(%a: tensor<1024xf32> {jax.buffer_donor = true}) -> tensor<1024xf32> {
  %c = stablehlo.add %a, %a : tensor<1024xf32>
  return %c : tensor<1024xf32> } }`, pjrt.CompileOptions{})
	memory, err := e.Memory()
	require.NoError(t, err)
	require.Equal(t, pjrt.CompiledMemory{Arguments: 4096, Outputs: 4096, Aliased: 4096, Peak: 4096}, memory)
	x := upload(t, c, array.New(array.F32, 1024))
	for range 2 {
		out, err := e.Execute(ctx, []*pjrt.Buffer{x})
		require.NoError(t, err)
		require.NoError(t, out[0].Close())
	}
	_, err = e.Execute(ctx, []*pjrt.Buffer{x}, 0)
	require.NoError(t, err)
	_, err = x.Download(ctx)
	require.ErrorIs(t, err, pjrt.InvalidArgument)
	require.ErrorContains(t, err, "PJRT_Event_Await failed")
	_, err = e.Execute(ctx, []*pjrt.Buffer{x})
	require.ErrorContains(t, err, "deleted or donated")
}

const sumOfAll = `module { func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.all_reduce"(%a) ({ ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.add %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0,1,2,3,4,5,6,7]]> : tensor<1x8xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32> } }`

func TestXLAEightDevices(t *testing.T) {
	c := xlaClient(t, 8)
	e := compile(t, c, sumOfAll, pjrt.CompileOptions{Replicas: 8})
	code, format, err := e.Optimized()
	require.NoError(t, err)
	require.Equal(t, "hlo_with_config", format)
	require.Contains(t, string(code), "all-reduce")
	for range 3 {
		out, err := e.ExecuteAll(ctx, onAll(t, c, e, func(i int) *array.Array { return array.FromSlice([]float32{1, 2, float32(i), 4}) }))
		require.NoError(t, err)
		for i, o := range out {
			require.Same(t, e.Devices()[i], o[0].Device())
			require.Equal(t, []float32{8, 16, 28, 32}, array.Data[float32](download(t, o[0])))
		}
	}
	last := compile(t, c, addText, pjrt.CompileOptions{Devices: []int{7}})
	require.Equal(t, c.Devices()[7:], last.Devices())
	_, err = c.Compile(sumOfAll, pjrt.CompileOptions{Replicas: 9})
	require.ErrorIs(t, err, pjrt.BadArgument)
	require.ErrorContains(t, err, "9 replicas of 1 partition need 9 devices, the client has 8")
}

// loopText multiplies matrices as often as is said.
const loopText = `module { func.func public @main(%n: tensor<i32>, %a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, tensor<64x64xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %j, %y : tensor<i32>, tensor<64x64xf32>
  }
  return %r#1 : tensor<64x64xf32> } }`

// Close does not wait for a run that the caller gave up; the run ends and frees what it had.
func TestXLACloseWhileItRuns(t *testing.T) {
	c, err := xlaCPU(t).NewClient()
	require.NoError(t, err)
	e := compile(t, c, loopText, pjrt.CompileOptions{})
	x, n := upload(t, c, array.New(array.F32, 64, 64)), upload(t, c, array.Scalar(int32(100_000)))
	short, end := context.WithTimeout(ctx, time.Millisecond)
	defer end()
	_, err = e.Execute(short, []*pjrt.Buffer{n, x})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, c.Close())
	require.Zero(t, c.Stats().Live)
	_, err = e.Execute(ctx, []*pjrt.Buffer{n, x})
	require.ErrorIs(t, err, pjrt.Closed)
}

func TestXLAManyGoroutines(t *testing.T) {
	c := xlaClient(t, 2)
	e := compile(t, c, addText, pjrt.CompileOptions{})
	y := upload(t, c, array.New(array.F32, 2, 3))
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range 50 {
				data := []float32{float32(g), float32(i), 1, 2, 3, 4}
				x, err := c.Upload(cancellable, array.FromSlice(slices.Clone(data), 2, 3), nil)
				require.NoError(t, err)
				out, err := e.Execute(cancellable, []*pjrt.Buffer{x, y})
				require.NoError(t, err)
				a, err := out[0].Download(cancellable)
				require.NoError(t, err)
				require.Equal(t, data, array.Data[float32](a))
				for _, b := range append(out, x) {
					require.NoError(t, b.Close())
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, 2, c.Stats().Live)
}

// What is closed is freed: a thousand times what a run takes is more than the process may grow by.
func TestXLA_freesClosedObjects(t *testing.T) {
	c := xlaClient(t, 1)
	e := compile(t, c, `module { func.func public @main(%a: tensor<262144xf32>) -> tensor<262144xf32> { %c = stablehlo.add %a, %a : tensor<262144xf32> return %c : tensor<262144xf32> } }`, pjrt.CompileOptions{})
	data, err := e.Serialize()
	require.NoError(t, err)
	a := array.New(array.F32, 262144)
	round := func() {
		x := upload(t, c, a)
		out, err := e.Execute(ctx, []*pjrt.Buffer{x})
		require.NoError(t, err)
		require.NoError(t, out[0].Close())
		require.NoError(t, x.Close())
	}
	for range 20 {
		round()
	}
	before := resident(t)
	for range 500 {
		round()
	}
	for range 20 {
		again, err := c.Load(data)
		require.NoError(t, err)
		_, err = again.Execute(ctx, nil)
		require.ErrorIs(t, err, pjrt.InvalidArgument)
		require.NoError(t, again.Close())
	}
	require.Equal(t, 1, c.Stats().Live)
	require.Less(t, resident(t)-before, 200<<20, "1,000 MiB went through")
}

// resident is the memory of this process.
func resident(t testing.TB) int {
	text, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	var size, pages int
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * os.Getpagesize()
}
