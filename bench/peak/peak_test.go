package peak

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMeasure: absolute speed depends on the machine and on its other load.
func TestMeasure(t *testing.T) {
	p := Measure(1)
	t.Logf("%+v", p)
	require.NotEmpty(t, p.Level)
	require.Positive(t, p.FMA)
	require.Positive(t, p.Add)
	require.Positive(t, p.Div)
	require.Equal(t, loops().int8.run != nil, p.Int8 > 0)
	require.Len(t, p.Bandwidth, len(Sizes))
	for i, b := range p.Bandwidth {
		require.Equal(t, Sizes[i], b.Bytes)
		require.Positive(t, b.Rate)
		require.Positive(t, b.Read)
	}
	require.Equal(t, 2*generic().add.ops, generic().fma.ops, "a multiply-add counts twice")
}

func TestRefreshKeepsTheBest(t *testing.T) {
	p := Peaks{FMA: 1e18}
	p.Refresh(1)
	require.Equal(t, 1e18, p.FMA)
	require.Positive(t, p.Add)
}

func TestMemoryPicksTheSmallestWorkingSetThatHolds(t *testing.T) {
	p := Peaks{Bandwidth: []Bandwidth{{100, 3, 3}, {1000, 2, 2}, {10000, 1, 1}}}
	require.Equal(t, 3.0, p.Memory(100, 1))
	require.Equal(t, 2.0, p.Memory(101, 1))
	require.Equal(t, 3.0, p.Memory(200, 2))
	require.Equal(t, 1.0, p.Memory(1<<40, 1))
	p.RefreshMemory(1000, 1)
	require.Equal(t, []Bandwidth{{100, 3, 3}, {1000, p.Memory(1000, 1), p.Reading(1000, 1)}, {10000, 1, 1}}, p.Bandwidth)
	require.GreaterOrEqual(t, p.Memory(1000, 1), 2.0)
}

func TestGenericLoopsMeasure(t *testing.T) {
	k := generic()
	require.Positive(t, arith(k.fma, 1, 1))
	require.Positive(t, arith(k.div, 2, 1))
	require.Zero(t, arith(k.int8, 1, 1), "no loop, no rate")
	require.Positive(t, bandwidth(k, 1, 24<<10).Rate)
}

func TestTurn(t *testing.T) {
	ops, d := Turn(false, 1, 3)
	require.Positive(t, ops)
	require.Positive(t, d)
	two, d := Turn(false, 2, 0)
	require.Equal(t, 2*ops, two)
	require.Zero(t, d, "no calls, no time")
}

func TestHandover(t *testing.T) {
	two := runtime.NumCPU() > 1 && runtime.GOMAXPROCS(0) > 1
	require.Equal(t, two, Handover() > 0)
}

func TestBeside(t *testing.T) {
	before := runtime.NumGoroutine()
	stop := Beside(1)
	require.Greater(t, runtime.NumGoroutine(), before)
	stop()
	for start := time.Now(); runtime.NumGoroutine() > before && time.Since(start) < time.Minute; {
		time.Sleep(time.Millisecond) // they have said that they end
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
	Beside(0)()
}

func TestReader(t *testing.T) {
	for _, threads := range []int{1, 2} {
		for _, n := range []int{1, 4096, 1 << 20} {
			Reader(n, threads)()
		}
	}
}
