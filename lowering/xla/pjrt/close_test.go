//go:build (linux || darwin) && (amd64 || arm64) && !android

package pjrt_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lowering/xla/pjrt"
)

func TestCloseTwiceAndUseAfterClose(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
	x := upload(t, c, array.New(array.F32, 2))
	for range 2 {
		require.NoError(t, x.Close())
	}
	_, err := x.Download(ctx)
	require.ErrorIs(t, err, pjrt.Closed)
	_, err = e.Execute(ctx, []*pjrt.Buffer{x})
	require.ErrorIs(t, err, pjrt.Closed)
	for range 2 {
		require.NoError(t, e.Close())
	}
	y := upload(t, c, array.New(array.F32, 2))
	_, err = e.Execute(ctx, []*pjrt.Buffer{y})
	require.ErrorIs(t, err, pjrt.Closed)
	for range 2 {
		require.NoError(t, c.Close())
	}
	require.Equal(t, [6]int64{}, f.alive(), "closing the client frees all it made, before it returns")
	_, err = y.Download(ctx)
	require.ErrorIs(t, err, pjrt.Closed)
	require.NoError(t, y.Close())
	_, err = c.Upload(ctx, array.New(array.F32, 2), nil)
	require.ErrorIs(t, err, pjrt.Closed)
	_, err = c.Compile(module("identity", "2xf32"), pjrt.CompileOptions{})
	require.ErrorIs(t, err, pjrt.Closed)
	_, err = c.Devices()[0].MemoryStats()
	require.ErrorIs(t, err, pjrt.Closed)
}

// givenUp has the plugin hold its events, and ends the context of what waits for one once the device works
// on that: a time might be over before. It returns what the wait returns.
func (f *fake) givenUp(wait func(context.Context) error) error {
	f.hold(1)
	before := f.alive()[1]
	short, end := context.WithCancel(ctx)
	gave := make(chan error)
	go func() { gave <- wait(short) }()
	for f.alive()[1] == before {
		select {
		case err := <-gave: // without an event
			end()
			return err
		default:
			runtime.Gosched()
		}
	}
	end()
	return <-gave
}

// A context that has ended starts nothing; one that ends gives the wait up, at once.
func TestContextsEndWaits(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
	x := upload(t, c, array.New(array.F32, 2))
	waits := map[string]func(context.Context) error{
		"upload":   func(ctx context.Context) error { _, err := c.Upload(ctx, array.New(array.F32, 1<<10), nil); return err },
		"download": func(ctx context.Context) error { _, err := x.Download(ctx); return err },
		"execute":  func(ctx context.Context) error { _, err := e.Execute(ctx, []*pjrt.Buffer{x}); return err },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			before := f.alive()
			ended, end := context.WithCancel(ctx)
			end()
			require.ErrorIs(t, wait(ended), context.Canceled)
			require.ErrorIs(t, wait(ended), diag.Stopped)
			require.Equal(t, before, f.alive())

			err := f.givenUp(wait)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, diag.Stopped)
			require.Equal(t, before[3], f.alive()[3], "what was made for it is freed")
			for range 3 { // what the device still reads and writes is kept
				runtime.GC()
				_ = make([]byte, 1<<16)
			}
			f.hold(0)
			require.Eventually(t, func() bool { return f.alive() == before }, 10*time.Second, time.Millisecond)
			require.NoError(t, wait(ctx))
		})
	}
}

// Close does not wait for a device that does not answer; the client ends with the last wait.
func TestCloseWhileTheDeviceWorks(t *testing.T) {
	f := load(t)
	c := f.client(t)
	e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
	x := upload(t, c, array.New(array.F32, 2))
	require.ErrorIs(t, f.givenUp(func(ctx context.Context) error { _, err := x.Download(ctx); return err }), context.Canceled)
	require.ErrorIs(t, f.givenUp(func(ctx context.Context) error { _, err := e.Execute(ctx, []*pjrt.Buffer{x}); return err }), context.Canceled)
	require.NoError(t, c.Close())
	require.Equal(t, int64(1), f.alive()[2], "the client is there as long as it is used")
	require.Equal(t, int64(1), f.alive()[3], "and the buffer that is read")
	f.hold(0)
	f.settle(t)
}

// Whatever order goroutines close in, everything is freed once.
func TestClose_duringUse(t *testing.T) {
	f := load(t)
	for range 20 {
		c := f.client(t)
		e := compile(t, c, module("identity", "2xf32"), pjrt.CompileOptions{})
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					x, err := c.Upload(ctx, array.New(array.F32, 2), nil)
					if err == nil {
						_, err = e.Execute(ctx, []*pjrt.Buffer{x})
					}
					if err != nil {
						require.ErrorIs(t, err, pjrt.Closed)
						return
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		require.NoError(t, c.Close())
		wg.Wait()
		f.settle(t)
	}
}
