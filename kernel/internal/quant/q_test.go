package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/operand"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// qArray returns a random array of 8-bit elements.
func qArray(r *rand.Rand, d array.DType, shape ...int) *array.Array {
	b := kerneltest.QBytes(r, operand.Prod(shape))
	if d == array.I8 {
		return array.FromSlice(asInt8(b), shape...)
	}
	return array.FromSlice(b, shape...)
}

// qZero returns a zero point of type d, often at an end of its range.
func qZero(r *rand.Rand, d array.DType) *array.Array { return qArray(r, d, 1) }

func qScale(r *rand.Rand, n int, mean float64) *array.Array {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(mean * math.Exp(r.Float64()*2-1))
	}
	return array.FromSlice(s, n)
}

func TestQGemmIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 150 {
		m, n, k := 1+r.IntN(40), 1+r.IntN(80), r.IntN(140)
		switch i % 8 {
		case 0:
			m, k = 17, 4096
		case 1:
			k = i / 8
		}
		lda, ldc := k+r.IntN(3), n+r.IntN(3)
		if k == 4096 {
			lda = k
		}
		a, b := kerneltest.QBytes(r, m*lda), asInt8(kerneltest.QBytes(r, n*k))
		trans := r.IntN(2) == 0
		want := make([]int32, m*ldc)
		for i := range m {
			for c := range n {
				for p := range k {
					v := b[p*n+c : p*n+c+1]
					if trans {
						v = b[c*k+p:]
					}
					want[i*ldc+c] += int32(a[i*lda+p]) * int32(v[0])
				}
			}
		}
		ldb := n
		if trans {
			ldb = k
		}
		packed := PackQ(trans, n, k, b, ldb)
		kerneltest.QLevels(t, func(level string) {
			got := make([]int32, m*ldc)
			QGemm(&par.Workspace{Threads: 1 + r.IntN(2)}, m, a, lda, packed, got, ldc)
			require.Equal(t, want, got, "%s: m %d n %d k %d", level, m, n, k)
		})
	}
}

func TestQGemmWrapsAround(t *testing.T) {
	const k = 1 << 17
	a, b := make([]uint8, k), make([]int8, k)
	for i := range a {
		a[i], b[i] = 255, 127
	}
	packed := PackQ(true, 1, k, b, k)
	kerneltest.QLevels(t, func(level string) {
		var got [1]int32
		QGemm(&par.Workspace{}, 1, a, k, packed, got[:], 1)
		sum := int64(k) * 255 * 127
		require.Equal(t, int32(sum), got[0], level)
	})
}

// realRound is the rounding that results are specified by, in float64.
func realRound(v float32, lo, hi, zero int32) int32 {
	if v != v {
		return lo
	}
	f := math.RoundToEven(float64(v)) + float64(zero)
	return int32(max(float64(lo), min(float64(hi), f)))
}

func TestClampRoundRoundsHalvesToEven(t *testing.T) {
	for _, c := range []struct {
		in   float32
		want int32
	}{{0.5, 0}, {1.5, 2}, {2.5, 2}, {-0.5, 0}, {-1.5, -2}, {-2.5, -2}, {126.5, 126}, {127.5, 127}, {1e30, 127},
		{float32(math.Inf(-1)), -128}, {float32(math.NaN()), -128}, {0.49999997, 0}} {
		require.Equal(t, c.want, clampRound(c.in, -128, 127, 0), "%v", c.in)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		v := float32(r.NormFloat64() * 300)
		if r.IntN(2) == 0 {
			v = float32(r.IntN(1200)-600) / 2
		}
		zero := int32(r.IntN(256))
		require.Equal(t, realRound(v, 0, 255, zero), clampRound(v, float32(-zero), float32(255-zero), zero), "%v zero %d", v, zero)
	}
}

// qCase is one random product of quantised tensors.
type qCase struct {
	x, w, bias, table *array.Array
	xs, xz, ws, wz    *array.Array
	ys, yz            *array.Array
	out               *array.Array
	relu              bool
	max               float32
	outChans          int
	floatAdded        bool
	res, rs, rz       *array.Array
}

