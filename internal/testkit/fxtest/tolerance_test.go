package fxtest

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestCompare(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	of := func(v ...float64) *array.Array { return array.FromSlice(v) }
	for _, c := range []struct {
		got, want  *array.Array
		abs, l2    float64
		at         int
		withinTiny bool
	}{
		{of(1, 2), of(1, 2), 0, 0, 0, true},
		{of(1, 2), of(1, 2.5), 0.5, 0.5 / math.Sqrt(7.25), 1, false},
		{of(nan, inf, 1), of(nan, inf, 1), 0, 0, 0, true},
		{of(nan, 1), of(1, 1), inf, inf, 0, false},
		{of(inf, 1), of(-inf, 1), inf, nan, 0, false},
		{of(1), of(1, 2), inf, inf, 0, false},
		{of(1e-9), of(0), 1e-9, inf, 0, false},
		{of(), of(), 0, 0, 0, true},
	} {
		d := Compare(c.got, c.want)
		require.Equal(t, c.abs, d.MaxAbs)
		if c.l2 == c.l2 {
			require.Equal(t, c.l2, d.L2Rel)
		}
		require.Equal(t, c.at, d.At)
		require.Equal(t, c.withinTiny, d.Within(Tolerance{1e-6, 1e-6}), d.String())
	}
}

func TestStages(t *testing.T) {
	a := array.FromSlice([]float32{1, 2, 3, 4}, 2, 2)
	mean, std, l2 := Stats(a)
	require.Equal(t, 2.5, mean)
	require.InDelta(t, math.Sqrt(1.25), std, 1e-12)
	require.InDelta(t, math.Sqrt(30), l2, 1e-12)
	s := Stage{Module: "m", Shape: []int{2, 2}, Mean: mean, Std: std, L2: l2}
	require.Empty(t, s.Diverges(a, 1e-4))
	s.Mean += 0.001
	require.Contains(t, s.Diverges(a, 1e-4), "stage m has mean 2.5")
	s.Shape = []int{4}
	require.Contains(t, s.Diverges(a, 1e-4), "shape [2 2], expected [4]")
}

func TestSamplesArePicked(t *testing.T) {
	a := array.New(array.F32, 10)
	for i := range 10 {
		array.SetFloat64At(a, i, float64(i))
	}
	require.Equal(t, []float32{0, 2, 5, 7}, array.Data[float32](OutputRef{Sample: 4}.Stored(a)))
	require.Equal(t, 10, OutputRef{}.Stored(a).Len())
}
