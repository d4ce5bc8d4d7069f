package quant

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/geom"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qDepthDirect is how a depthwise convolution of channels first is computed where permutations of bytes make windows of
// the lines of planes as they lie: a channel at a time, without a frame.
type qDepthDirect struct {
	g      geom.Spatial
	reach  int  // elements from the first tap of a line to the last one
	narrow bool // the whole plane of results is in four vectors, two lines of at most eight in each
	bands  int  // of a plane
	rows   int  // output lines of a band, a multiple of 4 where there are more
	parts  int
}

// directPlanes returns that form of a convolution to bytes, and false where there is none.
func (p *qConvPlan) directPlanes() (f qDepthDirect, ok bool) {
	g := p.g
	flat := g.In[0] == 1 && g.Out[0] == 1 && g.Kernel[0] == 1 && g.PadLo[0] == 0
	height, stride := g.Kernel[1], g.Stride[1]
	widest := map[int]int{3: 4, 5: 8}[height]
	if !p.transposed || !p.w.depthwise || !flat || g.Kernel[2] > widest || stride > 2 || g.Stride[2] != stride || g.Dilate[1] != 1 {
		return f, false
	}
	f = qDepthDirect{g: g, reach: (g.Kernel[2] - 1) * g.Dilate[2], bands: 1, rows: g.Out[1], parts: (g.Out[2] + 15) / 16}
	f.narrow = g.Out[2] <= 8 && g.Out[1] <= 8 && (stride == 1 && g.InPlane < 64 || stride == 2 && 3*g.In[2] < 64)
	if f.narrow {
		f.parts = 6*stride + height // pairs of lines
	} else if few := qDepthBatch / p.w.chans; few > 1 {
		f.rows = operand.RoundUp((g.Out[1]+few-1)/few, 4)
		f.bands = (g.Out[1] + f.rows - 1) / f.rows
	}
	return f, 15*stride+f.reach < 32*stride
}

// scratch is the scratch that a convolution takes in this form.
func (f *qDepthDirect) scratch() int { return par.ScratchSize(qDepthWords*f.parts, 8) }

// qDepthRows is the argument for channels of one band; the generator knows the places of its
// fields.
type qDepthRows struct {
	src, dst          *uint8
	taps              *[64]int8 // of each channel, in order; the rest is ignored
	bias              *int32
	scale             *float32
	channels          int
	inPlane, outPlane int
	width             int // of the kernel
	line, lines       int // elements of a line, and lines, of a plane
	top, start        int // the first line that is read, and where it is in the plane
	rows, cols        int
	parts, end        *qDepthPart
	pairs             *qDepthPair
	load              uint64    // of a narrow plane, the bytes that are read, all but the last one at most
	whole             int       // bytes of four lines that are stored together, or 0
	plain             int       // 1 where saturation clamps as results are clamped
	taken             [2]uint64 // of the bytes of four taps of sixteen positions, those that are taps
	pad, flip         uint32    // four bytes of padding; flip makes operands unsigned, as a sum
	turn              uint32    // makes unsigned results signed
	zero, lo, hi      int32     // of the unsigned ones
	index             [2][64]uint8
	order             [64]uint8 // of the bytes of results
	edge              [64]uint8 // what flip makes padding of
}

// qDepthPart is a strip of columns: where the windows begin, less the beginning of the line,
// which bytes are in the plane, and which results are stored.
type qDepthPart struct {
	at         int64
	load, mask uint64
}

// qDepthPair is two lines of a narrow plane: the permutations that make their windows, and where
// the 64 bytes begin that these are of.
type qDepthPair struct {
	index [2][64]uint8
	at    int64
	_     [56]uint8
}

// qDepthWords is the words of a pair, or of more than a part.
const qDepthWords = int(unsafe.Sizeof(qDepthPair{})) / 8

// fill sets what is the same for all channels.
func (t *qDepthRows) fill(f *qDepthDirect, words []int64) {
	g, stride := &f.g, f.g.Stride[2]
	t.inPlane, t.outPlane, t.width, t.line, t.lines, t.cols = g.InPlane, g.OutPlane, g.Kernel[2], g.In[2], g.In[1], g.Out[2]
	for i := range t.edge {
		t.edge[i] = uint8(t.pad - t.flip)
	}
	if t.zero == 0 && t.lo <= 0 && t.hi >= 255 && t.turn == 0 {
		t.plain = 1
	}
	for i := range 64 {
		for group := range t.index {
			if tap := 4*group + i%4; tap < g.Kernel[2] {
				t.taken[group] |= 1 << i
				t.index[group][i] = uint8(i/4*stride + tap*g.Dilate[2])
			}
		}
	}
	across, width := 16, 16 // positions of a line, and those that are stored
	if f.narrow {
		across, width = 8, t.cols
	} else if t.cols <= 16 {
		t.whole, width = 4*t.cols, t.cols
	}
	// Position p of vector v is packed to byte 16·(p/4)+4·v+p%4.
	for i := range 64 / across * width {
		at := i/width*across + i%width
		t.order[i] = uint8(at%16/4*16 + at/16*4 + at%4)
	}
	if f.narrow {
		t.pairs = (*qDepthPair)(unsafe.Pointer(&words[0]))
		f.pairs(t, unsafe.Slice(t.pairs, f.parts))
		return
	}
	t.parts = (*qDepthPart)(unsafe.Pointer(&words[0]))
	parts := unsafe.Slice(t.parts, f.parts+1)
	t.end = &parts[f.parts]
	for i := range f.parts {
		n, at := min(16, t.cols-16*i), 16*i*stride-g.PadLo[2]
		parts[i] = qDepthPart{at: int64(at), load: bitsBetween(-at, min(g.In[2]-at, (n-1)*stride+f.reach+1)), mask: 1<<n - 1}
	}
}

