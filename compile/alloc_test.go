package compile_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
)

type countIn struct {
	D *dims
	N int
}

type countOut struct{ Sum int }

// A hit that makes no tensors and no objects allocates nothing.
func TestHitAllocatesNothing(t *testing.T) {
	table := state.Table{Func: "f", Receiver: true, Fields: []state.Field{field("dims", "dim", "int", rw|state.Adds)}}
	f := compile.New(table, func(in *countIn, out *countOut) { in.D.dim += in.N; out.Sum = in.N * 2 })
	d := &dims{}
	call := func() { require.Equal(t, 6, f.Call(countIn{d, 3}).Sum) }
	for range 1000 {
		f.Call(countIn{d, 3})
	}
	require.Equal(t, 1, f.Stats().Records)
	require.Equal(t, 999, f.Stats().Hits)
	require.Equal(t, 3000, d.dim)
	call()
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Call(countIn{d, 3}) }))
}
