package array

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

func TestLimit(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "17": 17, "-1": 0, "1e9": 0, "16 ": 0, "68719476736": 1 << 36, "99999999999999999999": 0, "922337203685477579": 922337203685477579,
	} {
		require.Equal(t, want, decimal(text), text)
	}
	require.Positive(t, MaxBytes())
	require.Less(t, MaxBytes(), int64(math.MaxInt64))
	defer SetMaxBytes(SetMaxBytes(100))
	require.Nil(t, TooLarge("x", 100))
	require.NotPanics(t, func() { New(F32, 25) })
	defer func() {
		require.Equal(t, CodeTooLarge, recover().(*diag.Error).Code)
	}()
	New(F32, 26)
}
