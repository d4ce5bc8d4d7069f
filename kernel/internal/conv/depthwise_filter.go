package conv

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// filterCall is one channel for a filter. The assembly knows its layout.
type filterCall struct {
	geom.WindowCall
	weight, residual    *float32
	wide                *[25 * 8]float32 // AVX2: room for the weights in vectors
	scale, bias, lo, hi float32
}

// filterChannels filters input channels [lo, hi) by plan.
func (j *depthwise32Job) filterChannels(lo, hi int) {
	v := &j.conv
	g, e := &v.g, &v.end
	var wide [25 * 8]float32
	c := filterCall{WindowCall: j.plan.Call(g), wide: &wide, scale: 1}
	c.lo, c.hi = operand.Epilogue{}.Bounds()
	if e.Some {
		c.lo, c.hi = e.Lo, e.Hi
	}
	done := j.first(lo)
	for ch := lo; ch < hi; ch++ {
		from := (j.image*v.groups + ch) * g.InPlane
		c.Src = &v.src[from : from+g.InPlane][0]
		for m := ch * v.outPerGroup; m < (ch+1)*v.outPerGroup; m++ {
			to := (j.image*v.groups*v.outPerGroup + m) * g.OutPlane
			c.Dst = &v.dst[to : to+g.OutPlane][0]
			c.weight = &v.weight[m*g.Taps : (m+1)*g.Taps][0]
			if e.ScaleRow != nil {
				c.scale = e.ScaleRow[m]
			}
			if e.BiasRow != nil {
				c.bias = e.BiasRow[m]
			}
			c.residual = operand.Span(e.Residual, to, g.OutPlane)
			c.run(j.level, g)
		}
		if e.Maps() {
			done = j.mapped(done, ch+1, ch+1 == hi)
		}
	}
}

// run calls the code for the geometry.
func (c *filterCall) run(l cpu.Level, g *geom.Spatial) {
	wide, p := l == cpu.AVX512, (*byte)(unsafe.Pointer(c))
	switch kernel, stride := g.Kernel[2], g.Stride[2]; {
	case wide && kernel == 3 && stride == 1:
		filter3s1AVX512(p)
	case wide && kernel == 3:
		filter3s2AVX512(p)
	case wide && stride == 1:
		filter5s1AVX512(p)
	case wide:
		filter5s2AVX512(p)
	case kernel == 3 && stride == 1:
		filter3s1AVX2(p)
	case kernel == 3:
		filter3s2AVX2(p)
	case stride == 1:
		filter5s1AVX2(p)
	default:
		filter5s2AVX2(p)
	}
}

// depthwisePlane stores in dst, rows×cols, the sums over taps of weights[t] times
// src at y*lds+x+offsets[t], plus bias, clamped.
func depthwisePlane(l cpu.Level, rows, cols int, dst, src []float32, lds int, offsets []int64, weights []float32, bias, lo, hi float32) {
	if !cpu.X86 {
		depthwisePlaneGo(rows, cols, dst, src, lds, offsets, weights, bias, lo, hi)
		return
	}
	_, _ = dst[rows*cols-1], weights[len(offsets)-1]
	if l == cpu.AVX512 {
		depthwiseAVX512(rows, cols, &dst[0], cols, &src[0], lds, &offsets[0], &weights[0], len(offsets), bias, lo, hi)
	} else {
		depthwiseAVX2(rows, cols, &dst[0], cols, &src[0], lds, &offsets[0], &weights[0], len(offsets), bias, lo, hi)
	}
}

// depthwisePlaneGo adds up a row of the result, which stays in the first cache while
// all taps pass over it.
func depthwisePlaneGo(rows, cols int, dst, src []float32, lds int, offsets []int64, weights []float32, bias, lo, hi float32) {
	for y := range rows {
		row := dst[y*cols : (y+1)*cols]
		for x := range row {
			row[x] = bias
		}
		for t, o := range offsets {
			gemm.Axpy(row, weights[t], src[y*lds+int(o):])
		}
		for x, v := range row {
			row[x] = min(max(v, lo), hi)
		}
	}
}
