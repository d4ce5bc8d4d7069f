package narrow

import (
	"math"
	"math/rand/v2"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// integerFormats are those of BlockLinearDynamic.
func integerFormats() (list []*blocks.Format) {
	for _, name := range blocks.Names() {
		if f := blocks.Lookup(name); f.HasIntegers() {
			list = append(list, f)
		}
	}
	return list
}

// rounded is what each block of 32 elements of x is rounded to, written down again.
func rounded(x []float32) []float64 {
	list := make([]float64, len(x))
	for b := 0; b < len(x); b += 32 {
		size := float32(0)
		for _, v := range x[b : b+32] {
			size = max(size, float32(math.Abs(float64(v))))
		}
		d := size / 127
		for i, v := range x[b : b+32] {
			if d >= 0x1p-126 {
				list[b+i] = math.RoundToEven(float64(float32(v*(1/d)))) * float64(d)
			}
		}
	}
	return list
}

// A product is that of rounded activations, within the error of few sums, and has the same bits at every level,
// for any number of rows and threads.
func TestBlockLinearDynamic(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for _, f := range integerFormats() {
		for i := range 60 {
			m, n, k := 1+i%11, 1+r.IntN(5), f.Elements*(1+r.IntN(9))
			switch i {
			case 6:
				m, n = 17, 150
			case 7:
				m, n, k = 1, 150, 4096
			case 8:
				k = 0
			}
			x, weight := array.FromSlice(kerneltest.RandomFloats(r, m*k), m, k), array.New(array.U8, n, k/f.Elements*f.Bytes)
			randomBlocks(r, f, array.Data[uint8](weight))
			wide, bytes := make([]float32, n*k), rounded(array.Data[float32](x))
			f.Decode(wide, array.Data[uint8](weight))
			in := []*array.Array{x, weight, array.FromSlice(kerneltest.RandomFloats(r, n), n)}
			var first []float32
			kerneltest.QLevels(t, func(level string) {
				w, out, s := &par.Workspace{Threads: 1 + r.IntN(2)}, array.New(array.F32, m, n), BlockLinearDynamic{Format: f.Name}
				s.Run(w, []*array.Array{out}, in)
				got := array.Data[float32](out)
				require.LessOrEqual(t, w.HighWater(), s.ScratchBytes([]*array.Array{out}, in))
				if first != nil {
					kerneltest.RequireSame(t, first, got, f.Name, level, m, n, k)
					return
				}
				first = got
				for at := range got {
					row, c := at/n, at%n
					want := float64(array.Data[float32](in[2])[c])
					size := math.Abs(want)
					for p := range k {
						v := bytes[row*k+p] * float64(wide[c*k+p])
						want, size = want+v, size+math.Abs(v)
					}
					require.InDelta(t, want, got[at], float64(k/32+8)*0x1p-23*size, "%s %d %d %d", f.Name, m, n, k)
				}
			})
			if m > 1 && k > 0 { // a row alone
				out := array.New(array.F32, 1, n)
				BlockLinearDynamic{Format: f.Name}.Run(&par.Workspace{}, []*array.Array{out}, []*array.Array{array.FromSlice(array.Data[float32](x)[k:2*k], 1, k), weight, in[2]})
				kerneltest.RequireSame(t, first[n:2*n], array.Data[float32](out), f.Name, m, n, k)
			}
		}
	}
}

// Random bits, scales that are not finite among them, and x of any size give the same bits at every level, and
// nothing outside of the blocks, of x and of the result is touched.
func TestByteDotsGuard(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := rand.New(rand.NewPCG(33, 34))
	for _, f := range integerFormats() {
		for i := range 80 {
			rows, n, k := []int{1, 2, 3, 4, 8}[i/8%5], 1+r.IntN(4), f.Elements*(1+r.IntN(6))
			row := k / f.Elements * f.Bytes
			w, x := guardedBytes(t, r, n*row, i%8 < 4), kerneltest.GuardedFloats(t, r, rows*k, i%8 < 4)
			if i < 40 {
				copy(w, kerneltest.QBytes(r, len(w)))
			} else {
				randomBlocks(r, f, w)
			}
			switch special := []float32{float32(math.NaN()), float32(math.Inf(-1)), 0x1p-130, 0x1p-140, 0, 0x1p127}; {
			case i%5 == 1:
				x[r.IntN(len(x))] = special[i%6]
			case i%5 == 2:
				for p := range x {
					x[p] *= 0x1p-125
				}
			case i%5 == 3:
				clear(x)
			}
			var first []float32
			kerneltest.QLevels(t, func(level string) {
				each := half.ByteRow(k)
				bytes := guardedBytes(t, r, rows*each, i%2 == 0)
				for p := range rows {
					half.RoundRow(f, bytes[p*each:(p+1)*each], x[p*k:(p+1)*k])
				}
				var got []float32
				for at, some := 0, 0; at < rows; at += some {
					some = half.RowsAtOnce(rows - at)
					dst := kerneltest.GuardedFloats(t, r, (some+3)&^3*half.ByteColumns, i%2 == 0)
					d := half.ByteDots{N: n, Rows: some, K: k, X: bytes[at*each:], LdX: each, W: w, LdW: row, Dst: dst}
					d.Run(f)
					for p := range some {
						got = append(got, dst[p*half.ByteColumns:][:n]...)
					}
				}
				if first == nil {
					first = got
				}
				kerneltest.RequireSame(t, first, got, f.Name, level, i)
			})
		}
	}
}
