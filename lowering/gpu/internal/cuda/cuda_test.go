package cuda_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

const kernels = `
extern "C" __global__ __launch_bounds__(64) void twice(float *__restrict__ y, const float *__restrict__ x, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = 2 * x[i];
}
extern "C" __global__ void reverse(float *x) {
	__shared__ float s[64];
	s[threadIdx.x] = x[threadIdx.x];
	__syncthreads();
	x[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void uneven(float *x) {
	if (threadIdx.x == 0) __syncthreads();
	x[threadIdx.x] = 0;
}
`

func floats(x ...float32) []byte {
	var b []byte
	for _, f := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func numbers(b []byte) []float32 {
	var x []float32
	for ; len(b) > 0; b = b[4:] {
		x = append(x, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return x
}

// bench is a device with what most tests need.
type bench struct {
	t       *testing.T
	drv     *cudatest.Driver
	d       *cuda.Device
	q       device.Queue
	program device.Program
}

func newBench(t *testing.T) *bench {
	t.Helper()
	drv := cudatest.New(t)
	b := &bench{t: t, drv: drv, d: drv.Device()}
	var err error
	b.q, err = b.d.NewQueue()
	require.NoError(t, err)
	var built bool
	b.program, built, err = b.d.Build(kernels, nil)
	require.NoError(t, err)
	require.True(t, built)
	return b
}

func (b *bench) kernel(name string) device.Kernel {
	b.t.Helper()
	k, err := b.program.Kernel(name)
	require.NoError(b.t, err)
	return k
}

func (b *bench) alloc(bytes int) device.Buffer {
	b.t.Helper()
	m, err := b.d.Alloc(bytes)
	require.NoError(b.t, err)
	require.Equal(b.t, bytes, m.Bytes())
	return m
}

func (b *bench) read(m device.Buffer, n int) []float32 {
	b.t.Helper()
	out := make([]byte, 4*n)
	require.NoError(b.t, b.q.Read(out, m))
	return numbers(out)
}

func twice(k device.Kernel, y, x device.Buffer, n int) *device.Launch {
	return &device.Launch{Kernel: k, Grid: [3]int{(n + 63) / 64}, Group: [3]int{64},
		Args: []device.Arg{{Buffer: y}, {Buffer: x}, {Bits: uint64(n), Size: 4}}}
}

func TestDeviceIsDescribed(t *testing.T) {
	drv := cudatest.New(t)
	i := drv.Device().Info()
	require.Equal(t, device.Info{Kind: device.CUDA, Name: "Fake H100", Vendor: "NVIDIA", Driver: "CUDA 12.4; NVRTC 12.6",
		Memory: 1 << 30, Units: 132, Group: 1024, Local: 48 << 10, Vector: 1, Align: 256, Doubles: true, Arch: "sm_90"}, i)
	require.Zero(t, drv.Calls("cuDevicePrimaryCtxRetain"), "a device that is only listed takes no memory")
}

func TestKernelsRun(t *testing.T) {
	b := newBench(t)
	whole := b.alloc(1024)
	x, err := whole.View(256, 8)
	require.NoError(t, err)
	y, err := whole.View(512, 8)
	require.NoError(t, err)
	require.NoError(t, b.q.Write(x, floats(1, 3)))
	require.NoError(t, b.q.Launch(twice(b.kernel("twice"), y, x, 2)))
	require.NoError(t, b.q.Flush())
	require.Equal(t, []float32{2, 6}, b.read(y, 2))
	require.NoError(t, b.q.Copy(x, y, 8))
	require.NoError(t, b.q.Finish())
	require.Equal(t, []float32{2, 6}, b.read(x, 2))
}

func TestGroupsShareMemory(t *testing.T) {
	b := newBench(t)
	m := b.alloc(4 * 64)
	var want, in []float32
	for i := range 64 {
		in, want = append(in, float32(i)), append(want, float32(63-i))
	}
	require.NoError(t, b.q.Write(m, floats(in...)))
	require.NoError(t, b.q.Launch(&device.Launch{Kernel: b.kernel("reverse"), Group: [3]int{64}, Args: []device.Arg{{Buffer: m}}}))
	require.Equal(t, want, b.read(m, 64))
}

// Source is compiled once: what Binary gives loads without NVRTC, and what does not load
// is compiled again.
func TestBinaries(t *testing.T) {
	b := newBench(t)
	image, err := b.program.Binary()
	require.NoError(t, err)
	require.Contains(t, string(image), ".version")
	p, built, err := b.d.Build(kernels, image)
	require.NoError(t, err)
	require.False(t, built)
	require.Equal(t, 1, b.drv.Compiled())
	p.Free()
	p.Free()
	_, built, err = b.d.Build(kernels, []byte("no image"))
	require.NoError(t, err)
	require.True(t, built)

	alone, err := cuda.DevicesOf([]string{b.drv.Path}, []string{"/no/such/libnvrtc.so"}, nil, nil)
	require.NoError(t, err)
	require.Equal(t, "CUDA 12.4", alone[0].Info().Driver)
	_, built, err = alone[0].Build(kernels, image)
	require.NoError(t, err)
	require.False(t, built)
	_, _, err = alone[0].Build(kernels, nil)
	require.ErrorIs(t, err, device.NoDevice)
	require.ErrorContains(t, err, "no NVRTC library is installed")
	require.NoError(t, alone[0].Close())
}

// A driver that is older than NVRTC gets machine code.
func TestDriverThatIsOlderThanTheCompiler(t *testing.T) {
	drv := cudatest.New(t)
	drv.Set("refuse ptx", 1)
	d := drv.Device()
	p, built, err := d.Build(kernels, nil)
	require.NoError(t, err)
	require.True(t, built)
	image, err := p.Binary()
	require.NoError(t, err)
	require.Contains(t, string(image), ".target machine_90")
}

func TestSourceWithMistakes(t *testing.T) {
	d := cudatest.New(t).Device()
	_, _, err := d.Build("extern \"C\" __global__ void broken(", nil)
	require.ErrorIs(t, err, device.BuildFailed)
	require.ErrorContains(t, err, "broken", "the message has the compiler's log")
}

func TestMistakesOfCallers(t *testing.T) {
	b := newBench(t)
	_, err := b.program.Kernel("thrice")
	require.ErrorIs(t, err, device.DriverFailed)
	require.ErrorContains(t, err, "CUDA_ERROR_NOT_FOUND (500)")
	m := b.alloc(512)
	for _, at := range [][2]int{{-256, 8}, {0, 513}, {0, 0}, {8, 8}, {512, 1}} {
		_, err = m.View(at[0], at[1])
		require.Error(t, err, "%v", at)
	}
	_, err = b.d.Alloc(0)
	require.Error(t, err)
	require.Error(t, b.q.Write(m, make([]byte, 513)))
	require.Error(t, b.q.Copy(m, m, -1))
	l := twice(b.kernel("twice"), m, m, 1)
	l.Args = l.Args[:2]
	require.ErrorContains(t, b.q.Launch(l), "gets 2 arguments, it has 3")
	l = twice(b.kernel("twice"), m, m, 1)
	l.Group[0] = 2048
	require.ErrorIs(t, b.q.Launch(l), device.DriverFailed)
	m.Free()
	m.Free()
	require.Error(t, b.q.Read(make([]byte, 4), m))
	other := cudatest.New(t).Device()
	foreign, err := other.Alloc(512)
	require.NoError(t, err)
	require.Error(t, b.q.Write(foreign, make([]byte, 4)))
}
