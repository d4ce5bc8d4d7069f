package conv

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// gradCase is a convolution whose gradient is computed.
type gradCase struct {
	s       ConvWeightGrad
	x, y, w []int
}

// drawGradCase draws any geometry, windows beyond the image among them.
func drawGradCase(r *rapid.T) gradCase {
	c := gradCase{s: ConvWeightGrad{Groups: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "groups")}}
	per, outPer := rapid.SampledFrom([]int{1, 2, 3, 8, 16, 19}).Draw(r, "per group"), rapid.SampledFrom([]int{1, 2, 5, 15}).Draw(r, "out per group")
	c.x = []int{rapid.SampledFrom([]int{1, 2, 5}).Draw(r, "batch"), per * c.s.Groups}
	c.w = []int{outPer * c.s.Groups, per}
	c.y = []int{c.x[0], c.w[0]}
	for range rapid.SampledFrom([]int{1, 2, 2, 2, 3}).Draw(r, "dimensions") {
		in, k := rapid.SampledFrom([]int{1, 2, 4, 5, 7, 9, 18}).Draw(r, "in"), rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(r, "kernel")
		stride, dil := rapid.IntRange(1, 3).Draw(r, "stride"), rapid.IntRange(1, 2).Draw(r, "dilation")
		lo := rapid.IntRange(0, 3).Draw(r, "lo")
		out := max(1, (in+2*lo-(k-1)*dil-1)/stride+1+rapid.IntRange(-1, 1).Draw(r, "more"))
		c.x, c.w, c.y = append(c.x, in), append(c.w, k), append(c.y, out)
		c.s.Stride, c.s.Dilation, c.s.PadLo = append(c.s.Stride, stride), append(c.s.Dilation, dil), append(c.s.PadLo, lo)
	}
	return c
}

// magnitudes returns the absolute values of operands.
func magnitudes(in []kerneltest.RefArray) []kerneltest.RefArray {
	out := make([]kerneltest.RefArray, len(in))
	for i, a := range in {
		if a.V == nil { // no bias
			continue
		}
		out[i] = kerneltest.NewRef(a.Shape...)
		for j, v := range a.V {
			out[i].V[j] = math.Abs(v)
		}
	}
	return out
}

// wideMagnitudes returns the same of arrays of float64, nil where there is none.
func wideMagnitudes(in []*array.Array) []*array.Array {
	out := make([]*array.Array, len(in))
	for i, a := range in {
		if a != nil {
			out[i] = kerneltest.ToArray(magnitudes([]kerneltest.RefArray{kerneltest.ToRef(a)})[0], array.F64, false)
		}
	}
	return out
}

// Any geometry at every level gives what the sums in Go give in f64; with assembly the scratch
// is what ScratchBytes says, and no number of threads changes a bit.
func TestWeightGradLevels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			c := drawGradCase(r)
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			in := []*array.Array{kerneltest.ToArray(kerneltest.RandomRef(rnd, c.x), array.F32, false), kerneltest.ToArray(kerneltest.RandomRef(rnd, c.y), array.F32, false)}
			out, want := []*array.Array{array.New(array.F32, c.w...)}, []*array.Array{array.New(array.F64, c.w...)}
			wide := []*array.Array{array.Cast(in[0], array.F64), array.Cast(in[1], array.F64)}
			c.s.Run(&par.Workspace{}, want, wide)
			sizes := []*array.Array{array.New(array.F64, c.w...)}
			c.s.Run(&par.Workspace{}, sizes, wideMagnitudes(wide))
			ws := &par.Workspace{}
			bytes := c.s.ScratchBytes(out, in)
			c.s.Run(ws, out, in)
			if cpu.Host.Level == cpu.Generic {
				require.Zero(r, ws.HighWater())
			} else {
				require.GreaterOrEqual(r, bytes, ws.HighWater(), "scratch")
			}
			kerneltest.RequireSumsClose(t, kerneltest.ToRef(want[0]), kerneltest.ToRef(sizes[0]), out[0])
			again := []*array.Array{array.New(array.F32, c.w...)}
			c.s.Run(&par.Workspace{Threads: 3}, again, in)
			require.Equal(r, out[0].Storage().Bytes(), again[0].Storage().Bytes(), "result depends on the number of threads")
		})
	})
}

// Any transposed convolution at every level gives what the sums in Go give in f64, with the
// scratch that it says and with any number of threads.
func TestTransposeLevels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			s := ConvTranspose{Groups: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "groups")}
			per, outPer := rapid.SampledFrom([]int{1, 2, 5, 16, 19}).Draw(r, "per group"), rapid.SampledFrom([]int{1, 2, 6, 15}).Draw(r, "out per group")
			x := []int{rapid.SampledFrom([]int{1, 2, 5}).Draw(r, "batch"), per * s.Groups}
			w, y := []int{x[1], outPer}, []int{x[0], outPer * s.Groups}
			for range rapid.SampledFrom([]int{1, 2, 2, 2, 3}).Draw(r, "dimensions") {
				in, k := rapid.SampledFrom([]int{1, 2, 4, 5, 7, 9, 18}).Draw(r, "in"), rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(r, "kernel")
				stride, dil, pad := rapid.IntRange(1, 4).Draw(r, "stride"), rapid.IntRange(1, 4).Draw(r, "dilation"), rapid.IntRange(0, 4).Draw(r, "padding")
				extra := rapid.IntRange(0, max(stride, dil)-1).Draw(r, "more")
				out := (in-1)*stride + (k-1)*dil + 1 + extra - 2*pad
				if out < 1 {
					out, pad = out+2*pad, 0
				}
				x, w, y = append(x, in), append(w, k), append(y, out)
				s.Stride, s.Dilation, s.Padding = append(s.Stride, stride), append(s.Dilation, dil), append(s.Padding, pad)
			}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			in, wide := make([]*array.Array, 3), make([]*array.Array, 3)
			for i, dims := range [][]int{x, w, {y[1]}} {
				if i < 2 || rapid.Bool().Draw(r, "bias") {
					in[i] = kerneltest.ToArray(kerneltest.RandomRef(rnd, dims), array.F32, false)
					wide[i] = array.Cast(in[i], array.F64)
				}
			}
			out, want := []*array.Array{array.New(array.F32, y...)}, []*array.Array{array.New(array.F64, y...)}
			s.Run(&par.Workspace{}, want, wide)
			sizes := []*array.Array{array.New(array.F64, y...)}
			s.Run(&par.Workspace{}, sizes, wideMagnitudes(wide))
			ws := &par.Workspace{}
			bytes := s.ScratchBytes(out, in)
			s.Run(ws, out, in)
			require.GreaterOrEqual(r, bytes, ws.HighWater(), "scratch")
			kerneltest.RequireSumsClose(t, kerneltest.ToRef(want[0]), kerneltest.ToRef(sizes[0]), out[0])
			again := []*array.Array{array.New(array.F32, y...)}
			s.Run(&par.Workspace{Threads: 3}, again, in)
			require.Equal(r, out[0].Storage().Bytes(), again[0].Storage().Bytes(), "result depends on the number of threads")
		})
	})
}
