package move

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// Unfold turns sliding windows of images into columns (im2col): in[0] is
// [N, C, H, W] or [C, H, W], the result [N, C*kh*kw, L] or [C*kh*kw, L], with L
// the number of windows in row-major order. Padding reads as zero. All four
// lists have two elements, for height and width.
//
//gofx:kernel
type Unfold struct{ Kernel, Dilation, Padding, Stride []int }

// ScratchBytes implements Scratcher.
func (Unfold) ScratchBytes(_, in []*array.Array) int { return DenseBytes(in[0]) }

// Run implements Step.
func (u Unfold) Run(w *par.Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	if a.Rank() != 3 && a.Rank() != 4 {
		operand.BadOperand("unfold", "the operand is not a batch of images")
	}
	var g windows
	g.init("unfold", u.Kernel, u.Dilation, u.Padding, u.Stride, a.Dim(-2), a.Dim(-1))
	planes := operand.Prod(a.Shape()[:a.Rank()-2])
	if o.Len() != planes*g.kh*g.kw*g.oh*g.ow {
		operand.BadOperand("unfold", "the result has another number of windows")
	}
	if o.Len() == 0 {
		return
	}
	switch o.DType().Size() {
	case 1:
		unfold(RawOut[uint8](o), RawDense[uint8](w, a), &g)
	case 2:
		unfold(RawOut[uint16](o), RawDense[uint16](w, a), &g)
	case 4:
		unfold(RawOut[uint32](o), RawDense[uint32](w, a), &g)
	default:
		unfold(RawOut[uint64](o), RawDense[uint64](w, a), &g)
	}
}

// windows is the geometry of windows sliding over an h by w image.
type windows struct {
	kh, kw, dh, dw, ph, pw, sh, sw int
	h, w, oh, ow                   int
}

func (g *windows) init(step string, kernel, dilation, padding, stride []int, h, w int) {
	if len(kernel) != 2 || len(dilation) != 2 || len(padding) != 2 || len(stride) != 2 {
		operand.BadOperand(step, "kernel, dilation, padding and stride do not have two elements each")
	}
	g.kh, g.kw, g.dh, g.dw = kernel[0], kernel[1], dilation[0], dilation[1]
	g.ph, g.pw, g.sh, g.sw = padding[0], padding[1], stride[0], stride[1]
	if min(g.kh, g.kw, g.dh, g.dw, g.sh, g.sw) < 1 || min(g.ph, g.pw) < 0 {
		operand.BadOperand(step, "kernel, dilation or stride is not positive or padding is negative")
	}
	g.h, g.w = h, w
	g.oh = windowCount(h, g.kh, g.dh, g.ph, g.sh)
	g.ow = windowCount(w, g.kw, g.dw, g.pw, g.sw)
}

// windowCount returns the number of windows along one dimension.
func windowCount(n, kernel, dilation, padding, stride int) int {
	room := n + 2*padding - dilation*(kernel-1) - 1
	if room < 0 {
		return 0
	}
	return room/stride + 1
}

// unfold writes, for every plane and window element, the row of all windows. The
// result is written in order; a plane of the source, which every element of the
// window reads again, stays in a cache.
func unfold[T array.Elem](dst, src []T, g *windows) {
	for ; len(dst) > 0; src = src[g.h*g.w:] {
		for k := range g.kh * g.kw {
			ky, kx := k/g.kw, k%g.kw
			for oy := range g.oh {
				row := dst[:g.ow]
				dst = dst[g.ow:]
				y := oy*g.sh - g.ph + ky*g.dh
				if y < 0 || y >= g.h {
					clear(row)
					continue
				}
				x := kx*g.dw - g.pw
				for i := range row {
					if x >= 0 && x < g.w {
						row[i] = src[y*g.w+x]
					} else {
						var zero T
						row[i] = zero
					}
					x += g.sw
				}
			}
		}
	}
}

// Fold adds columns of windows back into images of size Output (col2im), the
// adjoint of Unfold: in[0] is [N, C*kh*kw, L] or [C*kh*kw, L], the result
// [N, C, H, W] or [C, H, W].
//
//gofx:kernel
type Fold struct{ Output, Kernel, Dilation, Padding, Stride []int }

// ScratchBytes implements Scratcher.
func (Fold) ScratchBytes(out, in []*array.Array) int {
	return AsBytes(in[0], ScalarOf(in[0].DType())) + outBytes(out[0])
}

// Run implements Step.
func (f Fold) Run(w *par.Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	if a.Rank() != 2 && a.Rank() != 3 || o.Rank() != a.Rank()+1 || len(f.Output) != 2 {
		operand.BadOperand("fold", "the operand is not a batch of columns")
	}
	var g windows
	g.init("fold", f.Kernel, f.Dilation, f.Padding, f.Stride, f.Output[0], f.Output[1])
	planes := operand.Prod(o.Shape()[:o.Rank()-2])
	if a.Len() != planes*g.kh*g.kw*g.oh*g.ow || o.Dim(-2) != g.h || o.Dim(-1) != g.w {
		operand.BadOperand("fold", "the operand has another number of windows")
	}
	switch ScalarOf(o.DType()) {
	case array.F32:
		foldTo[float32](w, o, a, &g)
	case array.F64:
		foldTo[float64](w, o, a, &g)
	default:
		foldTo[int64](w, o, a, &g)
	}
}

func foldTo[T Scalar](w *par.Workspace, o, a *array.Array, g *windows) {
	defer w.Release(w.Mark())
	dst := OutAs[T](w, o)
	clear(dst)
	fold(dst, LoadAs[T](w, a), g)
	SaveAs(o, dst)
}

// fold adds each element of src, laid out as unfold writes it, to its place in
// dst. It is src that is read in order, and the plane of dst that stays in a
// cache.
func fold[T Scalar](dst, src []T, g *windows) {
	for ; len(src) > 0; dst = dst[g.h*g.w:] {
		for k := range g.kh * g.kw {
			ky, kx := k/g.kw, k%g.kw
			for oy := range g.oh {
				row := src[:g.ow]
				src = src[g.ow:]
				y := oy*g.sh - g.ph + ky*g.dh
				if y < 0 || y >= g.h {
					continue
				}
				x := kx*g.dw - g.pw
				for _, v := range row {
					if x >= 0 && x < g.w {
						dst[y*g.w+x] += v
					}
					x += g.sw
				}
			}
		}
	}
}
