//go:build !amd64

package vmath

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// StripCode returns the addresses of a level's steps, nil where it has none.
func StripCode(cpu.Level) *[StripSteps]uint64 { return nil }

// StripLen returns the elements of a strip.
func StripLen(cpu.Level) int { return MaxStrip }

// RunStrips runs coded steps over strips.
func RunStrips(cpu.Level, []uint64, int, int, *StripTemp) {}

func applyStrips(cpu.Level, *[4 * StepWords]uint64, []float32, []float32, *StripTemp) {}
