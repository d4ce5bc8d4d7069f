package resize

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// roiRef pools one part of a region, point by point.
func roiRef(x kerneltest.Tensor64, s RoiAlign, box [4]float64, n, c, row, column, h, w int) float64 {
	offset := 0.0
	if s.Aligned {
		offset = 0.5
	}
	x0, y0 := box[0]*s.Scale-offset, box[1]*s.Scale-offset
	wide, high := box[2]*s.Scale-offset-x0, box[3]*s.Scale-offset-y0
	if !s.Aligned {
		wide, high = max(wide, 1), max(high, 1)
	}
	wide, high = wide/float64(w), high/float64(h)
	nx, ny := float64(s.Samples), float64(s.Samples)
	if s.Samples == 0 {
		nx, ny = math.Ceil(wide), math.Ceil(high)
	}
	sum, most := 0.0, math.Inf(-1)
	for p := 0.0; p < ny; p++ {
		for q := 0.0; q < nx; q++ {
			y, x1 := y0+(float64(row)+(p+0.5)/ny)*high, x0+(float64(column)+(q+0.5)/nx)*wide
			best := 0.0
			if y >= -1 && y <= float64(x.Shape[2]) && x1 >= -1 && x1 <= float64(x.Shape[3]) {
				best = math.Inf(-1)
				y, x1 = min(max(y, 0), float64(x.Shape[2]-1)), min(max(x1, 0), float64(x.Shape[3]-1))
				for _, i := range []float64{math.Floor(y), math.Floor(y) + 1} {
					for _, k := range []float64{math.Floor(x1), math.Floor(x1) + 1} {
						v := (1 - math.Abs(y-i)) * (1 - math.Abs(x1-k)) * x.At(n, c, int(min(i, float64(x.Shape[2]-1))), int(min(k, float64(x.Shape[3]-1))))
						sum, best = sum+v, max(best, v)
					}
				}
			}
			most = max(most, best)
		}
	}
	if s.Max {
		return max(most, -math.MaxFloat64)
	}
	return sum / max(nx*ny, 1)
}

func TestRoiAlign(t *testing.T) {
	x := kerneltest.Rand64(rand.New(rand.NewPCG(1, 9)), 2, 2, 5, 6)
	boxes := [][4]float64{{0.3, 0.2, 4.1, 3.7}, {-2.3, -1.9, 7.6, 8.2}, {1.1, 1.2, 2.6, 4.4}}
	rois := array.New(array.F64, 3, 4)
	for i, b := range boxes {
		for k, v := range b {
			array.SetFloat64At(rois, 4*i+k, v)
		}
	}
	batch := array.FromSlice([]int64{1, 0, 1})
	for _, s := range []RoiAlign{{Scale: 1}, {Scale: 0.5, Aligned: true}, {Scale: 1, Samples: 3}, {Scale: 1.5, Samples: 2, Aligned: true}, {Scale: 1, Samples: 2, Max: true}} {
		want := kerneltest.Fill64([]int{3, 2, 2, 3}, func(ix []int) float64 {
			return roiRef(x, s, boxes[ix[0]], int(array.Int64At(batch, ix[0])), ix[1], ix[2], ix[3], 2, 3)
		})
		for d, tol := range map[array.DType]float64{array.F64: 1e-9, array.F32: 1e-4} {
			for _, in := range kerneltest.Layouts(d, x) {
				kerneltest.Near(t, want, kerneltest.Run1(t, s, d, want.Shape, in, array.Cast(rois, d), batch), tol, s, d)
			}
		}
	}
}

// TestRoiAlignBounded: huge and odd regions end at once, and images exist.
func TestRoiAlignBounded(t *testing.T) {
	x, batch := array.New(array.F32, 1, 1, 4, 4), array.FromSlice([]int64{0})
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	done := make(chan bool)
	go func() {
		defer close(done)
		for _, b := range [][]float32{{-1e9, -1e9, 1e9, 1e9}, {0, 0, inf, inf}, {nan, 0, 1, 1}, {-inf, -inf, inf, inf}, {3, 3, 1, 1}} {
			for _, s := range []RoiAlign{{Scale: 1}, {Scale: 1e30, Aligned: true}, {Scale: 1, Samples: 256}} {
				y := array.New(array.F32, 1, 1, 2, 2)
				kerneltest.RunOut(t, s, []*array.Array{y}, x, array.FromSlice(b, 1, 4), batch)
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "regions are visited point by point, outside of the image too")
	}
	kerneltest.Code(t, operand.IndexCode, "index 7", func() {
		kerneltest.Run1(t, RoiAlign{Scale: 1}, array.F32, []int{1, 1, 2, 2}, x, array.New(array.F32, 1, 4), array.FromSlice([]int64{7}))
	})
	kerneltest.NoAllocs(t, RoiAlign{Scale: 1}, []*array.Array{array.New(array.F32, 1, 1, 2, 2)}, x, array.New(array.F32, 1, 4), batch)
}
