package opencl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/clib"
	"github.com/gofx-dev/gofx/lowering/gpu/internal/device"
)

// driver is a library of two devices, of which the first takes no context, or neither.
const driver = `
typedef unsigned int uint;
int clGetPlatformIDs(uint n, long *out, uint *count) {
	if (LIST) return LIST;
	if (count) *count = 1;
	if (out) out[0] = 7;
	return 0;
}
int clGetDeviceIDs(long p, long type, uint n, long *out, uint *count) {
	if (count) *count = 2;
	if (out) { out[0] = 1; out[1] = 2; }
	return 0;
}
int clGetDeviceInfo() { return -30; }
int clGetPlatformInfo() { return -30; }
long clCreateContext(void *props, uint n, long *ids, void *f, void *data, int *status) {
	*status = BROKEN >= ids[0] ? -6 : 0;
	return ids[0];
}
`

// built compiles and opens the driver, or skips the test.
func built(t *testing.T, flags ...string) *library {
	text := driver
	for name := range (&library{}).functions() {
		if !strings.Contains(text, name+"(") {
			text += "int " + name + "() { return 0; }\n"
		}
	}
	l, err := open([]string{clib.Text(t, text, append(flags, "-w")...)})
	require.NoError(t, err)
	return l
}

// TestLibrariesThatLackFunctions: the next of the names is tried, and all are said, in one order.
func TestLibrariesThatLackFunctions(t *testing.T) {
	one := clib.Text(t, "int clFinish() { return 0; }")
	for range 10 {
		_, err := open([]string{"/no/such/first.so", one, "/no/such/last.so"})
		require.ErrorIs(t, err, device.NoDevice)
		require.ErrorContains(t, err, "no OpenCL library is installed: "+one+" has no function clBuildProgram; /no/such/last.so: ")
		require.ErrorContains(t, err, "loader (Debian: pocl-opencl-icd)")
	}
}

// TestBrokenDevicesAreLeftOut: what cannot be opened is no reason to have none.
func TestBrokenDevicesAreLeftOut(t *testing.T) {
	list, err := built(t, "-DLIST=0", "-DBROKEN=1").devices()
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = built(t, "-DLIST=0", "-DBROKEN=2").devices()
	require.ErrorIs(t, err, device.NoDevice, "which programs ask for, to go on without")
	require.ErrorContains(t, err, "OpenCL error -6")
	_, err = built(t, "-DLIST=-6", "-DBROKEN=0").devices()
	require.ErrorIs(t, err, device.NoDevice)
	_, err = built(t, "-DLIST=-1001", "-DBROKEN=0").devices()
	require.ErrorContains(t, err, "OpenCL has no platforms")
}
