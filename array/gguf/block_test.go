package gguf

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
)

// halfOf returns a random scale that is f16 exactly, and its bytes.
func halfOf(r *rand.Rand) (float32, []byte) {
	h := array.HalfFromFloat32(float32(r.NormFloat64()))
	return h.Float32(), le(uint16(h))
}

// quants returns n random numbers below most.
func quants(r *rand.Rand, n, most int) []int {
	q := make([]int, n)
	for i := range q {
		q[i] = r.IntN(most)
	}
	return q
}

// setBits writes the lowest n bits of v at a bit of b.
func setBits(b []byte, at, n, v int) {
	for k := range n {
		b[(at+k)/8] |= byte(v >> k & 1 << ((at + k) % 8))
	}
}

// The encoders make a block of random elements, and the values that it stands for.
var encoders = map[uint32]func(r *rand.Rand) (b []byte, x []float32){
	2: func(r *rand.Rand) ([]byte, []float32) { return encode32(r, 4, 8, false) },
	3: func(r *rand.Rand) ([]byte, []float32) { return encode32(r, 4, 0, true) },
	6: func(r *rand.Rand) ([]byte, []float32) { return encode32(r, 5, 16, false) },
	7: func(r *rand.Rand) ([]byte, []float32) { return encode32(r, 5, 0, true) },
	8: func(r *rand.Rand) (b []byte, x []float32) {
		d, b := halfOf(r)
		for _, q := range quants(r, 32, 256) {
			b = append(b, byte(q-128))
			x = append(x, float32(q-128)*d)
		}
		return b, x
	},
	10: encode2K,
	11: encode3K,
	12: func(r *rand.Rand) ([]byte, []float32) { return encode45K(r, false) },
	13: func(r *rand.Rand) ([]byte, []float32) { return encode45K(r, true) },
	14: encode6K,
}

// encode32 makes a block of 32 elements of 4 or 5 bits.
func encode32(r *rand.Rand, bits, zero int, least bool) (b []byte, x []float32) {
	d, b := halfOf(r)
	m := float32(0)
	if least {
		var mb []byte
		m, mb = halfOf(r)
		b = append(b, mb...)
	}
	q := quants(r, 32, 1<<bits)
	high, low := make([]byte, 4), make([]byte, 16)
	for j, v := range q {
		setBits(high, j, 1, v>>4)
		setBits(low, j%16*8+j/16*4, 4, v&15)
		y := float32(d * float32(v-zero))
		if least {
			y += m
		}
		x = append(x, y)
	}
	if bits == 5 {
		b = append(b, high...)
	}
	return append(b, low...), x
}

func encode2K(r *rand.Rand) (b []byte, x []float32) {
	d, db := halfOf(r)
	dmin, mb := halfOf(r)
	s, m, q := quants(r, 16, 16), quants(r, 16, 16), quants(r, 256, 4)
	scales, qs := make([]byte, 16), make([]byte, 64)
	for i := range s {
		scales[i] = byte(s[i] + 16*m[i])
	}
	// Two halves of 128; in each, 32 bytes hold four runs of 32.
	for h := range 2 {
		for run := range 4 {
			for l := range 32 {
				setBits(qs, (32*h+l)*8+2*run, 2, q[128*h+32*run+l])
			}
		}
	}
	for i, v := range q {
		ds, dm := d*float32(s[i/16]), dmin*float32(m[i/16])
		x = append(x, float32(ds*float32(v))-dm)
	}
	return bytes.Join([][]byte{scales, qs, db, mb}, nil), x
}

func encode3K(r *rand.Rand) (b []byte, x []float32) {
	d, db := halfOf(r)
	s, q := quants(r, 16, 64), quants(r, 256, 8)
	high, low, scales := make([]byte, 32), make([]byte, 64), make([]byte, 12)
	for g, v := range s {
		setBits(scales, g%8*8+g/8*4, 4, v&15)
		setBits(scales, (8+g%4)*8+g/4*2, 2, v>>4)
	}
	for h := range 2 {
		for run := range 4 {
			for l := range 32 {
				v := q[128*h+32*run+l]
				setBits(low, (32*h+l)*8+2*run, 2, v&3)
				setBits(high, l*8+4*h+run, 1, v>>2)
			}
		}
	}
	for i, v := range q {
		ds := d * float32(s[i/16]-32)
		x = append(x, ds*float32(v-4))
	}
	return bytes.Join([][]byte{high, low, scales, db}, nil), x
}

