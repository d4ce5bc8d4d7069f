//go:build !amd64

package cpu

import "sync/atomic"

var pauses atomic.Uint32

// Pause waits for a moment.
func Pause() {
	for range 16 {
		pauses.Load()
	}
}
