package attention

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/blocks"
	"github.com/gofx-dev/gofx/kernel/internal/cpu"
	"github.com/gofx-dev/gofx/kernel/internal/half"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// inBytes are the blocks that rows of a are rounded to, laid out as bytes lie in a layout of attentionSizes.build.
func inBytes(a *array.Array, layout string) *array.Array {
	shape := append([]int{}, a.Shape()...)
	n := len(shape)
	flat := array.Contiguous(a)
	shape[n-1] = shape[n-1] / byteElements * byteStored
	out := array.New(array.U8, shape...)
	half.Quantize(array.Data[uint8](out), array.Data[float32](flat))
	switch {
	case layout == "heads" && n >= 3:
		turned := array.Contiguous(turnedHeads(out))
		return turnedHeads(turned)
	case layout == "strided":
		// Bytes of a row are three apart.
		wide := array.New(array.U8, append(shape, 3)...)
		view := array.Select(wide, -1, 1)
		array.Copy(view, out)
		return view
	}
	return out
}

// turnedHeads is a with the axes of heads and rows in turn.
func turnedHeads(a *array.Array) *array.Array {
	perm := make([]int, a.Rank())
	for i := range perm {
		perm[i] = i
	}
	n := len(perm)
	perm[n-2], perm[n-3] = n-3, n-2
	return array.Permute(a, perm...)
}

// inFloats are the floats that rows of blocks stand for.
func inFloats(a *array.Array) *array.Array {
	flat := array.Contiguous(a)
	shape := append([]int{}, a.Shape()...)
	shape[len(shape)-1] = shape[len(shape)-1] / byteStored * byteElements
	out := array.New(array.F32, shape...)
	blocks.Lookup("Q8_0").Decode(array.Data[float32](out), array.Data[uint8](flat))
	return out
}

// roundedQuery are the floats that queries times the scale are rounded to.
func roundedQuery(q *array.Array, scale float32) *array.Array {
	out := array.New(array.F32, q.Shape()...)
	to := array.Data[float32](out)
	for i := range to {
		to[i] = float32(array.Float64At(q, i)) * scale
	}
	for at := 0; at < len(to); at += byteElements {
		var block [byteQuery]uint8
		half.RoundQuery(block[:], to[at:at+byteElements])
		d := *(*float32)(unsafe.Pointer(&block[byteElements+4]))
		for i := range byteElements {
			to[at+i] = float32(int8(block[i])) * d
		}
	}
	return out
}

// byteCase is an attention over bytes, and the one in floats that it stands for.
type byteCase struct {
	BlockAttention
	attentionCase
	bytes []*array.Array // the operands
}

func (s attentionSizes) buildBytes(r *rand.Rand, dt array.DType, layout string) *byteCase {
	c := s.build(r, array.F32, "contiguous")
	b := &byteCase{BlockAttention: BlockAttention{Format: "Q8_0", IsCausal: s.attrs.IsCausal, EnableGqa: s.attrs.EnableGqa, HasScale: s.attrs.HasScale, Scale: s.attrs.Scale}, attentionCase: *c}
	scale := float32(s.attrs.Scale)
	if !s.attrs.HasScale {
		scale = float32(1 / math.Sqrt(float64(c.q.Dim(-1))))
	}
	q := array.Cast(c.q, dt)
	if layout == "strided" {
		wide := array.New(dt, append(append([]int{}, q.Shape()...), 2)...)
		view := array.Select(wide, -1, 1)
		array.Copy(view, q)
		q = view
	}
	k, v := inBytes(c.k, layout), inBytes(c.v, layout)
	if c.mask != nil && !s.bool {
		c.mask = array.Cast(c.mask, dt)
		b.attentionCase.mask = c.mask
	}
	b.bytes = []*array.Array{q, k, v, c.mask}
	b.attentionCase.q, b.attentionCase.k, b.attentionCase.v = roundedQuery(q, scale), inFloats(k), inFloats(v)
	b.attentionCase.HasScale, b.attentionCase.Attention.Scale = true, 1
	b.out = array.New(dt, c.out.Shape()...)
	return b
}

