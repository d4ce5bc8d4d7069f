//go:build !amd64

package kernel

import "unsafe"

// moveFast copies nothing: there is no assembly.
func moveFast(_, _ unsafe.Pointer, _ int, _ *moveNest) bool { return false }

// orderStores has nothing to order: there are no stores past the caches.
func orderStores() {}
