package opencl

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptions: devices with products of four bytes get the language that has them, and all others the one that every device has.
func TestOptions(t *testing.T) {
	version := func(major, minor uint32) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, major<<22|minor<<12), make([]byte, 64)...)
	}
	both := append(version(1, 2), version(3, 0)...)
	for _, c := range []struct {
		extensions string
		versions   []byte
		want       string
	}{
		{"cl_khr_fp64 cl_khr_integer_dot_product cl_khr_icd", both, "-cl-std=CL3.0 -w"},
		{"cl_khr_fp64 cl_khr_integer_dot_product", version(1, 2), "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product", nil, "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product", both[:70], "-cl-std=CL1.2 -w"},
		{"cl_khr_integer_dot_product_other", both, "-cl-std=CL1.2 -w"},
		{"", both, "-cl-std=CL1.2 -w"},
	} {
		require.Equal(t, c.want, options(c.extensions, c.versions), c)
	}
	d := anyDevice(t).(*Device)
	require.Contains(t, languages(info(d.l.getDeviceInfo, d.id, deviceLanguages)), 1)
}
