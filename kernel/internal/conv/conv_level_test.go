package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Any geometry at every level; with assembly the scratch is what ScratchBytes
// says, exactly.
func TestConvLevels(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			s := Conv{Groups: rapid.SampledFrom([]int{1, 1, 2, 3}).Draw(r, "groups")}
			per, outPer := rapid.IntRange(1, 6).Draw(r, "per group"), rapid.SampledFrom([]int{1, 2, 5, 15}).Draw(r, "out per group")
			x := []int{rapid.IntRange(1, 2).Draw(r, "batch"), per * s.Groups}
			w := []int{outPer * s.Groups, per}
			y := []int{x[0], w[0]}
			for range rapid.SampledFrom([]int{1, 2, 2, 2, 3}).Draw(r, "dimensions") {
				in, k := rapid.SampledFrom([]int{1, 2, 4, 5, 7, 9, 18}).Draw(r, "in"), rapid.SampledFrom([]int{1, 1, 2, 3, 5}).Draw(r, "kernel")
				stride, dil := rapid.IntRange(1, 3).Draw(r, "stride"), rapid.IntRange(1, 2).Draw(r, "dilation")
				lo, hi := rapid.IntRange(0, 3).Draw(r, "lo"), rapid.IntRange(0, 3).Draw(r, "hi")
				out := (in+lo+hi-(k-1)*dil-1)/stride + 1
				if in+lo+hi < (k-1)*dil+1 {
					k, out = 1, (in+lo+hi-1)/stride+1
				}
				x, w, y = append(x, in), append(w, k), append(y, out)
				s.Stride, s.Dilation = append(s.Stride, stride), append(s.Dilation, dil)
				s.PadLo, s.PadHi = append(s.PadLo, lo), append(s.PadHi, hi)
			}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			ref := []kerneltest.RefArray{kerneltest.RandomRef(rnd, x), kerneltest.RandomRef(rnd, w), {}}
			in := []*array.Array{kerneltest.ToArray(ref[0], array.F32, false), kerneltest.ToArray(ref[1], array.F32, false), nil}
			if rapid.Bool().Draw(r, "bias") {
				ref[2] = kerneltest.RandomRef(rnd, []int{w[0]})
				in[2] = kerneltest.ToArray(ref[2], array.F32, false)
			}
			for i := range in {
				if in[i] != nil {
					ref[i] = kerneltest.ToRef(in[i])
				}
			}
			want := kerneltest.NewRef(y...)
			kerneltest.ConvMeaning(kerneltest.ConvForm(s))(ref, []kerneltest.RefArray{want})
			sizes := kerneltest.NewRef(y...)
			kerneltest.ConvMeaning(kerneltest.ConvForm(s))(magnitudes(ref), []kerneltest.RefArray{sizes})
			out := []*array.Array{array.New(array.F32, y...)}
			ws := &par.Workspace{}
			bytes := s.ScratchBytes(out, in)
			s.Run(ws, out, in)
			if cpu.Host.Level == cpu.Generic {
				require.LessOrEqual(r, ws.HighWater(), bytes)
			} else {
				require.GreaterOrEqual(r, bytes, ws.HighWater(), "scratch")
			}
			kerneltest.RequireSumsClose(t, want, sizes, out[0])
			again := []*array.Array{array.New(array.F32, y...)}
			s.Run(&par.Workspace{Threads: 3}, again, in)
			require.Equal(r, out[0].Storage().Bytes(), again[0].Storage().Bytes(), "result depends on the number of threads")
		})
	})
}
