package resize

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/move"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// GridSample reads in[0], [N, C, H, W] or [N, C, D, H, W], at the points that
// in[1], [N, h, w, 2] or [N, d, h, w, 3], gives as x, y(, z) in [-1, 1]; the
// result is [N, C, h, w] or [N, C, d, h, w]. Mode is "bilinear", "nearest" (ties
// to even) or, with four dimensions, "bicubic". PaddingMode gives the values
// outside: "zeros", "border" or "reflection". AlignCorners puts -1 and 1 at the
// centers of the outermost elements, else at their outer edges. Points that are
// NaN read zero.
//
//gofx:kernel
type GridSample struct {
	Mode, PaddingMode string
	AlignCorners      bool
}

// ScratchBytes implements Scratcher.
func (g GridSample) ScratchBytes(out, in []*array.Array) int {
	d := resizeType(out[0].DType())
	n := move.AsBytes(in[0], d) + move.AsBytes(in[1], d)
	if out[0].DType() != d {
		n += par.ScratchSize(out[0].Len(), d.Size())
	}
	return n
}

// Run implements Step.
func (g GridSample) Run(w *par.Workspace, out, in []*array.Array) {
	o, a, grid := out[0], in[0], in[1]
	dims := a.Rank() - 2
	if dims != 2 && dims != 3 || grid.Rank() != dims+2 || o.Rank() != dims+2 || grid.Dim(-1) != dims ||
		grid.Dim(0) != a.Dim(0) || o.Dim(0) != a.Dim(0) || o.Dim(1) != a.Dim(1) ||
		operand.Prod(o.Shape()[2:]) != operand.Prod(grid.Shape()[1:dims+1]) {
		operand.BadOperand("grid_sample", "the shapes of operand, grid and result do not fit")
	}
	if g.Mode != "bilinear" && g.Mode != "nearest" && (g.Mode != "bicubic" || dims != 2) {
		operand.BadOperand("grid_sample", "mode "+g.Mode+" does not exist for this rank")
	}
	if g.PaddingMode != "zeros" && g.PaddingMode != "border" && g.PaddingMode != "reflection" {
		operand.BadOperand("grid_sample", "unknown padding mode "+g.PaddingMode)
	}
	if resizeType(o.DType()) == array.F32 {
		gridSample[float32](w, &g, o, a, grid, dims)
	} else {
		gridSample[float64](w, &g, o, a, grid, dims)
	}
}

// gridSample reads a at the points of grid. The taps of a point are found once and
// serve all channels, a plane after the other: points change least often, channels
// repeat.
func gridSample[T float32 | float64](w *par.Workspace, g *GridSample, o, a, grid *array.Array, dims int) {
	defer w.Release(w.Mark())
	dst, src, pts := move.OutAs[T](w, o), move.LoadAs[T](w, a), move.LoadAs[T](w, grid)
	plane, points, channels := operand.Prod(a.Shape()[2:]), operand.Prod(o.Shape()[2:]), a.Dim(1)
	if len(dst) == 0 {
		return
	}
	var s gridTaps[T]
	for n := range a.Dim(0) {
		for p := range points {
			s.reset()
			step := 1
			for d := range dims {
				size := a.Dim(-1 - d)
				s.spread(g, pts[(n*points+p)*dims+d], size, step)
				step *= size
			}
			for c := range channels {
				sum, from := T(0), src[(n*channels+c)*plane:]
				for k := range s.n {
					sum += T(from[s.at[k]] * s.weight[k])
				}
				dst[(n*channels+c)*points+p] = sum
			}
		}
	}
	move.SaveAs(o, dst)
}

// gridTaps is the list of elements that one point combines.
type gridTaps[T operand.Real] struct {
	n      int
	at     [16]int
	weight [16]T
}

// reset starts with the one empty product.
func (s *gridTaps[T]) reset() { s.n, s.at[0], s.weight[0] = 1, 0, 1 }

// spread multiplies the list by the taps of one coordinate x along a dimension
// of size elements; taps outside drop out.
func (s *gridTaps[T]) spread(g *GridSample, x T, size, step int) {
	at, weight, taps := gridAxis(g, x, size)
	old := *s
	s.n = 0
	for t := range taps {
		if at[t] < 0 || at[t] >= size {
			continue
		}
		for k := range old.n {
			s.at[s.n], s.weight[s.n] = old.at[k]+at[t]*step, T(old.weight[k]*weight[t])
			s.n++
		}
	}
}

// gridAxis returns the positions, -1 or size for outside, and the weights of
// the taps of one coordinate.
func gridAxis[T operand.Real](g *GridSample, x T, size int) (at [4]int, weight [4]T, taps int) {
	if g.AlignCorners {
		x = T((x+1)/2) * T(size-1)
	} else {
		x = (T((x+1)*T(size)) - 1) / 2
	}
	if x != x {
		return at, weight, 0
	}
	switch g.Mode {
	case "nearest":
		x = gridPad(g, x, size)
		at[0], weight[0] = position(T(math.RoundToEven(float64(x))), size), 1
		return at, weight, 1
	case "bicubic":
		low := T(math.Floor(float64(x)))
		weight = cubic(x - low)
		for t := range at {
			at[t] = position(gridPad(g, low+T(t-1), size), size)
		}
		return at, weight, 4
	}
	x = gridPad(g, x, size)
	low := T(math.Floor(float64(x)))
	at[0], weight[0] = position(low, size), low+1-x
	at[1], weight[1] = position(low+1, size), x-low
	return at, weight, 2
}

// position converts a whole coordinate to an index; outside is -1 or size.
func position[T operand.Real](x T, size int) int {
	switch {
	case x >= T(size):
		return size
	case x >= 0:
		return int(x)
	}
	return -1
}

// gridPad moves a coordinate into the operand as the padding mode says.
func gridPad[T operand.Real](g *GridSample, x T, size int) T {
	switch g.PaddingMode {
	case "zeros":
		return x
	case "reflection":
		// Mirror planes: centers of the outermost elements, or their outer edges.
		low, span := T(-0.5), T(size)
		if g.AlignCorners {
			low, span = 0, T(size-1)
		}
		if span == 0 {
			return 0
		}
		d := math.Abs(float64(x - low))
		if math.IsInf(d, 0) {
			return 0
		}
		extra := T(math.Mod(d, float64(span)))
		if math.Mod(math.Floor(d/float64(span)), 2) == 0 {
			x = extra + low
		} else {
			x = span - extra + low
		}
	}
	return min(max(x, 0), T(size-1))
}
