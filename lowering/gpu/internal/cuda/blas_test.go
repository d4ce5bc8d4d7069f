package cuda_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/cuda/cudatest"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

func f32s(x ...float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// TestProductsOfTheLibrary: each way in which operands may lie gives the same product.
func TestProductsOfTheLibrary(t *testing.T) {
	drv := cudatest.New(t)
	drv.UseLibraries()
	d := drv.Device()
	q, err := d.NewQueue()
	require.NoError(t, err)
	buffer := func(data []byte) device.Buffer {
		b, err := d.Alloc(len(data))
		require.NoError(t, err)
		require.NoError(t, q.Write(b, data))
		return b
	}
	// a [2, 3], b [3, 4], by rows and by columns.
	rows := map[bool]device.Buffer{false: buffer(f32s(9, 1, 2, 3, 4, 5, 6)), true: buffer(f32s(9, 1, 4, 2, 5, 3, 6))}
	columns := map[bool]device.Buffer{false: buffer(f32s(1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3)), true: buffer(f32s(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3))}
	for _, ta := range []bool{false, true} {
		for _, tb := range []bool{false, true} {
			p := device.Product{Batch: 1, M: 2, N: 4, K: 3, A: device.Matrix{Offset: 1, Lead: 3, Turned: ta}, B: device.Matrix{Lead: 4, Turned: tb}}
			if ta {
				p.A.Lead = 2
			}
			if tb {
				p.B.Lead = 3
			}
			r, name, err := d.Product(p)
			require.NoError(t, err)
			require.Equal(t, "cuBLASLt 12.4.5", name)
			out, err := d.Alloc(32)
			require.NoError(t, err)
			require.NoError(t, r.Run(q, out, rows[ta], columns[tb]))
			got := make([]byte, 32)
			require.NoError(t, q.Read(got, out))
			require.Equal(t, f32s(1, 2, 3, 14, 4, 5, 6, 32), got, "turned %v %v", ta, tb)
			r.Free()
		}
	}
	require.Equal(t, 4, drv.Products())
	drv.RefuseAll()
	_, _, err = d.Product(device.Product{Batch: 1, M: 1, N: 1, K: 1, A: device.Matrix{Lead: 1}, B: device.Matrix{Lead: 1}})
	require.ErrorIs(t, err, device.NoDevice)
}

func TestNoLibraryOfProducts(t *testing.T) {
	_, _, err := cudatest.New(t).Device().Product(device.Product{Batch: 1, M: 1, N: 1, K: 1})
	require.ErrorIs(t, err, device.NoDevice)
	require.ErrorContains(t, err, "no cuBLASLt library is installed")
	_, _, err = cudatest.New(t).Device().Convolution(device.Convolution{})
	require.ErrorContains(t, err, "no cuDNN library is installed")
}
