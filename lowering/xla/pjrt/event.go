package pjrt

import (
	"cmp"
	"context"
	"runtime"

	"github.com/gofx-dev/gofx/diag"
)

// finish waits for an event, frees it and returns its error.
func (p *Plugin) finish(event uintptr) error {
	err := p.onObject(fnEventAwait, event)
	return cmp.Or(err, p.onObject(fnEventDestroy, event))
}

// await waits for an event, frees it, and calls after; until then keep stays alive. The
// caller is within a use of the client. Where ctx ends first, its error is returned at
// once, and a goroutine goes on to do all that.
func (c *Client) await(ctx context.Context, event uintptr, keep any, after func()) error {
	wait := func() (err error) {
		if event != 0 {
			err = c.plugin.finish(event)
		}
		runtime.KeepAlive(keep)
		after()
		return err
	}
	if event == 0 || ctx.Done() == nil {
		return wait()
	}
	if ready, err := c.plugin.flagOf(fnEventIsReady, event); ready || err != nil {
		return wait()
	}
	done := make(chan error, 1)
	c.hold()
	go func() {
		err := wait()
		c.leave()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done: // both at once
		return err
	default:
		return diag.Stop(ctx.Err())
	}
}
