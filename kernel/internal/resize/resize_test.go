package resize

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// resizeRef interpolates at one output multi-index, straight from the meaning:
// the product over dimensions of weights times elements.
func resizeRef(x kerneltest.Tensor64, ix, out []int, r Resize) float64 {
	lead := len(x.Shape) - r.Spatial
	jx := append([]int{}, ix...)
	var walk func(d int) float64
	walk = func(d int) float64 {
		if d == len(ix) {
			return x.At(jx...)
		}
		n, size := out[d], x.Shape[d]
		step := float64(size) / float64(n)
		if len(r.Scales) > 0 {
			step = 1 / r.Scales[d-lead]
		}
		pos := (float64(ix[d])+0.5)*step - 0.5
		if r.AlignCorners {
			pos = 0
			if n > 1 {
				pos = float64(ix[d]) * float64(size-1) / float64(n-1)
			}
		}
		read := func(k int) float64 {
			jx[d] = min(max(k, 0), size-1)
			return walk(d + 1)
		}
		switch r.Mode {
		case "nearest":
			return read(int(math.Floor(float64(ix[d]) * step)))
		case "nearest-exact":
			return read(int(math.Floor((float64(ix[d]) + 0.5) * step)))
		case "bicubic":
			k := int(math.Floor(pos))
			sum := 0.0
			for j := k - 1; j <= k+2; j++ {
				sum += keys(pos-float64(j)) * read(j)
			}
			return sum
		}
		pos = max(pos, 0)
		k := int(math.Floor(pos))
		f := pos - float64(k)
		return (1-f)*read(k) + f*read(k+1)
	}
	jx = append(jx[:0], ix...)
	return walk(lead)
}

// keys is Keys' cubic convolution kernel with a = -0.75.
func keys(x float64) float64 {
	const a = -0.75
	switch x = math.Abs(x); {
	case x <= 1:
		return (a+2)*x*x*x - (a+3)*x*x + 1
	case x < 2:
		return a*x*x*x - 5*a*x*x + 8*a*x - 4*a
	}
	return 0
}

func TestResize(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, c := range []struct {
		in, out []int
		scales  []float64
		modes   []string
	}{
		{[]int{2, 3, 5}, []int{2, 3, 8}, nil, []string{"nearest", "nearest-exact", "linear"}},
		{[]int{2, 3, 5}, []int{2, 3, 10}, []float64{2}, []string{"nearest", "linear"}},
		{[]int{1, 2, 4, 6}, []int{1, 2, 7, 3}, nil, []string{"nearest", "nearest-exact", "bilinear", "bicubic"}},
		{[]int{1, 2, 4, 6}, []int{1, 2, 4, 6}, nil, []string{"nearest", "bilinear", "bicubic"}},
		{[]int{1, 2, 5, 5}, []int{1, 2, 6, 13}, []float64{1.3, 2.7}, []string{"nearest", "bilinear", "bicubic"}},
		{[]int{1, 1, 1, 3}, []int{1, 1, 4, 1}, nil, []string{"nearest", "bilinear", "bicubic"}},
		{[]int{1, 2, 3, 2, 4}, []int{1, 2, 5, 4, 3}, nil, []string{"nearest", "trilinear"}},
	} {
		x := kerneltest.Rand64(r, c.in...)
		for _, mode := range c.modes {
			for _, align := range []bool{false, true} {
				if align && (mode == "nearest" || mode == "nearest-exact" || c.scales != nil) {
					continue
				}
				s := Resize{Mode: mode, AlignCorners: align, Scales: c.scales, Spatial: len(c.in) - 2}
				want := kerneltest.Fill64(c.out, func(ix []int) float64 { return resizeRef(x, ix, c.out, s) })
				for d, tol := range map[array.DType]float64{array.F32: 1e-5, array.F64: 1e-12, array.F16: 2e-3, array.BF16: 2e-2} {
					for _, in := range kerneltest.Layouts(d, x) {
						kerneltest.Near(t, want, kerneltest.Run1(t, s, d, c.out, in), tol, mode, align, d)
					}
				}
			}
		}
	}
	// Known values: PyTorch's documentation of Upsample.
	in := array.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	want := kerneltest.Tensor64{Shape: []int{1, 1, 4, 4}, Data: []float64{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}}
	kerneltest.Same(t, want, kerneltest.Run1(t, Resize{Mode: "bilinear", Spatial: 2}, array.F32, want.Shape, in))
	// Twice the size halves the index whatever the scale says, as PyTorch does.
	three := array.FromSlice([]float32{1, 2, 3}, 1, 1, 3)
	twice := kerneltest.Tensor64{Shape: []int{1, 1, 6}, Data: []float64{1, 1, 2, 2, 3, 3}}
	kerneltest.Same(t, twice, kerneltest.Run1(t, Resize{Mode: "nearest", Scales: []float64{2.2}, Spatial: 1}, array.F32, twice.Shape, three))
	// Integers round and stay in range: cubic overshoots here.
	u := array.FromSlice([]uint8{0, 255, 255, 0}, 1, 1, 1, 4)
	s := Resize{Mode: "bicubic", Spatial: 2}
	over := kerneltest.Fill64([]int{1, 1, 1, 8}, func(ix []int) float64 {
		v := resizeRef(kerneltest.Unpack64(u), ix, []int{1, 1, 1, 8}, s)
		return math.RoundToEven(math.Min(math.Max(v, 0), 255))
	})
	kerneltest.Same(t, over, kerneltest.Run1(t, s, array.U8, over.Shape, u))
	kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{1, 1, 4}, Data: []float64{1, 1, 0, 0}}, kerneltest.Run1(t, Resize{Mode: "nearest", Spatial: 1}, array.Bool, []int{1, 1, 4}, array.FromSlice([]bool{true, false}, 1, 1, 2)))
	kerneltest.Code(t, operand.OperandCode, "no elements", func() {
		kerneltest.Run1(t, Resize{Mode: "linear", Spatial: 1}, array.F32, []int{1, 1, 2}, array.New(array.F32, 1, 1, 0))
	})
	out := []*array.Array{array.New(array.F32, 1, 1, 5, 5)}
	kerneltest.NoAllocs(t, Resize{Mode: "bicubic", Spatial: 2}, out, in)
	kerneltest.NoAllocs(t, Resize{Mode: "nearest", Spatial: 2}, out, in)
}