func encode45K(r *rand.Rand, five bool) (b []byte, x []float32) {
	d, db := halfOf(r)
	dmin, mb := halfOf(r)
	most := 16
	if five {
		most = 32
	}
	s, m, q := quants(r, 8, 64), quants(r, 8, 64), quants(r, 256, most)
	scales, high, low := make([]byte, 12), make([]byte, 32), make([]byte, 128)
	for g := range 4 {
		setBits(scales, g*8, 6, s[g])
		setBits(scales, (g+4)*8, 6, m[g])
		setBits(scales, (g+8)*8, 4, s[g+4]&15)
		setBits(scales, (g+8)*8+4, 4, m[g+4]&15)
		setBits(scales, g*8+6, 2, s[g+4]>>4)
		setBits(scales, (g+4)*8+6, 2, m[g+4]>>4)
	}
	for pair := range 4 {
		for l := range 32 {
			for k := range 2 {
				v := q[64*pair+32*k+l]
				setBits(low, (32*pair+l)*8+4*k, 4, v&15)
				setBits(high, l*8+2*pair+k, 1, v>>4)
			}
		}
	}
	for i, v := range q {
		ds, dm := d*float32(s[i/32]), dmin*float32(m[i/32])
		x = append(x, float32(ds*float32(v))-dm)
	}
	if five {
		scales = append(scales, high...)
	}
	return bytes.Join([][]byte{db, mb, scales, low}, nil), x
}

func encode6K(r *rand.Rand) (b []byte, x []float32) {
	d, db := halfOf(r)
	s, q := quants(r, 16, 256), quants(r, 256, 64)
	low, high, scales := make([]byte, 128), make([]byte, 64), make([]byte, 16)
	for i, v := range s {
		scales[i] = byte(v - 128)
	}
	for h := range 2 {
		for l := range 32 { // as the reference takes them apart, four at a time
			at := 128*h + l
			setBits(low, (64*h+l)*8, 4, q[at]&15)
			setBits(low, (64*h+32+l)*8, 4, q[at+32]&15)
			setBits(low, (64*h+l)*8+4, 4, q[at+64]&15)
			setBits(low, (64*h+32+l)*8+4, 4, q[at+96]&15)
			for k := range 4 {
				setBits(high, (32*h+l)*8+2*k, 2, q[at+32*k]>>4)
			}
		}
	}
	for i, v := range q {
		ds := d * float32(s[i/16]-128)
		x = append(x, ds*float32(v-32))
	}
	return bytes.Join([][]byte{low, high, scales, db}, nil), x
}

// Every readable block type decodes to the values that an encoder of its layout was
// given.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n, k := range kinds {
		encode := encoders[uint32(n)]
		require.Equal(t, k.packed != nil, encode != nil, "an encoder of %s", k.name)
		if encode == nil {
			continue
		}
		e := entry{name: "w", dims: []uint64{uint64(2 * k.block), 3}, kind: uint32(n)}
		var want []float32
		for range 6 {
			b, x := encode(r)
			require.Len(t, b, k.bytes, k.name)
			require.Len(t, x, k.block, k.name)
			e.data, want = append(e.data, b...), append(want, x...)
		}
		f, err := Parse(file(3, 0, nil, 32, e))
		require.NoError(t, err)
		got, err := f.Get("w")
		require.NoError(t, err)
		require.Equal(t, k.name, f.Format("w"))
		require.Equal(t, []int{3, 2 * k.block}, got.Shape())
		require.Equal(t, want, array.Data[float32](got), k.name)
	}
}

// Matrices of blocks and of 16 bits as they are stand for the floats that Get returns, and share
// the file's memory.
func TestBlocksAsStored(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	n := 0
	for number, k := range kinds {
		format := blocks.Lookup(k.name)
		if format == nil {
			continue
		}
		n++
		e := entry{name: "w", dims: []uint64{uint64(2 * k.block), 3}, kind: uint32(number)}
		for range 6 {
			if encode := encoders[uint32(number)]; encode != nil {
				b, _ := encode(r)
				e.data = append(e.data, b...)
			} else {
				e.data = append(e.data, byte(r.IntN(256)), byte(r.IntN(0x70)))
			}
		}
		src := file(3, 0, nil, 32, e)
		f, err := Parse(src)
		require.NoError(t, err)
		w, name, ok, err := f.Blocks("w")
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, k.name, name)
		require.Equal(t, []int{3, 2 * k.bytes}, w.Shape())
		require.Same(t, &src[bytes.Index(src, e.data)], &array.Data[uint8](w)[0])
		x, err := f.Get("w")
		require.NoError(t, err)
		got := make([]float32, x.Len())
		format.Decode(got, array.Data[uint8](w))
		require.Equal(t, array.Data[float32](array.Contiguous(array.Cast(x, array.F32))), got, k.name)
	}
	require.Equal(t, len(blocks.Names()), n)
	f, err := Parse(file(3, 0, nil, 32, entry{"v", []uint64{32}, q4_0, make([]byte, 18)}, entry{"f", []uint64{1, 1}, 0, make([]byte, 4)}))
	require.NoError(t, err)
	for _, name := range []string{"v", "f"} {
		_, _, ok, err := f.Blocks(name)
		require.NoError(t, err)
		require.False(t, ok)
	}
	_, _, _, err = f.Blocks("none")
	require.ErrorIs(t, err, CodeName)
}
