package turn

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
)

// held takes a lock, and returns the function that releases it.
func held(t *testing.T, take func(context.Context) error, free func()) func() {
	t.Helper()
	require.NoError(t, take(context.Background()))
	return free
}

// A wait ends with its context, and later waiters go on as if it had not been there.
func TestWaitsEndWithTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lock
		release := held(t, l.Lock, l.Unlock)
		ctx, cancel := context.WithCancel(context.Background())
		var order []string
		var all sync.WaitGroup
		wait := func(name string, take func(context.Context) error, ctx context.Context, then func()) {
			all.Go(func() {
				if err := take(ctx); err != nil {
					require.ErrorIs(t, err, diag.Stopped)
					require.ErrorIs(t, err, context.Canceled)
					order = append(order, name+" stopped")
					return
				}
				order = append(order, name)
				then()
			})
			synctest.Wait() // it waits
		}
		wait("second", l.Lock, ctx, l.Unlock)
		wait("third", l.Lock, context.Background(), l.Unlock)
		cancel()
		synctest.Wait()
		require.Equal(t, []string{"second stopped"}, order, "while the lock is held")
		release()
		all.Wait()
		require.Equal(t, []string{"second stopped", "third"}, order)
		require.NoError(t, l.Lock(ctx), "a free lock is had in any case")
		l.Unlock()
	})
}

// Readers share, a writer that waits lets no more of them in, and where it stops waiting they go on.
func TestReadersAndWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Lock
		release := held(t, l.RLock, l.RUnlock)
		require.NoError(t, l.RLock(context.Background()))
		l.RUnlock()
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		var writer, reader error = nil, diag.Bug("it waits")
		all.Go(func() { writer = l.Lock(ctx) })
		synctest.Wait()
		all.Go(func() { reader = l.RLock(context.Background()) })
		synctest.Wait()
		require.Error(t, reader, "the reader came after the writer")
		cancel()
		all.Wait()
		require.ErrorIs(t, writer, context.Canceled)
		require.NoError(t, reader)
		l.RUnlock()
		all.Go(func() { writer = l.Lock(context.Background()) })
		synctest.Wait()
		require.Error(t, writer)
		release()
		all.Wait()
		require.NoError(t, writer)
		l.Unlock()
	})
}

func TestManyTakeTurns(t *testing.T) {
	var l Lock
	var all sync.WaitGroup
	count, ended := 0, make([]int, 8)
	for i := range ended {
		all.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			for range 200 {
				if i%2 == 0 {
					go cancel()
				}
				if l.Lock(ctx) == nil {
					count++
					ended[i]++
					l.Unlock()
				}
				require.NoError(t, l.RLock(context.Background()))
				_ = count
				l.RUnlock()
			}
			cancel()
		})
	}
	all.Wait()
	sum := 0
	for i, n := range ended {
		sum += n
		require.True(t, i%2 == 0 || n == 200)
	}
	require.Equal(t, count, sum)
	require.Panics(t, l.Unlock)
	require.Panics(t, l.RUnlock)
}

func TestAFreeLockTakesNoMemory(t *testing.T) {
	var l Lock
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = l.Lock(ctx)
		l.Unlock()
		_ = l.RLock(ctx)
		l.RUnlock()
	}))
}
