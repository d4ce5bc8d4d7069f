package program

import "github.com/gofx-dev/gofx/kernel/internal/cpu"

// Elements are computed one by one: no size here changes them. If a reduction takes
// the program's results, its own sizes count.

const (
	// programBlock is the number of elements an instruction handles at a time: few
	// enough that a dozen registers stay in a first-level cache of 32 KiB. Ranges of a
	// run begin at multiples of it.
	programBlock = 512
	// gatherBlockLen is the number of elements that strided inputs are gathered
	// for at a time: a power of two, small enough for the first-level cache.
	gatherBlockLen = 1024
	// rowWork is the number of instructions for each input from which on strips are computed for
	// longer than memory takes; a function counts as functionWork.
	rowWork, functionWork = 3, 8
)

// throughBytes is the size from which outputs are stored past the caches: three quarters
// of the last one. They would not stay there, and are not read before they are written.
func throughBytes() int { return min(24<<20, max(cpu.Cache().L3/4*3, cpu.Cache().L2)) }

// aheadBytes is the size from which inputs are asked for before they are read: what is not in the
// second cache.
func aheadBytes() int { return cpu.Cache().L2 }
