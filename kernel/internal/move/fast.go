package move

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

//go:generate go run -C ../../../internal/generators/asmgen ./move

// Fast copies the innermost one or two dimensions of the nest, which stays
// inside of its operands, by assembly: two where moveElems walks only the ones
// before. It reports false where there is none for the layout.
func Fast(dst, src unsafe.Pointer, size int, m *Nest) bool {
	level := cpu.Host.Level
	if level < cpu.AVX2 {
		return false
	}
	last := m.N - 1
	n := m.Size[last]
	switch {
	case m.tiled():
		t := transposition{level: level, size: size, dst: dst, src: src,
			ldd: m.D[last-1] * size, lds: m.S[last] * size, rows: n, cols: m.Size[last-1], stream: m.Stream}
		return m.D[last] == 1 && t.run()
	case m.D[last] != 1:
		return false
	case m.S[last] == 1:
		rows, ldd, lds := 1, 0, 0
		if last > 0 {
			rows, ldd, lds = m.Size[last-1], m.D[last-1]*size, m.S[last-1]*size
		}
		moveRuns(level, dst, ldd, src, lds, n*size, rows, m.Stream)
		return true
	case m.S[last] == 0:
		return moveSame(level, dst, src, size, n, m.Stream)
	}
	return false
}

// pairsFast reports whether assembly brings pairs of elements of a size together.
func pairsFast(size int, m *Nest) bool {
	return cpu.Host.Level >= cpu.AVX2 && m.Size[m.N-2]*size >= leastPairs
}

// movePairs copies the innermost two or three dimensions of a nest of pairs.
func movePairs(dst, src unsafe.Pointer, size int, m *Nest) {
	last := m.N - 1
	rows, ldd, lds := 1, 0, 0
	if last > 1 {
		rows, ldd, lds = m.Size[last-2], m.D[last-2]*size, m.S[last-2]*size
	}
	d, s, odd, n := (*byte)(dst), (*byte)(src), m.S[last]*size, m.Size[last-1]*size
	switch size {
	case 1:
		movePairs1AVX2(d, ldd, s, lds, odd, n, rows)
	case 2:
		movePairs2AVX2(d, ldd, s, lds, odd, n, rows)
	case 4:
		movePairs4AVX2(d, ldd, s, lds, odd, n, rows)
	default:
		movePairs8AVX2(d, ldd, s, lds, odd, n, rows)
	}
}

// moveRuns copies rows of n bytes.
func moveRuns(level cpu.Level, dst unsafe.Pointer, ldd int, src unsafe.Pointer, lds, n, rows int, stream bool) {
	if n < longRow {
		if level == cpu.AVX512 {
			moveRowsAVX512((*byte)(dst), ldd, (*byte)(src), lds, n, rows)
		} else {
			moveRowsAVX2((*byte)(dst), ldd, (*byte)(src), lds, n, rows)
		}
		return
	}
	for r := range rows {
		d, s := unsafe.Slice((*byte)(unsafe.Add(dst, r*ldd)), n), unsafe.Slice((*byte)(unsafe.Add(src, r*lds)), n)
		if stream {
			moveFar(level, d, s)
		} else {
			copy(d, s)
		}
	}
}

// moveFar copies longRow bytes or more past the caches.
func moveFar(level cpu.Level, dst, src []byte) {
	head := ToLine(unsafe.Pointer(&dst[0]))
	copy(dst[:head], src)
	dst, src = dst[head:], src[head:len(dst)]
	turns := len(dst) / Turn
	if level == cpu.AVX512 {
		moveStreamAVX512(&dst[0], &src[0], turns)
	} else {
		moveStreamAVX2(&dst[0], &src[0], turns)
	}
	copy(dst[turns*Turn:], src[turns*Turn:])
}

// moveSame sets n elements to that at src.
func moveSame(level cpu.Level, dst, src unsafe.Pointer, size, n int, stream bool) bool {
	if n*size < Turn {
		return false
	}
	var pattern uint64
	switch size {
	case 1:
		pattern = uint64(*(*uint8)(src)) * 0x0101010101010101
	case 2:
		pattern = uint64(*(*uint16)(src)) * 0x0001000100010001
	case 4:
		pattern = uint64(*(*uint32)(src)) * 0x0000000100000001
	default:
		pattern = *(*uint64)(src)
	}
	d := unsafe.Slice((*byte)(dst), n*size)
	// Whole turns that begin with a line; the rest at either end is part of a turn
	// that overlaps them as little as possible, since lines are slow to write twice.
	at := 0
	if head := ToLine(dst); head > 0 {
		moveFill(level, d[:Turn], pattern, false)
		at = head + Turn - moveLine
	}
	rest := (len(d) - at) % Turn
	moveFill(level, d[at:len(d)-rest], pattern, stream)
	if rest > 0 {
		moveFill(level, d[len(d)-Turn:], pattern, false)
	}
	return true
}

// moveFill fills a multiple of Turn bytes.
func moveFill(level cpu.Level, d []byte, pattern uint64, stream bool) {
	turns := len(d) / Turn
	switch {
	case turns == 0:
	case level == cpu.AVX512 && stream:
		moveFillStreamAVX512(&d[0], turns, pattern)
	case level == cpu.AVX512:
		moveFillAVX512(&d[0], turns, pattern)
	case stream:
		moveFillStreamAVX2(&d[0], turns, pattern)
	default:
		moveFillAVX2(&d[0], turns, pattern)
	}
}

