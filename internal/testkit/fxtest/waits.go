package fxtest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// StopsWaiting holds that a wait for another run ends with the context of the waiting goroutine.
// first is that run: it calls hold, which returns when the test has seen enough, where second has
// to wait for it. Then second is run until waiting is true, and its context ended. A goroutine that
// goes on waiting fails within minutes, and does not hang.
func StopsWaiting(t testing.TB, waiting func() bool, first func(hold func()) error, second func(ctx context.Context) error) {
	t.Helper()
	patience, enough := context.WithTimeout(context.Background(), time.Minute)
	defer enough()
	held := make(chan struct{})
	var firstErr error
	var all sync.WaitGroup
	all.Go(func() {
		once := sync.OnceFunc(func() { close(held) })
		defer once()
		firstErr = first(func() {
			once()
			<-patience.Done()
		})
	})
	<-held
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	secondErr := make(chan error, 1)
	all.Go(func() { secondErr <- second(ctx) })
	for !waiting() && patience.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	cancel()
	var err error
	select {
	case err = <-secondErr:
	case <-patience.Done():
	}
	late := patience.Err()
	enough()
	all.Wait()
	require.NoError(t, late, "it waits for the other run, whatever becomes of its context")
	require.NoError(t, firstErr)
	require.ErrorIs(t, err, context.Canceled)
}
