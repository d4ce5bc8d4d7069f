package verdict

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

var rows = Rows{
	"g/a": {Times: map[string]float64{"": 2, "eager": 8}, Counts: []Count{{"x: graphs", 1}, {"y: graphs", 3}, {"flushes by item", 4}, {"flushes by data", 2}}},
	"g/b": {Times: map[string]float64{"": 4, "eager": 4}},
}

func TestFigures(t *testing.T) {
	for _, v := range []struct {
		f    Figure
		want float64
		ok   bool
	}{
		{Ratio("g/a", "eager", ""), 4, true},
		{Ratio("g/a", "torch", ""), 0, false},
		{Ratio("g/a", "", "torch"), 0, false},
		{Times("g/a", "", "g/b", ""), 0.5, true},
		{Per(Times("g/a", "", "g/b", ""), 2), 0.25, true},
		{Largest(Each(byOwn("eager"), "g/a", "g/b")...), 4, true},
		{Largest(Each(byOwn("eager"), "g/a", "g/c")...), 0, false},
		{Mean(Each(byOwn("eager"), "g/a", "g/b")...), 2, true},
		{Largest(), 0, false},
		{Counted("g/a", "y: graphs"), 3, true},
		{Counted("g/a", "graphs"), 0, false},
		{Less(Counted("g/a", "y: graphs"), Counted("g/a", "x: graphs")), 2, true},
		{Less(Counted("g/a", "y: graphs"), Counted("g/b", "x: graphs")), 0, false},
		{LargestNamed("g/a", "graphs"), 3, true},
		{LargestNamed("g/b", "graphs"), 0, false},
		{SumOf("g/a", "flushes by ", "flushes by item"), 2, true},
		{SumOf("g/b", "flushes by ", "flushes by item"), 0, false},
	} {
		got, ok := v.f(rows)
		require.Equal(t, v.ok, ok)
		if ok {
			require.InDelta(t, v.want, got, 1e-12)
		}
	}
}

func TestRanges(t *testing.T) {
	for text, r := range map[string]*Range{"≥ 1.50": AtLeast(1.5), "≤ 0.65": AtMost(0.65), "7": Exactly(7), "0.97 to 1.03": Within(1, 0.03), "-": nil} {
		require.Equal(t, text, r.String())
	}
	require.True(t, AtLeast(2).has(2))
	require.False(t, AtLeast(2).has(1.999))
	require.False(t, (*Range)(nil).has(0))
	require.False(t, AtMost(2).has(math.NaN()))
}

// A workload is as good as its worst claim, and at best the shape where the paper has no figure.
func TestJudge(t *testing.T) {
	own := Claims
	defer func() { Claims = own }()
	ratio := Ratio("g/a", "eager", "")
	holds, fails := Claim{Of: ratio, Reached: AtLeast(1)}, Claim{Of: ratio, Reached: AtMost(1)}
	reached, shaped := Claim{Of: ratio, Paper: "3", Reached: AtLeast(3), Shape: AtLeast(1)}, Claim{Of: ratio, Paper: "5", Reached: AtLeast(5), Shape: AtLeast(1)}
	differs, missing := Claim{Of: ratio, Paper: "0.5", Reached: AtMost(0.5), Shape: AtMost(1)}, Claim{Of: Ratio("g/c", "eager", ""), Paper: "3", Reached: AtLeast(3)}
	Claims = map[string][]Claim{"reached": {reached, holds}, "shape": {reached, shaped}, "no figure": {holds}, "fails": {fails, reached}, "differs": {shaped, differs}, "missing": {reached, missing}}
	for id, want := range map[string]Verdict{"reached": Reproduced, "shape": Shape, "no figure": Shape, "fails": Differs, "differs": Differs, "missing": NotRun, "unknown": NotRun} {
		got, list := Judge(id, rows)
		require.Equal(t, want, got, id)
		require.Len(t, list, len(Claims[id]))
	}
	_, list := Judge("shape", rows)
	require.Equal(t, []string{"4", "4"}, []string{list[0].Here(), list[1].Here()})
	require.Equal(t, []Verdict{Reproduced, Shape}, []Verdict{list[0].Verdict, list[1].Verdict})
	_, list = Judge("missing", rows)
	require.Equal(t, "-", list[1].Here())
	_, list = Judge("fails", rows)
	require.Equal(t, "-", list[0].Own())
}

// Whatever reaches a paper's figure has its direction, and there are figures to reach.
func TestClaims(t *testing.T) {
	for id, list := range Claims {
		require.NotEmpty(t, list, id)
		for _, c := range list {
			require.NotEmpty(t, c.What, id)
			require.NotNil(t, c.Of, id)
			require.NotNil(t, c.Reached, id)
			if c.Shape != nil {
				require.NotEmpty(t, c.Paper, "%s: %s", id, c.What)
				require.LessOrEqual(t, c.Shape[0], c.Reached[0], "%s: %s", id, c.What)
				require.GreaterOrEqual(t, c.Shape[1], c.Reached[1], "%s: %s", id, c.What)
			}
		}
	}
}
