package kerneltest

import (
	"fmt"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/stretchr/testify/require"
)

// Caches are unlike each other: smaller than any, so that small operands are cut as
// large ones are; those of a core without a last level; and larger than most.
var Caches = []cpu.Caches{
	{Line: 64, L1: 4 << 10, L2: 16 << 10},
	{Line: 64, L1: 32 << 10, L2: 1 << 20},
	{Line: 128, L1: 192 << 10, L2: 16 << 20, L3: 256 << 20},
}

// EachCaches runs a test as on processors with each of Caches.
func EachCaches(t *testing.T, f func(t *testing.T, c cpu.Caches)) {
	for _, c := range Caches {
		t.Run(fmt.Sprintf("%dK,%dK,%dM", c.L1>>10, c.L2>>10, c.L3>>20), func(t *testing.T) {
			defer cpu.UseCaches(cpu.UseCaches(c))
			f(t, c)
		})
	}
}

// SameForCaches runs a step, which make makes with its operands, at every level as with
// each of Caches: results are the same bits as with those of this machine, and with the
// smallest, which cut the most, nothing is allocated.
func SameForCaches(t *testing.T, make func() (s par.Step, out *array.Array, in []*array.Array)) {
	EachLevel(t, func(t *testing.T) {
		s, want, in := make()
		RunStep(t, s, []*array.Array{want}, in)
		EachCaches(t, func(t *testing.T, c cpu.Caches) {
			s, got, in := make()
			RunStep(t, s, []*array.Array{got}, in)
			require.Equal(t, want.Storage().Bytes(), got.Storage().Bytes(), "the result depends on the caches")
			if c == Caches[0] {
				RequireNoAllocs(t, s, []*array.Array{got}, in)
			}
		})
	})
}
