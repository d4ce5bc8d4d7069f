package pool

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
)

// run calls the code for the geometry.
func (c *maxCall) run(l cpu.Level, g *geom.Spatial) {
	p := (*byte)(unsafe.Pointer(c))
	wide := l == cpu.AVX512
	switch kernel, stride := g.Kernel[2], g.Stride[2]; {
	case wide && kernel == 2 && stride == 1:
		max2s1AVX512(p)
	case wide && kernel == 2:
		max2s2AVX512(p)
	case wide && stride == 1:
		max3s1AVX512(p)
	case wide:
		max3s2AVX512(p)
	case kernel == 2 && stride == 1:
		max2s1AVX2(p)
	case kernel == 2:
		max2s2AVX2(p)
	case stride == 1:
		max3s1AVX2(p)
	default:
		max3s2AVX2(p)
	}
}

// placesOf sets the places of windows in a row of windows, of some rows of src from the first tap of all
// on, which has place from. They are at least as many as a vector has lanes.
func placesOf(l cpu.Level, g *geom.Spatial, places []int64, best, src []float32, rows, from int) {
	n, width := len(places), g.In[2]
	_, _ = best[n-1], src[(rows-1)*width+(n-1)*g.Stride[2]+g.Kernel[2]-1]
	wide := l == cpu.AVX512
	switch kernel, stride := g.Kernel[2], g.Stride[2]; {
	case wide && kernel == 2 && stride == 1:
		places2s1AVX512(n, &places[0], &best[0], &src[0], width, rows, from)
	case wide && kernel == 2:
		places2s2AVX512(n, &places[0], &best[0], &src[0], width, rows, from)
	case wide && stride == 1:
		places3s1AVX512(n, &places[0], &best[0], &src[0], width, rows, from)
	case wide:
		places3s2AVX512(n, &places[0], &best[0], &src[0], width, rows, from)
	case kernel == 2 && stride == 1:
		places2s1AVX2(n, &places[0], &best[0], &src[0], width, rows, from)
	case kernel == 2:
		places2s2AVX2(n, &places[0], &best[0], &src[0], width, rows, from)
	case stride == 1:
		places3s1AVX2(n, &places[0], &best[0], &src[0], width, rows, from)
	default:
		places3s2AVX2(n, &places[0], &best[0], &src[0], width, rows, from)
	}
}

// averageWindows calls the code of averages for the geometry.
func averageWindows(c *geom.WindowCall, l cpu.Level, g *geom.Spatial) {
	p := (*byte)(unsafe.Pointer(c))
	wide := l == cpu.AVX512
	switch kernel, stride := g.Kernel[2], g.Stride[2]; {
	case wide && kernel == 2 && stride == 1:
		avg2s1AVX512(p)
	case wide && kernel == 2:
		avg2s2AVX512(p)
	case wide && stride == 1:
		avg3s1AVX512(p)
	case wide:
		avg3s2AVX512(p)
	case kernel == 2 && stride == 1:
		avg2s1AVX2(p)
	case kernel == 2:
		avg2s2AVX2(p)
	case stride == 1:
		avg3s1AVX2(p)
	default:
		avg3s2AVX2(p)
	}
}

// meanOfRows stores the means of four rows of n elements, ld apart.
func meanOfRows(l cpu.Level, n int, src []float32, ld int, dst *[meanRows]float32) {
	_ = src[(meanRows-1)*ld+n-1]
	if l == cpu.AVX512 {
		meanRowsAVX512(n, &src[0], ld, float32(n), &dst[0])
	} else {
		meanRowsAVX2(n, &src[0], ld, float32(n), &dst[0])
	}
}
