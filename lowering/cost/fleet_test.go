package cost_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/cost"
)

// tenMS is a run of 10 ms on the desk, with 1 MB of weights and 1 MB of its own.
func tenMS(t *testing.T, d *cost.Device) *cost.Estimate {
	t.Helper()
	e, err := d.Estimate(&cost.Work{Memory: cost.Memory{Weights: 1e6, Arena: 1e6}, Steps: []cost.Step{{Kind: "a", Times: 1, Flops: 1e7, Values: 3e6}}})
	require.NoError(t, err)
	require.Equal(t, 10*time.Millisecond, e.Time)
	return e
}

func TestFleet(t *testing.T) {
	d := desk()
	e := tenMS(t, d)
	f, err := e.Fleet(cost.Load{Rate: 1000, Latency: time.Second})
	require.NoError(t, err)
	require.Equal(t, 4, f.Workers, "eight cores, two threads a run")
	require.InDelta(t, 400, f.Rate, 1e-6)
	require.Equal(t, 3, f.Machines)
	require.InDelta(t, 1000.0/3/400, f.Busy, 1e-9)
	require.EqualValues(t, 1e6+4*1e6, f.Bytes)
	require.Equal(t, cost.ByCores, f.Bound)
	// Erlang's C for 4 workers and a load of 10/3, added up by its definition.
	load := 10.0 / 3
	term, sum := 1.0, 0.0
	for k := 1.0; k <= 4; k++ {
		sum += term
		term *= load / k
	}
	term /= 1 - load/4
	c := term / (sum + term)
	require.InDelta(t, 0.01+math.Log(c/0.01)/(400-1000.0/3), f.Latency.Seconds(), 1e-6)

	// Less time takes more machines, each of which waits less.
	g, err := e.Fleet(cost.Load{Rate: 1000, Latency: 15 * time.Millisecond})
	require.NoError(t, err)
	require.Greater(t, g.Machines, f.Machines)
	require.LessOrEqual(t, g.Latency, 15*time.Millisecond)
	// One machine fewer would not do: with the time that it has then, that many do.
	h, err := e.Fleet(cost.Load{Rate: 1000, Latency: g.Latency})
	require.NoError(t, err)
	require.Equal(t, g.Machines, h.Machines)
	h, err = e.Fleet(cost.Load{Rate: 1000, Latency: g.Latency - time.Microsecond})
	require.NoError(t, err)
	require.Greater(t, h.Machines, g.Machines)

	d.Bandwidth = 1e9 // 3 MB a run: at most 333 runs a second
	f, err = tenMS(t, d).Fleet(cost.Load{Rate: 300, Latency: time.Second})
	require.NoError(t, err)
	require.Equal(t, cost.ByBandwidth, f.Bound)
	require.Equal(t, 12*time.Millisecond, f.Service, "four workers move 12 MB meanwhile")
	require.InDelta(t, 1e3/3.0, f.Rate, 1e-6)

	d.Bandwidth, d.Bytes = 0, 3.5e6
	f, err = tenMS(t, d).Fleet(cost.Load{Rate: 300, Latency: time.Second})
	require.NoError(t, err)
	require.Equal(t, 2, f.Workers)
	require.Equal(t, cost.ByBytes, f.Bound)
}

// TestFleetAgainstQueue replays requests that come by themselves: the share that is
// promised is served in time, and not by far too many machines.
func TestFleetAgainstQueue(t *testing.T) {
	e := tenMS(t, desk())
	f, err := e.Fleet(cost.Load{Rate: 900, Latency: 30 * time.Millisecond, Share: 0.95})
	require.NoError(t, err)
	late := func(machines int) float64 {
		r := rand.New(rand.NewPCG(3, 4))
		free := make([]float64, f.Workers)
		now, n := 0.0, 0
		const requests = 200000
		for range requests {
			now += r.ExpFloat64() * float64(machines) / 900
			k := slices.Index(free, slices.Min(free))
			free[k] = max(free[k], now) + 0.01
			if free[k]-now > 0.03 {
				n++
			}
		}
		return float64(n) / requests
	}
	require.Less(t, late(f.Machines), 0.05)
	require.Greater(t, late(2), 0.05, "the least number that keeps up is too few")
}

func TestLoadsThatNobodyServes(t *testing.T) {
	d := desk()
	for _, c := range []struct {
		load cost.Load
		want string
	}{
		{cost.Load{Rate: 10, Latency: 5 * time.Millisecond}, `a run takes 10ms on "desk", expected at most 5ms`},
		{cost.Load{Rate: 0, Latency: time.Second}, "0 requests a second, expected more than 0"},
		{cost.Load{Rate: math.NaN(), Latency: time.Second}, "NaN requests a second"},
		{cost.Load{Rate: math.Inf(1), Latency: time.Second}, "+Inf requests a second"},
		{cost.Load{Rate: 1e300, Latency: time.Second}, "take more than 1073741824 machines"},
		{cost.Load{Rate: 10}, "a latency of 0s"},
		{cost.Load{Rate: 10, Latency: time.Second, Share: 1}, "a share of 1 of the requests"},
	} {
		_, err := tenMS(t, d).Fleet(c.load)
		require.ErrorIs(t, err, cost.BadLoad)
		require.ErrorContains(t, err, c.want)
	}
	d.Bytes = 1.5e6
	_, err := tenMS(t, d).Fleet(cost.Load{Rate: 10, Latency: time.Second})
	require.ErrorContains(t, err, "has 1500000 bytes of memory, a run takes 2000000")
	d.Cores = 1
	_, err = tenMS(t, d).Fleet(cost.Load{Rate: 10, Latency: time.Second})
	require.ErrorIs(t, err, cost.BadDevice)
}
