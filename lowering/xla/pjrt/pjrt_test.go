//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

var ctx = context.Background()

func upload(t testing.TB, c *pjrt.Client, a *array.Array) *pjrt.Buffer {
	t.Helper()
	b, err := c.Upload(ctx, a, nil)
	require.NoError(t, err)
	return b
}

func download(t testing.TB, b *pjrt.Buffer) *array.Array {
	t.Helper()
	a, err := b.Download(ctx)
	require.NoError(t, err)
	return a
}

func compile(t testing.TB, c *pjrt.Client, text string, o pjrt.CompileOptions) *pjrt.Executable {
	t.Helper()
	e, err := c.Compile(text, o)
	require.NoError(t, err)
	return e
}

func TestPluginTellsOfItself(t *testing.T) {
	f := load(t)
	major, minor := f.Version()
	require.Equal(t, []int{0, 104}, []int{major, minor})
	require.Equal(t, []pjrt.NamedValue{
		{Name: "stablehlo_current_version", Value: []int64{1, 9, 3}}, {Name: "xla_version", Value: int64(2)},
		{Name: "maker", Value: "gofx tests"}, {Name: "share", Value: float32(0.5)}, {Name: "fake", Value: true},
	}, f.Attributes())
	again, err := pjrt.Load(f.Path())
	require.NoError(t, err)
	require.Same(t, f.Plugin, again)
}

func TestClientTellsOfItsDevices(t *testing.T) {
	f := load(t)
	c := f.client(t, pjrt.NamedValue{Name: "a", Value: "text"}, pjrt.NamedValue{Name: "b", Value: int64(-7)}, pjrt.NamedValue{Name: "c", Value: []int64{1, 2, 3}},
		pjrt.NamedValue{Name: "d", Value: float32(1.5)}, pjrt.NamedValue{Name: "e", Value: true})
	require.Equal(t, "fake a=text b=-7 c=3/3 d=1.5 e=yes", c.Platform())
	require.Equal(t, "fake 1.0", c.PlatformVersion())
	require.Same(t, f.Plugin, c.Plugin())
	require.Len(t, c.Devices(), 2)
	d := c.Devices()[1]
	require.Equal(t, 11, d.ID())
	require.Equal(t, 0, d.Process())
	require.Equal(t, "Fake T1", d.Kind())
	require.Equal(t, "FakeDevice(id=11)", d.String())
	require.True(t, d.Addressable())
	require.Equal(t, []pjrt.NamedValue{{Name: "xla_version", Value: int64(2)}}, d.Attributes())
	require.Equal(t, []pjrt.Memory{{ID: 1, Kind: "device"}, {ID: 0, Kind: "device"}}, d.Memories())
	stats, err := d.MemoryStats()
	require.NoError(t, err)
	require.Equal(t, pjrt.MemoryStats{InUse: 100, Peak: 200, Limit: -1}, stats)

	_, err = f.NewClient(pjrt.NamedValue{Name: "x", Value: 7})
	require.ErrorIs(t, err, pjrt.BadArgument)
}

func TestArraysGoThereAndBack(t *testing.T) {
	f := load(t)
	c := f.client(t)
	var sent int64
	for _, d := range append(array.DTypes(), array.NarrowDTypes()...) {
		for _, shape := range [][]int{{}, {3}, {2, 0, 3}, {2, 3, 4}} {
			a := array.New(d, shape...)
			for i := range array.Bytes(a) {
				array.Bytes(a)[i] = byte(i * 7)
				if d == array.Bool {
					array.Bytes(a)[i] = byte(i % 2)
				}
			}
			sent += int64(len(array.Bytes(a)))
			b := upload(t, c, a)
			require.Equal(t, d, b.DType())
			require.True(t, slices.Equal(shape, b.Shape()))
			require.Same(t, c.Devices()[0], b.Device())
			require.True(t, array.Equal(a, download(t, b)), "%s %v", d, shape)
			require.NoError(t, b.Close())
		}
	}
	stats := c.Stats()
	require.Equal(t, stats.Uploads, stats.Downloads)
	require.Equal(t, sent, stats.UploadedBytes)
	require.Equal(t, sent, stats.DownloadedBytes)
	require.Zero(t, stats.Live)
}

