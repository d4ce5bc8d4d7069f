package geom

import (
	"math"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Windows that slide over planes: the common part of the assembly of depthwise
// convolutions and of pooling. It works on tiles of at most windowTall output
// rows and blocks of one vector of columns.
const (
	windowTall      = 7
	WindowTileWords = 5
	windowMasks     = 8 // places for masks in a block
)

// WindowPlan tells the assembly which rows and columns of the input each tile
// and block reads; all planes share it.
type WindowPlan struct{ Tiles, Blocks []int64 }

// WindowCall is a plane to work on. The assembly knows its layout.
type WindowCall struct {
	Dst, Src            *float32
	tiles, blocks       *int64
	tilesLen, blocksLen int // bytes
	srcRow, dstRow      int // bytes
	ahead               int // bytes from the element read to the element prefetched, about a tile
}

// Call returns the call for planes of a geometry.
func (p *WindowPlan) Call(g *Spatial) WindowCall {
	return WindowCall{tiles: &p.Tiles[0], tilesLen: 8 * len(p.Tiles), blocks: &p.Blocks[0], blocksLen: 8 * len(p.Blocks),
		srcRow: 4 * g.In[2], dstRow: 4 * g.Out[2],
		ahead: max(4096, 4*windowTall*g.Stride[1]*g.In[2])}
}

// HasWindows reports whether the level has assembly for sliding windows.
func HasWindows(l cpu.Level) bool { return l.HasAVX2() }

// Windowed reports whether the assembly can slide windows of this geometry.
func Windowed(l cpu.Level, g *Spatial) bool { return HasWindows(l) && Slidable(g) }

// Slidable reports whether windows are small squares over planes, moved by one
// or two.
func Slidable(g *Spatial) bool {
	k, s := g.Kernel[2], g.Stride[2]
	if s != 1 && s != 2 || g.Stride[1] != s || g.Kernel != [3]int{1, k, k} || g.Dilate[1] != 1 || g.Dilate[2] != 1 {
		return false
	}
	// The first row must read less than a window above the input.
	return g.In[0] == 1 && g.Out[0] == 1 && g.PadLo[0] == 0 && uint(g.PadLo[1]) < uint(k) && g.PadLo[2] >= 0 &&
		g.InPlane > 0 && g.OutPlane > 0 && g.Reachable()
}

// WindowLanes is the columns of a block, and windowMaskWords the int32 of one of
// its masks: the lanes as bits, or as elements.
func WindowLanes(l cpu.Level) int {
	if l == cpu.AVX512 {
		return 16
	}
	return 8
}

func windowMaskWords(l cpu.Level) int {
	if l == cpu.AVX512 {
		return 1
	}
	return 8
}

// WindowSizes returns the words of a tile and of a block, which end with counts
// where the window is averaged.
func WindowSizes(l cpu.Level, counts bool) (tile, block int) {
	tile, block = WindowTileWords, 2+windowMasks*windowMaskWords(l)/2
	if counts {
		tile, block = tile+4, block+WindowLanes(l)/2
	}
	return tile, block
}

// WindowPlanLen returns the words of a plan.
func WindowPlanLen(l cpu.Level, g *Spatial, counts bool) int {
	tile, block := WindowSizes(l, counts)
	lanes := WindowLanes(l)
	return (g.Out[1]+windowTall-1)/windowTall*tile + (g.Out[2]+lanes-1)/lanes*block
}

// NewWindowPlan makes a plan in memory of WindowPlanLen.
func NewWindowPlan(l cpu.Level, g *Spatial, counts bool, mem []int64) WindowPlan {
	tile, block := WindowSizes(l, counts)
	n := (g.Out[1] + windowTall - 1) / windowTall
	p := WindowPlan{Tiles: mem[:n*tile], Blocks: mem[n*tile:]}
	k, s := g.Kernel[1], g.Stride[1]
	clear(mem)
	for i := range n {
		// Equal shares. Rows [first, last) of those that a tile reads exist.
		y0, y1 := i*g.Out[1]/n, (i+1)*g.Out[1]/n
		top := y0*s - g.PadLo[1]
		first := max(0, -top)
		last := max(first, min((y1-y0-1)*s+k, g.In[1]-top))
		// Bytes to the first of them and to the output, those rows, and the output's.
		t := p.Tiles[i*tile:]
		t[0], t[1] = int64(4*(top+first)*g.In[2]), int64(4*y0*g.Out[2])
		t[2], t[3], t[4] = int64(first), int64(last), int64(y1-y0)
	}
	lanes := WindowLanes(l)
	for i := range len(p.Blocks) / block {
		// Bytes to the first column of the input and of the output, then masks.
		b := p.Blocks[i*block:][:block]
		left := i*lanes*s - g.PadLo[2]
		b[0], b[1] = int64(4*left), int64(4*i*lanes)
		reads := (k + s - 1) / s * s
		for r := range reads {
			at := left + r
			if s == 2 { // pairs of vectors, each pair two columns after the one before
				at = left + r&^1 + r&1*lanes
			}
			setWindowMask(l, b[2:], r, -at, g.In[2]-at)
		}
		setWindowMask(l, b[2:], reads, 0, g.Out[2]-i*lanes)
	}
	return p
}

// setWindowMask makes mask i the lanes [lo, hi), as far as there are such lanes.
func setWindowMask(l cpu.Level, masks []int64, i, lo, hi int) {
	for lane := max(lo, 0); lane < min(hi, WindowLanes(l)); lane++ {
		if windowMaskWords(l) == 1 {
			masks[i/2] |= 1 << (32*(i%2) + lane)
		} else {
			masks[i*4+lane/2] |= math.MaxUint32 << (32 * (lane % 2))
		}
	}
}
