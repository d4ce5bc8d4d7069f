package lowering_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering"
)

// TestRuns: none begins once Close was called, which waits for all that have.
func TestRuns(t *testing.T) {
	var r lowering.Runs
	const n = 3
	for range n {
		require.NoError(t, r.Begin())
	}
	var ended atomic.Int64
	closed := make(chan bool)
	go func() {
		first := r.Close()
		closed <- first && ended.Load() == n
	}()
	for r.Begin() == nil { // until Close has begun
		r.End()
	}
	require.ErrorIs(t, r.Begin(), lowering.Closed)
	require.False(t, r.Close(), "waits for nobody")
	for range n {
		ended.Add(1)
		r.End()
	}
	require.True(t, <-closed)
	require.ErrorIs(t, r.Begin(), lowering.Closed)
}
