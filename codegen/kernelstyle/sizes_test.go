package kernelstyle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/codegen/internal/sizetest"
	"github.com/gofx-dev/gofx/shape"
)

func TestSizesPrintAsGo(t *testing.T) {
	for _, c := range [][2]string{
		{"3", "3"},
		{"N", "N"},
		{"2*N+1", "2*N + 1"},
		{"-3*N+M", "M - 3*N"},
		{"1-N", "-N + 1"},
		{"(H-1)//2", "kernel.FloorDiv(H-1, 2)"},
		{"7//N", "kernel.FloorDiv(7, N)"},
		{"4*N*(M//3)", "4 * kernel.FloorDiv(M, 3) * N"},
		{"N//(M+1)-2", "kernel.FloorDiv(N, M+1) - 2"},
		// A quotient that is not exact must not be taken apart by a factor around it.
		{"2*(N//2)", "2 * kernel.FloorDiv(N, 2)"},
		// Go's own division would give 0 for N=0, where the size is -1.
		{"(N-1)//2", "kernel.FloorDiv(N-1, 2)"},
	} {
		d, err := shape.ParseDim(c[0])
		require.NoError(t, err)
		require.Equal(t, c[1], new(sizes).dim(d).GoString(), c[0])
	}
}

func TestPrintedSizesKeepTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizetest.KeepsValue(t, func(d shape.Dim) string { return new(sizes).dim(d).GoString() })
	})
}
