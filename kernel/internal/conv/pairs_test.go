package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Convolutions of bf16 are within their bound, in every layout of the weight.
func TestConvPackedBF16(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			of := func(name string, list ...int) int { return rapid.SampledFrom(list).Draw(r, name) }
			groups, per, m := of("groups", 1, 1, 1, 2, 3), of("channels", 1, 2, 3, 4, 7, 16, 33), of("filters", 1, 3, 14, 17, 40)
			kernel := []int{of("height", 1, 1, 2, 3), of("width", 1, 1, 2, 3, 5)}
			s := Conv{Groups: groups, Stride: []int{of("stride down", 1, 1, 2), of("stride across", 1, 1, 2, 3)}, PadLo: []int{of("above", 0, 1), of("before", 0, 1, 2)},
				Dilation: []int{of("dilation down", 1, 1, 2), 1}}
			s.PadHi = s.PadLo
			if rapid.Bool().Draw(r, "pointwise") {
				kernel, s = []int{1, 1}, Conv{Groups: groups}
			}
			in := []int{of("rows", 1, 5, 7, 14), of("columns", 1, 7, 14, 19, 40)}
			g, ok := expected(s, in, kernel)
			if !ok {
				return
			}
			batch := of("images", 1, 2)
			x := []int{batch, groups * per, in[0], in[1]}
			y := []int{batch, groups * m, g.Out[1], g.Out[2]}
			if batch*groups*m*per*g.OutPlane*kernel[0]*kernel[1] > 1<<18 {
				return
			}
			rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			dt := rapid.SampledFrom([]array.DType{array.F32, array.F32, array.F16, array.BF16}).Draw(r, "type")
			pack := PackConv{Conv: s, BF16: true}
			if rapid.Bool().Draw(r, "sizes are known") {
				pack.In = in
			}
			requireBrainConv(t, rnd, pack, dt, [3][]int{x, {groups * m, per, kernel[0], kernel[1]}, y})
		})
	})
}

// The shapes of networks, whose layouts differ: small maps, images of three channels, strides, windows
// that reach no image, one dimension.
func TestConvPackedBF16Shapes(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		for i, c := range []struct {
			s       Conv
			x, w, y []int
		}{
			{Conv{PadLo: []int{3, 3}, PadHi: []int{3, 3}, Stride: []int{2, 2}}, []int{1, 3, 30, 30}, []int{16, 3, 7, 7}, []int{1, 16, 15, 15}},
			{Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 64, 7, 7}, []int{64, 64, 3, 3}, []int{1, 64, 7, 7}},
			{Conv{}, []int{1, 800, 7, 7}, []int{70, 800, 1, 1}, []int{1, 70, 7, 7}},
			{Conv{}, []int{1, 256, 1, 1}, []int{64, 256, 1, 1}, []int{1, 64, 1, 1}},
			{Conv{Groups: 4}, []int{1, 20, 1, 3}, []int{36, 5, 1, 1}, []int{1, 36, 1, 3}},
			{Conv{Groups: 8, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 16, 14, 14}, []int{16, 2, 3, 3}, []int{1, 16, 14, 14}},
			{Conv{Groups: 6, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 6, 14, 14}, []int{12, 1, 3, 3}, []int{1, 12, 14, 14}},
			{Conv{PadLo: []int{200, 0}}, []int{1, 3, 3, 3}, []int{3, 3, 2, 2}, []int{1, 3, 402, 2}},
			{Conv{PadLo: []int{1}}, []int{2, 5, 6}, []int{4, 5, 3}, []int{2, 4, 6}},
			{Conv{}, []int{2, 0, 5, 5}, []int{3, 0, 3, 3}, []int{2, 3, 3, 3}},
		} {
			for _, sizes := range [][]int{nil, c.x[2:]} {
				requireBrainConv(t, rand.New(rand.NewPCG(uint64(i), 3)), PackConv{Conv: c.s, In: sizes, BF16: true}, array.F32, [3][]int{c.x, c.w, c.y})
			}
		}
	})
}

