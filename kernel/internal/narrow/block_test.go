package narrow

import (
	"math/rand/v2"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// randomBlocks fills whole blocks with random bits, and their floats with numbers of a usual size.
func randomBlocks(r *rand.Rand, f *blocks.Format, b []uint8) {
	copy(b, kerneltest.QBytes(r, len(b)))
	for ; len(b) > 0; b = b[f.Bytes:] {
		for _, at := range f.Scales {
			v := half.NarrowOne(float32(r.NormFloat64())/16, f.Name == "BF16")
			b[at], b[at+1] = uint8(v), uint8(v>>8)
		}
	}
}

// A product is within the error of sums of the one with the floats that the decoder of
// the format gives, at every level.
func TestBlockLinear(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, name := range blocks.Names() {
		f := blocks.Lookup(name)
		for i := range 100 {
			m, n, k := 1+i%6, 1+r.IntN(5), f.Elements*(1+r.IntN(5))
			switch i {
			case 6:
				m, n, k = 17, 260, f.Elements
			case 7:
				n, k = 2, 4096
			case 8:
				m, n, k = 3, 2, 4096 // rows are spread, k is cut
			case 9:
				k = 0
			case 11: // one row has kernels of its own
				m, n, k = 1, 7, 2048
			case 10:
				n = 70 // more than a part
			}
			x, weight := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.New(array.U8, n, k/f.Elements*f.Bytes)
			randomBlocks(r, f, array.Data[uint8](weight))
			want := make([]float32, n*k)
			f.Decode(want, array.Data[uint8](weight))
			in := []*array.Array{x, weight, nil}
			var bias []float32
			if i%2 == 0 {
				bias = kerneltest.RandomFloats(r, n)
				in[2] = array.FromSlice(bias, n)
			}
			out := array.New(array.F32, m, n)
			kerneltest.QLevels(t, func(level string) {
				w := &par.Workspace{Threads: 1 + r.IntN(2)}
				BlockLinear{Format: name}.Run(w, []*array.Array{out}, in)
				requireDots(t, array.Data[float32](x), func(c, p int) (w, size float64) { return float64(want[c*k+p]), float64(want[c*k+p]) }, bias,
					m, n, k, array.Data[float32](out), name+" "+level)
				require.LessOrEqual(t, w.HighWater(), BlockLinear{Format: name}.ScratchBytes([]*array.Array{out}, in))
			})
		}
	}
}

// Blocks become the decoder's floats with all their bits, also where scales are not finite, and
// nothing outside of them is read or written.
func TestWidenBlocks(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(23, 24))
	for _, name := range blocks.Names() {
		f := blocks.Lookup(name)
		for i := range 100 {
			count := 1 + r.IntN(5)
			src, dst := guardedBytes(t, r, count*f.Bytes, i%2 == 0), kerneltest.GuardedFloats(t, r, count*f.Elements, i%2 == 0)
			if i >= 4 {
				randomBlocks(r, f, src)
			} else {
				copy(src, kerneltest.QBytes(r, len(src)))
			}
			want := make([]float32, len(dst))
			f.Decode(want, src)
			kerneltest.QLevels(t, func(level string) {
				clear(dst)
				half.WidenBlocks(f, dst, src)
				kerneltest.RequireSame(t, want, dst, name, level)
			})
		}
	}
}

// guardedBytes are bytes next to memory that must not be touched.
func guardedBytes(t *testing.T, r *rand.Rand, n int, before bool) []uint8 {
	words := kerneltest.GuardedFloats(t, r, (n+3)/4, before)
	all := unsafe.Slice((*uint8)(unsafe.Pointer(&words[0])), 4*len(words))
	if before {
		return all[:n]
	}
	return all[len(all)-n:]
}

// Products read nothing outside of the blocks and of x.
func TestBlockLinearGuard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(25, 26))
	for _, name := range blocks.Names() {
		f := blocks.Lookup(name)
		for _, before := range []bool{false, true} {
			for rows := 1; rows <= 4; rows++ {
				n, k := 3, f.Elements*(1+r.IntN(3))
				row := k / f.Elements * f.Bytes
				w, x, dst := guardedBytes(t, r, n*row, before), kerneltest.GuardedFloats(t, r, rows*k, before), kerneltest.GuardedFloats(t, r, rows*n, before)
				randomBlocks(r, f, w)
				d := half.Dots{N: n, Rows: rows, K: k, X: x, LdX: k, W: w, LdW: row, Dst: dst, LdDst: n}
				kerneltest.QLevels(t, func(string) { d.Blocks(f) })
			}
		}
	}
}

// Rows of a table are the decoder's floats, with all bits.
func TestBlockEmbedding(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for _, name := range blocks.Names() {
		f := blocks.Lookup(name)
		k := 3 * f.Elements
		weight, ids := array.New(array.U8, 7, 3*f.Bytes), []int64{6, 0, 3, 3, 5}
		randomBlocks(r, f, array.Data[uint8](weight))
		all := make([]float32, 7*k)
		f.Decode(all, array.Data[uint8](weight))
		var want []float32
		for _, id := range ids {
			want = append(want, all[int(id)*k:][:k]...)
		}
		out, in := array.New(array.F32, len(ids), k), []*array.Array{array.FromSlice(ids, len(ids)), weight}
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{}
			BlockEmbedding{Format: name}.Run(w, []*array.Array{out}, in)
			kerneltest.RequireSame(t, want, array.Data[float32](out), name, level)
			require.LessOrEqual(t, w.HighWater(), BlockEmbedding{Format: name}.ScratchBytes([]*array.Array{out}, in))
		})
	}
}
