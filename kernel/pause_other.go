//go:build !amd64

package kernel

import "sync/atomic"

var pauses atomic.Uint32

// pause waits for a moment.
func pause() {
	for range 16 {
		pauses.Load()
	}
}
