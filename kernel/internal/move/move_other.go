//go:build !amd64

package move

import "unsafe"

// Fast copies nothing: there is no assembly.
func Fast(_, _ unsafe.Pointer, _ int, _ *Nest) bool { return false }

// OrderStores has nothing to order: there are no stores past the caches.
func OrderStores() {}
