package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// TestFrameKeepsTheLimit: a layout over the limit is refused before memory is
// allocated, and measured all the same.
func TestFrameKeepsTheLimit(t *testing.T) {
	defer array.SetMaxBytes(array.SetMaxBytes(1 << 16))
	lay := func(size, scratch int, measure bool) (f Frame, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = f.Failure(r)
			}
		}()
		if measure {
			f.Measure()
		}
		f.Arena(size)
		f.Need(scratch)
		f.Allocate()
		return f, nil
	}
	_, err := lay(1<<15, 1<<15, false)
	require.NoError(t, err)
	f, err := lay(1<<20, 1<<20, true)
	require.NoError(t, err)
	require.Equal(t, int64(2<<20), f.Bytes())
	for _, sizes := range [][2]int{{1<<16 + 1, 0}, {0, 1<<16 + 1}} {
		_, err := lay(sizes[0], sizes[1], false)
		var d *diag.Error
		require.ErrorAs(t, err, &d)
		require.Equal(t, array.CodeTooLarge, d.Code)
	}
	require.PanicsWithError(t, array.TooLarge("the memory", 1<<17).Error(), func() { Scratch[float64](new(Workspace), 1<<14) })
}
