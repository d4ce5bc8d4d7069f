//go:build !amd64

package geom

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// HasWindows reports whether the level has assembly for sliding windows.
func HasWindows(cpu.Level) bool { return false }
