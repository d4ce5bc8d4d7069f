package blocked

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

// blockCall is one tile: up to blockRows positions of one to three blocks of
// channels. Slices begin at the tile's first element; steps are in floats.
type blockCall struct {
	x, w, y, residual     []float32
	scale, bias, divisors []float32
	offsets               []int64 // of taps in x, in bytes
	farthest              int     // of the offsets, in floats
	taps, inner           [2]int  // taps with whole blocks of channels, then with fewer
	step, wStep, yStep    int     // between positions of x, blocks of w, blocks of y
	yPos                  int     // between positions of y
	lo, hi                float32
}

// blockTile is a blockCall as the assembly reads it; steps are in bytes.
type blockTile struct {
	x                               *float32
	offsets                         *int64
	taps, inner                     [2]int
	step                            int
	w                               *float32
	wStep                           int
	y                               *float32
	yStep                           int
	residual, scale, bias, divisors *float32
	lo, hi                          float32
	yPos                            int
}

// setOffsets sets the taps.
func (c *blockCall) setOffsets(offsets []int64) {
	c.offsets, c.farthest = offsets, 0
	for _, o := range offsets {
		c.farthest = max(c.farthest, int(o)/4)
	}
}

// tile returns what the assembly reads, once all of it is known to lie within
// the slices. reach is the floats after the last position's last tap.
func (c *blockCall) tile(rows, blocks, reach int) blockTile {
	_ = c.x[c.farthest+(rows-1)*c.step+reach-1]
	size := (blocks-1)*c.yStep + (rows-1)*c.yPos + BlockLanes
	t := blockTile{x: &c.x[0], offsets: &c.offsets[0], taps: c.taps, inner: c.inner, step: 4 * c.step, wStep: 4 * c.wStep,
		y: operand.Span(c.y, 0, size), yStep: 4 * c.yStep, residual: operand.Span(c.residual, 0, size), scale: operand.Span(c.scale, 0, blocks*BlockLanes),
		bias: operand.Span(c.bias, 0, blocks*BlockLanes), divisors: operand.Span(c.divisors, 0, rows), lo: c.lo, hi: c.hi, yPos: 4 * c.yPos}
	if c.w != nil {
		t.w = unsafe.SliceData(c.w)
	}
	return t
}

// conv convolves a tile: 1 to blockRows positions of one or more blocks.
func (c *blockCall) conv(l cpu.Level, rows, blocks int) {
	if !cpu.HasAssembly || l == cpu.Generic {
		c.convGo(rows, blocks)
		return
	}
	size := BlockLanes * (c.taps[0]*c.inner[0] + c.taps[1]*c.inner[1])
	_ = c.w[(blocks-1)*c.wStep+size-1]
	t := c.tile(rows, blocks, c.inner[min(1, c.taps[1])])
	tileConv(l, rows, blocks, &t)
}

// depthwise filters a tile of one block.
func (c *blockCall) depthwise(l cpu.Level, rows int) {
	if !cpu.HasAssembly || l == cpu.Generic {
		c.depthwiseGo(rows)
		return
	}
	_ = c.w[c.taps[0]*BlockLanes-1]
	t := c.tile(rows, 1, BlockLanes)
	tileDepthwise(l, rows, &t)
}

// pool takes the greatest or the mean of a tile of one block.
func (c *blockCall) pool(l cpu.Level, rows int, most bool) {
	if !cpu.HasAssembly || l == cpu.Generic {
		c.poolGo(rows, most)
		return
	}
	t := c.tile(rows, 1, BlockLanes)
	if most {
		tileMax(l, rows, &t)
	} else {
		tileSum(l, rows, &t)
	}
}

// finish ends the sums of a position in Go.
func (c *blockCall) finish(sum *[BlockLanes]float32, r, b int) {
	at := b*c.yStep + r*c.yPos
	for l, v := range sum {
		if c.scale != nil {
			v = float32(v * c.scale[b*BlockLanes+l])
		}
		if c.bias != nil {
			v += c.bias[b*BlockLanes+l]
		}
		if c.residual != nil {
			v += c.residual[at+l]
		}
		if v < c.lo {
			v = c.lo
		}
		if v > c.hi {
			v = c.hi
		}
		c.y[at+l] = v
	}
}

// convGo is the twin of the convolution in assembly, which adds in the same
// order with fused multiply-adds.
func (c *blockCall) convGo(rows, blocks int) {
	for b := range blocks {
		for r := range rows {
			var sum [BlockLanes]float32
			w, offsets := c.w[b*c.wStep:], c.offsets
			for phase, taps := range c.taps {
				for _, o := range offsets[:taps] {
					for _, v := range c.x[int(o)/4+r*c.step:][:c.inner[phase]] {
						for l, u := range w[:BlockLanes] {
							sum[l] += float32(v * u)
						}
						w = w[BlockLanes:]
					}
				}
				offsets = offsets[taps:]
			}
			c.finish(&sum, r, b)
		}
	}
}

// depthwiseGo is the twin of the filter in assembly, as convGo is.
func (c *blockCall) depthwiseGo(rows int) {
	for r := range rows {
		var sum [BlockLanes]float32
		for t, o := range c.offsets {
			w := c.w[t*BlockLanes:][:BlockLanes]
			for l, v := range c.x[int(o)/4+r*c.step:][:BlockLanes] {
				sum[l] += float32(v * w[l])
			}
		}
		c.finish(&sum, r, 0)
	}
}

// poolGo is the twin of pooling in assembly, bit for bit.
func (c *blockCall) poolGo(rows int, most bool) {
	for r := range rows {
		y := c.y[r*BlockLanes:][:BlockLanes]
		for t, o := range c.offsets {
			for l, v := range c.x[int(o)/4+r*c.step:][:BlockLanes] {
				switch {
				case t == 0:
					y[l] = v
				case !most:
					y[l] += v
				case y[l] == y[l] && !(y[l] > v):
					y[l] = v
				}
			}
		}
		if !most {
			for l := range y {
				y[l] /= c.divisors[r]
			}
		}
	}
}
