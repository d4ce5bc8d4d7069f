package quant

import (
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
)

const (
	qCols  = 32        // columns of a panel of packed weights
	qGroup = 4 * qCols // bytes of one group of four k of a panel
)

// PackedQ is a k×n matrix of 8-bit weights laid out for products with unsigned
// bytes, with the sum of each column, by which zero points are corrected. k is
// cut into taps runs of run elements: one for a matrix, one for each row of
// filter taps of a convolution. It is read only, by any number of goroutines.
//
//gofx:kernel
type PackedQ struct {
	n, taps, run int
	data         []int8  // panel, run, group of four k, column, k
	sums         []int32 // of each column, padded with zeros to whole panels
}

// qPackedBytes is the length of the array that holds such weights packed; ok is
// false when the length overflows.
func qPackedBytes(n, taps, run int) (size int, ok bool) {
	panels, groups := (n+qCols-1)/qCols, (run+3)/4
	size, ok = array.NumElems([]int{panels, taps, groups, qGroup})
	return size + panels*qGroup, ok && size <= math.MaxInt-panels*qGroup
}

// qPacked sees memory of qPackedBytes bytes as packed weights.
func qPacked(mem []int8, n, taps, run int) PackedQ {
	panels := (n + qCols - 1) / qCols
	split := panels * taps * ((run + 3) / 4) * qGroup
	q := PackedQ{n: n, taps: taps, run: run, data: mem[:split:split]}
	if sums := mem[split : split+panels*qGroup]; len(sums) > 0 {
		q.sums = unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(sums))), panels*qCols)
	}
	return q
}

// PackQ packs a k×n matrix b, row-major with leading dimension ldb; with transB
// b is n×k. It panics when b is too short.
//
//gofx:kernel
func PackQ(transB bool, n, k int, b []int8, ldb int) *PackedQ {
	rows, cols := k, n
	if transB {
		rows, cols = n, k
	}
	size, ok := qPackedBytes(max(n, 0), 1, max(k, 0))
	if min(n, k) < 0 || !ok {
		operand.BadOperand("pack_q", "the matrix has a negative or too great dimension")
	}
	checkMatrix("pack_q", "b", len(b), rows, cols, ldb)
	q := qPacked(unsafeBytes(array.NewStorage(size)), n, 1, k)
	src := qSource{bytes: b, col: 1, step: ldb}
	if transB {
		src.col, src.step = ldb, 1
	}
	q.pack(src)
	return &q
}

func unsafeBytes(s *array.Storage) []int8 {
	b := s.Bytes()
	return unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(b))), len(b))
}

// N returns the number of columns.
func (q *PackedQ) N() int { return q.n }

// K returns the number of rows.
func (q *PackedQ) K() int { return q.taps * q.run }

// qSource says where weights lie before they are packed: column c, run t and
// element i of it at c·col + t·tap + at(i).
type qSource struct {
	bytes []int8
	flip  int8 // -128 turns unsigned weights into signed ones, less 128
	col   int
	tap   int
	// Element i of a run: (i%inner)·step + i/inner·outer; inner 0 means i·step.
	inner, step, outer int
}

// pack fills q. A column at a time, along which the source lies in the usual
// layouts; it is written every fourth byte of a line, which stays near until the
// columns of a panel have filled it.
func (q *PackedQ) pack(s qSource) {
	clear(q.data)
	clear(q.sums)
	if q.run == 0 {
		return
	}
	groups := (q.run + 3) / 4
	for c := range q.n {
		sum := int32(0)
		panel := q.data[c/qCols*q.taps*groups*qGroup:]
		for t := range q.taps {
			dst := panel[t*groups*qGroup+c%qCols*4:]
			base := c*s.col + t*s.tap
			in, out := 0, 0
			for i := range q.run {
				v := s.bytes[base+in*s.step+out] ^ s.flip
				dst[i/4*qGroup+i%4] = v
				sum += int32(v)
				if in++; in == s.inner {
					in, out = 0, out+s.outer
				}
			}
		}
		q.sums[c] = sum
	}
}

// panel returns the packed weights of columns [32p, 32p+32).
func (q *PackedQ) panel(p int) []int8 {
	size := q.taps * ((q.run + 3) / 4) * qGroup
	return q.data[p*size : (p+1)*size]
}

// checkMatrix panics unless n elements hold rows of cols at leading dimension ld.
func checkMatrix(step, name string, n, rows, cols, ld int) {
	if rows < 0 || cols < 0 || ld < 0 || rows > 1 && ld < cols {
		operand.BadOperand(step, "the sizes of "+name+" are negative or its rows overlap")
	}
	if rows == 0 || cols == 0 {
		return
	}
	if cols > n || ld > 0 && rows-1 > (n-cols)/ld {
		operand.BadOperand(step, name+" is shorter than its sizes say")
	}
}
