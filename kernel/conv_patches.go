package kernel

// patchTable is the matrix [channels·taps, positions] of a convolution's input
// when that lies as the assembly wants it: padding is part of the image, and
// each row is split by its remainder modulo the stride, so that neighbouring
// outputs always read neighbouring elements. Element (p, position) is at
// offsets[p] plus the place of the position.
type patchTable struct {
	g        spatial
	inside   bool   // no window reaches padding
	framed   bool   // the image is a copy; else it is the input itself
	sampled  bool   // the copy has only what the single tap reads: it is the matrix
	extent   [3]int // of the copy: what windows reach
	phases   int    // parts of a row
	phaseLen int
	rowLen   int
	plane    int // elements of a channel
	offsets  []int64
}

// newPatchTable plans the layout for a geometry; setOffsets completes it.
func newPatchTable(g spatial) patchTable {
	t := patchTable{g: g, phases: 1, extent: g.in}
	fits := true
	var reach [3]int
	for d := range 3 {
		reach[d] = (g.out[d]-1)*g.stride[d] + (g.kernel[d]-1)*g.dilate[d] + 1
		fits = fits && g.padLo[d] == 0 && reach[d] <= g.in[d]
	}
	t.inside = fits
	if !fits || g.stride[2] != 1 {
		t.framed, t.extent, t.phases = true, reach, g.stride[2]
	}
	if t.framed && g.taps == 1 {
		t.sampled, t.extent, t.phases = true, g.out, 1
	}
	t.phaseLen = (t.extent[2] + t.phases - 1) / t.phases
	t.rowLen = t.phases * t.phaseLen
	t.plane = t.extent[0] * t.extent[1] * t.rowLen
	return t
}

// setOffsets fills offsets for the given number of channels.
func (t *patchTable) setOffsets(offsets []int64, channels int) {
	t.offsets = offsets
	g := &t.g
	i := 0
	for c := range channels {
		for kz := range g.kernel[0] {
			for ky := range g.kernel[1] {
				row := c*t.plane + (kz*g.dilate[0]*t.extent[1]+ky*g.dilate[1])*t.rowLen
				for kx := range g.kernel[2] {
					x := kx * g.dilate[2]
					offsets[i] = int64(row + x%t.phases*t.phaseLen + x/t.phases)
					i++
				}
			}
		}
	}
}

// place returns where the window of output row (z, y) begins.
func (t *patchTable) place(z, y int) int {
	if t.sampled {
		return (z*t.extent[1] + y) * t.rowLen
	}
	return (z*t.g.stride[0]*t.extent[1] + y*t.g.stride[1]) * t.rowLen
}

// pack packs columns [col, col+count) of rows [p, p+k), width floats a row, of
// which those past count are unspecified.
func (t *patchTable) pack(l cpuLevel, dst []float32, width int, img []float32, p, k, col, count int) {
	out := &t.g.out
	for at := 0; at < count; {
		x := (col + at) % out[2]
		row := (col + at) / out[2]
		n := min(out[2]-x, count-at)
		packRun(l, dst[at:], width, img[t.place(row/out[1], row%out[1])+x:], t.offsets[p:p+k], n)
		at += n
	}
}

// frame copies one channel into its place in the layout.
func (t *patchTable) frame(l cpuLevel, dst, src []float32, from, to int) {
	g := &t.g
	step := [3]int{1, 1, t.phases}
	if t.sampled {
		step = g.stride
	}
	if !t.sampled || !t.inside { // else every element is set
		for z := range t.extent[0] {
			clear(dst[(z*t.extent[1]+from)*t.rowLen : (z*t.extent[1]+to)*t.rowLen])
		}
	}
	for ph := range t.phases {
		// Element q of this part of a row is element q*step+first of the input's.
		s, first := step[2], ph-g.padLo[2]
		lo := min(max(0, s-1-first)/s, t.phaseLen)
		hi := min(t.phaseLen, max(0, g.in[2]-first+s-1)/s)
		if lo >= hi {
			continue
		}
		// Row y of the layout is row y*step-padLo of the input.
		y0 := max(from, (g.padLo[1]+step[1]-1)/step[1])
		y1 := min(to, (g.in[1]-1+g.padLo[1])/step[1]+1)
		for z := range t.extent[0] {
			iz := z*step[0] - g.padLo[0]
			if uint(iz) >= uint(g.in[0]) || y0 >= y1 {
				continue
			}
			part := dst[(z*t.extent[1]+y0)*t.rowLen+ph*t.phaseLen+lo:]
			at := (iz*g.in[1]+y0*step[1]-g.padLo[1])*g.in[2] + lo*s + first
			sampleRows(l, part, t.rowLen, src[at:], step[1]*g.in[2], hi-lo, y1-y0, s)
		}
	}
}
