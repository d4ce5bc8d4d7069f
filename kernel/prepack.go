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
	bl := blockingOf(cpu.level)
	if cpu.level == levelGeneric {
		return k * n
	}
	return k * roundUp(n, bl.nr)
}

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
	if cpu.level != levelGeneric || p.k == 0 {
		multiply(w, p)
		return
	}
	Gemm(w, p.transA, true, p.m, p.n, p.k, p.a, p.lda, p.packedB, p.k, p.c, p.ldc, p.acc)
	p.end.apply(levelGeneric, p.m, p.n, 0, 0, p.c, p.ldc)
}

// packRight packs a right operand into PackedLen elements. Without assembly it
// is laid out along k.
func packRight(w *Workspace, dst []float32, transB bool, k, n int, b []float32, ldb int) {
	if k <= 0 || n <= 0 {
		return
	}
	checkOperand("b", k, n, transB, len(b), ldb)
	if cpu.level == levelGeneric {
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
	case cpu.level == levelGeneric:
		return n + gemmScratch[float32](rows, s.Features, k)
	}
	return n + blockScratch(cpu.level, rows, s.Features, k, true, false)
}

// PackedConvLen returns the elements that a convolution's weight [m, perGroup,
// kernel...] with the given taps takes when packed.
func PackedConvLen(groups, m, perGroup, taps int) int {
	if cpu.level == levelGeneric || depthwise32(cpu.level, perGroup, groups) {
		return m * perGroup * taps
	}
	return groups * packedRows(cpu.level, m/groups, perGroup*taps)
}

// PackConv packs in[0], the weight [M, C/Groups, kernel...] of a convolution in
// f32, f16 or bf16, for ConvPacked: out[0] is f32 [PackedConvLen(...)].
type PackConv struct {
	Groups int
}

// Run implements Step.
func (s PackConv) Run(w *Workspace, out, in []*array.Array) {
	dst := array.Data[float32](out[0])
	if len(dst) == 0 {
		return
	}
	mark := w.Mark()
	weight, groups := load[float32](w, in[0]), max(s.Groups, 1)
	perGroup := in[0].Dim(1)
	if cpu.level == levelGeneric || depthwise32(cpu.level, perGroup, groups) {
		copy(dst, weight)
	} else {
		m := in[0].Dim(0) / groups
		k := len(weight) / in[0].Dim(0)
		size := packedRows(cpu.level, m, k)
		for g := range groups {
			packWhole(w, cpu.level, dst[g*size:(g+1)*size], weight[g*m*k:(g+1)*m*k], k, false, m, k)
		}
	}
	w.Release(mark)
}

// ScratchBytes implements Scratcher.
func (PackConv) ScratchBytes(_, in []*array.Array) int { return loadBytes(in[0]) }

// ConvPacked is Conv with a weight that PackConv packed, and an epilogue: in[0]
// [N, C, spatial...] or [C, spatial...], in[1] the packed weight of Channels
// filters of the size Kernel, then bias [M], scale [M] and residual, of the
// result's shape, each nil when absent. Element types f32, f16, bf16.
type ConvPacked struct {
	Conv
	Channels int // M
	Kernel   []int
	Epilogue
}

// form returns the convolution without its operands.
func (s ConvPacked) form(out, x *array.Array) conv32 {
	lead := out.Rank() - len(s.Kernel) // 2, or 1 without a batch
	v := conv32{batch: 1, groups: max(s.Groups, 1)}
	v.g = newSpatial(x.Shape()[lead:], out.Shape()[lead:], s.Kernel, s.Stride, s.PadLo, s.Dilation)
	if lead == 2 {
		v.batch = out.Dim(0)
	}
	v.perGroup, v.outPerGroup = x.Dim(lead-1)/v.groups, s.Channels/v.groups
	return v
}

// Run implements Step.
func (s ConvPacked) Run(w *Workspace, out, in []*array.Array) {
	if out[0].Len() == 0 {
		return
	}
	mark := w.Mark()
	v := s.form(out[0], in[0])
	v.dst, v.src = result[float32](w, out[0]), load[float32](w, in[0])
	v.packed = array.Data[float32](in[1])
	v.end = epilogue{ldr: v.g.outPlane, biasRow: load[float32](w, operand(in, 2)),
		scaleRow: load[float32](w, operand(in, 3)), residual: load[float32](w, operand(in, 4))}.with(s.Epilogue)
	if depthwise32(cpu.level, v.perGroup, v.groups) || cpu.level == levelGeneric {
		v.weight, v.packed = v.packed, nil
	}
	if cpu.level != levelGeneric && v.fits() {
		v.run(w)
	} else {
		v.runGo(w)
	}
	store(out[0], v.dst)
	w.Release(mark)
}

// runGo computes the convolution in Go, without a packed weight.
func (v *conv32) runGo(w *Workspace) {
	clear(v.dst)
	weight := v.weight
	if v.packed != nil {
		weight = v.unpacked(w)
	}
	addConv(w, &v.g, v.batch, v.groups, v.perGroup, v.outPerGroup, v.dst, v.src, weight)
	m := v.groups * v.outPerGroup
	for i := range v.batch {
		at := i * m * v.g.outPlane
		e := v.end.channels(0, m, at)
		e.apply(cpu.level, m, v.g.outPlane, 0, 0, v.dst[at:at+m*v.g.outPlane], v.g.outPlane)
	}
}

// unpacked returns the weight that was packed.
func (v *conv32) unpacked(w *Workspace) []float32 {
	bl := blockingOf(cpu.level)
	m, k := v.outPerGroup, v.perGroup*v.g.taps
	dst := Scratch[float32](w, v.groups*m*k)
	if k == 0 {
		return dst
	}
	panels, depth, size := bl.panels(m), bl.depth(k), packedRows(cpu.level, m, k)
	for g := range v.groups {
		for i := range panels {
			r0, r1 := bl.rows(m, i)
			for p := range k {
				pc := p / depth * depth
				kc := min(depth, k-pc)
				from := v.packed[g*size+pc*panels*bl.stride+i*bl.stride*kc+(p-pc)*bl.stride:]
				for r := r0; r < r1; r++ {
					dst[(g*m+r)*k+p] = from[r-r0]
				}
			}
		}
	}
	return dst
}

// ScratchBytes implements Scratcher.
func (s ConvPacked) ScratchBytes(out, in []*array.Array) int {
	if out[0].Len() == 0 {
		return 0
	}
	n := storeBytes(out[0]) + loadBytes(in[0]) + loadAllBytes(in[2:])
	v := s.form(out[0], in[0])
	if cpu.level != levelGeneric && v.fits() {
		return n + v.scratch(cpu.level, !depthwise32(cpu.level, v.perGroup, v.groups))
	}
	if cpu.level != levelGeneric {
		n += scratchSize(s.Channels*v.perGroup*v.g.taps, 4)
	}
	return n + addConvScratch[float32](&v.g, v.groups, v.perGroup, v.outPerGroup)
}
