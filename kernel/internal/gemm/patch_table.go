package gemm

import (
	"slices"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/move"
)

// PatchTable is the matrix [channels·taps, positions] of a convolution's input
// when that lies as the assembly wants it: padding is part of the image, and
// each row is split by its remainder modulo the stride, so that neighbouring
// outputs always read neighbouring elements. Element (p, position) is at
// offsets[p] plus the place of the position.
type PatchTable struct {
	G        geom.Spatial
	inside   bool   // no window reaches padding
	Framed   bool   // the image is a copy; else it is the input itself
	Sampled  bool   // the copy has only the elements that the single tap reads: it is the matrix
	Extent   [3]int // of the copy: the elements that windows reach
	phases   int    // parts of a row
	phaseLen int
	RowLen   int
	Plane    int // elements of a channel
	Offsets  []int64
}

// NewPatchTable plans the layout for a geometry; setOffsets completes it.
func NewPatchTable(g geom.Spatial) PatchTable { return newPatchTable(g, false) }

// NewFramedTable plans the layout of a copy, also where the input itself would do.
func NewFramedTable(g geom.Spatial) PatchTable { return newPatchTable(g, true) }

func newPatchTable(g geom.Spatial, framed bool) PatchTable {
	t := PatchTable{G: g, phases: 1, Extent: g.In}
	fits := true
	var reach [3]int
	for d := range 3 {
		reach[d] = (g.Out[d]-1)*g.Stride[d] + (g.Kernel[d]-1)*g.Dilate[d] + 1
		fits = fits && g.PadLo[d] == 0 && reach[d] <= g.In[d]
	}
	t.inside = fits
	// The input itself is the matrix of a single tap only where each element is read.
	if framed || !fits || g.Stride[2] != 1 || g.Taps == 1 && g.Out != g.In {
		t.Framed, t.Extent, t.phases = true, reach, g.Stride[2]
	}
	if t.Framed && g.Taps == 1 {
		t.Sampled, t.Extent, t.phases = true, g.Out, 1
	}
	t.phaseLen = (t.Extent[2] + t.phases - 1) / t.phases
	t.RowLen = t.phases * t.phaseLen
	t.Plane = t.Extent[0] * t.Extent[1] * t.RowLen
	return t
}

// SetOffsets fills offsets for the given number of channels: those of one channel, then
// those a channel further on.
func (t *PatchTable) SetOffsets(offsets []int64, channels int) {
	t.Offsets = offsets
	g, i := &t.G, 0
	for kz := range g.Kernel[0] {
		for ky := range g.Kernel[1] {
			row := (kz*g.Dilate[0]*t.Extent[1] + ky*g.Dilate[1]) * t.RowLen
			for kx := range g.Kernel[2] {
				x := kx * g.Dilate[2]
				offsets[i] = int64(row + x%t.phases*t.phaseLen + x/t.phases)
				i++
			}
		}
	}
	// Other threads wait for this: no offset is read from where it was just stored.
	if g.Taps == 1 {
		first := offsets[0]
		for c := range offsets[:channels] {
			offsets[c] = first + int64(c*t.Plane)
		}
		return
	}
	for c := 1; c < channels; c++ {
		next := offsets[c*g.Taps : (c+1)*g.Taps]
		for k, o := range offsets[:len(next)] {
			next[k] = o + int64(c*t.Plane)
		}
	}
}

// Place returns where the window of output row (z, y) begins.
func (t *PatchTable) Place(z, y int) int {
	if t.Sampled {
		return (z*t.Extent[1] + y) * t.RowLen
	}
	return (z*t.G.Stride[0]*t.Extent[1] + y*t.G.Stride[1]) * t.RowLen
}

// TurnTaps has the taps of each channel in the opposite order, after SetOffsets.
func (t *PatchTable) TurnTaps() {
	for i := 0; i < len(t.Offsets); i += t.G.Taps {
		slices.Reverse(t.Offsets[i : i+t.G.Taps])
	}
}

// pack implements source.
func (t *PatchTable) pack(l cpu.Level, dst []float32, width int, img []float32, p, k, col, count int) {
	out := &t.G.Out
	for at := 0; at < count; {
		x := (col + at) % out[2]
		row := (col + at) / out[2]
		n := min(out[2]-x, count-at)
		packRun(l, dst[at:], width, img[t.Place(row/out[1], row%out[1])+x:], t.Offsets[p:p+k], n)
		at += n
	}
}

// Frame copies one channel into its place in the layout.
func (t *PatchTable) Frame(l cpu.Level, dst, src []float32, from, to int) {
	g := &t.G
	step := [3]int{1, 1, t.phases}
	if t.Sampled {
		step = g.Stride
	}
	if !t.Sampled || !t.inside { // else every element is set
		for z := range t.Extent[0] {
			clear(dst[(z*t.Extent[1]+from)*t.RowLen : (z*t.Extent[1]+to)*t.RowLen])
		}
	}
	for ph := range t.phases {
		// Element q of this part of a row is element q*step+first of the input's.
		s, first := step[2], ph-g.PadLo[2]
		lo := min(max(0, s-1-first)/s, t.phaseLen)
		hi := min(t.phaseLen, max(0, g.In[2]-first+s-1)/s)
		if lo >= hi {
			continue
		}
		// Row y of the layout is row y*step-padLo of the input.
		y0 := max(from, (g.PadLo[1]+step[1]-1)/step[1])
		y1 := min(to, (g.In[1]-1+g.PadLo[1])/step[1]+1)
		for z := range t.Extent[0] {
			iz := z*step[0] - g.PadLo[0]
			if uint(iz) >= uint(g.In[0]) || y0 >= y1 {
				continue
			}
			part := dst[(z*t.Extent[1]+y0)*t.RowLen+ph*t.phaseLen+lo:]
			at := (iz*g.In[1]+y0*step[1]-g.PadLo[1])*g.In[2] + lo*s + first
			SampleRows(l, part, t.RowLen, src[at:], step[1]*g.In[2], hi-lo, y1-y0, s)
		}
	}
}

// SampleRows sets dst[y*ldd+x] to src[y*lds+x*s] for x < cols and y < rows.
func SampleRows(l cpu.Level, dst []float32, ldd int, src []float32, lds, cols, rows, s int) {
	switch s {
	case 1:
		move.CopyRows(dst, ldd, src, lds, cols, rows)
	case 2:
		sampleEven(l, dst, ldd, src, lds, cols, rows)
	default:
		for y := range rows {
			d, from := dst[y*ldd:y*ldd+cols], src[y*lds:]
			for x := range d {
				d[x] = from[x*s]
			}
		}
	}
}

// sampleEven sets dst[y*ldd+x] to src[y*lds+2*x].
func sampleEven(l cpu.Level, dst []float32, ldd int, src []float32, lds, cols, rows int) {
	if !cpu.X86 {
		for y := range rows {
			for x := range cols {
				dst[y*ldd+x] = src[y*lds+2*x]
			}
		}
		return
	}
	_, _ = dst[(rows-1)*ldd+cols-1], src[(rows-1)*lds+2*cols-2]
	if l >= cpu.AVX512 {
		convSampleAVX512(&dst[0], ldd, &src[0], lds, cols, rows)
	} else {
		convSampleAVX2(&dst[0], ldd, &src[0], lds, cols, rows)
	}
}
