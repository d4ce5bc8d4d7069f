package attention

import (
	"bytes"
	"math"
	"unsafe"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// attentionJob is an attention in progress: block i of the queries is block
// i%blocks of matrix i/blocks.
type attentionJob[T operand.Real] struct {
	Attention
	attentionShape
	level              cpu.Level
	lanes, blocks      int // queries of a block, and blocks of a matrix
	out, q, k, v, mask *array.Array
	scale              T
	need               int
	bytes              bool // keys and values are blocks: see BlockAttention
	buf                []T  // the scratch, unless threads bring it
}

// Do computes the blocks [lo, hi) of queries. A block of queries keeps scores,
// maxima, sums and mixed values in scratch of its own, so blocks are computed in
// any order, on any goroutine.
func (j *attentionJob[T]) Do(lo, hi int) {
	b := attentionBlock[T]{attentionJob: j}
	if j.buf != nil {
		b.cut(j.buf)
		b.run(lo, hi)
		return
	}
	w := par.SpareWorkspaces.Take()
	mark := w.Mark()
	b.cut(par.Scratch[T](w, j.need))
	b.run(lo, hi)
	w.Release(mark)
	par.SpareWorkspaces.Put(w)
}

// attentionBlock is the memory for a block of queries. Matrices have a row of
// lanes, one for each query: the factors of keys and values are laid out once a
// block, and keys and values are read in place.
type attentionBlock[T operand.Real] struct {
	*attentionJob[T]
	query  []T // [depth], scaled
	scores []T // [attentionKeys]
	mix    []T // [features], of values
	state  []T // [3]: see attentionSoftmaxGo
	lying  []T // a mask as it lies, a row of keys for each query
	table  []T // [attentionKeys] of a mask
	causal []T // [2]: -Inf, then Inf
	result []T // rows of the result, padded
	rows   [3][]T
	tile   byteTile

	matrix, first, n int // the queries
}

// cut shares out scratch.
func (b *attentionBlock[T]) cut(buf []T) {
	take := func(n int) []T {
		s := buf[:n:n]
		buf = buf[n:]
		return s
	}
	b.query, b.scores, b.mix = take(b.lanes*b.depth), take(b.lanes*attentionKeys), take(b.lanes*b.features)
	b.state, b.table, b.causal = take(3*b.lanes), take(b.lanes*attentionKeys), take(2*b.lanes)
	b.lying = take(b.lanes * attentionKeys)
	b.result = take(b.lanes * operand.RoundUp(b.features, attentionPad))
	for i, a := range [...]*array.Array{b.q, b.k, b.v} {
		if !b.direct(a) {
			b.rows[i] = take([...]int{b.lanes, attentionKeys, attentionKeys}[i] * a.Dim(-1))
		}
	}
	if b.bytes {
		b.cutBytes(operand.AsFloat32(buf))
	}
}

func (b *attentionBlock[T]) run(lo, hi int) {
	for i := range b.causal {
		b.causal[i] = T(math.Inf(2*(i/b.lanes) - 1))
	}
	for i := lo; i < hi; i++ {
		b.matrix, b.first = i/b.blocks, i%b.blocks*b.lanes
		b.n = min(b.lanes, b.queries-b.first)
		if b.bytes {
			i += b.meetBytes(hi-i) - 1
			continue
		}
		if b.hasFewQueries() {
			i += b.meetFew(hi-i) - 1
			continue
		}
		b.meet()
		b.finish()
	}
}

// meet lets the queries meet the keys.
func (b *attentionBlock[T]) meet() {
	keys := b.keys
	if b.IsCausal {
		keys = min(keys, b.first+b.n)
	}
	high, sum, factor := b.state[:b.lanes], b.state[b.lanes:2*b.lanes], b.state[2*b.lanes:]
	for i := range high {
		high[i], sum[i], factor[i] = T(math.Inf(-1)), 0, b.scale
	}
	b.spread()
	scaleRows(b.level, b.depth, b.query, factor)
	atK, atV := b.offset(b.k, b.matrix), b.offset(b.v, b.matrix)
	for at := 0; at < keys; at += attentionKeys {
		n := min(attentionKeys, keys-at)
		k, ldk := readRows(b.rows[1], b.k, atK, at, n)
		scoreRows(b.level, b.lanes, n, b.depth, k, ldk, b.query, b.scores)
		b.hide(at, n)
		softmaxRows(b.level, b.lanes, n, b.scores, b.state)
		scale := factor
		if at == 0 {
			scale = nil
		}
		v, ldv := readRows(b.rows[2], b.v, atV, at, n)
		mixRows(b.level, b.lanes, b.features, n, v, ldv, b.scores, b.mix, scale)
	}
}

// spread lays the queries out.
func (b *attentionBlock[T]) spread() {
	if b.depth == 0 {
		return
	}
	if b.n < b.lanes {
		clear(b.query)
	}
	q, ld := readRows(b.rows[0], b.q, b.offset(b.q, b.matrix), b.first, b.n)
	turnRows(b.level, b.query, b.lanes, q, ld, b.n, b.depth)
}

// hide applies masks to the scores of n keys from at on. Scores lie with a key a
// row and a query a lane: a mask is brought into that order first, in a table that
// stays in the first cache, and then meets whole vectors.
func (b *attentionBlock[T]) hide(at, n int) {
	if b.IsCausal && at+n-1 > b.first {
		// Queries before lane d do not meet the key of row r.
		r := max(0, b.first-at+1)
		d := at + r - b.first
		keepRows(b.level, b.lanes, n-r, b.scores[r*b.lanes:], b.causal, b.lanes-d, -1)
	}
	if b.mask == nil {
		return
	}
	m := b.mask
	across, along := maskStride(m, 2), maskStride(m, 1)
	from := b.offset(m, b.matrix) + b.first*across + at*along
	rows, ld := b.n, n // of the mask as it lies
	if across == 0 {
		rows, ld = 1, 0
	}
	switch m.DType() {
	case array.Bool:
		mask := array.Raw[bool](m)
		if keepsAll(mask, from, across, along, rows, n) {
			return
		}
		signRows(b.lying, rows, n, mask, from, across, along)
		turnRows(b.level, b.table, b.lanes, b.lying, ld, b.n, n)
		keepRows(b.level, b.lanes, n, b.scores, b.table, 0, b.lanes)
		return
	case array.F16:
		widenRows(b.lying, rows, n, array.Raw[array.Half](m), from, across, along)
	case array.BF16:
		widenRows(b.lying, rows, n, array.Raw[array.BFloat](m), from, across, along)
	default:
		raw := array.Raw[T](m)
		if along == 1 && across >= 0 {
			turnRows(b.level, b.table, b.lanes, raw[from:from+(b.n-1)*across+n], across, b.n, n)
			addRowsOf(b.level, b.lanes, n, b.scores, b.table)
			return
		}
		for i := range rows {
			for p := range n {
				b.lying[i*n+p] = raw[from+i*across+p*along]
			}
		}
	}
	turnRows(b.level, b.table, b.lanes, b.lying, ld, b.n, n)
	addRowsOf(b.level, b.lanes, n, b.scores, b.table)
}

// keepsAll reports whether rows of a mask are true for all keys.
func keepsAll(mask []bool, at, across, along, rows, keys int) bool {
	for i := 0; along == 1 && i < rows; i++ {
		row := mask[at+i*across:][:keys]
		if bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(row))), keys), 0) >= 0 {
			return false
		}
	}
	return along == 1
}