var byteTable = []attentionSizes{
	{name: "matrices", q: []int{3, 32}, k: []int{5, 32}, v: []int{5, 32}},
	{name: "one of one", q: []int{2, 3, 1, 32}, k: []int{2, 3, 1, 32}, v: []int{2, 3, 1, 64}},
	{name: "odd groups", attrs: Attention{EnableGqa: true}, q: []int{3, 7, 1, 96}, k: []int{3, 1, 65, 96}, v: []int{3, 1, 65, 32}},
	{name: "groups of a block of queries", attrs: Attention{EnableGqa: true}, q: []int{1, 9, 33, 32}, k: []int{1, 3, 63, 32}, v: []int{1, 3, 63, 32}},
	{name: "heads", q: []int{2, 3, 37, 64}, k: []int{2, 3, 130, 64}, v: []int{2, 3, 130, 96}},
	{name: "one query", q: []int{2, 1, 64}, k: []int{2, 77, 64}, v: []int{2, 77, 64}},
	{name: "wide", q: []int{33, 320}, k: []int{65, 320}, v: []int{65, 32}},
	{name: "broadcast", q: []int{2, 3, 4, 32}, k: []int{3, 5, 32}, v: []int{1, 1, 5, 64}},
	{name: "causal", attrs: Attention{IsCausal: true}, q: []int{2, 70, 32}, k: []int{2, 70, 32}, v: []int{2, 70, 32}},
	{name: "causal, more keys", attrs: Attention{IsCausal: true}, q: []int{35, 32}, k: []int{150, 32}, v: []int{150, 32}},
	{name: "scale", attrs: Attention{HasScale: true, Scale: 0.5}, q: []int{2, 9, 96}, k: []int{2, 9, 96}, v: []int{2, 9, 96}},
	{name: "groups", attrs: Attention{EnableGqa: true}, q: []int{2, 6, 5, 64}, k: []int{2, 2, 9, 64}, v: []int{2, 3, 9, 32}},
	{name: "float mask", q: []int{2, 3, 40, 32}, k: []int{2, 3, 70, 32}, v: []int{2, 3, 70, 32}, mask: []int{2, 1, 40, 70}},
	{name: "row mask", q: []int{2, 40, 32}, k: []int{2, 70, 32}, v: []int{2, 70, 32}, mask: []int{70}},
	{name: "column mask", q: []int{2, 40, 32}, k: []int{2, 70, 32}, v: []int{2, 70, 32}, mask: []int{40, 1}},
	{name: "bool mask", q: []int{2, 3, 40, 32}, k: []int{2, 3, 70, 32}, v: []int{2, 3, 70, 32}, mask: []int{40, 70}, bool: true},
	{name: "padding", q: []int{2, 3, 40, 32}, k: []int{2, 3, 170, 32}, v: []int{2, 3, 170, 32}, mask: []int{2, 1, 1, 170}, bool: true},
	{name: "no batch", q: []int{0, 3, 40, 32}, k: []int{0, 3, 70, 32}, v: []int{0, 3, 70, 32}},
	{name: "no queries", q: []int{3, 0, 32}, k: []int{3, 70, 32}, v: []int{3, 70, 32}},
	{name: "no keys", q: []int{3, 5, 32}, k: []int{3, 0, 32}, v: []int{3, 0, 32}},
	{name: "no depth", q: []int{3, 5, 0}, k: []int{3, 7, 0}, v: []int{3, 7, 32}},
	{name: "no features", q: []int{3, 5, 32}, k: []int{3, 7, 32}, v: []int{3, 7, 0}},
}

// Attention over bytes is that over what keys and values stand for, by queries that are rounded.
func TestBlockAttention(t *testing.T) {
	kerneltest.QLevels(t, func(level string) {
		for _, s := range byteTable {
			for _, dt := range []array.DType{array.F32, array.F16, array.BF16} {
				for _, layout := range []string{"contiguous", "strided", "heads"} {
					if dt != array.F32 && layout == "contiguous" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%v/%s", level, s.name, dt, layout), func(t *testing.T) {
						c := s.buildBytes(rand.New(rand.NewPCG(3, 4)), dt, layout)
						kerneltest.RunStep(t, c.BlockAttention, []*array.Array{c.out}, c.bytes)
						kerneltest.RequireClose(t, c.want(), c.out)
					})
				}
			}
		}
	})
}

