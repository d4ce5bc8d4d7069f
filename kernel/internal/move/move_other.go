//go:build !amd64

package move

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Fast copies nothing: there is no assembly.
func Fast(_, _ unsafe.Pointer, _ int, _ *Nest) bool { return false }

// OrderStores has nothing to order: there are no stores past the caches.
func OrderStores() {}

// repeatFast repeats nothing: there is no assembly.
func repeatFast(_ cpu.Level, _, _ []uint32, _, _ int) bool { return false }

// copyRowsFast copies nothing.
func copyRowsFast(_ []float32, _ int, _ []float32, _, _, _ int) bool { return false }
