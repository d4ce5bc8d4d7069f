package kernel

import "sync"

// stripTables holds the addresses of the steps' code by level from AVX2 on.
var stripTables [2]struct {
	once  sync.Once
	steps [stripSteps]uint64
}

// stripCode returns the addresses of the steps' code for a level, nil for the
// level without assembly.
func stripCode(level cpuLevel) *[stripSteps]uint64 {
	if level < levelAVX2 {
		return nil
	}
	t := &stripTables[level-levelAVX2]
	t.once.Do(func() {
		if level == levelAVX512 {
			vecTable512(&t.steps[0])
		} else {
			vecTable256(&t.steps[0])
		}
	})
	return &t.steps
}

// stripLen is the number of elements in a strip.
func stripLen(level cpuLevel) int {
	if level == levelAVX512 {
		return 128
	}
	return 64
}

// runStrips runs steps for the elements [lo, hi), whole strips.
func runStrips(level cpuLevel, steps []uint64, lo, hi int, temp *stripTemp) {
	if lo >= hi {
		return
	}
	if level == levelAVX512 {
		vecRun512(&steps[0], lo, hi, &temp[0])
	} else {
		vecRun256(&steps[0], lo, hi, &temp[0])
	}
}

// applyStrips runs load, a function and store for whole strips.
func applyStrips(level cpuLevel, steps *[4 * stepWords]uint64, dst, src []float32, temp *stripTemp) {
	if len(dst) == 0 {
		return
	}
	src = src[:len(dst)]
	if level == levelAVX512 {
		vecApply512(&steps[0], &dst[0], &src[0], len(dst), &temp[0])
	} else {
		vecApply256(&steps[0], &dst[0], &src[0], len(dst), &temp[0])
	}
}
