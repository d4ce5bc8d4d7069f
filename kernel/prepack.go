package kernel

import "github.com/gofx-dev/gofx/array"

// PackedB is the k×n right operand of float32 products, laid out once for the
// processor that the program runs on: a weight, packed when it is loaded. It
// must not be stored for another machine.
type PackedB struct {
	k, n int
	data []float32
}

// PackedLen returns the elements that a k×n right operand takes when packed.
func PackedLen(k, n int) int {
	if alongDepth(k, n) {
		return k * n
	}
	bl := blockingOf(cpu.level)
	return k * roundUp(n, bl.nr)
}

// alongDepth reports whether a k×n right operand is packed as rows along k, n of
// them: without assembly, and where they are so few that most of a panel's
// columns would be empty, and so long that products of rows with rows, which
// end with sums over a vector's lanes, take less.
func alongDepth(k, n int) bool { return !assembly() || hasThin(cpu.level) && n <= dotCols && k >= 64 }

// PackB packs op(b), k×n, which is b transposed with transB; see Gemm.
func PackB(w *Workspace, transB bool, k, n int, b []float32, ldb int) PackedB {
	p := PackedB{k, n, make([]float32, PackedLen(k, n))}
	packRight(w, p.data, transB, k, n, b, ldb)
	return p
}

// Gemm computes c = op(a)·p, or c += with acc, as the function of that name.
func (p PackedB) Gemm(w *Workspace, transA bool, m int, a []float32, lda int, c []float32, ldc int, acc bool) {
	if m <= 0 || p.n <= 0 {
		return
	}
	checkOperand("c", m, p.n, false, len(c), ldc)
	if p.k > 0 {
		checkOperand("a", m, p.k, transA, len(a), lda)
	}
	multiplyPacked(w, product{m: m, n: p.n, k: p.k, transA: transA, a: a, lda: lda, packedB: p.data, c: c, ldc: ldc, acc: acc})
}

// multiplyPacked computes a product whose right operand PackB or PackLinear made.
func multiplyPacked(w *Workspace, p product) {
	if assembly() {
		if alongDepth(p.k, p.n) {
			_ = p.packedB[p.k*p.n-1]
			p.b, p.ldb, p.transB, p.packedB = p.packedB, p.k, true, nil
		}
		multiply(w, p)
		return
	}
	Gemm(w, p.transA, true, p.m, p.n, p.k, p.a, p.lda, p.packedB, p.k, p.c, p.ldc, p.acc)
	p.end.apply(levelGeneric, p.m, p.n, 0, 0, p.c, p.ldc)
}

// packRight packs a right operand into PackedLen elements.
func packRight(w *Workspace, dst []float32, transB bool, k, n int, b []float32, ldb int) {
	if k <= 0 || n <= 0 {
		return
	}
	checkOperand("b", k, n, transB, len(b), ldb)
	if alongDepth(k, n) {
		for j := range n {
			for p := range k {
				at := p*ldb + j
				if transB {
					at = j*ldb + p
				}
				dst[j*k+p] = b[at]
			}
		}
		return
	}
	j := takeJob[packRightJob](w)
	*j = packRightJob{level: cpu.level, bl: blockingOf(cpu.level), dst: dst, src: b, ld: ldb, trans: transB, k: k, n: n}
	w.Parallel((n+j.bl.nr-1)/j.bl.nr, max(1, simdPack/(j.bl.nr*k)), j)
	putJob(w, j)
}

// packRightJob packs a right operand as a whole, block of k by block of k.
type packRightJob struct {
	level    cpuLevel
	bl       blocking
	dst, src []float32
	ld       int
	trans    bool
	k, n     int
}

// Do packs panels [lo, hi) of every block.
func (j *packRightJob) Do(lo, hi int) {
	nr, depth := j.bl.nr, j.bl.depth(j.k)
	for i := lo; i < hi; i++ {
		for p := 0; p < j.k; p += depth {
			kc := min(depth, j.k-p)
			dst := j.dst[p*roundUp(j.n, nr)+i*nr*kc:][:nr*kc]
			packB(j.level, dst, nr, j.src, j.ld, j.trans, i*nr, min(nr, j.n-i*nr), p, kc)
		}
	}
}

// PackLinear packs in[0], the weight [N, K] of a linear layer in f32, f16 or
// bf16, for LinearPacked: out[0] is f32 [PackedLen(K, N)].
type PackLinear struct{}

// Run implements Step.
func (PackLinear) Run(w *Workspace, out, in []*array.Array) {
	mark := w.Mark()
	n, k := in[0].Dim(0), in[0].Dim(1)
	if n > 0 && k > 0 {
		m := loadMatrices[float32](w, in[0])
		packRight(w, array.Data[float32](out[0]), !m.trans, k, n, m.data[m.at:], m.ld)
	}
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (PackLinear) ScratchBytes(_, in []*array.Array) int {
	if plainMatrices(in[0], in[0].DType()) {
		return 0
	}
	return loadBytes(in[0])
}

// LinearPacked is Linear with a weight that PackLinear packed, and an epilogue:
// in[0] [..., K], in[1] the packed weight, then bias [N], scale [N] and residual
// [..., N], each nil when absent. Element types f32, f16, bf16.
type LinearPacked struct {
	Features int // N
	Epilogue
}

// Run implements Step.
func (s LinearPacked) Run(w *Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	k := in[0].Dim(-1)
	dst := result[float32](w, out[0])
	end := epilogue{ldr: s.Features, biasCol: load[float32](w, operand(in, 2)),
		scaleCol: load[float32](w, operand(in, 3)), residual: load[float32](w, operand(in, 4))}
	multiplyPacked(w, product{m: len(dst) / s.Features, n: s.Features, k: k, a: load[float32](w, in[0]), lda: k,
		packedB: array.Data[float32](in[1]), c: dst, ldc: s.Features, end: end.with(s.Epilogue)})
	store(out[0], dst)
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (s LinearPacked) ScratchBytes(out, in []*array.Array) int {
	k := in[0].Dim(-1)
	if out[0].Len() == 0 {
		return 0
	}
	n, rows := storeBytes(out[0])+loadBytes(in[0])+loadAllBytes(in[2:]), out[0].Len()/s.Features
	switch {
	case k == 0:
		return n
	case !assembly():
		return n + gemmScratch[float32](rows, s.Features, k)
	case alongDepth(k, s.Features):
		return n + productScratch(cpu.level, rows, s.Features, k)
	}
	return n + blockScratch(cpu.level, rows, s.Features, k, true, false)
}
