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
	"github.com/gofx-dev/gofx/kernel/internal/rowcol"
	"github.com/gofx-dev/gofx/kernel/internal/vmath"
)

// BlockAttention is Attention over keys and values in blocks as GGUF files have them: in[1] k is u8 [..., S, bytes of E elements]
// and in[2] v u8 [..., S, bytes of V], in Format, which is Q8_0: a scale of 16 bits, then 32 elements of 8 bits. q and the
// result are f32, f16 or bf16.
//
// The rule: q times the scale is rounded to 8 bits in blocks of 32 elements, as BlockLinearDynamic rounds activations. The
// products of a block of a query with one of a key are summed as integers; the sum is multiplied by the key's scale, then by the
// query's, and added to the score, block after block. So scores have the same bits on every processor. Values are the
// floats that their blocks stand for. Keys pass in tiles of 64 from the first one on, for any number of queries, so a query has
// the same bits alone and next to others.
//
//gofx:kernel
type BlockAttention struct {
	Format    string
	IsCausal  bool    // query i meets keys up to i alone
	EnableGqa bool    // k and v may have fewer heads (dimension -3), by a whole factor
	HasScale  bool    // Scale is given; else it is 1/sqrt(E)
	Scale     float64 // of the products of queries and keys
}

// Layouts of a tile, which asmgen/attention knows: a block of a query is 32 bytes, a word that its sum with keys less -128 begins with,
// and a float, the scale. Words of four elements of a key lie together for all keys of the tile.
const (
	byteElements = 32
	byteStored   = half.ByteBlock
	byteQuery    = byteElements + 8
	byteWords    = byteElements / 4
)

// Run implements Step.
func (s BlockAttention) Run(w *par.Workspace, out, in []*array.Array) {
	sh := s.check(out[0], in)
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	j := par.TakeJob[attentionJob[float32]](w)
	*j = attentionJob[float32]{Attention: s.floats(), attentionShape: sh, level: cpu.Host.Level, lanes: attentionLanes(cpu.Host.Level),
		out: out[0], q: in[0], k: in[1], v: in[2], mask: operand.At(in, 3), scale: float32(s.Scale), bytes: true}
	if !s.HasScale {
		j.scale = float32(1 / math.Sqrt(float64(sh.depth)))
	}
	j.need = sh.byteScratch(j.lanes, out[0], in)
	j.start(w)
	par.PutJob(w, j)
	w.Release(mark)
}

func (s BlockAttention) floats() Attention {
	return Attention{IsCausal: s.IsCausal, EnableGqa: s.EnableGqa, HasScale: s.HasScale, Scale: s.Scale}
}

// ScratchBytes implements Scratcher. Threads bring scratch of their own.
func (s BlockAttention) ScratchBytes(out, in []*array.Array) int {
	sh := s.check(out[0], in)
	return par.ScratchSize(sh.byteScratch(attentionLanes(cpu.AVX512), out[0], in), 4)
}

// check returns the sizes and panics on operands that do not fit together.
func (s BlockAttention) check(out *array.Array, in []*array.Array) attentionShape {
	const step = "block_attention"
	q, k, v := in[0], in[1], in[2]
	if s.Format != "Q8_0" {
		operand.BadOperand(step, "the format is not Q8_0")
	}
	for _, a := range []*array.Array{out, q} {
		if a.Rank() < 2 || !a.DType().IsFloat() || a.DType() == array.F64 || a.DType() != out.DType() {
			operand.BadOperand(step, "q or the result is not a matrix of f32, f16 or bf16, or their element types differ")
		}
		operand.CheckRank(step, a)
	}
	for _, a := range in[1:3] {
		if a.Rank() < 2 || a.DType() != array.U8 || a.Dim(-1)%byteStored != 0 {
			operand.BadOperand(step, "k or v is not a matrix of u8 whose rows are whole blocks")
		}
		operand.CheckRank(step, a)
	}
	sh := attentionShape{q.Dim(-2), k.Dim(-2), q.Dim(-1), byteFloats(v), out.Shape()[:out.Rank()-2]}
	if byteFloats(k) != sh.depth || v.Dim(-2) != sh.keys || out.Dim(-2) != sh.queries || out.Dim(-1) != sh.features {
		operand.BadOperand(step, "the sizes are not those of q [L, E], k [S, E], v [S, V] and a result [L, V]")
	}
	sh.fit(step, s.floats(), out.DType(), in)
	return sh
}