// requireBrainConv compares a convolution of an image, a weight and a result of some shapes with exact sums of
// rounded operands.
func requireBrainConv(t *testing.T, rnd *rand.Rand, pack PackConv, dt array.DType, shapes [3][]int) {
	t.Helper()
	x, w, y := shapes[0], shapes[1], shapes[2]
	in := kerneltest.ToArray(kerneltest.RandomRef(rnd, x), dt, false)
	wt := kerneltest.ToArray(kerneltest.RandomRef(rnd, w), dt, false)
	_, dims := pack.Packed(wt)
	packed := array.New(array.F32, dims...)
	kerneltest.RunStep(t, pack, []*array.Array{packed}, []*array.Array{wt})
	step := ConvPacked{Conv: pack.Conv, Channels: w[0], Kernel: w[2:], In: pack.In, BF16: true}
	out := array.New(array.F32, y...)
	kerneltest.RunStep(t, step, []*array.Array{out}, []*array.Array{in, packed})
	again := array.New(array.F32, y...)
	step.Run(&par.Workspace{Threads: 3}, []*array.Array{again}, []*array.Array{in, packed})
	require.Equal(t, array.Data[float32](out), array.Data[float32](again), "threads change no bit")
	a, b := kerneltest.Brained(in), kerneltest.Brained(wt)
	exact, size := kerneltest.NewRef(y...), kerneltest.NewRef(y...)
	meaning := kerneltest.ConvMeaning(kerneltest.ConvForm(pack.Conv))
	meaning([]kerneltest.RefArray{a, b, {}}, []kerneltest.RefArray{exact})
	meaning([]kerneltest.RefArray{a.Absolute(), b.Absolute(), {}}, []kerneltest.RefArray{size})
	k := 1
	for _, n := range w[1:] {
		k *= n
	}
	kerneltest.RequireBrainSums(t, exact, size, k, a.Most()+b.Most(), out)
}

// Prologue and epilogue are computed in f32, and the prologue before the rounding.
func TestConvPackedBF16Ends(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 9))
		x, w, y := []int{2, 5, 9, 9}, []int{20, 5, 3, 3}, []int{2, 20, 9, 9}
		c := Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}
		for subset := range 8 {
			step := ConvPacked{Conv: c, Channels: 20, Kernel: w[2:], BF16: true, Epilogue: kerneltest.EpilogueAt(subset / 2), Prologue: operand.Prologue{Act: operand.ActReLU}}
			in, wt := kerneltest.ToArray(kerneltest.RandomRef(r, x), array.F32, false), kerneltest.ToArray(kerneltest.RandomRef(r, w), array.F32, false)
			factor, term := kerneltest.RandomRef(r, []int{5}), kerneltest.RandomRef(r, []int{5})
			f, b := kerneltest.ToArray(factor, array.F32, false), kerneltest.ToArray(term, array.F32, false)
			pack := PackConv{Conv: c, BF16: true}
			_, dims := pack.Packed(wt)
			packed := array.New(array.F32, dims...)
			kerneltest.RunStep(t, pack, []*array.Array{packed}, []*array.Array{wt})
			more, ref := kerneltest.Extra(r, array.F32, subset, 20, y)
			out, want := array.New(array.F32, y...), kerneltest.NewRef(y...)
			for len(more) < 3 {
				more = append(more, nil)
			}
			kerneltest.RunStep(t, step, []*array.Array{out}, append(append([]*array.Array{in, packed}, more...), f, b))
			before := array.New(array.F32, x...)
			for i, v := range array.Data[float32](in) {
				ch := i / 81 % 5
				array.Data[float32](before)[i] = max(float32(v*array.Data[float32](f)[ch])+array.Data[float32](b)[ch], 0)
			}
			kerneltest.ConvMeaning(kerneltest.ConvForm(c))([]kerneltest.RefArray{kerneltest.Brained(before), kerneltest.Brained(wt), {}}, []kerneltest.RefArray{want})
			for j := range want.V {
				m := j / 81 % 20
				want.V[j] = kerneltest.Finish(want.V[j], step.Epilogue, ref[1].Or(m, 1), ref[0].Or(m, 0), ref[2].Or(j, 0))
			}
			kerneltest.RequireClose(t, want, out)
		}
	})
}

