package gemm

import (
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// source is what panels of a right operand are packed from that is no matrix: an interface,
// so that programs without convolutions do not link the packing.
type source interface {
	// pack packs columns [col, col+count) of rows [p, p+k), width floats a row, of which those
	// past count are unspecified.
	pack(l cpu.Level, dst []float32, width int, src []float32, p, k, col, count int)
}

// ChannelTable is the transposed matrix of patches, [positions, taps·channels], of images
// whose channels lie last, side by side. What a row of a window has is then one run of floats,
// and a panel's columns are copied. Runs begin at multiples of Width columns, which Unit
// divides; the columns that fill them up are not specified.
type ChannelTable struct {
	Out         [4]int // images, and positions in three dimensions
	Step        [4]int // floats from one of those to the next
	Runs        [3]int // of a window: those that lie apart, in three dimensions
	RunStep     [3]int // floats from one of those to the next
	Width, Unit int
}

// Columns returns the columns of the matrix.
func (t *ChannelTable) Columns() int { return t.Runs[0] * t.Runs[1] * t.Runs[2] * t.Width }

// Flatten makes one dimension of those whose positions lie at equal distances.
func (t *ChannelTable) Flatten() {
	for d := 2; d >= 0 && (t.Out[d] == 1 || t.Step[d] == t.Step[3]*t.Out[3]); d-- {
		t.Out[3] *= t.Out[d]
		t.Out[d] = 1
	}
}

// run returns where run i of a window begins.
func (t *ChannelTable) run(i int) int {
	x, y := i%t.Runs[2], i/t.Runs[2]
	return y/t.Runs[1]*t.RunStep[0] + y%t.Runs[1]*t.RunStep[1] + x*t.RunStep[2]
}

// pack implements source. A panel has two units of columns at most.
func (t *ChannelTable) pack(l cpu.Level, dst []float32, width int, src []float32, p, k, col, count int) {
	for x := 0; x < width; x += t.Unit {
		if x >= count { // never stored, but read
			for q := range k {
				clear(dst[q*width+x : q*width+x+t.Unit])
			}
			continue
		}
		at, cols := (col+x)%t.Width, t.Unit
		from := t.run((col+x)/t.Width) + at
		if x == 0 && 2*t.Unit <= min(width, count) && at+2*t.Unit <= t.Width {
			x, cols = t.Unit, 2*t.Unit
		}
		t.rows(l, dst[x+t.Unit-cols:], width, src[from:], p, k, cols)
	}
}

// rows copies so many columns of rows [p, p+k), a line of positions after the other.
func (t *ChannelTable) rows(l cpu.Level, dst []float32, width int, src []float32, p, k, cols int) {
	for q := 0; q < k; {
		x, line := (p+q)%t.Out[3], (p+q)/t.Out[3]
		y, z := line%t.Out[2], line/t.Out[2]
		n := min(t.Out[3]-x, k-q)
		at := z/t.Out[1]*t.Step[0] + z%t.Out[1]*t.Step[1] + y*t.Step[2] + x*t.Step[3]
		PackAcross(l, dst[q*width:], width, src[at:], t.Step[3], cols, n)
		q += n
	}
}

// PackBatch packs an m×k left operand, the matrices of several images side by side, of plane
// columns each and step floats apart, into PackedRows elements.
type PackBatch struct {
	Level       cpu.Level
	Dst, Src    []float32
	M, K        int
	Plane, Step int
}

// Do packs panels [lo, hi) of every block of k, in the order in which products read them.
func (j *PackBatch) Do(lo, hi int) {
	bl := BlockingOf(j.Level)
	panels, depth := bl.Panels(j.M), bl.Depth(j.K)
	for i := lo; i < hi; i++ {
		r0, r1 := bl.Rows(j.M, i)
		for p := 0; p < j.K; p += depth {
			kc := min(depth, j.K-p)
			dst := j.Dst[p*panels*bl.Stride+i*bl.Stride*kc:][:bl.Stride*kc]
			for q := 0; q < kc; {
				at := (p + q) % j.Plane
				n := min(j.Plane-at, kc-q)
				packA(j.Level, dst[q*bl.Stride:], bl.Stride, j.Src[(p+q)/j.Plane*j.Step:], j.Plane, false, r0, r1-r0, at, n)
				q += n
			}
		}
	}
}

// Panels returns the panels that a product of m rows has.
func Panels(l cpu.Level, m int) int {
	bl := BlockingOf(l)
	return bl.Panels(m)
}

// ChannelUnit returns the floats that panels of channels are copied by.
func ChannelUnit(l cpu.Level) int { return BlockingOf(l).Stride }

// Interleave stores dst[p*stride+r] = src[r*ld+p] for any number of rows.
func Interleave(l cpu.Level, dst []float32, stride int, src []float32, ld, rows, k int) {
	unit := ChannelUnit(l)
	whole := 0
	if stride >= unit {
		whole = rows / unit * unit
	}
	done := 0
	if rest := rows - whole; rest > 1 && rows == stride {
		// A whole vector is stored for each p. What it has past the rows belongs to the next p, which
		// is stored later; the last ones have none.
		if done = max(0, k+1-(whole+unit+stride-1)/stride); done > 0 {
			PackAlong(l, dst[whole:], stride, src[whole*ld:], ld, rest, done)
		}
	}
	for r := whole; r < rows; r++ {
		for p := done; p < k; p++ {
			dst[p*stride+r] = src[r*ld+p]
		}
	}
	for r := 0; r < whole; r += unit {
		PackAlong(l, dst[r:], stride, src[r*ld:], ld, unit, k)
	}
}
