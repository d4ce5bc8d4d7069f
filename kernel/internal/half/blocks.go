package half

import (
	"unsafe"

	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Dots is a product dst[r][c] = Σ x[r][k]·w[c][k] for N columns of whole blocks, LdW bytes
// apart, and 1 to 4 rows.
type Dots struct {
	N, Rows, K int
	X          []float32
	LdX        int
	W          []uint8
	LdW        int
	Dst        []float32
	LdDst      int
}

// Blocks computes the product of weights in a format.
func (d *Dots) Blocks(f *blocks.Format) {
	if f.Elements == 1 {
		DotHalves(d.N, d.Rows, d.K, d.X, d.LdX, words(d.W), d.LdW/2, f.Name == "BF16", d.Dst, d.LdDst)
		return
	}
	count := d.K / f.Elements
	switch {
	case count > 0 && cpu.HasAVX512() && d.avx512(f.Name, count):
	case count > 0 && cpu.HasAVX2() && d.avx2(f.Name, count):
	default:
		d.inGo(f)
	}
}

// WidenBlocks makes floats of whole blocks.
func WidenBlocks(f *blocks.Format, dst []float32, src []uint8) {
	if f.Elements == 1 {
		Widen(dst, words(src), f.Name == "BF16")
		return
	}
	count := len(dst) / f.Elements
	switch {
	case count > 0 && cpu.HasAVX512() && widenBlocksAVX512(f.Name, count, &src[0], &dst[0]):
	case count > 0 && cpu.HasAVX2() && widenBlocksAVX2(f.Name, count, &src[0], &dst[0]):
	default:
		f.Decode(dst, src)
	}
}

// blockRowLen is how many elements of x a product of one row takes at a time.
const blockRowLen = 128

// BlockOrder puts one row x of a product into the order that BlockRow wants, and fills sums with those of
// 32 elements where it wants them; ok is false where it has no kernel, and nothing is changed then.
func BlockOrder(f *blocks.Format, x, sums []float32) (ok bool) {
	if !cpu.HasAVX512() || f.Name != "Q4_0" && f.Name != "Q4_K" || len(x)%blockRowLen != 0 {
		return false
	}
	run := uint(4) // 16 bytes, whose lower halves are elements before those of the upper ones
	if f.Name == "Q4_K" {
		run = 5
		for g := range sums {
			var s [4]float32
			for p := x[g*UnpackBlock : (g+1)*UnpackBlock]; len(p) >= 4; p = p[4:] {
				s[0], s[1], s[2], s[3] = s[0]+p[0], s[1]+p[1], s[2]+p[2], s[3]+p[3]
			}
			sums[g] = (s[0] + s[1]) + (s[2] + s[3])
		}
	}
	for ; len(x) > 0; x = x[blockRowLen:] {
		to := (*[blockRowLen]float32)(x)
		from := *to
		for v := range 8 { // a lane is a word of four bytes
			for lane := range 16 {
				at := 4*lane + v/2
				to[16*v+lane] = from[(at>>run<<(run+1)+v%2<<run+at&(1<<run-1))%blockRowLen]
			}
		}
	}
	return true
}

// BlockRow computes dst[c] = Σ x[k]·w[c][k] for n columns, ldw bytes apart, with what BlockOrder has made.
func BlockRow(f *blocks.Format, n int, x, sums []float32, w []uint8, ldw int, dst []float32) {
	if f.Name == "Q4_K" {
		rowQ4KAVX512(n, len(x)/f.Elements, &x[0], &sums[0], &w[0], ldw, &dst[0])
	} else {
		rowQ40AVX512(n, len(x)/blockRowLen, &x[0], &w[0], ldw, &dst[0])
	}
}

// words are the words of bytes.
func words(b []uint8) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}

// maxBlock is the most elements of a block.
const maxBlock = 256

// inGo is the twin of the machine code. Weights are the same floats there; sums are in
// order of k here and spread over lanes there, both within k·2^-23 of Σ|x·w|.
func (d *Dots) inGo(f *blocks.Format) {
	var wide [maxBlock]float32
	for c := range d.N {
		col := d.W[c*d.LdW:]
		for r := range d.Rows {
			d.Dst[r*d.LdDst+c] = 0
		}
		for p := 0; p < d.K; p += f.Elements {
			block := wide[:f.Elements]
			f.Decode(block, col[p/f.Elements*f.Bytes:])
			for r := range d.Rows {
				s := d.Dst[r*d.LdDst+c]
				for i, v := range d.X[r*d.LdX+p:][:len(block)] {
					s += float32(v * block[i])
				}
				d.Dst[r*d.LdDst+c] = s
			}
		}
	}
}

// The functions below branch, as calls by a variable would let their operands escape. They
// report whether there is machine code for a format.

func (d *Dots) avx512(format string, count int) bool {
	switch format {
	case "Q8_0":
		dotQ80AVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_0":
		dotQ40AVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_1":
		dotQ41AVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_0":
		dotQ50AVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_1":
		dotQ51AVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_K":
		dotQ4KAVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_K":
		dotQ5KAVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q6_K":
		dotQ6KAVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q3_K":
		dotQ3KAVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q2_K":
		dotQ2KAVX512(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	default:
		return false
	}
	return true
}

func (d *Dots) avx2(format string, count int) bool {
	switch format {
	case "Q8_0":
		dotQ80AVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_0":
		dotQ40AVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_1":
		dotQ41AVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_0":
		dotQ50AVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_1":
		dotQ51AVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q4_K":
		dotQ4KAVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q5_K":
		dotQ5KAVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q6_K":
		dotQ6KAVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q3_K":
		dotQ3KAVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	case "Q2_K":
		dotQ2KAVX2(d.N, d.Rows, count, &d.X[0], d.LdX, &d.W[0], d.LdW, &d.Dst[0], d.LdDst)
	default:
		return false
	}
	return true
}

func widenBlocksAVX512(format string, count int, src *uint8, dst *float32) bool {
	switch format {
	case "Q8_0":
		widenQ80AVX512(count, src, dst)
	case "Q4_0":
		widenQ40AVX512(count, src, dst)
	case "Q4_1":
		widenQ41AVX512(count, src, dst)
	case "Q5_0":
		widenQ50AVX512(count, src, dst)
	case "Q5_1":
		widenQ51AVX512(count, src, dst)
	case "Q4_K":
		widenQ4KAVX512(count, src, dst)
	case "Q5_K":
		widenQ5KAVX512(count, src, dst)
	case "Q6_K":
		widenQ6KAVX512(count, src, dst)
	case "Q3_K":
		widenQ3KAVX512(count, src, dst)
	case "Q2_K":
		widenQ2KAVX512(count, src, dst)
	default:
		return false
	}
	return true
}

func widenBlocksAVX2(format string, count int, src *uint8, dst *float32) bool {
	switch format {
	case "Q8_0":
		widenQ80AVX2(count, src, dst)
	case "Q4_0":
		widenQ40AVX2(count, src, dst)
	case "Q4_1":
		widenQ41AVX2(count, src, dst)
	case "Q5_0":
		widenQ50AVX2(count, src, dst)
	case "Q5_1":
		widenQ51AVX2(count, src, dst)
	case "Q4_K":
		widenQ4KAVX2(count, src, dst)
	case "Q5_K":
		widenQ5KAVX2(count, src, dst)
	case "Q6_K":
		widenQ6KAVX2(count, src, dst)
	case "Q3_K":
		widenQ3KAVX2(count, src, dst)
	case "Q2_K":
		widenQ2KAVX2(count, src, dst)
	default:
		return false
	}
	return true
}