// qRandom fills the parameters of a case whose x and w are set.
func qRandom(r *rand.Rand, c *qCase, chans, k int, shape []int) {
	c.outChans = chans
	per := 1
	if r.IntN(2) == 0 {
		per = chans
	}
	c.xs, c.ws, c.ys = qScale(r, 1, 0.02), qScale(r, per, 0.01), qScale(r, 1, 0.02*float64(1+k)/20)
	c.xz = qZero(r, c.x.DType())
	if r.IntN(3) > 0 {
		c.wz = qArray(r, c.w.DType(), per)
	}
	d := []array.DType{array.U8, array.I8, array.U8, array.F32, array.I32}[r.IntN(5)]
	c.out = array.New(d, shape...)
	if (d == array.U8 || d == array.I8) && r.IntN(6) == 0 {
		odd := []float32{float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), -0.02, 1e30, 1e-44, 0}
		array.Data[float32](c.ws)[r.IntN(per)] = odd[r.IntN(len(odd))]
	}
	if d == array.U8 || d == array.I8 {
		c.yz = qZero(r, d)
		c.relu = r.IntN(2) == 0
		if r.IntN(3) == 0 {
			c.max = 0.5
		}
		if r.IntN(4) == 0 {
			c.table = qArray(r, array.U8, 256)
		}
		if r.IntN(2) == 0 {
			c.res = qArray(r, anyByte(r), shape...)
			c.rs = qScale(r, 1, 0.02*float64(1+k)/20)
			if r.IntN(3) > 0 {
				c.rz = qZero(r, c.res.DType())
			}
			if r.IntN(12) == 0 {
				odd := []float32{float32(math.Inf(1)), float32(math.NaN()), -0.02, 1e30, 0}
				array.Data[float32](c.rs)[0] = odd[r.IntN(len(odd))]
			}
		}
	}
	switch r.IntN(3) {
	case 0:
		b := make([]int32, chans)
		for i := range b {
			b[i] = int32(r.Uint32()) >> 12
		}
		c.bias = array.FromSlice(b, chans)
	case 1:
		if d == array.F32 {
			c.bias, c.floatAdded = qScale(r, chans, 1), true
		}
	}
}

func (c *qCase) in() []*array.Array {
	return []*array.Array{c.x, c.xs, c.xz, c.w, c.ws, c.wz, c.ys, c.yz, c.bias, c.table, c.res, c.rs, c.rz}
}

// expect turns the exact sum of channel ch, zero points taken off, into element i of
// the result.
func (c *qCase) expect(sum int64, ch, i int) float64 {
	total := int32(sum)
	if c.bias != nil && !c.floatAdded {
		total += array.Data[int32](c.bias)[ch]
	}
	scale := array.Data[float32](c.xs)[0] * array.Data[float32](c.ws)[ch%c.ws.Len()]
	switch c.out.DType() {
	case array.I32:
		return float64(total)
	case array.F32:
		f := float32(float32(total) * scale)
		if c.floatAdded {
			f += array.Data[float32](c.bias)[ch]
		}
		return float64(f)
	}
	y := array.Data[float32](c.ys)[0]
	zero, lo, hi := intAt(c.yz, 0), int32(0), int32(255)
	if c.out.DType() == array.I8 {
		lo, hi = -128, 127
	}
	low, high := lo, hi
	if c.relu {
		low = max(lo, zero)
	}
	if c.max > 0 {
		high = max(low, min(hi, zero+int32(math.RoundToEven(float64(c.max/y)))))
	}
	scaled := float32(float32(total) * (scale / y))
	if c.res != nil {
		rz := int32(0)
		if c.rz != nil {
			rz = intAt(c.rz, 0)
		}
		rs := array.Data[float32](c.rs)[0] / y
		scaled += float32(float32(int32(array.Int64At(c.res, i))-rz) * rs)
	}
	v := realRound(scaled, low, high, zero)
	if c.table != nil {
		v = int32(array.Data[uint8](c.table)[uint8(v)])
		if c.out.DType() == array.I8 {
			v = int32(int8(v))
		}
	}
	return float64(v)
}

