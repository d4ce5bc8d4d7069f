//go:build (linux || darwin) && (amd64 || arm64) && !android

package xla_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/xla"
)

// Runs wait for the one that uploads a weight, which goes to the device once, and no longer than their context.
func TestRunsThatWaitForWeightsEndWithTheirContext(t *testing.T) {
	f := plugin(t)
	r := runtimeOf(t, f)
	m := parse(t, `
graph twice() {
  %w = get_attr[w] : f32[3]
  %y = call_function[add](%w, %w) : f32[3]
  return %y
}
param w : f32[3]
`)
	e := compileFor(t, xla.Target{Runtime: r, Cache: "-"}, m, lowering.Options{}).(*xla.Executable)
	run := func(ctx context.Context) error {
		_, err := e.Run(ctx, nil)
		return err
	}
	require.NoError(t, run(ctx))
	before := r.Client().Stats()
	m.Param("w").Value.Storage().Bump() // as if it was written
	fxtest.StopsWaiting(t, func() bool { return xla.Waiting(e, "w") == 1 }, func(hold func()) error {
		f.hold(1) // what is copied does not end
		done := make(chan error, 1)
		go func() { done <- run(ctx) }()
		require.Eventually(t, func() bool { return r.Client().Stats().Live > before.Live }, time.Minute, time.Millisecond)
		hold()
		f.hold(0)
		return <-done
	}, run)
	require.Equal(t, before.Uploads+1, r.Client().Stats().Uploads)
	require.Equal(t, []float32{2, 4, 6}, run1(t, e))
	require.Equal(t, before.Uploads+1, r.Client().Stats().Uploads, "no run uploads it again")
}