// pairs sets the pairs of a narrow plane: line l of what windows read, and the one that is a
// line of results further on.
func (f *qDepthDirect) pairs(t *qDepthRows, pairs []qDepthPair) {
	g, stride := &f.g, f.g.Stride[2]
	n := min(63, g.InPlane)
	t.load = 1<<n - 1
	for l := range pairs {
		p, y := &pairs[l], l-g.PadLo[1]
		first := y
		if y < 0 {
			first = max(0, y+stride)
		}
		at := max(0, min(first*g.In[2], g.InPlane-n))
		p.at = int64(at)
		for group := range p.index {
			for half := range 2 {
				to, line := p.index[group][32*half:][:32], y+half*stride
				for i, d := range t.index[group][:32] {
					x := int(d) - g.PadLo[2]
					if to[i] = 63; uint(line) < uint(g.In[1]) && uint(x) < uint(g.In[2]) {
						to[i] = uint8(line*g.In[2] + x - at)
					}
				}
			}
		}
	}
}

// depthDirect convolves all channels of the image src in this form; e's bytes are its results.
func (c *qConvRun) depthDirect(w *par.Workspace, f *qDepthDirect, src []uint8, b *PackedQ, e qEpilogue) {
	j := par.TakeJob[qDepthRowsJob](w)
	*j = qDepthRowsJob{f: *f, src: src, b: *b, out: e}
	zero := e.zero + int32(e.flip)
	j.tile.pad, j.tile.flip, j.tile.turn = fours(uint8(c.x.zero)), fours(c.x.flip), fours(e.flip)
	j.tile.zero, j.tile.lo, j.tile.hi = zero, int32(e.lo)+zero, int32(e.hi)+zero
	j.tile.fill(f, par.Scratch[int64](w, qDepthWords*f.parts))
	lanes := 64
	if !f.narrow {
		lanes = operand.RoundUp(f.rows, 4) * 16 * f.parts
	}
	w.Parallel(f.bands*b.n, max(1, qWork/(4*lanes*f.g.Taps)), j)
	par.PutJob(w, j)
}

// qDepthRowsJob is such a convolution in progress: units are channels of bands.
type qDepthRowsJob struct {
	f    qDepthDirect
	tile qDepthRows
	src  []uint8
	b    PackedQ
	out  qEpilogue
}

// Do computes units [lo, hi).
func (j *qDepthRowsJob) Do(lo, hi int) {
	var taps [qDepthBatch][64]int8
	f, g, e, t := &j.f, &j.f.g, &j.out, j.tile
	for lo < hi {
		band, c := lo/j.b.n, lo%j.b.n
		n := min(hi-lo, j.b.n-c, qDepthBatch)
		lo += n
		j.b.depthTaps(taps[:n], c, g.Taps)
		first := band * f.rows
		t.rows, t.top = min(f.rows, g.Out[1]-first), first*g.Stride[1]-g.PadLo[1]
		t.start = t.top * t.line
		size, at := t.rows*t.cols, c*g.OutPlane+first*t.cols
		done := e.bytes[at : at+(n-1)*g.OutPlane+size]
		t.src, t.dst, t.taps, t.bias, t.scale, t.channels = &j.src[c*g.InPlane], &done[0], &taps[0], &e.bias[c], &e.scale[c], n
		t.compute(f.narrow, g.Kernel[1], g.Stride[1])
		switch {
		case e.table == nil:
		case f.bands == 1:
			qLookup(done, done, e.table)
		default:
			for ; len(done) > size; done = done[g.OutPlane:] {
				qLookup(done[:size], done[:size], e.table)
			}
			qLookup(done, done, e.table)
		}
	}
}

// bitsBetween sets bits [from, to) of 64.
func bitsBetween(from, to int) uint64 {
	if from = max(from, 0); from >= min(to, 64) {
		return 0
	}
	return (1<<(min(to, 64)-from) - 1) << from
}