// Queries have the bits that each has alone: in other numbers, with other threads, and where a mask hides the keys that a shorter text lacks.
func TestBlockAttentionHasOneOrder(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		const keys, queries = 150, 75
		s := attentionSizes{attrs: Attention{EnableGqa: true}, q: []int{1, 6, queries, 64}, k: []int{1, 2, keys, 64}, v: []int{1, 2, keys, 64}, mask: []int{1, 1, queries, keys}, bool: true}
		c := s.buildBytes(rand.New(rand.NewPCG(5, 6)), array.F32, "contiguous")
		mask := array.Raw[bool](c.mask)
		for i := range mask {
			mask[i] = i%keys <= keys-queries+i/keys // up to its own
		}
		for _, threads := range []int{1, 3} {
			c.Run(&par.Workspace{Threads: threads}, []*array.Array{c.out}, c.bytes)
			for _, n := range []int{1, 2, 4, 17, 33} {
				for at := 0; at+n <= queries; at += n {
					upTo := keys - queries + at + n
					part := func(a *array.Array, dim, from, to int) *array.Array { return array.Slice(a, dim, from, to, 1) }
					in := []*array.Array{part(c.bytes[0], 2, at, at+n), part(c.bytes[1], 2, 0, upTo), part(c.bytes[2], 2, 0, upTo), part(part(c.mask, 2, at, at+n), 3, 0, upTo)}
					got := array.New(array.F32, 1, 6, n, 64)
					c.Run(&par.Workspace{Threads: threads}, []*array.Array{got}, in)
					kerneltest.RequireEqualArrays(t, array.Contiguous(part(c.out, 2, at, at+n)), got, n, at, threads)
				}
			}
		}
	})
}

// Run is that of the kernel over bytes.
func (c *byteCase) Run(w *par.Workspace, out, in []*array.Array) { c.BlockAttention.Run(w, out, in) }

// Scores have the bits of the twin in Go, mixed values are as close as roundings, and nothing outside of operands is touched. Keys may have the byte -128,
// and scales be zero, subnormal or not finite.
func TestByteParts(t *testing.T) {
	unusual := []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.NaN()), 1e-6, 1e-40}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kerneltest.QLevels(t, func(level string) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, before := range []bool{false, true} {
			draw := func(n int) []float32 { return kerneltest.GuardedFloats(t, r, n, before) }
			ofBytes := func(words int) []uint8 {
				f := draw(words)
				b := unsafe.Slice((*uint8)(unsafe.Pointer(&f[0])), 4*words)
				for i := range b {
					b[i] = uint8(r.Uint32())
				}
				return b
			}
			for rows := 1; rows < 12; rows++ {
				for _, count := range []int{1, 2, 3} {
					q, k, scale, c := ofBytes(rows*count*byteQuery/4), ofBytes(count*attentionKeys*byteWords), draw(count*attentionKeys), draw(rows*attentionKeys)
					x := draw(rows * count * byteElements)
					for i := range rows * count {
						half.RoundQuery(q[i*byteQuery:][:byteQuery], x[i*byteElements:][:byteElements])
					}
					k[r.IntN(len(k))] = 128
					for range 4 {
						scale[r.IntN(len(scale))] = unusual[r.IntN(len(unusual))]
						binary.LittleEndian.PutUint32(q[r.IntN(rows*count)*byteQuery+byteElements+4:], math.Float32bits(unusual[r.IntN(len(unusual))]))
					}
					products := &byteScores{rows: rows, blocks: count, q: q, k: k, scale: scale, c: c}
					products.run(cpu.Host.Level)
					want := make([]float32, attentionKeys)
					for i := range rows {
						products.row(i, want)
						kerneltest.RequireSame(t, want, c[i*attentionKeys:][:attentionKeys], level, rows, count, i)
					}
					keys, ld := 1+r.IntN(attentionKeys), byteStride(count)
					v, p, mix := ofBytes((keys*ld)/4), draw(rows*attentionKeys), draw(rows*count*byteElements)
					for i := range keys {
						for b := range count {
							block := v[i*ld+b*byteStored:][:byteStored]
							half.Quantize(block, draw(byteElements))
							if r.IntN(40) == 0 { // zeros too, whose scale is 0
								half.Quantize(block, slices.Repeat([]float32{unusual[r.IntN(len(unusual))]}, byteElements))
							}
						}
					}
					wantMix := append([]float32{}, mix...)
					(&byteValues{rows, count, keys, p, v, ld, wantMix}).run(cpu.Generic)
					(&byteValues{rows, count, keys, p, v[:(keys-1)*ld+count*byteStored], ld, mix}).run(cpu.Host.Level)
					for i, v := range mix {
						if same := v == wantMix[i] || v != v && wantMix[i] != wantMix[i]; !same {
							require.InDelta(t, wantMix[i], v, 1e-4, "%s, %d rows, %d blocks, %d keys", level, rows, count, keys)
						}
					}
				}
			}
		}
	})
}

