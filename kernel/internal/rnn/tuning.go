package rnn

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/par"
	"github.com/gofx-dev/gofx/kernel/internal/quant"
)

// The products of a step have the sizes of package gemm; nothing else follows from caches.
const (
	// DotsGroup is the rows of the weight that belong together: as many sums as hide how
	// long each takes.
	DotsGroup = 8
	// cellWork is the states of one chunk of parallel work: some microseconds of exponentials.
	cellWork = 2048
)

// packs reports whether a weight is packed, once for all steps, for products of so many
// rows. Where it is not, one row reads the weight as it lies.
func packs(l cpu.Level, rows int) bool {
	if gemm.HasThin(l) {
		return rows > 1
	}
	return rows >= gemm.ThinRows
}

const (
	// unitsShared divides the units of a part: whole panels of either product, and whole vectors and
	// lines of the state.
	unitsShared = max(gemm.PanelColumns, quant.DynamicColumns)
	// partWork is the multiplications of a part in one step, a microsecond or so: a step ends when the
	// goroutines have seen what the others have stored, which takes some tenths of that.
	partWork = 2 * par.SimdPack
)
