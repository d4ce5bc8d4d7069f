package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/bench/peak"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/models"
)

func TestMedian(t *testing.T) {
	require.Equal(t, 0.0, median(nil))
	require.Equal(t, 2.0, median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, median([]float64{4, 1, 2, 3}))
}

// fake takes a fixed time a call and notes the order of measurements.
func fake(name string, per time.Duration, order *[]string) *runner {
	return &runner{name: name, time: func(_, calls int) (time.Duration, error) {
		*order = append(*order, name)
		return time.Duration(calls) * per, nil
	}}
}

func TestCompetitorsTakeTurns(t *testing.T) {
	var order []string
	list := []*runner{fake("a", time.Second, &order), fake("b", time.Second, &order), fake("c", time.Second, &order)}
	b := &bench{pairs: 4, window: time.Millisecond, limit: time.Hour}
	kept, err := b.interleave(&Case{}, &Row{}, list)
	require.NoError(t, err)
	require.Equal(t, list, kept)
	require.Equal(t, []string{"a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"}, order[6:])
	for _, r := range list {
		require.Equal(t, []float64{1000, 1000, 1000, 1000}, r.times)
		require.Equal(t, 1, r.calls)
	}
}

func TestShortCallsFillTheWindow(t *testing.T) {
	var order []string
	r := fake("a", 10*time.Microsecond, &order)
	b := &bench{pairs: 3, window: 10 * time.Millisecond, limit: time.Hour}
	_, err := b.interleave(&Case{}, &Row{}, []*runner{r})
	require.NoError(t, err)
	require.InDelta(t, 1000, r.calls, 2)
	require.InDelta(t, 1600, r.warm, 2)
	require.InDelta(t, 0.01, median(r.times), 1e-9)
}

func TestSlowRowsGetFewerPairs(t *testing.T) {
	for _, c := range []struct {
		limit time.Duration
		want  int
	}{{time.Hour, 15}, {20 * time.Second, 10}, {time.Second, 3}} {
		var order []string
		r := fake("a", 2*time.Second, &order)
		b := &bench{pairs: 15, window: time.Millisecond, limit: c.limit}
		_, err := b.interleave(&Case{}, &Row{}, []*runner{r})
		require.NoError(t, err)
		require.Len(t, r.times, c.want)
	}
}

// TestPeersMayEnd: a peer that fails half way is left out, gofx's failure is that of the row.
func TestPeersMayEnd(t *testing.T) {
	var order []string
	b := &bench{pairs: 4, window: time.Millisecond, limit: time.Hour}
	ours, theirs := fake("", time.Second, &order), fake("a", time.Second, &order)
	works, turns := theirs.time, 0
	theirs.process = &peers.Peer{}
	theirs.time = func(warm, calls int) (time.Duration, error) {
		if turns++; turns > 4 {
			return 0, peers.ErrEnded
		}
		return works(warm, calls)
	}
	row := &Row{}
	kept, err := b.interleave(&Case{}, row, []*runner{ours, theirs})
	require.NoError(t, err)
	require.Equal(t, []*runner{ours}, kept)
	require.Len(t, ours.times, 4)
	require.Equal(t, []string{"a: has ended"}, row.LeftOut)
	theirs.process, turns = nil, 4
	_, err = b.interleave(&Case{}, row, []*runner{ours, theirs})
	require.ErrorIs(t, err, peers.ErrEnded)
}

func TestBound(t *testing.T) {
	p := &peak.Peaks{FMA: 100, Int8: 400, Add: 50, Div: 10, Bandwidth: []peak.Bandwidth{{Bytes: 1000, Rate: 1000, Read: 500}, {Bytes: 10000, Rate: 100, Read: 50}}}
	require.Equal(t, 2.0, Work{Flops: 200}.Bound(p, 1))
	require.Equal(t, 0.5, Work{Ops8: 200}.Bound(p, 1))
	require.Equal(t, 3.0, Work{Adds: 100, Divs: 30}.Bound(p, 1), "the larger one")
	require.Equal(t, 1.0, Work{Bytes: 1000}.Bound(p, 1))
	require.Equal(t, 20.0, Work{Bytes: 2000}.Bound(p, 1), "past the cache")
	require.Equal(t, 36.0, Work{Bytes: 2000, Reads: 1800}.Bound(p, 1), "reading alone is slower")
	require.Equal(t, 20.0, Work{Flops: 200, Bytes: 2000}.Bound(p, 1))
	require.True(t, Work{Flops: 200, Bytes: 2000}.memoryBound(p, 1))
	require.False(t, Work{Flops: 200, Bytes: 200}.memoryBound(p, 1))
	require.False(t, Work{}.memoryBound(p, 1))
	require.Equal(t, 0.0, Work{Ops8: 200}.Bound(&peak.Peaks{Bandwidth: p.Bandwidth}, 1), "no rate, no bound")
}