// What does not lie in row-major order does so on the device.
func TestViewsAreUploadedInOrder(t *testing.T) {
	f := load(t)
	c := f.client(t)
	a := array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	got := download(t, upload(t, c, array.Flip(array.Permute(a, 1, 0), 0)))
	require.Equal(t, []float32{3, 6, 2, 5, 1, 4}, array.Data[float32](got))
}

func TestCompileAndExecute(t *testing.T) {
	f := load(t)
	c := f.client(t)
	text := module("add", "2x3xf32")
	e := compile(t, c, text, pjrt.CompileOptions{})
	require.Equal(t, text, f.program())
	require.Equal(t, "add", e.Name())
	require.Equal(t, []pjrt.Output{{array.F32, []int{2, 3}}}, e.Outputs())
	require.Equal(t, c.Devices()[:1], e.Devices())
	x := upload(t, c, array.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	y := upload(t, c, array.FromSlice([]float32{10, 20, 30}, 3))
	for range 3 { // arguments are not donated
		out, err := e.Execute(ctx, []*pjrt.Buffer{x, y})
		require.NoError(t, err)
		require.Len(t, out, 1)
		require.Equal(t, []float32{11, 22, 33, 14, 25, 36}, array.Data[float32](download(t, out[0])))
		require.NoError(t, out[0].Close())
	}
	require.Equal(t, "0 1 ", f.kept())
	require.Equal(t, int64(3), c.Stats().Executions)
	require.Equal(t, int64(1), c.Stats().Compilations)
	require.Equal(t, 3, c.Stats().Live)
}

// What Execute is allowed to take, a program that says so takes.
func TestDonatedArguments(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("add jax.buffer_donor", "2xf32"), pjrt.CompileOptions{})
	x, y := upload(t, c, array.FromSlice([]float32{1, 2})), upload(t, c, array.FromSlice([]float32{10, 20}))
	for _, donate := range [][]int{nil, {0}} {
		out, err := e.Execute(ctx, []*pjrt.Buffer{x, y}, donate...)
		require.NoError(t, err)
		require.Equal(t, []float32{11, 22}, array.Data[float32](download(t, out[0])))
		require.NoError(t, out[0].Close())
	}
	require.Equal(t, "1 ", f.kept())
	require.NotEqual(t, float32(1), array.Data[float32](download(t, x))[0], "it is gone")
	require.Equal(t, []float32{10, 20}, array.Data[float32](download(t, y)))
}

func TestSerializedProgramsAreNotCompiled(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("add", "2xf32"), pjrt.CompileOptions{})
	data, err := e.Serialize()
	require.NoError(t, err)
	require.NoError(t, e.Close())
	_, err = e.Serialize()
	require.ErrorIs(t, err, pjrt.Closed)
	other := f.client(t)
	e, err = other.Load(data)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	require.Equal(t, "add", e.Name())
	require.Equal(t, []pjrt.Output{{array.F32, []int{2}}}, e.Outputs())
	one := upload(t, other, array.FromSlice([]float32{1, 2}))
	out, err := e.Execute(ctx, []*pjrt.Buffer{one, one})
	require.NoError(t, err)
	require.Equal(t, []float32{2, 4}, array.Data[float32](download(t, out[0])))
	require.NoError(t, out[0].Close())
	s := other.Stats()
	require.Equal(t, [2]int64{0, 1}, [2]int64{s.Compilations, s.Loads})
	for _, data := range [][]byte{nil, data[1:]} {
		_, err = other.Load(data)
		require.Error(t, err)
	}
	f.fail("PJRT_Executable_Serialize", 12, "not for this device")
	_, err = e.Serialize()
	require.ErrorIs(t, err, pjrt.Unimplemented)
}

