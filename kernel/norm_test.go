package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
)

func TestBatchNorm(t *testing.T) {
	for _, sh := range [][]int{{3, 4}, {2, 3, 5}, {2, 3, 4, 5}, {1, 2, 3, 2, 4}, {0, 3, 2}, {2, 0, 2}, {2, 3, 0}} {
		for flags := range 4 {
			c := []int{sh[1]}
			in := shapes{sh, c, c, nil, nil}
			if flags&1 != 0 {
				in[3] = c
			}
			if flags&2 != 0 {
				in[4] = c
			}
			stepCase{
				name: fmt.Sprint(sh, flags), step: BatchNorm{Eps: 1e-3}, out: shapes{sh}, in: in,
				prepare: func(in []refArray) {
					for i, v := range in[2].v {
						in[2].v[i] = v*v + 0.1
					}
				},
				meaning: func(in, out []refArray) {
					eachPos(sh, func(pos []int) {
						c := pos[1]
						v := (in[0].get(pos...) - in[1].v[c]) / math.Sqrt(in[2].v[c]+1e-3)
						if in[3].v != nil {
							v *= in[3].v[c]
						}
						if in[4].v != nil {
							v += in[4].v[c]
						}
						out[0].set(v, pos...)
					})
				},
			}.check(t)
		}
	}
}

// moments returns the mean and the biased variance.
func moments(v []float64) (mean, variance float64) {
	for _, x := range v {
		mean += x
	}
	mean /= float64(len(v))
	for _, x := range v {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(v))
}

func TestBatchNormStats(t *testing.T) {
	for _, sh := range [][]int{{5, 3}, {2, 3, 7}, {3, 4, 5, 6}, {2, 0, 4}, {0, 2, 3}} {
		stepCase{
			name: fmt.Sprint(sh), step: BatchNormStats{}, out: shapes{sh[1:2], sh[1:2]}, in: shapes{sh}, index: -1,
			meaning: func(in, out []refArray) {
				for c := range sh[1] {
					var v []float64
					eachPos(sh, func(pos []int) {
						if pos[1] == c {
							v = append(v, in[0].get(pos...))
						}
					})
					out[0].v[c], out[1].v[c] = moments(v)
				}
			},
		}.check(t)
	}
}

// rowMeaning normalises consecutive rows; weights are chosen by channel(i).
func rowMeaning(size int, eps float64, raw bool, channel func(i int) int) func(in, out []refArray) {
	return func(in, out []refArray) {
		for at := 0; at < len(in[0].v); at += size {
			row := in[0].v[at : at+size]
			mean, variance := moments(row)
			if raw {
				variance += mean * mean
				mean = 0
			}
			for i, x := range row {
				v := (x - mean) / math.Sqrt(variance+eps)
				if in[1].v != nil {
					v *= in[1].v[channel(at+i)]
				}
				if len(in) > 2 && in[2].v != nil {
					v += in[2].v[channel(at+i)]
				}
				out[0].v[at+i] = v
			}
		}
	}
}

func TestLayerNormAndRMSNorm(t *testing.T) {
	for _, c := range []struct {
		sh   []int
		axes int
	}{{[]int{3, 8}, 1}, {[]int{2, 3, 5}, 2}, {[]int{2, 3, 5}, 1}, {[]int{7}, 1}, {[]int{0, 5}, 1}, {[]int{4, 0}, 1}, {[]int{2, 300}, 1}} {
		tail := c.sh[len(c.sh)-c.axes:]
		size := 1
		for _, d := range tail {
			size *= d
		}
		channel := func(i int) int { return i % size }
		for _, in := range []shapes{{c.sh, tail, tail}, {c.sh, tail, nil}, {c.sh, nil, tail}, {c.sh}} {
			in = append(in, nil, nil)[:3]
			stepCase{name: fmt.Sprint("layer", in, c.axes), step: LayerNorm{Axes: c.axes, Eps: 1e-5}, out: shapes{c.sh}, in: in,
				meaning: rowMeaning(size, 1e-5, false, channel)}.check(t)
			stepCase{name: fmt.Sprint("rms", in[:2], c.axes), step: RMSNorm{Axes: c.axes, Eps: 1e-6}, out: shapes{c.sh}, in: in[:2],
				meaning: rowMeaning(size, 1e-6, true, channel)}.check(t)
		}
	}
}