func TestScaling(t *testing.T) {
	b := &bench{threads: 2, peaks: peak.Peaks{FMA: 100, Bandwidth: []peak.Bandwidth{{Bytes: 1, Rate: 1, Read: 1}}}}
	took := func(name string, ms ...float64) *runner { return &runner{name: name, times: ms} }
	r := &Row{PeakBeside: 8}
	b.finish(&Case{Work: Work{Flops: 100}}, r, []*runner{took("", 2, 3, 2), took(alone, 3), took(peakTurn, 4), took(peakAlone, 3), took("torch", 5)})
	require.Equal(t, map[string]float64{"torch": 5}, r.Peers, "the peak and gofx are no peers")
	require.Equal(t, 3.0, r.AloneMS)
	require.Equal(t, 1.5, r.PeakScaling, "twice the work in four thirds of the time")
	require.Equal(t, 1.0, r.ScalingShare)
	require.Equal(t, "1.50 (1.00)", r.gain())
	r = &Row{}
	b.finish(&Case{}, r, []*runner{took("", 2), took(alone, 3)})
	require.Equal(t, "1.50", r.gain())
	require.Equal(t, "-", (&Row{OursMS: 1}).gain())
}

func TestSums(t *testing.T) {
	row := func(shape string, ours, share float64, torch, ort float64, uses map[string]int) *Row {
		r := &Row{Group: "conv", Shape: shape, OursMS: ours, RoofShare: share, Networks: uses, Threads: 2, Pairs: 15}
		m := map[string]float64{"torch": torch}
		if ort > 0 {
			m["ort"] = ort
		}
		r.setPeers(m)
		return r
	}
	rows := []*Row{
		row("a", 1, 0.5, 3, 2, map[string]int{"n": 2, "m": 1}),
		row("b", 4, 1, 1, 5, map[string]int{"n": 3}),
		row("c", 4, 1, 1, 0, map[string]int{"m": 1}),
		{Group: "qconv", Shape: "a", OursMS: 100, Networks: map[string]int{"n": 1}},
	}
	got := sums("conv", rows, map[string]int{"n": 2, "m": 2, "absent": 1, "part": 3})
	require.Len(t, got, 2)
	m, n := got[0], got[1]
	require.Equal(t, "n_sum", n.Shape)
	require.Equal(t, 14.0, n.OursMS)
	require.Equal(t, map[string]float64{"torch": 9, "ort": 19}, n.Peers)
	require.Equal(t, "best at each shape", n.Peer)
	require.Equal(t, 2*2.0+3*1, n.PeerMS)
	require.Equal(t, 2.0, n.Ratio)
	require.InDelta(t, (2*0.5+12*1)/14.0, n.RoofShare, 1e-12)
	require.Equal(t, 2, n.Threads)
	require.Equal(t, "m_sum", m.Shape)
	require.Equal(t, map[string]float64{"torch": 4}, m.Peers, "ONNX Runtime lacks a shape")
	require.Empty(t, sums("conv", rows, map[string]int{"n": 3}), "a shape was not measured")
}

func TestTextsNameNoFolderOfTheMachine(t *testing.T) {
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	require.Equal(t, "models/lstm.go:22: cannot be written", inTree(filepath.Join(dir, "models", "lstm.go")+":22: cannot be written"))
}

// TestHold: the command runs from its first line to the end of its input.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	b := &bench{hold: "echo stop >>" + path + "; echo; cat; echo go on >>" + path}
	log := func() string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	require.NoError(t, b.quietly(func() { require.Equal(t, "stop\n", log()) }))
	require.Equal(t, "stop\ngo on\n", log())
	b.hold = "exit 3"
	require.ErrorContains(t, b.quietly(func() { t.Fail() }), "-hold: exit 3 has ended without a word: exit status 3")
	b.hold = ""
	require.NoError(t, b.quietly(func() {}))
}

// TestSlowPeersAreTimedOnce: they have no turns, and are left out where an input would pass the limit.
func TestSlowPeersAreTimedOnce(t *testing.T) {
	var order []string
	b, row := &bench{slow: map[string]float64{}, limit: 10 * time.Second}, &Row{}
	c := &Case{Network: &models.Model{Name: "net"}, Dims: map[string]int{"N": 8}}
	b.timeOnce(c, row, []*runner{fake("iree", 3*time.Second, &order)})
	require.Equal(t, map[string]float64{"iree": 3000}, row.Once)
	require.Len(t, order, 1)
	b.slow[c.slowKey("iree")] = 2e9
	_, err := b.loaded(c, &field{}, nil, peerCase{name: "iree"})
	require.EqualError(t, err, "one input took 2 s, 8 would take more than 10s (-limit)")
}
