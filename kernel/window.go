package kernel

import "math"

// Windows that slide over planes: what the assembly of depthwise convolutions
// and of pooling has in common. It works on tiles of at most windowTall output
// rows and blocks of one vector of columns.
const (
	windowTall      = 7
	windowTileWords = 5
	windowMasks     = 8 // places for masks in a block
)

// windowPlan tells the assembly which rows and columns of the input each tile
// and block reads; all planes share it.
type windowPlan struct{ tiles, blocks []int64 }

// windowCall is a plane to work on. The assembly knows its layout.
type windowCall struct {
	dst, src            *float32
	tiles, blocks       *int64
	tilesLen, blocksLen int // bytes
	srcRow, dstRow      int // bytes
	ahead               int // bytes from what is read to what is prefetched, about a tile
}

// call returns the call for planes of a geometry.
func (p *windowPlan) call(g *spatial) windowCall {
	return windowCall{tiles: &p.tiles[0], tilesLen: 8 * len(p.tiles), blocks: &p.blocks[0], blocksLen: 8 * len(p.blocks),
		srcRow: 4 * g.in[2], dstRow: 4 * g.out[2],
		ahead: max(4096, 4*windowTall*g.stride[1]*g.in[2])}
}

// windowed reports whether the assembly can slide windows of this geometry.
func windowed(l cpuLevel, g *spatial) bool { return hasWindows(l) && slidable(g) }

// slidable reports whether windows are small squares over planes, moved by one
// or two.
func slidable(g *spatial) bool {
	k, s := g.kernel[2], g.stride[2]
	if s != 1 && s != 2 || g.stride[1] != s || g.kernel != [3]int{1, k, k} || g.dilate[1] != 1 || g.dilate[2] != 1 {
		return false
	}
	// The first row must read less than a window above the input.
	return g.in[0] == 1 && g.out[0] == 1 && g.padLo[0] == 0 && uint(g.padLo[1]) < uint(k) && g.padLo[2] >= 0 &&
		g.inPlane > 0 && g.outPlane > 0 && g.reachable()
}

// windowLanes is the columns of a block, and windowMaskWords the int32 of one of
// its masks: the lanes as bits, or as elements.
func windowLanes(l cpuLevel) int {
	if l == levelAVX512 {
		return 16
	}
	return 8
}

func windowMaskWords(l cpuLevel) int {
	if l == levelAVX512 {
		return 1
	}
	return 8
}

// windowSizes returns the words of a tile and of a block, which end with counts
// where the window is averaged.
func windowSizes(l cpuLevel, counts bool) (tile, block int) {
	tile, block = windowTileWords, 2+windowMasks*windowMaskWords(l)/2
	if counts {
		tile, block = tile+4, block+windowLanes(l)/2
	}
	return tile, block
}

// windowPlanLen returns the words of a plan.
func windowPlanLen(l cpuLevel, g *spatial, counts bool) int {
	tile, block := windowSizes(l, counts)
	lanes := windowLanes(l)
	return (g.out[1]+windowTall-1)/windowTall*tile + (g.out[2]+lanes-1)/lanes*block
}

// newWindowPlan makes a plan in memory of windowPlanLen.
func newWindowPlan(l cpuLevel, g *spatial, counts bool, mem []int64) windowPlan {
	tile, block := windowSizes(l, counts)
	n := (g.out[1] + windowTall - 1) / windowTall
	p := windowPlan{tiles: mem[:n*tile], blocks: mem[n*tile:]}
	k, s := g.kernel[1], g.stride[1]
	clear(mem)
	for i := range n {
		// Equal shares. Rows [first, last) of those that a tile reads exist.
		y0, y1 := i*g.out[1]/n, (i+1)*g.out[1]/n
		top := y0*s - g.padLo[1]
		first := max(0, -top)
		last := max(first, min((y1-y0-1)*s+k, g.in[1]-top))
		// Bytes to the first of them and to the output, those rows, and the output's.
		t := p.tiles[i*tile:]
		t[0], t[1] = int64(4*(top+first)*g.in[2]), int64(4*y0*g.out[2])
		t[2], t[3], t[4] = int64(first), int64(last), int64(y1-y0)
	}
	lanes := windowLanes(l)
	for i := range len(p.blocks) / block {
		// Bytes to the first column of the input and of the output, then masks.
		b := p.blocks[i*block:][:block]
		left := i*lanes*s - g.padLo[2]
		b[0], b[1] = int64(4*left), int64(4*i*lanes)
		reads := (k + s - 1) / s * s
		for r := range reads {
			at := left + r
			if s == 2 { // pairs of vectors, each pair two columns after the one before
				at = left + r&^1 + r&1*lanes
			}
			setWindowMask(l, b[2:], r, -at, g.in[2]-at)
		}
		setWindowMask(l, b[2:], reads, 0, g.out[2]-i*lanes)
	}
	return p
}

// setWindowMask makes mask i the lanes [lo, hi), as far as there are such lanes.
func setWindowMask(l cpuLevel, masks []int64, i, lo, hi int) {
	for lane := max(lo, 0); lane < min(hi, windowLanes(l)); lane++ {
		if windowMaskWords(l) == 1 {
			masks[i/2] |= 1 << (32*(i%2) + lane)
		} else {
			masks[i*4+lane/2] |= math.MaxUint32 << (32 * (lane % 2))
		}
	}
}