// What is not finite has the effect that it has in softmax: in queries, in keys' and values' scales, and where masks hide it.
func TestBlockAttentionSpecial(t *testing.T) {
	inf := float32(math.Inf(1))
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, change := range map[string]func(q, k, v *array.Array){
			"NaN in q": func(q, _, _ *array.Array) { array.SetFloat64At(q, 40, math.NaN()) },
			"NaN in k": func(_, k, _ *array.Array) { half.Quantize(array.Raw[uint8](k)[:34], append(make([]float32, 31), inf)) },
			"NaN in v": func(_, _, v *array.Array) { half.Quantize(array.Raw[uint8](v)[:34], append(make([]float32, 31), -inf)) },
		} {
			s := attentionSizes{q: []int{1, 3, 32}, k: []int{1, 70, 32}, v: []int{1, 70, 32}}
			c := s.buildBytes(rand.New(rand.NewPCG(3, 4)), array.F32, "contiguous")
			change(c.bytes[0], c.bytes[1], c.bytes[2])
			c.Run(&par.Workspace{}, []*array.Array{c.out}, c.bytes[:3])
			first := array.Float64At(c.out, 0)
			require.Equal(t, name != "NaN in q", math.IsNaN(first), name)
			if name == "NaN in q" {
				require.True(t, math.IsNaN(array.Float64At(c.out, 33)))
				continue
			}
			mask := array.New(array.Bool, 3, 70) // hides the first tile
			for i := range mask.Len() {
				array.SetInt64At(mask, i, int64(i%70/64))
			}
			c.Run(&par.Workspace{}, []*array.Array{c.out}, append(c.bytes[:3:3], mask))
			require.False(t, math.IsNaN(array.Float64At(c.out, 0)), name)
		}
	})
}

func TestBlockAttentionRefuses(t *testing.T) {
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	b := func(shape ...int) *array.Array { return array.New(array.U8, shape...) }
	for name, c := range map[string]struct {
		format            string
		out, q, k, v, msk *array.Array
	}{
		"format": {"Q4_0", f(3, 32), f(3, 32), b(5, 34), b(5, 34), nil},
		"depth":  {"Q8_0", f(3, 32), f(3, 64), b(5, 34), b(5, 34), nil},
		"blocks": {"Q8_0", f(3, 32), f(3, 32), b(5, 33), b(5, 34), nil},
		"keys":   {"Q8_0", f(3, 32), f(3, 32), b(5, 34), b(6, 34), nil},
		"result": {"Q8_0", f(3, 64), f(3, 32), b(5, 34), b(5, 34), nil},
		"f64":    {"Q8_0", array.New(array.F64, 3, 32), array.New(array.F64, 3, 32), b(5, 34), b(5, 34), nil},
		"floats": {"Q8_0", f(3, 32), f(3, 32), f(5, 34), f(5, 34), nil},
		"heads":  {"Q8_0", f(4, 3, 32), f(4, 3, 32), b(2, 5, 34), b(2, 5, 34), nil},
		"mask":   {"Q8_0", f(3, 32), f(3, 32), b(5, 34), b(5, 34), f(3, 4)},
	} {
		require.Panics(t, func() {
			BlockAttention{Format: c.format}.Run(&par.Workspace{}, []*array.Array{c.out}, []*array.Array{c.q, c.k, c.v, c.msk})
		}, name)
	}
}

func TestBlockAttentionDoesNotAllocate(t *testing.T) {
	for _, layout := range []string{"contiguous", "strided"} {
		for _, queries := range []int{1, 60} {
			c := attentionSizes{attrs: Attention{EnableGqa: true}, q: []int{1, 4, queries, 64}, k: []int{1, 2, 90, 64}, v: []int{1, 2, 90, 64}, mask: []int{1, 1, 1, 90}, bool: true}.
				buildBytes(rand.New(rand.NewPCG(3, 4)), array.F16, layout)
			kerneltest.RequireNoAllocs(t, c.BlockAttention, []*array.Array{c.out}, c.bytes)
		}
	}
}
