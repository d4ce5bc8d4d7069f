package opencl

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptions: devices with products of four bytes get the language that has them, and all others the one that every device has;
// those that can round quotients do.
func TestOptions(t *testing.T) {
	version := func(major, minor uint32) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, major<<22|minor<<12), make([]byte, 64)...)
	}
	both := append(version(1, 2), version(3, 0)...)
	for _, c := range []struct {
		extensions string
		versions   []byte
		floats     uint64
		want       string
	}{
		{"cl_khr_fp64 cl_khr_integer_dot_product cl_khr_icd", both, 0x7f, "-cl-std=CL3.0 -w"},
		{"cl_khr_fp64 cl_khr_integer_dot_product", version(1, 2), 0x7f, "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product", nil, 0x7f, "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product", both[:70], 0x7f, "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product_other", both, 0x7f, "-cl-std=CL1.2 -w"},
		{"", both, 0x7f, "-cl-std=CL1.2 -w"},
		{"", both, 0xbf, "-cl-std=CL1.2 -w -cl-fp32-correctly-rounded-divide-sqrt"},
	} {
		require.Equal(t, c.want, options(c.extensions, c.versions, c.floats), c)
	}
	d := anyDevice(t).(*Device)
	require.Contains(t, languages(info(d.l.getDeviceInfo, d.id, deviceLanguages)), 1)
	const nearest = 1 << 2 // rounding to the nearest, which every device has
	require.NotZero(t, number(info(d.l.getDeviceInfo, d.id, deviceFloats))&nearest)
}
