package cuda_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	drv := cudatest.New(t)
	d := drv.Device()
	first, err := d.Alloc(1000)
	require.NoError(t, err)
	first.Free()
	second, err := d.Alloc(1024)
	require.NoError(t, err)
	third, err := d.Alloc(1024)
	require.NoError(t, err)
	s := d.Stats()
	require.Equal(t, 2, s.Allocs)
	require.Equal(t, 1, s.Reused)
	require.Equal(t, int64(2048), s.Used)
	require.Equal(t, 2, drv.Calls("cuMemAlloc_v2"))
	second.Free()
	third.Free()
	require.Zero(t, d.Stats().Used)
	require.Equal(t, int64(2048), d.Stats().Held)
	require.Equal(t, 2, drv.Alive(cudatest.Memory), "the pool keeps it")
	require.NoError(t, d.Close())
	require.Zero(t, drv.Alive(cudatest.Memory))
	require.Zero(t, d.Stats().Held)
}

// Sizes are rounded by an eighth at most.
func TestMemoryWastesLittle(t *testing.T) {
	d := cudatest.New(t).Device()
	for n := 1; n < 1<<24; n = n*17/16 + 1 {
		m, err := d.Alloc(n)
		require.NoError(t, err)
		used := d.Stats().Used
		require.GreaterOrEqual(t, used, int64(n))
		require.LessOrEqual(t, used, int64(n+max(n/8, 256)), "%d", n)
		m.Free()
	}
}

// Memory that is freed while commands will use it goes to nobody before they are done.
func TestMemoryIsFreedInUse(t *testing.T) {
	b := newBench(t)
	x, y := b.alloc(256), b.alloc(256)
	require.NoError(t, b.q.Write(x, floats(5)))
	require.NoError(t, b.q.Launch(twice(b.kernel("twice"), y, x, 1)))
	x.Free()
	other, err := b.d.NewQueue()
	require.NoError(t, err)
	z := b.alloc(256)
	require.NoError(t, other.Write(z, floats(7)))
	require.NoError(t, other.Finish())
	require.Equal(t, []float32{10}, b.read(y, 1))
	require.Zero(t, b.d.Stats().Reused)
	again := b.alloc(256)
	require.Equal(t, 1, b.d.Stats().Reused, "what used it is done")
	require.Equal(t, []float32{5}, b.read(again, 1))
}

func TestMemoryRunsOut(t *testing.T) {
	drv := cudatest.New(t)
	drv.Set("memory", 1<<20)
	d := drv.Device()
	_, err := d.Alloc(1<<20 + 1)
	require.ErrorIs(t, err, device.DriverFailed)
	require.ErrorContains(t, err, "no memory is left")
	require.Zero(t, drv.Calls("cuMemAlloc_v2"), "more than the device has is not asked for")
	a, err := d.Alloc(600 << 10)
	require.NoError(t, err)
	_, err = d.Alloc(512 << 10)
	require.ErrorIs(t, err, device.DriverFailed)
	require.ErrorContains(t, err, "CUDA_ERROR_OUT_OF_MEMORY (2)")
	a.Free()
	_, err = d.Alloc(512 << 10)
	require.NoError(t, err, "the pool gives back what it keeps")
}

// The pool gives memory back that freed buffers leave to commands under way, too.
func TestMemoryRunsOutWhileItIsUsed(t *testing.T) {
	b := newBench(t)
	b.drv.Set("memory", 4<<20)
	x, y := b.alloc(2<<20), b.alloc(1<<20)
	require.NoError(t, b.q.Write(x, floats(4)))
	require.NoError(t, b.q.Launch(twice(b.kernel("twice"), y, x, 1)))
	x.Free()
	z := b.alloc(3 << 20)
	require.Equal(t, []float32{8}, b.read(y, 1))
	z.Free()
}