// byteFloats is the elements of a row of blocks.
func byteFloats(a *array.Array) int { return a.Dim(-1) / byteStored * byteElements }

// byteScratch returns the elements of scratch that one thread takes.
func (sh *attentionShape) byteScratch(lanes int, out *array.Array, in []*array.Array) int {
	n := sh.scratch(lanes, out, []*array.Array{in[0], in[1], in[2]})
	return n + byteTileSize(lanes, sh.depth/byteElements, sh.features/byteElements)
}

// byteTile is the scratch of attention over bytes: keys as machine code reads them, their scales, copies of rows that
// machine code cannot read where they lie, and the queries.
type byteTile struct {
	keys, query, rowsK, rowsV []uint8
	scale                     []float32
	halves                    []uint16
}

// byteTileSize is the elements of f32 that a byteTile takes, of blocks of keys and of values.
func byteTileSize(lanes, ofKeys, ofValues int) int {
	return ofKeys*(attentionKeys*(byteWords+1)+attentionKeys/2) + lanes*ofKeys*byteQuery/4 + attentionKeys*(byteStride(ofKeys)+byteStride(ofValues))/4
}

// byteStride is the bytes of so many blocks, up to a word.
func byteStride(blocks int) int { return operand.RoundUp(blocks*byteStored, 4) }

// cutBytes shares out scratch.
func (b *attentionBlock[T]) cutBytes(buf []float32) {
	ofKeys, ofValues := b.depth/byteElements, b.features/byteElements
	t := &b.tile
	take := func(n int) []float32 {
		s := buf[:n:n]
		buf = buf[n:]
		return s
	}
	ofBytes := func(n int) []uint8 {
		s := take(n / 4)
		return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(s))), n)
	}
	t.scale = take(ofKeys * attentionKeys)
	halves := take(ofKeys * attentionKeys / 2)
	t.halves = unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(halves))), 2*len(halves))
	t.keys, t.query = ofBytes(ofKeys*attentionKeys*byteElements), ofBytes(b.lanes*ofKeys*byteQuery)
	t.rowsK, t.rowsV = ofBytes(attentionKeys*byteStride(ofKeys)), ofBytes(attentionKeys*byteStride(ofValues))
}

// meetBytes computes a block of queries, and those of as many matrices after it, at most so many with it, as have the same keys and values.
// It returns how many matrices are done.
func (b *attentionBlock[T]) meetBytes(most int) (matrices int) {
	matrices = b.together(most)
	rows, blocks := matrices*b.n, b.depth/byteElements
	b.roundQueries(matrices, blocks)
	for i := range rows {
		b.state[i], b.state[b.lanes+i] = T(math.Inf(-1)), 0
	}
	clear(b.mix[:rows*b.features])
	atK, atV := b.offset(b.k, b.matrix), b.offset(b.v, b.matrix)
	keys := b.keys
	if b.IsCausal {
		keys = min(keys, b.first+b.n)
	}
	scores := operand.AsFloat32(b.scores)
	for at := 0; at < keys; at += attentionKeys {
		n := min(attentionKeys, keys-at)
		if b.hides(rows, at, n) {
			continue
		}
		k, ldk := byteRows(b.tile.rowsK, b.k, atK, at, n, true)
		b.tile.pack(b.level, k, ldk, n, blocks)
		(&byteScores{rows: rows, blocks: blocks, q: b.tile.query, k: b.tile.keys, scale: b.tile.scale, c: scores}).run(b.level)
		for i := range rows {
			b.weigh(i, at, n, scores[i*attentionKeys:][:attentionKeys])
		}
		v, ldv := byteRows(b.tile.rowsV, b.v, atV, at, n, false)
		(&byteValues{rows: rows, blocks: b.features / byteElements, keys: n, p: scores, v: v, ld: ldv, mix: operand.AsFloat32(b.mix)}).run(b.level)
	}
	for i := range rows {
		b.finishFew(i)
	}
	return matrices
}

