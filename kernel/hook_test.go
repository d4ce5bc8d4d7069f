package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
)

func TestTellCallsTheHookOfTheCall(t *testing.T) {
	x := array.FromSlice([]float32{1, 2})
	var outer, body kernel.Frame
	var heard []string
	outer.Begin(context.Background(), 1)
	outer.Listen(func(function, node string, args []*array.Array) {
		require.Equal(t, []*array.Array{x, nil}, args)
		heard = append(heard, function+" "+node)
	})
	outer.Within("layers.1.")
	outer.Tell("log", "p.Log", outer.Ins(x, nil))
	body.Enter(&outer)
	body.Tell("log_1", "p.Log", body.Ins(x, nil))
	body.Leave()
	require.Equal(t, []string{"p.Log layers.1.log", "p.Log layers.1.log_1"}, heard)

	for _, c := range []struct {
		what any
		want string
	}{{"no", "the hook panicked: no [FX2033]"}, {errors.New("gone"), "gone"}, {7, "the hook panicked"}} {
		outer.Listen(func(string, string, []*array.Array) { panic(c.what) })
		func() {
			defer func() { require.ErrorContains(t, outer.Failure(recover()), c.want) }()
			outer.Tell("log", "p.Log", nil)
		}()
	}

	// The next call has no hook of this one, and then nothing is called, or allocated.
	outer.End()
	outer.Begin(context.Background(), 1)
	require.Zero(t, testing.AllocsPerRun(10, func() { outer.Tell("log", "p.Log", outer.Ins(x, nil)) }))
	require.Len(t, heard, 2)
}