// NaN, infinities and subnormal operands, in groups, in one to three dimensions, on fewer and on more threads than groups. Filters of
// one channel leave padding out, where others multiply it: they have none here.
func TestConvPackedBF16Unusual(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(10, 11))
		same := Conv{PadLo: []int{1, 1}, PadHi: []int{1, 1}}
		for _, c := range []struct {
			s       Conv
			x, w, y []int
		}{
			{same, []int{1, 4, 7, 7}, []int{16, 4, 3, 3}, []int{1, 16, 7, 7}},
			{same, []int{2, 5, 9, 19}, []int{17, 5, 3, 3}, []int{2, 17, 9, 19}},
			{Conv{}, []int{1, 33, 7, 7}, []int{70, 33, 1, 1}, []int{1, 70, 7, 7}},
			{Conv{}, []int{2, 33, 1, 1}, []int{70, 33, 1, 1}, []int{2, 70, 1, 1}},
			{Conv{Groups: 8, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{2, 24, 14, 14}, []int{16, 3, 3, 3}, []int{2, 16, 14, 14}},
			{Conv{Groups: 6}, []int{1, 6, 14, 14}, []int{12, 1, 3, 3}, []int{1, 12, 12, 12}},
			{Conv{PadLo: []int{1}, PadHi: []int{1}}, []int{2, 5, 60}, []int{4, 5, 3}, []int{2, 4, 60}},
			{Conv{PadLo: []int{1, 0, 1}, PadHi: []int{0, 1, 1}}, []int{1, 3, 5, 6, 20}, []int{5, 3, 2, 2, 3}, []int{1, 5, 5, 6, 20}},
			{Conv{Stride: []int{2, 2}, PadLo: []int{1, 1}, PadHi: []int{1, 1}}, []int{1, 3, 15, 15}, []int{5, 3, 3, 3}, []int{1, 5, 8, 8}},
		} {
			for i, threads := range []int{1, 2, 5, 16} {
				pack := PackConv{Conv: c.s, BF16: true}
				if i%2 == 1 {
					pack.In = c.x[2:]
				}
				in, wt := kerneltest.Unusual(r, c.x, c.w)
				_, dims := pack.Packed(wt)
				packed, out, exact := array.New(array.F32, dims...), array.New(array.F32, c.y...), kerneltest.NewRef(c.y...)
				pack.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{wt})
				ConvPacked{Conv: pack.Conv, Channels: c.w[0], Kernel: c.w[2:], In: pack.In, BF16: true}.Run(&par.Workspace{Threads: threads}, []*array.Array{out}, []*array.Array{in, packed})
				kerneltest.ConvMeaning(kerneltest.ConvForm(c.s))([]kerneltest.RefArray{kerneltest.Brained(in), kerneltest.Brained(wt), {}}, []kerneltest.RefArray{exact})
				kerneltest.RequireUnusual(t, exact, out, c)
			}
		}
	})
}

func TestConvPackedBF16DoesNotAllocate(t *testing.T) {
	kerneltest.BrainLevels(t, func(t *testing.T) {
		for _, groups := range []int{1, 2, 8} {
			pack := PackConv{Conv: Conv{Groups: groups, PadLo: []int{1, 1}}, BF16: true}
			_, dims := pack.Packed(array.New(array.F32, 8, 8/groups, 3, 3))
			s := ConvPacked{Conv: pack.Conv, BF16: true, Channels: 8, Kernel: []int{3, 3}, Epilogue: operand.Epilogue{Act: operand.ActReLU}}
			kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 2, 8, 9, 9)}, []*array.Array{array.New(array.F32, 2, 8, 9, 9),
				array.New(array.F32, dims...), array.New(array.F32, 8)})
		}
	})
}