// repeatFast is Repeat for rows that are not shorter than a register.
func repeatFast(level cpu.Level, dst, src []uint32, step, n int) bool {
	rows := len(dst) / n
	d, x := (*float32)(unsafe.Pointer(&dst[0])), (*float32)(unsafe.Pointer(&src[0]))
	switch _ = src[(rows-1)*step]; {
	case level == cpu.AVX512 && n >= 16:
		moveRepeatAVX512(d, x, step, n, rows)
	case level >= cpu.AVX2 && n >= 8:
		moveRepeatAVX2(d, x, step, n, rows)
	default:
		return false
	}
	return true
}

// copyRowsFast is CopyRows for rows that the processor's copies are slow at.
func copyRowsFast(dst []float32, ldd int, src []float32, lds, n, rows int) bool {
	level := cpu.Host.Level
	if level < cpu.AVX2 || 4*n >= longRow {
		return false
	}
	_, _ = dst[(rows-1)*ldd+n-1], src[(rows-1)*lds+n-1]
	moveRuns(level, unsafe.Pointer(&dst[0]), 4*ldd, unsafe.Pointer(&src[0]), 4*lds, 4*n, rows, false)
	return true
}

// transposition is the copy of a matrix of rows·cols elements whose rows are lds
// bytes apart to one of cols·rows whose rows are ldd bytes apart.
type transposition struct {
	level      cpu.Level
	size       int
	dst, src   unsafe.Pointer
	ldd, lds   int
	rows, cols int
	stream     bool
	wide       bool // blocks of the wider registers
	block      int  // rows and columns of a block
}

// run reports false where the matrix is smaller than any block. The last blocks
// in each direction overlap those before where they are not whole.
func (t *transposition) run() bool {
	least := min(t.rows, t.cols)
	switch {
	case t.size < 4:
		t.block = 8
	case t.level == cpu.AVX512 && least >= 64/t.size:
		t.wide, t.block = true, 64/t.size
	default:
		t.block = 32 / t.size
	}
	if least < t.block {
		return false
	}
	crowded := t.ldd%page == 0 && t.rows*t.cols*t.size >= streamTile()
	t.stream = (t.stream || crowded) && t.wide && ToLine(t.dst) == 0 && t.ldd%moveLine == 0
	rows, cols := t.rows/t.block, t.cols/t.block
	if t.stream {
		t.tilesPast(rows, cols)
	} else {
		t.tiles(rows, cols)
	}
	if rows*t.block < t.rows {
		t.blocks(t.rows-t.block, 1, 0, cols)
	}
	if cols*t.block < t.cols {
		t.blocks(0, rows, t.cols-t.block, 1)
	}
	if rows*t.block < t.rows && cols*t.block < t.cols {
		t.blocks(t.rows-t.block, 1, t.cols-t.block, 1)
	}
	return true
}

// tiles transposes so many blocks down and across. Lines of a tile, those read and
// those written, stay in the first cache until all of their elements have been
// moved; within it tileRows blocks go across together, to use the lines that
// hardware prefetches with a line.
func (t *transposition) tiles(rows, cols int) {
	for r := 0; r < rows; r += tileBlocks {
		for c := 0; c < cols; c += tileBlocks {
			across, end := min(tileBlocks, cols-c), min(r+tileBlocks, rows)
			for i := r; i < end; i += tileRows {
				t.blocks(i*t.block, min(tileRows, end-i), c*t.block, across)
			}
		}
	}
}

// tilesPast is tiles past the caches. A tile is tilePast rows and blocks; each
// block asks for as many lines of the next tile as it has rows, which is one of
// that tile's rows: pages are read in long pieces although blocks are not.
func (t *transposition) tilesPast(rows, cols int) {
	down, across := tilePast/t.block, t.block
	for r := 0; r < rows; r += down {
		for c := 0; c < cols; c += across {
			nr, nc, jump := r, c+across, t.lds
			switch {
			case nc < cols:
			case r+down >= rows || cols < across && t.lds != t.cols*t.size:
				nr, nc, jump = r, c, 0 // nothing more than this tile
			default:
				nr, nc = r+down, 0
				if cols < across {
					jump = t.block * moveLine // rows follow each other
				}
			}
			_, next := t.at(nr*t.block, nc*t.block)
			dst, src := t.at(r*t.block, c*t.block)
			h, n := min(down, rows-r), min(across, cols-c)
			if t.size == 4 {
				moveTranspose4StreamAVX512(dst, t.ldd, src, t.lds, h, n, next, jump)
			} else {
				moveTranspose8StreamAVX512(dst, t.ldd, src, t.lds, h, n, next, jump)
			}
		}
	}
	OrderStores()
}

// at returns where the element of row r and column c goes, and where it is.
func (t *transposition) at(r, c int) (dst, src *byte) {
	return (*byte)(unsafe.Add(t.dst, c*t.ldd+r*t.size)), (*byte)(unsafe.Add(t.src, r*t.lds+c*t.size))
}

// blocks transposes whole blocks from row r and column c on.
func (t *transposition) blocks(r, rows, c, cols int) {
	dst, src := t.at(r, c)
	switch {
	case t.size == 1:
		moveTranspose1AVX2(dst, t.ldd, src, t.lds, rows, cols)
	case t.size == 2:
		moveTranspose2AVX2(dst, t.ldd, src, t.lds, rows, cols)
	case t.size == 4 && t.wide:
		moveTranspose4AVX512(dst, t.ldd, src, t.lds, rows, cols)
	case t.size == 4:
		moveTranspose4AVX2(dst, t.ldd, src, t.lds, rows, cols)
	case t.wide:
		moveTranspose8AVX512(dst, t.ldd, src, t.lds, rows, cols)
	default:
		moveTranspose8AVX2(dst, t.ldd, src, t.lds, rows, cols)
	}
}

// OrderStores orders the stores past the caches before all later ones.
func OrderStores() {
	if cpu.X86 {
		moveFence()
	}
}