func (c *qCase) zeros(ch int) (xz, wz int64) {
	xz = int64(intAt(c.xz, 0))
	if c.wz != nil {
		wz = int64(intAt(c.wz, ch%c.wz.Len()))
	}
	return xz, wz
}

func anyByte(r *rand.Rand) array.DType { return []array.DType{array.U8, array.I8}[r.IntN(2)] }

func TestQLinearAgainstItsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		m, n, k := 1+r.IntN(20), 1+r.IntN(70), 1+r.IntN(90)
		c := qCase{x: qArray(r, anyByte(r), m, k), w: qArray(r, anyByte(r), n, k)}
		qRandom(r, &c, n, k, []int{m, n})
		want := make([]float64, m*n)
		for i := range m {
			for ch := range n {
				xz, wz := c.zeros(ch)
				sum := int64(0)
				for p := range k {
					sum += (int64(array.Int64At(c.x, i*k+p)) - xz) * (array.Int64At(c.w, ch*k+p) - wz)
				}
				want[i*n+ch] = c.expect(sum, ch, i*n+ch)
			}
		}
		step := QLinear{ReLU: c.relu, Max: c.max}
		packed := array.New(array.I8, QLinearPackedBytes(n, k))
		QPackLinear{}.Run(&par.Workspace{}, []*array.Array{packed}, []*array.Array{c.w})
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{Threads: 1 + r.IntN(2)}
			step.Run(w, []*array.Array{c.out}, c.in())
			requireValues(t, want, c.out, "%s plain", level)
			require.LessOrEqual(t, w.HighWater(), step.ScratchBytes([]*array.Array{c.out}, c.in()))
			in := c.in()
			in[qW] = packed
			s := step
			s.Packed, s.Unsigned = true, c.w.DType() == array.U8
			array.Copy(c.out, array.New(c.out.DType(), c.out.Shape()...))
			s.Run(w, []*array.Array{c.out}, in)
			requireValues(t, want, c.out, "%s packed", level)
		})
	}
}

func requireValues(t *testing.T, want []float64, got *array.Array, msg string, args ...any) {
	t.Helper()
	for i, v := range want {
		require.Equal(t, v, array.Float64At(got, i), append([]any{msg + ": element %d of " + got.DType().String()}, append(args, i)...)...)
	}
}

func TestQMatMulBroadcasts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, shapes := range [][3][]int{
		{{3, 4, 5}, {5, 6}, {3, 4, 6}},
		{{4, 5}, {2, 3, 5, 6}, {2, 3, 4, 6}},
		{{2, 1, 4, 5}, {3, 5, 33}, {2, 3, 4, 33}},
		{{2, 3, 15, 7}, {2, 3, 7, 40}, {2, 3, 15, 40}},
	} {
		c := qCase{x: qArray(r, anyByte(r), shapes[0]...), w: qArray(r, anyByte(r), shapes[1]...)}
		o := shapes[2]
		m, k, n := o[len(o)-2], shapes[0][len(shapes[0])-1], o[len(o)-1]
		qRandom(r, &c, n, k, o)
		var want []float64
		xb := array.Expand(c.x, append(append([]int{}, o[:len(o)-2]...), m, k)...)
		wb := array.Expand(c.w, append(append([]int{}, o[:len(o)-2]...), k, n)...)
		for b := range operand.Prod(o[:len(o)-2]) {
			for i := range m {
				for ch := range n {
					xz, wz := c.zeros(ch)
					sum := int64(0)
					for p := range k {
						sum += (array.Int64At(xb, (b*m+i)*k+p) - xz) * (array.Int64At(wb, (b*k+p)*n+ch) - wz)
					}
					want = append(want, c.expect(sum, ch, len(want)))
				}
			}
		}
		kerneltest.QLevels(t, func(level string) {
			w := &par.Workspace{}
			s := QMatMul{ReLU: c.relu, Max: c.max}
			s.Run(w, []*array.Array{c.out}, c.in())
			requireValues(t, want, c.out, "%s %v", level, shapes)
			require.LessOrEqual(t, w.HighWater(), s.ScratchBytes([]*array.Array{c.out}, c.in()))
		})
	}
}
