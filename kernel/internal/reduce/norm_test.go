package reduce

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

func TestBatchNorm(t *testing.T) {
	for _, sh := range [][]int{{3, 4}, {2, 3, 5}, {2, 3, 4, 5}, {1, 2, 3, 2, 4}, {0, 3, 2}, {2, 0, 2}, {2, 3, 0}} {
		for flags := range 4 {
			c := []int{sh[1]}
			in := kerneltest.Shapes{sh, c, c, nil, nil}
			if flags&1 != 0 {
				in[3] = c
			}
			if flags&2 != 0 {
				in[4] = c
			}
			kerneltest.StepCase{
				Name: fmt.Sprint(sh, flags), Step: BatchNorm{Eps: 1e-3}, Out: kerneltest.Shapes{sh}, In: in,
				Prepare: func(in []kerneltest.RefArray) {
					for i, v := range in[2].V {
						in[2].V[i] = v*v + 0.1
					}
				},
				Meaning: func(in, out []kerneltest.RefArray) {
					kerneltest.EachPos(sh, func(pos []int) {
						c := pos[1]
						v := (in[0].Get(pos...) - in[1].V[c]) / math.Sqrt(in[2].V[c]+1e-3)
						if in[3].V != nil {
							v *= in[3].V[c]
						}
						if in[4].V != nil {
							v += in[4].V[c]
						}
						out[0].Set(v, pos...)
					})
				},
			}.Check(t)
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
		kerneltest.StepCase{
			Name: fmt.Sprint(sh), Step: BatchNormStats{}, Out: kerneltest.Shapes{sh[1:2], sh[1:2]}, In: kerneltest.Shapes{sh}, Index: -1,
			Meaning: func(in, out []kerneltest.RefArray) {
				for c := range sh[1] {
					var v []float64
					kerneltest.EachPos(sh, func(pos []int) {
						if pos[1] == c {
							v = append(v, in[0].Get(pos...))
						}
					})
					out[0].V[c], out[1].V[c] = moments(v)
				}
			},
		}.Check(t)
	}
}

// rowMeaning normalises consecutive rows; weights are chosen by channel(i).
func rowMeaning(size int, eps float64, raw bool, channel func(i int) int) func(in, out []kerneltest.RefArray) {
	return func(in, out []kerneltest.RefArray) {
		for at := 0; at < len(in[0].V); at += size {
			row := in[0].V[at : at+size]
			mean, variance := moments(row)
			if raw {
				variance += mean * mean
				mean = 0
			}
			for i, x := range row {
				v := (x - mean) / math.Sqrt(variance+eps)
				if in[1].V != nil {
					v *= in[1].V[channel(at+i)]
				}
				if len(in) > 2 && in[2].V != nil {
					v += in[2].V[channel(at+i)]
				}
				out[0].V[at+i] = v
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
		for _, in := range []kerneltest.Shapes{{c.sh, tail, tail}, {c.sh, tail, nil}, {c.sh, nil, tail}, {c.sh}} {
			in = append(in, nil, nil)[:3]
			kerneltest.StepCase{Name: fmt.Sprint("layer", in, c.axes), Step: LayerNorm{Axes: c.axes, Eps: 1e-5}, Out: kerneltest.Shapes{c.sh}, In: in,
				Meaning: rowMeaning(size, 1e-5, false, channel)}.Check(t)
			kerneltest.StepCase{Name: fmt.Sprint("rms", in[:2], c.axes), Step: RMSNorm{Axes: c.axes, Eps: 1e-6}, Out: kerneltest.Shapes{c.sh}, In: in[:2],
				Meaning: rowMeaning(size, 1e-6, true, channel)}.Check(t)
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
		for _, in := range []kerneltest.Shapes{{c.sh, {chans}, {chans}}, {c.sh, nil, nil}} {
			kerneltest.StepCase{Name: fmt.Sprint(in, c.groups), Step: GroupNorm{Groups: c.groups, Eps: 1e-5}, Out: kerneltest.Shapes{c.sh}, In: in,
				Meaning: rowMeaning(chans/c.groups*plane, 1e-5, false, func(i int) int { return i / plane % chans })}.Check(t)
		}
	}
}

// A small spread on a large mean is where E[x²]-E[x]² loses every digit.
func TestNormsKeepSmallVariances(t *testing.T) {
	x := array.FromSlice([]float32{10000, 10001, 10002, 10003}, 1, 4)
	out := array.New(array.F32, 1, 4)
	kerneltest.RunStep(t, LayerNorm{Axes: 1}, []*array.Array{out}, []*array.Array{x})
	want := []float64{-1.3416407865, -0.4472135955, 0.4472135955, 1.3416407865}
	for i, v := range array.Data[float32](out) {
		require.InDelta(t, want[i], float64(v), 1e-6)
	}
	col := array.FromSlice([]float32{10000, 10001, 10002, 10003}, 4, 1)
	mean, variance := array.New(array.F32, 1), array.New(array.F32, 1)
	kerneltest.RunStep(t, BatchNormStats{}, []*array.Array{mean, variance}, []*array.Array{col})
	require.Equal(t, []float32{10001.5}, array.Data[float32](mean))
	require.Equal(t, []float32{1.25}, array.Data[float32](variance))
}

func TestSoftmax(t *testing.T) {
	for _, c := range []struct {
		sh  []int
		dim int
	}{{[]int{5}, 0}, {[]int{3, 7}, 1}, {[]int{3, 7}, 0}, {[]int{2, 5, 4}, 1}, {[]int{2, 3, 4, 33}, 3}, {[]int{0, 4}, 1}, {[]int{4, 0}, 1}, {[]int{}, 0}} {
		for _, logs := range []bool{false, true} {
			var step par.Step = Softmax{Dim: c.dim}
			if logs {
				step = LogSoftmax{Dim: c.dim}
			}
			kerneltest.StepCase{Name: fmt.Sprint(c.sh, c.dim, logs), Step: step, Out: kerneltest.Shapes{c.sh}, In: kerneltest.Shapes{c.sh},
				Meaning: func(in, out []kerneltest.RefArray) {
					kerneltest.EachPos(c.sh, func(pos []int) {
						x, sum := in[0].Get(pos...), 0.0
						if len(c.sh) == 0 {
							sum = math.Exp(x)
						} else {
							for k := range c.sh[c.dim] {
								p := append([]int{}, pos...)
								p[c.dim] = k
								sum += math.Exp(in[0].Get(p...))
							}
						}
						if logs {
							out[0].Set(x-math.Log(sum), pos...)
						} else {
							out[0].Set(math.Exp(x)/sum, pos...)
						}
					})
				}}.Check(t)
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
		{[]float64{1e30, 1e30}, []float64{0.5, 0.5}, []float64{-math.Ln2, -math.Ln2}}, // the logarithm is less than a digit of it
	}
	for _, c := range cases {
		for _, d := range []array.DType{array.F64, array.F32} {
			for dim, sh := range [][]int{{2, 1}, {1, 2}, {2, 3}} { // a column, a row, and columns side by side
				x, out := array.New(d, sh...), array.New(d, sh...)
				soft, logs := kerneltest.RefArray{Shape: sh}, kerneltest.RefArray{Shape: sh}
				dim %= 2
				for i := range x.Len() {
					k := i * 2 / x.Len()
					array.SetFloat64At(x, i, c.x[k])
					soft.V, logs.V = append(soft.V, c.soft[k]), append(logs.V, c.logs[k])
				}
				kerneltest.RunStep(t, Softmax{Dim: dim}, []*array.Array{out}, []*array.Array{x})
				kerneltest.RequireClose(t, soft, out)
				kerneltest.RunStep(t, LogSoftmax{Dim: dim}, []*array.Array{out}, []*array.Array{x})
				kerneltest.RequireClose(t, logs, out)
			}
		}
	}
}

// A mean that f32 does not hold is subtracted all the same where the factor is infinite: the
// difference has a sign.
func TestNormsByInfiniteFactors(t *testing.T) {
	inf := float32(math.Inf(1))
	x := array.FromSlice([]float32{-3, 1, 1.5, 2.2, 1, -3, 2, 2.1}, 1, 2, 4)
	out := array.New(array.F32, 1, 2, 4)
	kerneltest.RunStep(t, GroupNorm{Groups: 2, Eps: 1e-5}, []*array.Array{out}, []*array.Array{x, array.FromSlice([]float32{inf, -inf}), array.FromSlice([]float32{1, 2})})
	require.Equal(t, []float32{-inf, inf, inf, inf, -inf, inf, -inf, -inf}, array.Data[float32](out))
}

func TestNormsDoNotAllocate(t *testing.T) {
	x, c := array.New(array.F32, 4, 8, 16), array.New(array.F32, 8)
	row, out := array.New(array.F32, 16), []*array.Array{array.New(array.F32, 4, 8, 16)}
	kerneltest.RequireNoAllocs(t, BatchNorm{Eps: 1}, out, []*array.Array{x, c, c, c, c})
	kerneltest.RequireNoAllocs(t, BatchNormStats{}, []*array.Array{array.New(array.F32, 8), array.New(array.F32, 8)}, []*array.Array{x})
	kerneltest.RequireNoAllocs(t, LayerNorm{Axes: 1}, out, []*array.Array{x, row, row})
	kerneltest.RequireNoAllocs(t, GroupNorm{Groups: 2}, out, []*array.Array{x, c, c})
	kerneltest.RequireNoAllocs(t, Softmax{Dim: 1}, out, []*array.Array{x})
}
