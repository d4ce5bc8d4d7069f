package cpu

import (
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAuxiliary(t *testing.T) {
	var b []byte
	for _, v := range []uint64{6, 4096, auxHWCAP, hwcapDot | 3, 0, 0} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	require.EqualValues(t, hwcapDot|3, auxiliary(b, auxHWCAP))
	require.EqualValues(t, 4096, auxiliary(b, 6))
	require.Zero(t, auxiliary(b, 7))
	require.Zero(t, auxiliary(b[:15], 6))
}

// TestDetectDot compares with how Linux names the feature.
func TestDetectDot(t *testing.T) {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil || !strings.Contains(string(info), "Features") {
		t.Skip("the system does not list the processor's features")
	}
	require.Equal(t, strings.Contains(string(info), " asimddp"), detectDot())
}
