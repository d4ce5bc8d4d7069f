package capturefuzz

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/replays"
	"github.com/gofx-dev/gofx/internal/testkit/workdir"
)

// TestReplays compiles 40 programs, 5,000 of them nightly, and calls each as it is, compiled and in a session, with words of its state and
// arguments changed between the calls: no way may differ from the first. GOFX_REPLAY_COUNT is another number of programs, GOFX_CAPTURE_FIRST the
// first seed.
func TestReplays(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: programs are built by the go command")
	}
	count := 40
	if nightly() {
		count = 5000
	}
	first, count := number(t, "GOFX_CAPTURE_FIRST", 0), number(t, "GOFX_REPLAY_COUNT", count)
	dir := workdir.Of(t)
	fxgen, err := Fxgen(dir)
	require.NoError(t, err)
	var sum replays.Sum
	seed := uint64(first)
	for from := 0; from < count; from += batch {
		b := &Batch{Dir: dir}
		b.Programs, seed = Replayable(seed, min(batch, count-from))
		list, err := b.Replays(fxgen)
		require.NoError(t, err)
		require.Len(t, list, len(b.Programs))
		for _, v := range list {
			if sum.Add(v); v.Detail != "" {
				t.Errorf("seed %d, %s: %s\n%s", b.Programs[v.ID].Seed, v.Way, v.Detail, b.Programs[v.ID].Replayed())
			}
		}
	}
	t.Log(sum.String())
	if count >= 40 { // the programs teach something
		require.GreaterOrEqual(t, sum.Recorded*100, count*20, "programs with records") // most have control flow whose result may be what it is given
		require.GreaterOrEqual(t, sum.Hits*100, sum.Calls*4, "calls that are hits")
		require.GreaterOrEqual(t, sum.Sessions*100, sum.Calls*40, "calls that are compared with a session's")
	}
}
