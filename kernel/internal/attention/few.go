package attention

import (
	"math"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/gemm"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/rnn"
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// hasFewQueries reports whether a block is computed query by query.
func (b *attentionBlock[T]) hasFewQueries() bool {
	return b.n <= attentionFew && operand.IsFloat32[T]() && cpu.HasAssembly && gemm.HasThin(b.level) && b.depth > 0
}

// meetFew is meet and finish for few queries. Its rows are those of queries: of
// query depth long, of scores attentionKeys, of mix features. Keys and values pass
// once, attentionKeys rows at a time, and all queries meet those rows before the
// next ones come: from memory they are read once, by the other queries from a
// cache. So do the queries of the matrices after this one, at most so many with it, that have the
// same keys and values, as heads of a group have. It returns how many matrices are done.
func (b *attentionBlock[T]) meetFew(most int) (matrices int) {
	matrices = b.together(most)
	atK, atV := b.offset(b.k, b.matrix), b.offset(b.v, b.matrix)
	for m := range matrices {
		q, ld := readRows(b.rows[0], b.q, b.offset(b.q, b.matrix+m), b.first, b.n)
		for i := range b.n {
			row := b.query[(m*b.n+i)*b.depth:][:b.depth]
			for e, v := range q[i*ld:][:b.depth] {
				row[e] = v * b.scale
			}
		}
	}
	rows := matrices * b.n
	for i := range rows {
		b.state[i], b.state[b.lanes+i] = T(math.Inf(-1)), 0
	}
	clear(b.mix[:rows*b.features])
	keys := b.keys
	if b.IsCausal {
		keys = min(keys, b.first+b.n)
	}
	for at := 0; at < keys; at += attentionKeys {
		n := min(attentionKeys, keys-at)
		k, ldk := readRows(b.rows[1], b.k, atK, at, n)
		v, ldv := readRows(b.rows[2], b.v, atV, at, n)
		for i := range rows {
			b.one(i, at, n, operand.AsFloat32(k), ldk, operand.AsFloat32(v), ldv)
		}
	}
	for i := range rows {
		b.finishFew(i)
	}
	return matrices
}

// together is how many matrices from this one on, at most so many, have the same keys and values, and all their queries in a block.
func (b *attentionBlock[T]) together(most int) (matrices int) {
	atK, atV := b.offset(b.k, b.matrix), b.offset(b.v, b.matrix)
	matrices = 1
	for b.blocks == 1 && matrices < most && (matrices+1)*b.n <= b.lanes && b.offset(b.k, b.matrix+matrices) == atK && b.offset(b.v, b.matrix+matrices) == atV {
		matrices++
	}
	return matrices
}

// few returns the matrix and the query of row i.
func (b *attentionBlock[T]) few(i int) (matrix, query int) { return b.matrix + i/b.n, b.first + i%b.n }

// one takes n keys and values from at on into the sums of row i.
func (b *attentionBlock[T]) one(i, at, n int, k []float32, ldk int, v []float32, ldv int) {
	scores, state := operand.AsFloat32(b.scores)[i*attentionKeys:][:n], operand.AsFloat32(b.state)
	rowDots(b.level, scores, operand.AsFloat32(b.query)[i*b.depth:][:b.depth], k, ldk)
	b.hideFew(i, at, scores)
	high := max(state[i], rowcol.RowExtreme(b.level, false, scores))
	from := max(float64(high), -math.MaxFloat32)
	factor := float32(vmath.Exp32(float64(state[i]) - from))
	sum := rowcol.RowExp(b.level, scores, scores, from)
	state[i], state[b.lanes+i] = high, float32(state[b.lanes+i]*factor)+float32(sum)
	mix := operand.AsFloat32(b.mix)[i*b.features:][:b.features]
	if factor != 1 {
		for e := range mix {
			mix[e] *= factor
		}
	}
	gemm.AddRows32(b.level, mix, scores, v, ldv)
}

// rowDots sets c to the products of q with len(c) rows of k.
func rowDots(l cpu.Level, c, q, k []float32, ldk int) {
	clear(c)
	whole := len(c) / rnn.DotsGroup
	if whole > 0 {
		rnn.StateDots32(l, whole, q, k, ldk, c, false)
	}
	if r := whole * rnn.DotsGroup; r < len(c) {
		gemm.DotTile(l, 1, len(q), q, len(q), k[r*ldk:], ldk, len(c)-r, c[r:], len(c)-r, false)
	}
}

// hideFew applies masks to the scores that the query of row i has of the keys from at on.
func (b *attentionBlock[T]) hideFew(i, at int, scores []float32) {
	matrix, query := b.few(i)
	if b.IsCausal {
		for p := max(0, query+1-at); p < len(scores); p++ {
			scores[p] = vmath.NegInf32
		}
	}
	m := b.mask
	if m == nil {
		return
	}
	across, along := maskStride(m, 2), maskStride(m, 1)
	from := b.offset(m, matrix) + query*across + at*along
	switch m.DType() {
	case array.Bool:
		raw := array.Raw[bool](m)
		if keepsAll(raw, from, across, along, 1, len(scores)) {
			return
		}
		for p := range scores {
			if !raw[from+p*along] {
				scores[p] = vmath.NegInf32
			}
		}
	case array.F16:
		widenRows(b.table, 1, len(scores), array.Raw[array.Half](m), from, 0, along)
		gemm.Axpy(scores, 1, operand.AsFloat32(b.table))
	case array.BF16:
		widenRows(b.table, 1, len(scores), array.Raw[array.BFloat](m), from, 0, along)
		gemm.Axpy(scores, 1, operand.AsFloat32(b.table))
	default:
		raw := array.Raw[float32](m)
		for p := range scores {
			scores[p] += raw[from+p*along]
		}
	}
}

// finishFew is finish for the query of row i. Sums are divided here, once a feature, and
// not when a tile of keys ends.
func (b *attentionBlock[T]) finishFew(i int) {
	matrix, query := b.few(i)
	r := b.out.Rank()
	ld, step := b.out.Strides()[r-2], b.out.Strides()[r-1]
	zeros := b.keys == 0 || b.mask != nil && b.mask.DType() == array.Bool
	row, sum := b.mix[i*b.features:][:b.features], b.state[b.lanes+i]
	if zeros && sum == 0 {
		clear(row)
	} else {
		sum = 1 / sum
		for e := range row {
			row[e] *= sum
		}
	}
	storeRow(b.out, b.offset(b.out, matrix)+query*ld, step, row)
}
