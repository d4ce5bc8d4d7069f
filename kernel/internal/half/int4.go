package half

import (
	"unsafe"

	"github.com/gofx-dev/gofx/kernel/internal/cpu"
)

// Int4Line is the weights that Int4Tile takes at a time.
const Int4Line = 128

// HasInt4Tile reports whether Int4Tile multiplies by columns of k weights in groups of a size.
func HasInt4Tile(k, size int) bool {
	return cpu.HasAVX512() && k%Int4Line == 0 && (Int4Line%size == 0 || size%Int4Line == 0)
}

// LineOrder puts a row x into the order that Int4Tile wants: of a line, which is 16 words of eight weights,
// elements of the same place of words lie together.
func LineOrder(x []float32) {
	for ; len(x) > 0; x = x[Int4Line:] {
		to := (*[Int4Line]float32)(x)
		from := *to
		for i := range 16 {
			v := (*[8]float32)(from[8*i:])
			to[i], to[16+i], to[32+i], to[48+i] = v[0], v[1], v[2], v[3]
			to[64+i], to[80+i], to[96+i], to[112+i] = v[4], v[5], v[6], v[7]
		}
	}
}

// Int4Product is dst[r][c] = Σ x[r][k]·(w[c][k]-zero[c][g])·scale[c][g] for N columns and 1 to 4 rows, x in
// the order of LineOrder: a column has Groups groups of a size, after which Skip others follow before the next.
// Without zero points they are 8; Sums are those of groups of x, and not read then.
type Int4Product struct {
	N, Rows, Groups, Size, Skip int
	X                           []float32
	Ldx                         int
	W                           []uint8
	Scale                       []float32
	Zero                        []uint8
	Sums                        []float32
	Lds                         int
	Dst                         []float32
	Ldd                         int
}

// int4Tile is an Int4Product as assembly reads it. A chunk is the lines that a group has, or the one that
// some groups have. Distances of rows and of weights are in bytes.
type int4Tile struct {
	x, w, scale, zero, sums, dst    unsafe.Pointer
	n, rows, chunks, lines, scales  int
	ldx, lds, ldd, skip, skipScales int
}

// Int4Tile computes a product.
func Int4Tile(p *Int4Product) {
	t := int4Tile{x: unsafe.Pointer(&p.X[0]), w: unsafe.Pointer(&p.W[0]), scale: unsafe.Pointer(&p.Scale[0]), zero: unsafe.Pointer(unsafe.SliceData(p.Zero)),
		sums: unsafe.Pointer(unsafe.SliceData(p.Sums)), dst: unsafe.Pointer(&p.Dst[0]), n: p.N, rows: p.Rows, scales: max(1, Int4Line/p.Size),
		lines: max(1, p.Size/Int4Line), ldx: 4 * p.Ldx, lds: 4 * p.Lds, ldd: 4 * p.Ldd, skip: p.Skip * p.Size / 2, skipScales: 4 * p.Skip}
	t.chunks = p.Groups / t.scales
	int4TileAVX512((*uint8)(unsafe.Pointer(&t)))
}

// Int4Dot computes dst[r][c] = Σ x[r][k]·(w[c][k]-8)·scale, where of 32 elements of x
// those of even places lie first; see int4DotGo.
func Int4Dot(n, rows, groups, blocks int, x []float32, ldx int, w []uint8, scale, dst []float32, ldd, skip int) {
	switch {
	case cpu.HasAVX512():
		int4DotAVX512(n, rows, groups, blocks, &x[0], ldx, &w[0], &scale[0], &dst[0], ldd, skip*blocks*16, skip)
	case cpu.HasAVX2():
		int4DotAVX2(n, rows, groups, blocks, &x[0], ldx, &w[0], &scale[0], &dst[0], ldd, skip*blocks*16, skip)
	default:
		int4DotGo(n, rows, groups, blocks, x, ldx, w, scale, dst, ldd, skip)
	}
}

// Int4Zeros adds Σ sums[g]·(8-zero[c][g])·scale[c][g] to dst[c] for n columns of groups.
func Int4Zeros(n, groups int, sums []float32, zero []uint8, scale, dst []float32) {
	blocks := groups / 8
	if !cpu.HasAVX2() {
		blocks = 0
	}
	if blocks > 0 {
		int4ZerosAVX2(n, blocks, &sums[0], &zero[0], &scale[0], groups-8*blocks, &dst[0])
	}
	for c := range n {
		s := float32(0)
		for g := 8 * blocks; g < groups; g++ {
			s += float32(float32(float32(8-int32(zero[c*groups+g]))*scale[c*groups+g]) * sums[g])
		}
		dst[c] += s
	}
}

// int4DotGo is the twin of int4DotAVX512: dst[r][c] = Σ x[r][k]·(w[c][k]-8)·scale for
// n columns of groups of blocks of 32 weights, each followed by skip groups. A block is 16
// bytes of two weights, the even one in the lower half; x has the 16 elements of even
// places first. Sums are in order of bytes here and spread over lanes there; both are
// within (k+8)·2^-23 of the sum of magnitudes.
func int4DotGo(n, rows, groups, blocks int, x []float32, ldx int, w []uint8, scale, dst []float32, ldd, skip int) {
	for c := range n {
		for r := range rows {
			row, col := x[r*ldx:], w[c*(groups+skip)*blocks*16:]
			total := float32(0)
			for g := range groups {
				s := float32(0)
				for range blocks {
					p := (*[UnpackBlock]float32)(row)
					for i, v := range col[:16] {
						s += float32(p[i]*float32(int32(v&15)-8)) + float32(p[i+16]*float32(int32(v>>4)-8))
					}
					row, col = row[UnpackBlock:], col[16:]
				}
				total += float32(s * scale[c*(groups+skip)+g])
			}
			dst[r*ldd+c] = total
		}
	}
}

// Int4Unpack computes dst[k] = (w[k]-zero[g])·scale[g] for weights of 4 bits, two a byte, the even one in the
// lower half, in groups of a size, of which the last one may have fewer. Without zero points they are 8.
func Int4Unpack(dst []float32, w []uint8, scale []float32, zero []uint8, size int) {
	groups := 0
	if cpu.HasAVX2() {
		groups = len(dst) / size
	}
	switch {
	case groups == 0:
	case cpu.HasAVX512():
		int4UnpackAVX512(groups, size/UnpackBlock, &w[0], &scale[0], unsafe.SliceData(zero), &dst[0])
	default:
		int4UnpackAVX2(groups, size/UnpackBlock, &w[0], &scale[0], unsafe.SliceData(zero), &dst[0])
	}
	int4UnpackGo(dst, w, scale, zero, size, groups)
}

// int4UnpackGo is the twin of int4UnpackAVX512, bit for bit, for groups from one on.
func int4UnpackGo(dst []float32, w []uint8, scale []float32, zero []uint8, size, from int) {
	for g := from; g*size < len(dst); g++ {
		least := int32(8)
		if zero != nil {
			least = int32(zero[g])
		}
		to := dst[g*size : min((g+1)*size, len(dst))]
		for i, v := range w[g*size/2:][:len(to)/2] {
			to[2*i] = float32(int32(v&15)-least) * scale[g]
			to[2*i+1] = float32(int32(v>>4)-least) * scale[g]
		}
	}
}