func TestGroupNorm(t *testing.T) {
	for _, c := range []struct {
		sh     []int
		groups int
	}{{[]int{2, 6, 4, 5}, 3}, {[]int{2, 6, 4}, 1}, {[]int{3, 4, 2, 2, 3}, 4}, {[]int{2, 6}, 2}, {[]int{0, 4, 3}, 2}, {[]int{2, 4, 0}, 2}} {
		chans, plane := c.sh[1], 1
		for _, d := range c.sh[2:] {
			plane *= d
		}
		for _, in := range []shapes{{c.sh, {chans}, {chans}}, {c.sh, nil, nil}} {
			stepCase{name: fmt.Sprint(in, c.groups), step: GroupNorm{Groups: c.groups, Eps: 1e-5}, out: shapes{c.sh}, in: in,
				meaning: rowMeaning(chans/c.groups*plane, 1e-5, false, func(i int) int { return i / plane % chans })}.check(t)
		}
	}
}

// A small spread on a large mean is where E[x²]-E[x]² loses every digit.
func TestNormsKeepSmallVariances(t *testing.T) {
	x := array.FromSlice([]float32{10000, 10001, 10002, 10003}, 1, 4)
	out := array.New(array.F32, 1, 4)
	runStep(t, LayerNorm{Axes: 1}, []*array.Array{out}, []*array.Array{x})
	want := []float64{-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865}
	for i, v := range array.Data[float32](out) {
		require.InDelta(t, want[i], float64(v), 1e-6)
	}
	col := array.FromSlice([]float32{10000, 10001, 10002, 10003}, 4, 1)
	mean, variance := array.New(array.F32, 1), array.New(array.F32, 1)
	runStep(t, BatchNormStats{}, []*array.Array{mean, variance}, []*array.Array{col})
	require.Equal(t, []float32{10001.5}, array.Data[float32](mean))
	require.Equal(t, []float32{1.25}, array.Data[float32](variance))
}

func TestSoftmax(t *testing.T) {
	for _, c := range []struct {
		sh  []int
		dim int
	}{{[]int{5}, 0}, {[]int{3, 7}, 1}, {[]int{3, 7}, 0}, {[]int{2, 5, 4}, 1}, {[]int{2, 3, 4, 33}, 3}, {[]int{0, 4}, 1}, {[]int{4, 0}, 1}, {[]int{}, 0}} {
		for _, logs := range []bool{false, true} {
			var step Step = Softmax{Dim: c.dim}
			if logs {
				step = LogSoftmax{Dim: c.dim}
			}
			stepCase{name: fmt.Sprint(c.sh, c.dim, logs), step: step, out: shapes{c.sh}, in: shapes{c.sh},
				meaning: func(in, out []refArray) {
					eachPos(c.sh, func(pos []int) {
						x, sum := in[0].get(pos...), 0.0
						if len(c.sh) == 0 {
							sum = math.Exp(x)
						} else {
							for k := range c.sh[c.dim] {
								p := append([]int{}, pos...)
								p[c.dim] = k
								sum += math.Exp(in[0].get(p...))
							}
						}
						if logs {
							out[0].set(x-math.Log(sum), pos...)
						} else {
							out[0].set(math.Exp(x)/sum, pos...)
						}
					})
				}}.check(t)
		}
	}
}

func TestSoftmaxSpecialValues(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	cases := []struct{ x, soft, logs []float64 }{
		{[]float64{1000, 1000}, []float64{0.5, 0.5}, []float64{-math.Ln2, -math.Ln2}},
		{[]float64{-inf, 0}, []float64{0, 1}, []float64{-inf, 0}},
		{[]float64{-inf, -inf}, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{nan, 1}, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{1, nan}, []float64{nan, nan}, []float64{nan, nan}},
		{[]float64{-2000, 0}, []float64{0, 1}, []float64{-2000, 0}},
	}
	for _, c := range cases {
		out := array.New(array.F64, 2)
		runStep(t, Softmax{}, []*array.Array{out}, []*array.Array{array.FromSlice(c.x)})
		requireClose(t, refArray{[]int{2}, c.soft}, out)
		runStep(t, LogSoftmax{}, []*array.Array{out}, []*array.Array{array.FromSlice(c.x)})
		requireClose(t, refArray{[]int{2}, c.logs}, out)
	}
}

func TestNormsDoNotAllocate(t *testing.T) {
	x, c := array.New(array.F32, 4, 8, 16), array.New(array.F32, 8)
	row, out := array.New(array.F32, 16), []*array.Array{array.New(array.F32, 4, 8, 16)}
	requireNoAllocs(t, BatchNorm{Eps: 1}, out, []*array.Array{x, c, c, c, c})
	requireNoAllocs(t, BatchNormStats{}, []*array.Array{array.New(array.F32, 8), array.New(array.F32, 8)}, []*array.Array{x})
	requireNoAllocs(t, LayerNorm{Axes: 1}, out, []*array.Array{x, row, row})
	requireNoAllocs(t, GroupNorm{Groups: 2}, out, []*array.Array{x, c, c})
	requireNoAllocs(t, Softmax{Dim: 1}, out, []*array.Array{x})
}