func TestManyResultsAndNone(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("identity", "2xi64", "i1", "1x2x3xbf16"), pjrt.CompileOptions{})
	require.Equal(t, []pjrt.Output{{array.I64, []int{2}}, {array.Bool, []int{}}, {array.BF16, []int{1, 2, 3}}}, e.Outputs())
	in := []*pjrt.Buffer{upload(t, c, array.FromSlice([]int64{5, -6})), upload(t, c, array.Scalar(true)), upload(t, c, array.New(array.BF16, 1, 2, 3))}
	out, err := e.Execute(ctx, in)
	require.NoError(t, err)
	for i := range in {
		require.True(t, array.Equal(download(t, in[i]), download(t, out[i])))
	}
	none := compile(t, c, module("wide"), pjrt.CompileOptions{})
	out, err = none.Execute(ctx, nil)
	require.NoError(t, err)
	require.Empty(t, out)
}

// Truths from a device are 0 and 1, whatever byte it has for true; types that arrays do
// not have are refused where they would become one.
func TestWhatDevicesGiveIsChecked(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("wide", "3xcomplex<f32>", "2xi1"), pjrt.CompileOptions{})
	require.Equal(t, array.Invalid, e.Outputs()[0].DType)
	out, err := e.Execute(ctx, nil)
	require.NoError(t, err)
	_, err = out[0].Download(ctx)
	require.ErrorIs(t, err, pjrt.BadArgument)
	require.Equal(t, []bool{true, true}, array.Data[bool](download(t, out[1])))

	huge := compile(t, c, module("wide", "4xf32"), pjrt.CompileOptions{})
	out, err = huge.Execute(ctx, nil)
	require.NoError(t, err)
	defer array.SetMaxBytes(array.SetMaxBytes(8))
	_, err = out[0].Download(ctx)
	require.ErrorIs(t, err, array.CodeTooLarge)
}

func TestTwoDevices(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("add", "2xf32"), pjrt.CompileOptions{Replicas: 2, Devices: []int{11, 10}})
	d := c.Devices()
	require.Equal(t, []*pjrt.Device{d[1], d[0]}, e.Devices())
	var args [][]*pjrt.Buffer
	for i, dev := range e.Devices() {
		x, err := c.Upload(ctx, array.FromSlice([]float32{float32(i), 2}), dev)
		require.NoError(t, err)
		args = append(args, []*pjrt.Buffer{x, x})
	}
	out, err := e.ExecuteAll(ctx, args)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 4}, array.Data[float32](download(t, out[0][0])))
	require.Equal(t, []float32{2, 4}, array.Data[float32](download(t, out[1][0])))
	require.Same(t, d[1], out[0][0].Device())

	_, err = e.Execute(ctx, args[0])
	require.ErrorIs(t, err, pjrt.BadArgument)
	_, err = e.ExecuteAll(ctx, [][]*pjrt.Buffer{args[1], args[0]})
	require.ErrorIs(t, err, pjrt.BadArgument)
	require.ErrorContains(t, err, "argument 0 is on FakeDevice(id=10), the program runs on FakeDevice(id=11)")
	_, err = e.ExecuteAll(ctx, [][]*pjrt.Buffer{args[0], args[1][:1]})
	require.ErrorIs(t, err, pjrt.BadArgument)

	one := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{Devices: []int{11}})
	require.Equal(t, d[1:], one.Devices())
}