// maskStride returns the stride of dimension -d of a mask, 0 where it broadcasts.
func maskStride(m *array.Array, d int) int {
	if d > m.Rank() || m.Dim(-d) == 1 {
		return 0
	}
	return m.Strides()[m.Rank()-d]
}

// signRows makes rows of keys: Inf where the mask is true and -Inf elsewhere.
func signRows[T operand.Real](dst []T, rows, keys int, mask []bool, at, across, along int) {
	sign := [2]T{T(math.Inf(-1)), T(math.Inf(1))}
	for i := range rows {
		row, x := dst[i*keys:][:keys], at+i*across
		for p := range row {
			keep := 0
			if mask[x] {
				keep = 1
			}
			row[p] = sign[keep]
			x += along
		}
	}
}

// widenRows makes rows of keys of a mask of 16 bits.
func widenRows[T operand.Real, H half.Float](dst []T, rows, keys int, mask []H, at, across, along int) {
	for i := range rows {
		row := dst[i*keys:][:keys]
		for p := range row {
			row[p] = T(mask[at+i*across+p*along].Float32())
		}
	}
}

// finish divides by the sums and stores the rows of the result.
func (b *attentionBlock[T]) finish() {
	sum, factor := b.state[b.lanes:2*b.lanes], b.state[2*b.lanes:]
	for i, v := range sum {
		factor[i] = 1 / v
	}
	if b.keys > 0 {
		scaleRows(b.level, b.features, b.mix, factor)
	}
	r := b.out.Rank()
	ld, step := b.out.Strides()[r-2], b.out.Strides()[r-1]
	at := b.offset(b.out, b.matrix) + b.first*ld
	zeros := b.keys == 0 || b.mask != nil && b.mask.DType() == array.Bool
	if !operand.IsHalf(b.out.DType()) && step == 1 && ld >= b.features && b.features%attentionPad == 0 {
		raw := array.Raw[T](b.out)
		dst := raw[at : at+(b.n-1)*ld+b.features]
		turnRows(b.level, dst, ld, b.mix, b.lanes, b.features, b.n)
		for i := range b.n {
			if zeros && sum[i] == 0 {
				clear(dst[i*ld:][:b.features])
			}
		}
		return
	}
	width := operand.RoundUp(b.features, attentionPad)
	turnRows(b.level, b.result, width, b.mix, b.lanes, b.features, b.n)
	for i := range b.n {
		row := b.result[i*width:][:b.features]
		if zeros && sum[i] == 0 {
			clear(row)
		}
		storeRow(b.out, at+i*ld, step, row)
	}
}

