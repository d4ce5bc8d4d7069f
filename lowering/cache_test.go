package lowering_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering"
)

func ExampleNewCache() {
	squares := lowering.NewCache[int](2, nil)
	for _, n := range []int{3, 4, 3} {
		h, err := squares.Hold(context.Background(), strconv.Itoa(n), func() (int, error) { return n * n, nil })
		if err != nil {
			panic(err)
		}
		fmt.Println(h.Value)
		h.Release()
	}
	fmt.Printf("%+v\n", squares.Stats())
	// Output:
	// 9
	// 16
	// 9
	// {Hits:1 Misses:2 Evicted:0 Kept:2}
}

func TestCacheGivesUpWhatNobodyHolds(t *testing.T) {
	var dropped []int
	c := lowering.NewCache(1, func(n int) { dropped = append(dropped, n) })
	hold := func(n int) *lowering.CacheEntry[int] {
		h, err := c.Hold(context.Background(), strconv.Itoa(n), func() (int, error) { return n, nil })
		require.NoError(t, err)
		return h
	}
	one, two, again := hold(1), hold(2), hold(1)
	require.Equal(t, lowering.CacheStats{Hits: 1, Misses: 2, Kept: 2}, c.Stats(), "what is held stays")
	one.Release()
	require.Empty(t, dropped)
	two.Release()
	require.Equal(t, []int{2}, dropped)
	require.Equal(t, lowering.CacheStats{Hits: 1, Misses: 2, Evicted: 1, Kept: 1}, c.Stats())
	newest, ok := c.Newest()
	require.True(t, ok)
	require.Equal(t, 1, newest)
	c.Close()
	require.Equal(t, []int{2}, dropped, "one is held still")
	again.Release()
	require.Equal(t, []int{2, 1}, dropped)
	_, err := c.Hold(context.Background(), "1", func() (int, error) { return 1, nil })
	require.ErrorIs(t, err, lowering.Closed)
}

func TestCacheMakesOnce(t *testing.T) {
	c := lowering.NewCache[int](4, nil)
	var made atomic.Int64
	begun, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		h, err := c.Hold(context.Background(), "k", func() (int, error) {
			close(begun)
			<-end
			return int(made.Add(1)), nil
		})
		require.NoError(t, err)
		h.Release()
	})
	<-begun
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := c.Hold(ctx, "k", nil)
	require.ErrorIs(t, err, diag.Stopped)
	require.ErrorIs(t, err, context.Canceled, "the wait ends, the work goes on")
	for range 8 {
		all.Go(func() {
			h, err := c.Hold(context.Background(), "k", func() (int, error) { return int(made.Add(1)), nil })
			require.NoError(t, err)
			require.Equal(t, 1, h.Value)
			h.Release()
		})
	}
	close(end)
	all.Wait()
	require.Equal(t, int64(1), made.Load())
}

func TestCacheTriesAgainWhatFailed(t *testing.T) {
	dropped := 0
	c := lowering.NewCache(4, func(int) { dropped++ })
	full := errors.New("full")
	_, err := c.Hold(context.Background(), "k", func() (int, error) { return 0, full })
	require.ErrorIs(t, err, full)
	require.Panics(t, func() { _, _ = c.Hold(context.Background(), "k", func() (int, error) { panic("bug") }) })
	h, err := c.Hold(context.Background(), "k", func() (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, h.Value)
	h.Release()
	require.Zero(t, dropped)
	require.Equal(t, lowering.CacheStats{Misses: 3, Kept: 1}, c.Stats())
}

// TestCacheWaitsForNoOthersContext: where the context of who makes a value ends, those who wait make it themselves.
func TestCacheWaitsForNoOthersContext(t *testing.T) {
	c := lowering.NewCache[int](2, nil)
	begun, others := make(chan struct{}), make(chan struct{})
	short, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		_, err := c.Hold(short, "1", func() (int, error) {
			close(begun)
			<-short.Done()
			<-others
			return 0, diag.Stop(short.Err())
		})
		require.ErrorIs(t, err, context.Canceled)
	})
	<-begun
	var made atomic.Int32
	for range 3 {
		wg.Go(func() {
			h, err := c.Hold(context.Background(), "1", func() (int, error) { made.Add(1); return 7, nil })
			require.NoError(t, err)
			require.Equal(t, 7, h.Value)
			h.Release()
		})
	}
	end()
	require.Eventually(t, func() bool { return c.Stats().Hits == 3 }, 10*time.Second, time.Millisecond, "all wait")
	close(others)
	wg.Wait()
	require.Equal(t, int32(1), made.Load())
	require.Equal(t, 1, c.Stats().Kept)
}