// The messages, byte by byte: field 3 of CompileOptionsProto with device_ordinal -1,
// num_replicas, num_partitions, use_spmd_partitioning and device_assignment.
func TestCompileOptionsAreProtocolBuffers(t *testing.T) {
	const noOrdinal = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	f := load(t)
	c := f.client(t)
	for want, o := range map[string]pjrt.CompileOptions{
		"\x1a\x0f" + noOrdinal + "\x20\x01" + "\x28\x01": {},
		"\x1a\x21" + noOrdinal + "\x20\x01" + "\x28\x02" + "\x30\x01" + "\x4a\x0e" + "\x08\x01" + "\x10\x02" + "\x1a\x03\x0a\x01\x0b" + "\x1a\x03\x0a\x01\x0a": {Partitions: 2, Devices: []int{11, 10}},
	} {
		compile(t, c, module("identity", "f32"), o)
		var n int64
		got := f.options(&n)
		require.Equal(t, want, string(unsafe.Slice(got, n)))
	}
	for _, o := range []pjrt.CompileOptions{{Replicas: -1}, {Partitions: 2, Devices: []int{10}}, {Devices: []int{7}}, {Devices: []int{}}, {Replicas: 1 << 40}} {
		_, err := c.Compile(module("identity", "f32"), o)
		require.ErrorIs(t, err, pjrt.BadArgument)
	}
}

func TestFailuresHaveThePluginsText(t *testing.T) {
	f := load(t)
	c := f.client(t)
	_, err := c.Compile("no program", pjrt.CompileOptions{})
	var e *diag.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, pjrt.PluginFailed, e.Code)
	require.Contains(t, e.Error(), "PJRT plugin pjrt_c_api_fake_plugin.so: PJRT_Client_Compile failed: invalid argument: syntax error: \uFFFD expected a module [FX5182]")
	require.ErrorIs(t, err, pjrt.InvalidArgument)
	require.NotErrorIs(t, err, pjrt.Internal)
	var why *pjrt.Failure
	require.ErrorAs(t, err, &why)
	require.Equal(t, "PJRT_Client_Compile", why.Func)

	x := upload(t, c, array.New(array.F32, 2))
	add := compile(t, c, module("add", "2xf32"), pjrt.CompileOptions{})
	_, err = add.Execute(ctx, []*pjrt.Buffer{x})
	require.ErrorContains(t, err, "supplied 1 buffers but compiled program expected 2")
	f.fail("PJRT_LoadedExecutable_Execute", 8, "out of memory allocating 8 bytes")
	_, err = add.Execute(ctx, []*pjrt.Buffer{x, x})
	require.ErrorIs(t, err, pjrt.ResourceExhausted)
	out, err := add.Execute(ctx, []*pjrt.Buffer{x, x})
	require.NoError(t, err)
	require.NoError(t, out[0].Close())
}

// Every function that can fail does, once: the error has its code, and nothing leaks.
func TestEveryFunctionMayFail(t *testing.T) {
	f := load(t)
	for _, name := range []string{
		"PJRT_Client_Create", "PJRT_Client_PlatformName", "PJRT_Client_PlatformVersion", "PJRT_Client_Devices", "PJRT_Device_GetDescription",
		"PJRT_DeviceDescription_Id", "PJRT_DeviceDescription_ProcessIndex", "PJRT_DeviceDescription_Kind", "PJRT_DeviceDescription_ToString", "PJRT_Device_IsAddressable",
		"PJRT_Client_Compile", "PJRT_LoadedExecutable_AddressableDevices", "PJRT_LoadedExecutable_GetExecutable", "PJRT_Executable_Name", "PJRT_Executable_NumOutputs",
		"PJRT_Executable_OutputElementTypes", "PJRT_Executable_OutputDimensions", "PJRT_Client_BufferFromHostBuffer", "PJRT_Event_Await",
		"PJRT_LoadedExecutable_Execute", "PJRT_Buffer_ElementType", "PJRT_Buffer_Dimensions", "PJRT_Buffer_ToHostBuffer",
	} {
		t.Run(name, func(t *testing.T) {
			f.fail(name, 13, "on demand")
			err := everything(f.Plugin)
			require.ErrorIs(t, err, pjrt.PluginFailed)
			require.ErrorContains(t, err, name+" failed: internal: on demand")
			f.settle(t)
			require.NoError(t, everything(f.Plugin))
		})
	}
}

