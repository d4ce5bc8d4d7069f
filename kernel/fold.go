package kernel

import "github.com/gofx-dev/gofx/array"

// Unfold turns sliding windows of images into columns (im2col): in[0] is
// [N, C, H, W] or [C, H, W], the result [N, C*kh*kw, L] or [C*kh*kw, L], with L
// the number of windows in row-major order. Padding reads as zero. All four
// lists have two elements, for height and width.
type Unfold struct{ Kernel, Dilation, Padding, Stride []int }

// ScratchBytes implements Scratcher.
func (Unfold) ScratchBytes(_, in []*array.Array) int { return denseBytes(in[0]) }

// Run implements Step.
func (u Unfold) Run(w *Workspace, out, in []*array.Array) {
	defer w.Release(w.Mark())
	o, a := out[0], in[0]
	if a.Rank() != 3 && a.Rank() != 4 {
		badOperand("unfold", "the operand is not a batch of images")
	}
	var g windows
	g.init("unfold", u.Kernel, u.Dilation, u.Padding, u.Stride, a.Dim(-2), a.Dim(-1))
	planes := prod(a.Shape()[:a.Rank()-2])
	if o.Len() != planes*g.kh*g.kw*g.oh*g.ow {
		badOperand("unfold", "the result has another number of windows")
	}
	if o.Len() == 0 {
		return
	}
	switch o.DType().Size() {
	case 1:
		unfold(rawOut[uint8](o), rawDense[uint8](w, a), &g)
	case 2:
		unfold(rawOut[uint16](o), rawDense[uint16](w, a), &g)
	case 4:
		unfold(rawOut[uint32](o), rawDense[uint32](w, a), &g)
	default:
		unfold(rawOut[uint64](o), rawDense[uint64](w, a), &g)
	}
}

// windows is the geometry of windows sliding over an h by w image.
type windows struct {
	kh, kw, dh, dw, ph, pw, sh, sw int
	h, w, oh, ow                   int
}

func (g *windows) init(step string, kernel, dilation, padding, stride []int, h, w int) {
	if len(kernel) != 2 || len(dilation) != 2 || len(padding) != 2 || len(stride) != 2 {
		badOperand(step, "kernel, dilation, padding and stride do not have two elements each")
	}
	g.kh, g.kw, g.dh, g.dw = kernel[0], kernel[1], dilation[0], dilation[1]
	g.ph, g.pw, g.sh, g.sw = padding[0], padding[1], stride[0], stride[1]
	if min(g.kh, g.kw, g.dh, g.dw, g.sh, g.sw) < 1 || min(g.ph, g.pw) < 0 {
		badOperand(step, "kernel, dilation or stride is not positive or padding is negative")
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

// unfold writes, for every plane and window element, the row of all windows.
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
type Fold struct{ Output, Kernel, Dilation, Padding, Stride []int }

// ScratchBytes implements Scratcher.
func (Fold) ScratchBytes(out, in []*array.Array) int {
	return asBytes(in[0], scalarOf(in[0].DType())) + outBytes(out[0])
}

// Run implements Step.
func (f Fold) Run(w *Workspace, out, in []*array.Array) {
	o, a := out[0], in[0]
	if a.Rank() != 2 && a.Rank() != 3 || o.Rank() != a.Rank()+1 || len(f.Output) != 2 {
		badOperand("fold", "the operand is not a batch of columns")
	}
	var g windows
	g.init("fold", f.Kernel, f.Dilation, f.Padding, f.Stride, f.Output[0], f.Output[1])
	planes := prod(o.Shape()[:o.Rank()-2])
	if a.Len() != planes*g.kh*g.kw*g.oh*g.ow || o.Dim(-2) != g.h || o.Dim(-1) != g.w {
		badOperand("fold", "the operand has another number of windows")
	}
	switch scalarOf(o.DType()) {
	case array.F32:
		foldTo[float32](w, o, a, &g)
	case array.F64:
		foldTo[float64](w, o, a, &g)
	default:
		foldTo[int64](w, o, a, &g)
	}
}

func foldTo[T scalar](w *Workspace, o, a *array.Array, g *windows) {
	defer w.Release(w.Mark())
	dst := outAs[T](w, o)
	clear(dst)
	fold(dst, loadAs[T](w, a), g)
	saveAs(o, dst)
}

func fold[T scalar](dst, src []T, g *windows) {
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
