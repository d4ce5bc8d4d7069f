package stablehlo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func names(r *Region) (list []string) {
	for _, o := range r.Ops {
		list = append(list, o.Name)
	}
	return list
}

// TestBroadcastsLookThroughReshapes, where these only put ones next to the sizes.
func TestBroadcastsLookThroughReshapes(t *testing.T) {
	b := NewBuilder(Of(array.F32, 3), Of(array.F32, 6))
	y := b.Broadcast(b.Reshape(b.Reshape(b.Arg(0), 1, 3), 1, 3, 1), []int{2, 3, 4}, 0, 1, 2)
	x, at := y.Broadcasted()
	require.Equal(t, b.Arg(0), x)
	require.Equal(t, []int{1}, at)
	z := b.Broadcast(b.Reshape(b.Arg(1), 3, 2), []int{4, 3, 2}, 1, 2)
	x, at = z.Broadcasted()
	require.NotEqual(t, b.Arg(1), x, "its sizes are others")
	require.Equal(t, []int{1, 2}, at)
	x, at = b.Arg(0).Broadcasted()
	require.Nil(t, x)
	require.Nil(t, at)
	require.Equal(t, b.Arg(1), b.Reshape(b.Reshape(b.Arg(1), 2, 3), 6), "back again")
	b.Return(y, z)
	require.Equal(t, []bool{false, false, true, true, true, false, true}, b.Region.Prune())
	require.Equal(t, []string{"broadcast_in_dim", "reshape", "broadcast_in_dim", "return"}, names(b.Region))
	require.NoError(t, Verify(&Module{Name: "m", Main: b.Region}))
}

// TestPruneKeepsWhatRegionsRead: a branch uses values from around it.
func TestPruneKeepsWhatRegionsRead(t *testing.T) {
	b := NewBuilder(Of(array.F32), Of(array.Bool))
	read, unread := b.Op("negate", b.Arg(0)), b.Op("abs", b.Arg(0))
	yes, no := NewBuilder(), NewBuilder()
	yes.Op("sine", unread)
	branches := []*Region{yes.Return(yes.Op("exponential", read)), no.Return(b.Arg(0))}
	out := b.Add(&Op{Name: "if", Operands: []*Value{b.Arg(1)}, Regions: branches})
	b.Return(out...)
	require.Equal(t, []bool{true, false, true, true}, b.Region.Prune())
	require.Equal(t, []string{"exponential", "return"}, names(yes.Region))
	require.NoError(t, Verify(&Module{Name: "m", Main: b.Region}))
}
