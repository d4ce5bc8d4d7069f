package opencl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// anyDevice returns a device, and skips where there is none.
func anyDevice(t *testing.T) device.Device {
	t.Helper()
	all, err := Devices()
	if err != nil {
		require.ErrorIs(t, err, device.NoDevice)
		t.Skip(err)
	}
	t.Cleanup(func() {
		for _, d := range all {
			require.NoError(t, d.Close())
		}
	})
	return all[0]
}

const twice = "__kernel void twice(__global float *y, __global const float *x, uint n) { size_t i = get_global_id(0); if (i < n) y[i] = 2 * x[i]; }"

func TestKernelRuns(t *testing.T) {
	d := anyDevice(t)
	require.NotEmpty(t, d.Info().Name)
	require.NotEmpty(t, d.Info().Driver)
	require.Positive(t, d.Info().Memory)
	p, built, err := d.Build(twice, nil)
	require.NoError(t, err)
	require.True(t, built)
	defer p.Free()
	doubles(t, d, p)
	binary, err := p.Binary()
	require.NoError(t, err)
	again, built, err := d.Build(twice, binary)
	require.NoError(t, err)
	require.False(t, built)
	defer again.Free()
	doubles(t, d, again)
	spoilt, built, err := d.Build(twice, []byte("no binary"))
	require.NoError(t, err)
	require.True(t, built)
	defer spoilt.Free()
}

func doubles(t *testing.T, d device.Device, p device.Program) {
	t.Helper()
	k, err := p.Kernel("twice")
	require.NoError(t, err)
	defer k.Free()
	q, err := d.NewQueue()
	require.NoError(t, err)
	defer q.Free()
	whole, err := d.Alloc(2 * d.Info().Align)
	require.NoError(t, err)
	defer whole.Free()
	x, err := whole.View(0, 8)
	require.NoError(t, err)
	y, err := whole.View(d.Info().Align, 8)
	require.NoError(t, err)
	require.NoError(t, q.Write(x, []byte{0, 0, 128, 63, 0, 0, 64, 64})) // 1, 3
	require.NoError(t, q.Launch(&device.Launch{Kernel: k, Grid: [3]int{2}, Group: [3]int{4},
		Args: []device.Arg{{Buffer: y}, {Buffer: x}, {Bits: 2, Size: 4}}}))
	out := make([]byte, 8)
	require.NoError(t, q.Flush())
	require.NoError(t, q.Read(out, y))
	require.Equal(t, []byte{0, 0, 0, 64, 0, 0, 192, 64}, out)
	require.NoError(t, q.Copy(x, y, 8))
	require.NoError(t, q.Read(out, x))
	require.Equal(t, []byte{0, 0, 0, 64, 0, 0, 192, 64}, out)
	require.NoError(t, q.Finish())
}

func TestMistakesAreCodedErrors(t *testing.T) {
	d := anyDevice(t)
	_, _, err := d.Build("__kernel void broken(", nil)
	require.ErrorIs(t, err, device.BuildFailed)
	require.Contains(t, err.Error(), "expected", "the message has the compiler's log")
	p, _, err := d.Build(twice, nil)
	require.NoError(t, err)
	defer p.Free()
	_, err = p.Kernel("thrice")
	require.ErrorIs(t, err, device.DriverFailed)
	_, err = d.Alloc(1 << 60)
	require.ErrorIs(t, err, device.DriverFailed)
	b, err := d.Alloc(64)
	require.NoError(t, err)
	_, err = b.View(0, 65)
	require.Error(t, err)
	q, err := d.NewQueue()
	require.NoError(t, err)
	defer q.Free()
	require.Error(t, q.Write(b, make([]byte, 65)))
	b.Free()
	require.Error(t, q.Read(make([]byte, 4), b))
}

func TestAbsentLibraryIsOneLine(t *testing.T) {
	_, err := open([]string{"libNoSuchThing.so.1"})
	require.ErrorIs(t, err, device.NoDevice)
	require.Contains(t, err.Error(), "libNoSuchThing.so.1")
	require.ErrorIs(t, failed("x", deviceNotAvailable), device.Lost)
}
