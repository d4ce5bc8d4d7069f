package gemm

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/kernel/internal/geom"
)

// Offsets of a channel are those of the one before, a plane further on.
func TestOffsetsOfTaps(t *testing.T) {
	for _, side := range [][]int{{1, 1}, {3, 3}, {2, 5}} {
		for _, stride := range []int{1, 2} {
			out := []int{(9-side[0])/stride + 1, (11-side[1])/stride + 1}
			table := NewPatchTable(geom.NewSpatial([]int{9, 11}, out, side, []int{stride, stride}, nil, nil))
			for _, channels := range []int{1, 2, 7} {
				taps := side[0] * side[1]
				offsets := make([]int64, channels*taps)
				table.SetOffsets(offsets, channels)
				one := make([]int64, taps)
				table.SetOffsets(one, 1)
				require.Equal(t, one, offsets[:taps])
				require.Zero(t, one[0])
				for i := taps; i < len(offsets); i++ {
					require.Equal(t, offsets[i-taps]+int64(table.Plane), offsets[i])
				}
			}
		}
	}
}
