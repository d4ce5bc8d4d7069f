package resize

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// resampleMatrix are the weights of the size source positions for output position i,
// by the definition: the function around the position, over the padded line.
func resampleMatrix(r Resample, size int, pos, scale float64) []float64 {
	m := make([]float64, size)
	if r.Mode == "nearest" {
		k := 0.0
		switch r.Rounding {
		case "floor":
			k = math.Floor(pos)
		case "ceil":
			k = math.Ceil(pos)
		case "round_prefer_floor":
			k = math.Ceil(pos - 0.5)
		default:
			k = math.Floor(pos + 0.5)
		}
		m[min(max(int(k), 0), size-1)] = 1
		return m
	}
	stretch := 1.0
	if r.Antialias {
		stretch = min(scale, 1)
	}
	sum := 0.0
	for k := -100; k < size+100; k++ {
		x := math.Abs(float64(k)-pos) * stretch
		f := max(1-x, 0)
		if r.Mode == "cubic" {
			a := r.CubicCoeff
			switch {
			case x <= 1:
				f = (a+2)*x*x*x - (a+3)*x*x + 1
			case x < 2:
				f = a*x*x*x - 5*a*x*x + 8*a*x - 4*a
			default:
				f = 0
			}
		}
		if r.ExcludeOutside && (k < 0 || k >= size) {
			continue
		}
		sum += f
		m[min(max(k, 0), size-1)] += f
	}
	for k := range m {
		m[k] /= sum
	}
	return m
}

// positionsIn are the formulas of the operator's documentation, computed in T.
func positionsIn[T float32 | float64]() map[string]func(i, size, n int, scale float64) float64 {
	half := func(i int, s T) T { return (T(i) + 0.5) / s }
	return map[string]func(i, size, n int, scale float64) float64{
		"half_pixel":           func(i, _, _ int, s float64) float64 { return float64(half(i, T(s)) - 0.5) },
		"asymmetric":           func(i, _, _ int, s float64) float64 { return float64(T(i) / T(s)) },
		"tf_half_pixel_for_nn": func(i, _, _ int, s float64) float64 { return float64(half(i, T(s))) },
		"align_corners": func(i, size, n int, _ float64) float64 {
			return float64(T(i*(size-1)) / T(max(n-1, 1)))
		},
		"half_pixel_symmetric": func(i, size, n int, s float64) float64 {
			offset := T(T(size) / 2 * (1 - T(n)/T(T(s)*T(size))))
			return float64(offset + half(i, T(s)) - 0.5)
		},
	}
}

func TestResample(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	position, rounded := positionsIn[float64](), positionsIn[float32]()
	for _, c := range []struct {
		size, n int
		scale   float64
	}{{5, 8, 1.7}, {9, 2, 0.25}, {4, 4, 1}, {4, 1, 0.3}, {1, 3, 3}, {7, 5, 0.75}} {
		x := kerneltest.Rand64(r, 2, c.size, 3)
		for at, pos := range position {
			for _, s := range []Resample{{Mode: "nearest", Rounding: "floor"}, {Mode: "nearest", Rounding: "ceil"}, {Mode: "nearest", Rounding: "round_prefer_ceil"},
				{Mode: "nearest", Rounding: "round_prefer_floor"}, {Mode: "linear"}, {Mode: "cubic", CubicCoeff: -0.6}, {Mode: "linear", Antialias: true},
				{Mode: "cubic", CubicCoeff: -0.5, Antialias: true}, {Mode: "cubic", CubicCoeff: -0.5, ExcludeOutside: true}, {Mode: "linear", Antialias: true, ExcludeOutside: true}} {
				s.Coordinates, s.Spatial, s.Scales = at, 2, []float64{c.scale, 1}
				if pos = position[at]; s.Mode == "nearest" {
					pos = rounded[at]
				}
				want := kerneltest.Fill64([]int{2, c.n, 3}, func(ix []int) float64 {
					sum := 0.0
					for k, f := range resampleMatrix(s, c.size, pos(ix[1], c.size, c.n, c.scale), c.scale) {
						for j, e := range resampleMatrix(s, 3, pos(ix[2], 3, 3, 1), 1) {
							sum += f * e * x.At(ix[0], k, j)
						}
					}
					return sum
				})
				for d, tol := range map[array.DType]float64{array.F32: 1e-5, array.F64: 1e-12, array.F16: 3e-3} {
					for _, in := range kerneltest.Layouts(d, x) {
						kerneltest.Near(t, want, kerneltest.Run1(t, s, d, want.Shape, in), tol, s.Mode, at, d)
					}
				}
			}
		}
	}
}

// TestResampleRegion: the region's elements, and the values outside of x.
func TestResampleRegion(t *testing.T) {
	in := array.FromSlice([]int32{0, 10, 20, 30, 40}, 1, 5)
	s := Resample{Mode: "nearest", Rounding: "floor", Coordinates: "tf_crop_and_resize", Roi: []float64{-0.25, 1.25}, Extrapolation: -7, Spatial: 1}
	want := kerneltest.Tensor64{Shape: []int{1, 7}, Data: []float64{-7, 0, 10, 20, 30, 40, -7}}
	kerneltest.Same(t, want, kerneltest.Run1(t, s, array.I32, want.Shape, in))
	s.Mode = "linear"
	f := array.FromSlice([]float32{0, 10, 20, 30, 40}, 1, 5)
	s.Roi = []float64{0.5, 0}
	back := kerneltest.Tensor64{Shape: []int{1, 3}, Data: []float64{20, 10, 0}}
	kerneltest.Same(t, back, kerneltest.Run1(t, s, array.F32, back.Shape, f))
	s.Roi = []float64{0.1, 0.4}
	middle := kerneltest.Tensor64{Shape: []int{1, 1}, Data: []float64{10}}
	kerneltest.Same(t, middle, kerneltest.Run1(t, s, array.F32, middle.Shape, f))
}

func TestResampleRefuses(t *testing.T) {
	for _, s := range []Resample{{Mode: "linear"}, {Mode: "linear", Spatial: 1, Scales: []float64{1e-12}}, {Mode: "linear", Spatial: 1, Roi: []float64{1}}} {
		kerneltest.Code(t, operand.OperandCode, "scale", func() {
			kerneltest.Run1(t, s, array.F32, []int{1, 2}, array.New(array.F32, 1, 4))
		})
	}
	out, in := []*array.Array{array.New(array.F32, 1, 1, 5, 5)}, array.New(array.F32, 1, 1, 3, 9)
	for _, mode := range []string{"nearest", "linear", "cubic"} {
		kerneltest.NoAllocs(t, Resample{Mode: mode, Coordinates: "half_pixel", Rounding: "floor", Antialias: mode == "cubic", Spatial: 2}, out, in)
	}
}