// gridRef samples one plane at one point, from the meaning.
func gridRef(at func(ix []int) float64, size []int, pt []float64, g GridSample) float64 {
	pad := func(x float64, n int) float64 {
		switch g.PaddingMode {
		case "border":
			return math.Min(math.Max(x, 0), float64(n-1))
		case "reflection":
			lo, hi := -0.5, float64(n)-0.5
			if g.AlignCorners {
				lo, hi = 0, float64(n-1)
			}
			for hi > lo && (x < lo || x > hi) {
				if x < lo {
					x = 2*lo - x
				} else {
					x = 2*hi - x
				}
			}
			return math.Min(math.Max(x, 0), float64(n-1))
		}
		return x
	}
	ix := make([]int, len(size))
	var walk func(d int) float64
	walk = func(d int) float64 {
		if d == len(size) {
			return at(ix)
		}
		n := size[d]
		x := pt[len(size)-1-d]
		if g.AlignCorners {
			x = (x + 1) / 2 * float64(n-1)
		} else {
			x = ((x+1)*float64(n) - 1) / 2
		}
		read := func(k float64) float64 {
			if k < 0 || k >= float64(n) {
				return 0
			}
			ix[d] = int(k)
			return walk(d + 1)
		}
		switch g.Mode {
		case "nearest":
			return read(math.RoundToEven(pad(x, n)))
		case "bicubic":
			sum, k := 0.0, math.Floor(x)
			for j := k - 1; j <= k+2; j++ {
				sum += keys(x-j) * read(pad(j, n))
			}
			return sum
		}
		x = pad(x, n)
		k := math.Floor(x)
		return (1-(x-k))*read(k) + (x-k)*read(k+1)
	}
	return walk(0)
}

func TestGridSample(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	for _, c := range []struct {
		in, points []int
		modes      []string
	}{
		{[]int{2, 3, 4, 5}, []int{3, 4}, []string{"bilinear", "nearest", "bicubic"}},
		{[]int{1, 2, 1, 3}, []int{2, 6}, []string{"bilinear", "nearest", "bicubic"}},
		{[]int{2, 2, 3, 4, 2}, []int{2, 3, 2}, []string{"bilinear", "nearest"}},
	} {
		x := kerneltest.Rand64(r, c.in...)
		gs := append(append([]int{c.in[0]}, c.points...), len(c.points))
		grid := kerneltest.Fill64(gs, func([]int) float64 { return math.Round(r.Float64()*701-350) / 128 })
		out := append([]int{c.in[0], c.in[1]}, c.points...)
		for _, mode := range c.modes {
			for _, pad := range []string{"zeros", "border", "reflection"} {
				for _, align := range []bool{false, true} {
					s := GridSample{Mode: mode, PaddingMode: pad, AlignCorners: align}
					want := kerneltest.Fill64(out, func(ix []int) float64 {
						pt := make([]float64, len(c.points))
						for d := range pt {
							gx := append(append([]int{ix[0]}, ix[2:]...), d)
							pt[d] = grid.At(gx...)
						}
						return gridRef(func(k []int) float64 { return x.At(append([]int{ix[0], ix[1]}, k...)...) }, c.in[2:], pt, s)
					})
					for d, tol := range map[array.DType]float64{array.F32: 1e-5, array.F64: 1e-11} {
						g := kerneltest.Layouts(d, grid)
						for k, in := range kerneltest.Layouts(d, x) {
							kerneltest.Near(t, want, kerneltest.Run1(t, s, d, out, in, g[k]), tol, mode, pad, align, d)
						}
					}
				}
			}
		}
	}
	// Points that are not finite neither fault nor read.
	in := array.FromSlice([]float32{1, 2, 3, 4}, 1, 1, 2, 2)
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	wild := array.FromSlice([]float32{nan, 0, inf, 0, -inf, inf, 1e30, 1e30}, 1, 2, 2, 2)
	for _, mode := range []string{"bilinear", "nearest"} {
		kerneltest.Same(t, kerneltest.Tensor64{Shape: []int{1, 1, 2, 2}, Data: []float64{0, 0, 0, 0}}, kerneltest.Run1(t, GridSample{Mode: mode, PaddingMode: "zeros"}, array.F32, []int{1, 1, 2, 2}, in, wild))
	}
	for _, pad := range []string{"zeros", "border", "reflection"} {
		kerneltest.Run1(t, GridSample{Mode: "bicubic", PaddingMode: pad}, array.F32, []int{1, 1, 2, 2}, in, wild)
	}
	kerneltest.NoAllocs(t, GridSample{Mode: "bilinear", PaddingMode: "border"}, []*array.Array{array.New(array.F32, 1, 1, 2, 2)}, in, wild)
	kerneltest.Code(t, operand.OperandCode, "do not fit", func() {
		kerneltest.Run1(t, GridSample{Mode: "bilinear", PaddingMode: "zeros"}, array.F32, []int{1, 1, 2, 2}, in, in)
	})
}