// storeRow stores the elements of row in a, step apart, rounding to 16 bits.
func storeRow[T operand.Real](a *array.Array, at, step int, row []T) {
	if !operand.IsHalf(a.DType()) {
		raw := array.Raw[T](a)
		for i, v := range row {
			raw[at+i*step] = v
		}
		return
	}
	raw, brain := array.Raw[uint16](a), a.DType() == array.BF16
	if step == 1 && operand.IsFloat32[T]() {
		half.Narrow(raw[at:at+len(row)], operand.AsFloat32(row), brain)
		return
	}
	for i, v := range row {
		raw[at+i*step] = half.NarrowOne(float32(v), brain)
	}
}

// readRows returns n rows of the matrix of a at offset at from row first on, and
// their distance: in a's own memory, or copied to buf where there is one.
func readRows[T operand.Real](buf []T, a *array.Array, at, first, n int) (rows []T, ld int) {
	r := a.Rank()
	cols := a.Dim(-1)
	ld, step := a.Strides()[r-2], a.Strides()[r-1]
	at += first * ld
	if buf == nil {
		if cols == 0 {
			return nil, 0
		}
		return array.Raw[T](a)[at : at+(n-1)*ld+cols], ld
	}
	shape, strides := [2]int{n, cols}, [2]int{ld, step}
	if d := a.DType(); operand.IsHalf(d) {
		readHalf(buf, array.Raw[uint16](a), d == array.BF16, shape, strides, at)
	} else {
		readSame(buf, array.Raw[T](a), shape, strides, at)
	}
	return buf, cols
}
