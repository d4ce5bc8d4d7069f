package vmath

import (
	"sync"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// stripTables holds the addresses of the steps' code by level from AVX2 on.
var stripTables [2]struct {
	once  sync.Once
	steps [StripSteps]uint64
}

// StripCode returns the addresses of the steps' code for a level, nil for the
// level without assembly.
func StripCode(level cpu.Level) *[StripSteps]uint64 {
	if level < cpu.AVX2 {
		return nil
	}
	t := &stripTables[level-cpu.AVX2]
	t.once.Do(func() {
		if level == cpu.AVX512 {
			vecTable512(&t.steps[0])
		} else {
			vecTable256(&t.steps[0])
		}
	})
	return &t.steps
}

// StripLen is the number of elements in a strip.
func StripLen(level cpu.Level) int {
	if level == cpu.AVX512 {
		return 128
	}
	return 64
}

// RunStrips runs steps for the elements [lo, hi), whole strips.
func RunStrips(level cpu.Level, steps []uint64, lo, hi int, temp *StripTemp) {
	if lo >= hi {
		return
	}
	if level == cpu.AVX512 {
		vecRun512(&steps[0], lo, hi, &temp[0])
	} else {
		vecRun256(&steps[0], lo, hi, &temp[0])
	}
}

// applyStrips runs load, a function and store for whole strips.
func applyStrips(level cpu.Level, steps *[4 * StepWords]uint64, dst, src []float32, temp *StripTemp) {
	if len(dst) == 0 {
		return
	}
	src = src[:len(dst)]
	if level == cpu.AVX512 {
		vecApply512(&steps[0], &dst[0], &src[0], len(dst), &temp[0])
	} else {
		vecApply256(&steps[0], &dst[0], &src[0], len(dst), &temp[0])
	}
}
