package kernel

import "math"

//go:generate go run -C ../internal/asmgen ./depthwise

// depthwise filters each channel by itself: where there is a filter of that
// kernel it reads the image as it lies, else each channel is laid out first.
func (v *conv32) depthwise(w *Workspace, l cpuLevel) {
	j := takeJob[depthwise32Job](w)
	*j = depthwise32Job{conv: *v, level: l}
	work := v.outPerGroup * v.g.outPlane * v.g.taps / 4
	if v.filtered(l) {
		j.plan(Scratch[int64](w, filterPlanLen(l, &v.g)))
	} else {
		j.patchTable = newPatchTable(v.g)
		j.setOffsets(Scratch[int64](w, v.g.taps), 1)
		if j.framed {
			j.copies = Scratch[float32](w, v.groups*j.plane)
		}
		work += j.plane
	}
	for j.image = range v.batch {
		w.Parallel(v.groups, max(1, simdPack/work), j)
	}
	putJob(w, j)
}

// depthwiseScratch is what depthwise takes.
func (v *conv32) depthwiseScratch(l cpuLevel) int {
	if v.filtered(l) {
		return scratchSize(filterPlanLen(l, &v.g), 8)
	}
	n := scratchSize(v.g.taps, 8)
	if t := newPatchTable(v.g); t.framed {
		n += scratchSize(v.groups*t.plane, 4)
	}
	return n
}

// depthwise32Job filters the channels of one image.
type depthwise32Job struct {
	patchTable
	conv   conv32
	level  cpuLevel
	image  int
	copies []float32
	// The plan of a filter: tiles of rows, and blocks of columns.
	tiles, blocks []int64
}

// Do filters input channels [lo, hi).
func (j *depthwise32Job) Do(lo, hi int) {
	if j.tiles != nil {
		j.filterChannels(lo, hi)
		return
	}
	v, g := &j.conv, &j.g
	for c := lo; c < hi; c++ {
		at := j.image*v.groups + c
		img := v.src[at*g.inPlane : (at+1)*g.inPlane]
		if j.framed {
			own := j.copies[c*j.plane : (c+1)*j.plane]
			j.frame(j.level, own, img)
			img = own
		}
		for r := range v.outPerGroup {
			m := c*v.outPerGroup + r
			dst := v.dst[(at*v.outPerGroup+r)*g.outPlane:][:g.outPlane]
			j.filter(dst, img, v.weight[m*g.taps:(m+1)*g.taps], m)
			if v.end.scaleRow != nil || v.end.residual != nil {
				e := v.end.channels(m, 1, (at*v.outPerGroup+r)*g.outPlane)
				e.apply(j.level, 1, g.outPlane, 0, 0, dst, g.outPlane)
			}
		}
	}
}

// filter computes one output plane with what of the epilogue needs no second pass.
func (j *depthwise32Job) filter(dst, img, weight []float32, m int) {
	e := &j.conv.end
	lo, hi := Epilogue{}.bounds()
	bias := float32(0)
	if e.scaleRow == nil && e.residual == nil {
		if e.some {
			lo, hi = e.lo, e.hi
		}
		if e.biasRow != nil {
			bias = e.biasRow[m]
		}
	}
	rows := j.g.out[1] * j.g.out[2]
	for z := range j.g.out[0] {
		depthwisePlane(j.level, j.g.out[1], j.g.out[2], dst[z*rows:(z+1)*rows], img[j.place(z, 0):],
			j.place(0, 1), j.offsets, weight, bias, lo, hi)
	}
}

// The assembly's filters sum tiles of at most filterTall rows, a vector of
// columns at a time. Their plan is a list of int64, which the assembly reads.
const (
	filterTall      = 7
	filterTileWords = 5
	filterMasks     = 8 // places for masks in a block
)

// filtered reports whether there is a filter for v. The first output row must
// read less than a kernel's height above the input.
func (v *conv32) filtered(l cpuLevel) bool {
	g := &v.g
	k, s := g.kernel[2], g.stride[2]
	if !hasFilters(l) || k != 3 && k != 5 || s != 1 && s != 2 {
		return false
	}
	if g.kernel[0] != 1 || g.in[0] != 1 || g.out[0] != 1 || g.padLo[0] != 0 {
		return false
	}
	return g.kernel[1] == k && g.stride[1] == s && g.dilate[1] == 1 && g.dilate[2] == 1 && uint(g.padLo[1]) < uint(k)
}

// filterLanes is the columns of a block, and filterMaskWords the int32 of one of
// its masks: the lanes as bits, or as elements.
func filterLanes(l cpuLevel) int {
	if l == levelAVX512 {
		return 16
	}
	return 8
}

func filterMaskWords(l cpuLevel) int {
	if l == levelAVX512 {
		return 1
	}
	return 8
}

func filterBlockWords(l cpuLevel) int { return 2 + filterMasks*filterMaskWords(l)/2 }

// filterPlanLen returns the words of a plan.
func filterPlanLen(l cpuLevel, g *spatial) int {
	lanes := filterLanes(l)
	return (g.out[1]+filterTall-1)/filterTall*filterTileWords + (g.out[2]+lanes-1)/lanes*filterBlockWords(l)
}

// plan describes the tiles and blocks of a plane in memory of filterPlanLen.
func (j *depthwise32Job) plan(mem []int64) {
	g := &j.conv.g
	k, s := g.kernel[1], g.stride[1]
	n := (g.out[1] + filterTall - 1) / filterTall
	j.tiles, j.blocks = mem[:n*filterTileWords], mem[n*filterTileWords:]
	for i := range n {
		// Equal shares. Rows [first, last) of those that a tile reads exist.
		y0, y1 := i*g.out[1]/n, (i+1)*g.out[1]/n
		top := y0*s - g.padLo[1]
		first := max(0, -top)
		last := max(first, min((y1-y0-1)*s+k, g.in[1]-top))
		// Bytes to the first of them and to the output, those rows, and the output's.
		t := j.tiles[i*filterTileWords:][:filterTileWords]
		t[0], t[1] = int64(4*(top+first)*g.in[2]), int64(4*y0*g.out[2])
		t[2], t[3], t[4] = int64(first), int64(last), int64(y1-y0)
	}
	lanes, words := filterLanes(j.level), filterBlockWords(j.level)
	for i := range len(j.blocks) / words {
		b := j.blocks[i*words:][:words]
		left := i*lanes*s - g.padLo[2]
		// Bytes to the first column of the input and of the output, then masks.
		b[0], b[1] = int64(4*left), int64(4*i*lanes)
		masks := b[2:]
		clear(masks)
		reads := k
		if s == 2 {
			// Pairs of vectors, each pair two columns after the one before.
			reads = k + 1
		}
		for r := range reads {
			at := left + r
			if s == 2 {
				at = left + r&^1 + r&1*lanes
			}
			setMask(j.level, masks, r, -at, g.in[2]-at)
		}
		setMask(j.level, masks, reads, 0, g.out[2]-i*lanes)
	}
}

// setMask makes mask i the lanes [lo, hi), as far as there are such lanes.
func setMask(l cpuLevel, masks []int64, i, lo, hi int) {
	lanes := filterLanes(l)
	for lane := max(lo, 0); lane < min(hi, lanes); lane++ {
		if filterMaskWords(l) == 1 {
			masks[i/2] |= 1 << (32*(i%2) + lane)
		} else {
			masks[i*4+lane/2] |= math.MaxUint32 << (32 * (lane % 2))
		}
	}
}