// everything makes a client, compiles, runs and reads.
func everything(p *pjrt.Plugin) (err error) {
	c, err := p.NewClient()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	e, err := c.Compile(module("identity", "2xf32"), pjrt.CompileOptions{})
	if err != nil {
		return err
	}
	x, err := c.Upload(ctx, array.New(array.F32, 2), nil)
	if err != nil {
		return err
	}
	out, err := e.Execute(ctx, []*pjrt.Buffer{x})
	if err != nil {
		return err
	}
	_, err = out[0].Download(ctx)
	return err
}

// What some plugins do not have is done without.
func TestOptionalFunctions(t *testing.T) {
	f := load(t)
	f.fail("PJRT_Executable_OutputElementTypes", 12, "not here")
	c := f.client(t)
	e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
	require.Equal(t, []pjrt.Output{{}}, e.Outputs())
	f.fail("PJRT_DeviceDescription_Attributes", 12, "not here")
	require.Nil(t, f.client(t).Devices()[0].Attributes())
	f.fail("PJRT_Device_AddressableMemories", 12, "not here")
	require.Nil(t, f.client(t).Devices()[0].Memories())
	f.fail("PJRT_Device_MemoryStats", 12, "not here")
	_, err := c.Devices()[0].MemoryStats()
	require.ErrorIs(t, err, pjrt.Unimplemented)
}

func TestEventsMayEndInErrors(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
	x := upload(t, c, array.New(array.F32, 2))
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, ctx := range []context.Context{ctx, cancellable} {
		f.failEvent("the link is down")
		_, err := c.Upload(ctx, array.New(array.F32, 2), nil)
		require.ErrorIs(t, err, pjrt.PluginFailed)
		require.ErrorContains(t, err, "the link is down")
		f.failEvent("the link is down")
		_, err = x.Download(ctx)
		require.ErrorContains(t, err, "the link is down")
		f.failEvent("device lost")
		_, err = e.Execute(ctx, []*pjrt.Buffer{x})
		require.ErrorContains(t, err, "PJRT_Event_Await failed: internal: device lost")
	}
	require.Equal(t, 2, c.Stats().Live)
}

func TestArgumentsAreChecked(t *testing.T) {
	f := load(t)
	c, other := f.client(t), f.client(t)
	_, err := c.Upload(ctx, nil, nil)
	require.ErrorIs(t, err, pjrt.BadArgument)
	_, err = c.Upload(ctx, array.New(array.F32), other.Devices()[0])
	require.ErrorIs(t, err, pjrt.BadArgument)
	e := compile(t, c, module("identity", "f32"), pjrt.CompileOptions{})
	for _, b := range []*pjrt.Buffer{nil, upload(t, other, array.New(array.F32))} {
		_, err = e.Execute(ctx, []*pjrt.Buffer{b})
		require.ErrorIs(t, err, pjrt.BadArgument)
	}
}

func TestManyGoroutinesShareAClient(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("add", "3xf32"), pjrt.CompileOptions{})
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 20 {
				x, err := c.Upload(cancellable, array.FromSlice([]float32{float32(g), float32(i), 1}), nil)
				require.NoError(t, err)
				out, err := e.Execute(cancellable, []*pjrt.Buffer{x, x})
				require.NoError(t, err)
				a, err := out[0].Download(cancellable)
				require.NoError(t, err)
				require.Equal(t, []float32{float32(2 * g), float32(2 * i), 2}, array.Data[float32](a))
				require.NoError(t, x.Close())
				require.NoError(t, out[0].Close())
			}
		})
	}
	wg.Wait()
	require.Equal(t, 1, c.Stats().Live)
}

func TestStatusNames(t *testing.T) {
	require.Equal(t, "resource exhausted", pjrt.ResourceExhausted.Error())
	require.Equal(t, "unauthenticated", pjrt.Unauthenticated.Error())
	require.Equal(t, "status 99", pjrt.Status(99).Error())
	require.False(t, strings.HasSuffix((&pjrt.Failure{Status: pjrt.Internal}).Error(), ": "))
}