// roundQueries rounds the queries of matrices, times the scale, to bytes.
func (b *attentionBlock[T]) roundQueries(matrices, blocks int) {
	x := operand.AsFloat32(b.query)[:b.depth]
	for m := range matrices {
		q, ld := readRows(b.rows[0], b.q, b.offset(b.q, b.matrix+m), b.first, b.n)
		for i := range b.n {
			for e, v := range operand.AsFloat32(q)[i*ld:][:b.depth] {
				x[e] = v * float32(b.scale)
			}
			dst := b.tile.query[(m*b.n+i)*blocks*byteQuery:]
			for at := 0; at < b.depth; at += byteElements {
				half.RoundQuery(dst[at/byteElements*byteQuery:][:byteQuery], x[at:][:byteElements])
			}
		}
	}
}

// hides reports whether a mask of bool leaves the rows none of n keys from at on.
func (b *attentionBlock[T]) hides(rows, at, n int) bool {
	m := b.mask
	if m == nil || m.DType() != array.Bool || maskStride(m, 1) != 1 {
		return false
	}
	raw, across := array.Raw[bool](m), maskStride(m, 2)
	for i := range rows {
		matrix, query := b.few(i)
		row := raw[b.offset(m, matrix)+query*across+at:][:n]
		if bytes.IndexByte(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(row))), n), 1) >= 0 {
			return false
		}
	}
	return true
}

// weigh turns the scores that row i has of n keys from at on into weights of values. Scores after those of the keys become weights
// of 0, so that sums have one order.
func (b *attentionBlock[T]) weigh(i, at, n int, scores []float32) {
	b.hideFew(i, at, scores[:n])
	for p := n; p < len(scores); p++ {
		scores[p] = vmath.NegInf32
	}
	state := operand.AsFloat32(b.state)
	high := max(state[i], rowcol.RowExtreme(b.level, false, scores))
	from := max(float64(high), -math.MaxFloat32)
	factor := float32(vmath.Exp32(float64(state[i]) - from))
	sum := rowcol.RowExp(b.level, scores, scores, from)
	state[i], state[b.lanes+i] = high, float32(state[b.lanes+i]*factor)+float32(sum)
	if mix := operand.AsFloat32(b.mix)[i*b.features:][:b.features]; factor != 1 {
		for e := range mix {
			mix[e] *= factor
		}
	}
}

// byteRows returns n rows of a's matrix at offset at from row first on, and how many bytes lie between them: where they lie, or, where
// bytes of a row are apart or words are asked for and rows are no words apart, copied to buf.
func byteRows(buf []uint8, a *array.Array, at, first, n int, words bool) (rows []uint8, ld int) {
	r, cols, raw := a.Rank(), a.Dim(-1), array.Raw[uint8](a)
	ld, step := a.Strides()[r-2], a.Strides()[r-1]
	at += first * ld
	if cols == 0 {
		return nil, 0
	}
	if step == 1 && ld >= 0 && (!words || ld%4 == 0) {
		return raw[at : at+(n-1)*ld+cols], ld
	}
	to := operand.RoundUp(cols, 4)
	for i := range n {
		for e := range cols {
			buf[i*to+e] = raw[at+i*ld+e*step]
		}
	}
	return buf[:(n-1)*to+cols], to
}
