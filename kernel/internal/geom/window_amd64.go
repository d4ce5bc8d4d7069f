package geom

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// HasWindows reports whether the level has assembly for sliding windows.
func HasWindows(l cpu.Level) bool { return l >= cpu.AVX2 }
