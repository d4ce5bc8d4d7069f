package attention

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel/internal/kerneltest"
	"github.com/gofx-dev/gofx/kernel/internal/par"
)

// attentionCase is an attention with its operands.
type attentionCase struct {
	Attention
	out, q, k, v *array.Array
	mask         *array.Array
}

func (c *attentionCase) in() []*array.Array { return []*array.Array{c.q, c.k, c.v, c.mask} }

// broadcastAt returns the element of a for a position that a broadcasts to; heads, when set,
// are repeated.
func broadcastAt(a *array.Array, pos []int, heads int) float64 {
	pos = append([]int{}, pos[len(pos)-a.Rank():]...)
	for d := range pos {
		switch n := a.Dim(d); {
		case n == 1:
			pos[d] = 0
		case heads > 0 && d == a.Rank()-3:
			pos[d] /= heads / n
		}
	}
	at := kerneltest.ElemAt(a, pos)
	switch a.DType() {
	case array.Bool:
		if array.Raw[bool](a)[at] {
			return 1
		}
		return 0
	case array.F32:
		return float64(array.Raw[float32](a)[at])
	case array.F64:
		return array.Raw[float64](a)[at]
	case array.F16:
		return float64(array.Raw[array.Half](a)[at].Float32())
	}
	return float64(array.Raw[array.BFloat](a)[at].Float32())
}

// want computes the definition in float64.
func (c *attentionCase) want() kerneltest.RefArray {
	want := kerneltest.NewRef(append([]int{}, c.out.Shape()...)...)
	scale := c.Scale
	if !c.HasScale {
		scale = 1 / math.Sqrt(float64(c.q.Dim(-1)))
	}
	heads := 0
	if c.EnableGqa {
		heads = c.out.Dim(-3)
	}
	rank := c.out.Rank()
	var weights []float64
	var high float64
	var some bool
	kerneltest.EachPos(want.Shape, func(pos []int) {
		pos = append([]int{}, pos...)
		query, feature := pos[rank-2], pos[rank-1]
		if feature == 0 {
			weights, high, some = make([]float64, c.k.Dim(-2)), math.Inf(-1), false
		}
		for s := range weights {
			if feature > 0 {
				break
			}
			for e := range c.q.Dim(-1) {
				pos[rank-2], pos[rank-1] = query, e
				x := broadcastAt(c.q, pos, 0) * scale
				pos[rank-2] = s
				weights[s] += x * broadcastAt(c.k, pos, heads)
			}
			keep := !c.IsCausal || s <= query
			if c.mask != nil {
				pos[rank-2], pos[rank-1] = query, s
				if m := broadcastAt(c.mask, pos, 0); c.mask.DType() == array.Bool {
					keep = m != 0
				} else {
					weights[s] += m
				}
			}
			some = some || keep
			if !keep {
				weights[s] = math.Inf(-1)
			}
			if weights[s] > high || math.IsNaN(weights[s]) {
				high = weights[s]
			}
		}
		sum, total := 0.0, 0.0
		for s, x := range weights {
			pos[rank-2], pos[rank-1] = s, feature
			sum += math.Exp(x - high)
			total += math.Exp(x-high) * broadcastAt(c.v, pos, heads)
		}
		pos[rank-2], pos[rank-1] = query, feature
		if some {
			want.Set(total/sum, pos...)
		}
	})
	return want
}

func (c *attentionCase) check(t *testing.T) {
	t.Helper()
	kerneltest.RunStep(t, c.Attention, []*array.Array{c.out}, c.in())
	kerneltest.RequireClose(t, c.want(), c.out)
}

// randomMask draws a mask of bool; every third query of it has no key.
func randomMask(r *rand.Rand, shape ...int) *array.Array {
	a := array.New(array.Bool, shape...)
	kerneltest.EachPos(shape, func(pos []int) {
		hidden := len(pos) > 1 && shape[len(pos)-2] > 1 && pos[len(pos)-2]%3 == 1
		array.Raw[bool](a)[kerneltest.ElemAt(a, pos)] = !hidden && r.IntN(3) > 0
	})
	return a
}

type attentionSizes struct {
	name          string
	attrs         Attention
	q, k, v, mask []int
	bool          bool
}

var attentionTable = []attentionSizes{
	{name: "matrices", q: []int{3, 4}, k: []int{5, 4}, v: []int{5, 2}},
	{name: "one", q: []int{1, 1}, k: []int{1, 1}, v: []int{1, 1}},
	{name: "heads", q: []int{2, 3, 37, 8}, k: []int{2, 3, 130, 8}, v: []int{2, 3, 130, 16}},
	{name: "one query", q: []int{2, 1, 64}, k: []int{2, 77, 64}, v: []int{2, 77, 64}},
	{name: "few queries", q: []int{2, 4, 7}, k: []int{2, 135, 7}, v: []int{2, 135, 5}},
	{name: "wide", q: []int{33, 300}, k: []int{65, 300}, v: []int{65, 33}},
	{name: "broadcast", q: []int{2, 3, 4, 8}, k: []int{3, 5, 8}, v: []int{1, 1, 5, 2}},
	{name: "causal", attrs: Attention{IsCausal: true}, q: []int{2, 70, 9}, k: []int{2, 70, 9}, v: []int{2, 70, 17}},
	{name: "causal, more keys", attrs: Attention{IsCausal: true}, q: []int{35, 4}, k: []int{150, 4}, v: []int{150, 4}},
	{name: "causal, more queries", attrs: Attention{IsCausal: true}, q: []int{135, 4}, k: []int{50, 4}, v: []int{50, 4}},
	{name: "scale", attrs: Attention{HasScale: true, Scale: 0.5}, q: []int{2, 9, 6}, k: []int{2, 9, 6}, v: []int{2, 9, 6}},
	{name: "groups", attrs: Attention{EnableGqa: true}, q: []int{2, 6, 5, 8}, k: []int{2, 2, 9, 8}, v: []int{2, 3, 9, 4}},
	{name: "float mask", q: []int{2, 3, 40, 8}, k: []int{2, 3, 70, 8}, v: []int{2, 3, 70, 8}, mask: []int{2, 1, 40, 70}},
	{name: "few queries, float mask", q: []int{2, 3, 9}, k: []int{2, 70, 9}, v: []int{2, 70, 8}, mask: []int{3, 70}},
	{name: "few queries, bool mask", q: []int{2, 3, 9}, k: []int{2, 70, 9}, v: []int{2, 70, 8}, mask: []int{2, 3, 70}, bool: true},
	{name: "few queries, causal", attrs: Attention{IsCausal: true}, q: []int{2, 4, 9}, k: []int{2, 70, 9}, v: []int{2, 70, 8}},
	{name: "row mask", q: []int{2, 40, 8}, k: []int{2, 70, 8}, v: []int{2, 70, 8}, mask: []int{70}},
	{name: "column mask", q: []int{2, 40, 8}, k: []int{2, 70, 8}, v: []int{2, 70, 8}, mask: []int{40, 1}},
	{name: "scalar mask", q: []int{2, 4, 8}, k: []int{2, 7, 8}, v: []int{2, 7, 8}, mask: []int{}},
	{name: "bool mask", q: []int{2, 3, 40, 8}, k: []int{2, 3, 70, 8}, v: []int{2, 3, 70, 8}, mask: []int{40, 70}, bool: true},
	{name: "padding", q: []int{2, 3, 40, 8}, k: []int{2, 3, 170, 8}, v: []int{2, 3, 170, 8}, mask: []int{2, 1, 1, 170}, bool: true},
	{name: "no batch", q: []int{0, 3, 40, 8}, k: []int{0, 3, 70, 8}, v: []int{0, 3, 70, 8}},
	{name: "no queries", q: []int{3, 0, 8}, k: []int{3, 70, 8}, v: []int{3, 70, 8}},
	{name: "no keys", q: []int{3, 5, 8}, k: []int{3, 0, 8}, v: []int{3, 0, 8}},
	{name: "no depth", q: []int{3, 5, 0}, k: []int{3, 7, 0}, v: []int{3, 7, 18}},
	{name: "no features", q: []int{3, 5, 2}, k: []int{3, 7, 2}, v: []int{3, 7, 0}},
}

// build draws the operands: contiguous, strided in every dimension, or as views of
// [..., L, H, E] whose matrices have rows far apart.
func (s attentionSizes) build(r *rand.Rand, dt array.DType, layout string) *attentionCase {
	draw := func(shape []int) *array.Array {
		if shape == nil {
			return nil
		}
		if n := len(shape); layout == "heads" && n >= 3 {
			inner := append([]int{}, shape...)
			inner[n-2], inner[n-3] = inner[n-3], inner[n-2]
			perm := make([]int, n)
			for i := range perm {
				perm[i] = i
			}
			perm[n-2], perm[n-3] = n-3, n-2
			return array.Permute(kerneltest.ToArray(kerneltest.RandomRef(r, inner), dt, false), perm...)
		}
		return kerneltest.ToArray(kerneltest.RandomRef(r, shape), dt, layout == "strided")
	}
	c := &attentionCase{Attention: s.attrs, q: draw(s.q), k: draw(s.k), v: draw(s.v)}
	if s.bool {
		c.mask = randomMask(r, s.mask...)
	} else {
		c.mask = draw(s.mask)
	}
	n := max(len(s.q), len(s.k))
	shape := make([]int, n)
	for i := range n {
		shape[i] = max(fromEnd(s.q, n-i, 1), fromEnd(s.k, n-i, 1))
		if fromEnd(s.q, n-i, 1) == 0 {
			shape[i] = 0
		}
	}
	shape[n-2], shape[n-1] = s.q[len(s.q)-2], s.v[len(s.v)-1]
	c.out = array.New(dt, shape...)
	return c
}

func TestAttention(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, s := range attentionTable {
			for _, dt := range []array.DType{array.F32, array.F64, array.F16, array.BF16} {
				for _, layout := range []string{"contiguous", "strided", "heads"} {
					if dt != array.F32 && layout == "contiguous" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%v/%s", s.name, dt, layout), func(t *testing.T) {
						s.build(rand.New(rand.NewPCG(3, 4)), dt, layout).check(t)
					})
				}
			}
		}
	})
}

// Sizes around those of blocks and tiles.
func TestAttentionSizes(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for range 60 {
			batch := 1 + r.IntN(3)
			queries, keys, depth, features := 1+r.IntN(70), 1+r.IntN(140), 1+r.IntN(40), 1+r.IntN(40)
			s := attentionSizes{attrs: Attention{IsCausal: r.IntN(2) == 0},
				q: []int{batch, queries, depth}, k: []int{batch, keys, depth}, v: []int{batch, keys, features}}
			if !s.attrs.IsCausal && r.IntN(2) == 0 {
				s.mask, s.bool = []int{queries, keys}, r.IntN(2) == 0
			}
			layout := []string{"contiguous", "strided", "heads"}[r.IntN(3)]
			c := s.build(r, array.F32, layout)
			kerneltest.RunStep(t, c.Attention, []*array.Array{c.out}, c.in())
			kerneltest.RequireClose(t, c.want(), c.out)
		}
	})
}

// A result may lie as [B, L, H, V] does.
func TestAttentionStridedResult(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, dt := range []array.DType{array.F32, array.F64, array.F16} {
			for _, features := range []int{16, 7} {
				c := attentionSizes{q: []int{2, 3, 37, 8}, k: []int{2, 3, 11, 8}, v: []int{2, 3, 11, features}}.
					build(rand.New(rand.NewPCG(3, 4)), dt, "heads")
				memory := array.New(dt, 2, 37, 3, features)
				c.out = array.Permute(memory, 0, 2, 1, 3)
				c.Attention.Run(&par.Workspace{}, []*array.Array{c.out}, c.in())
				kerneltest.RequireClose(t, c.want(), c.out)
			}
		}
	})
}

// A mask that hides nothing, in all tiles of keys or in some, changes no bit.
func TestAttentionMaskOfWholeTiles(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, queries := range []int{3, 40} {
			for _, shape := range [][]int{{queries, 150}, {150}, {1, 1}, {2, queries, 150}} {
				s := attentionSizes{q: []int{2, queries, 8}, k: []int{2, 150, 8}, v: []int{2, 150, 5}, mask: shape, bool: true}
				c := s.build(rand.New(rand.NewPCG(7, 8)), array.F32, "contiguous")
				array.SetFloat64At(c.q, 3, math.NaN())
				array.SetFloat64At(c.k, 9, math.Inf(1))
				for i := range c.mask.Len() {
					array.SetInt64At(c.mask, i, 1)
				}
				c.Attention.Run(&par.Workspace{}, []*array.Array{c.out}, c.in())
				plain := array.New(array.F32, c.out.Shape()...)
				c.Attention.Run(&par.Workspace{}, []*array.Array{plain}, c.in()[:3])
				kerneltest.RequireEqualArrays(t, plain, c.out, shape)
			}
		}
		s := attentionSizes{q: []int{2, 40, 8}, k: []int{2, 150, 8}, v: []int{2, 150, 5}, mask: []int{40, 150}, bool: true}
		c := s.build(rand.New(rand.NewPCG(7, 8)), array.F32, "contiguous")
		for i := range c.mask.Len() {
			array.SetInt64At(c.mask, i, int64(i%150/64+1)&1) // the first and the last tile
		}
		c.check(t)
	})
}

// Heads of a group, whose few queries meet their keys together, have the bits of each alone, with any threads.
func TestAttentionGroupsOfFewQueries(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		for _, group := range []int{2, 7, 40} {
			for queries := 1; queries <= attentionFew+1; queries++ {
				heads := 3 * group
				for i, s := range []attentionSizes{{}, {mask: []int{1, 1, queries, 70}, bool: true}, {mask: []int{heads, queries, 70}}, {attrs: Attention{IsCausal: true}}} {
					s.q, s.k, s.v = []int{1, heads, queries, 8}, []int{1, 3, 70, 8}, []int{1, 3, 70, 5}
					s.attrs.EnableGqa = true
					dt := []array.DType{array.F32, array.F16}[i%2]
					c := s.build(rand.New(rand.NewPCG(9, 1)), dt, "heads")
					in := c.in()
					in[1], in[2] = repeated(in[1], group), repeated(in[2], group)
					want := array.New(dt, c.out.Shape()...)
					Attention{IsCausal: s.attrs.IsCausal}.Run(&par.Workspace{}, []*array.Array{want}, in)
					for _, threads := range []int{1, 2, 5} {
						c.Attention.Run(&par.Workspace{Threads: threads}, []*array.Array{c.out}, c.in())
						kerneltest.RequireEqualArrays(t, want, c.out, group, queries, i, threads)
					}
				}
			}
		}
	})
}

// repeated is a [N, H, S, E] with each head so many times.
func repeated(a *array.Array, times int) *array.Array {
	out := array.New(a.DType(), a.Dim(0), a.Dim(1)*times, a.Dim(2), a.Dim(3))
	matrix := a.Dim(2) * a.Dim(3)
	for i := range out.Len() {
		array.SetFloat64At(out, i, array.Float64At(a, i/matrix/times*matrix+i%matrix))
	}
	return out
}

// With HeadsLast the result lies as [B, L, H·V] does, with the same bits.
func TestAttentionHeadsLast(t *testing.T) {
	kerneltest.EachLevel(t, func(t *testing.T) {
		tried := 0
		for _, s := range attentionTable {
			n := len(s.q)
			if n < 3 || len(s.k) > n || s.name == "broadcast" {
				continue
			}
			tried++
			for _, dt := range []array.DType{array.F32, array.F64, array.F16} {
				c := s.build(rand.New(rand.NewPCG(3, 4)), dt, "heads")
				c.Attention.Run(&par.Workspace{}, []*array.Array{c.out}, c.in())
				order, shape := make([]int, n), append([]int{}, c.out.Shape()[:n-3]...)
				for i := range order {
					order[i] = i
				}
				order[n-3], order[n-2] = n-2, n-3
				shape = append(shape, c.out.Dim(-2), c.out.Dim(-3)*c.out.Dim(-1))
				want, got := array.Reshape(array.Contiguous(array.Permute(c.out, order...)), shape...), array.New(dt, shape...)
				c.HeadsLast = true
				kerneltest.RunStep(t, c.Attention, []*array.Array{got}, c.in())
				kerneltest.RequireEqualArrays(t, want, got, s.name, dt)
			}
		}
		require.Greater(t, tried, 15)
	})
	q, k := array.New(array.F32, 2, 3, 5, 8), array.New(array.F32, 2, 3, 70, 8)
	s := Attention{HeadsLast: true}
	kerneltest.RequireNoAllocs(t, s, []*array.Array{array.New(array.F32, 2, 5, 24)}, []*array.Array{q, k, k})
	for _, c := range [][]*array.Array{{array.New(array.F32, 2, 3, 5, 8), q, k, k}, {array.New(array.F32, 3, 5, 24), q, k, k}, {array.New(array.F32, 5, 8), array.New(array.F32, 5, 8), k, k}} {
		require.Panics(t, func() { s.Run(&par.Workspace{}, c[:1], c[1:]) })
	}
}

// NaN, infinities and numbers that are too large or small have the same effect as in
// softmax.
func TestAttentionSpecial(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	lowest := -float64(math.MaxFloat32)
	kerneltest.EachLevel(t, func(t *testing.T) {
		for name, change := range map[string]func(c *attentionCase){
			"NaN in q": func(c *attentionCase) { kerneltest.SetElem(c.q, []int{0, 3, 1}, nan) },
			"NaN in k": func(c *attentionCase) { kerneltest.SetElem(c.k, []int{0, 69, 1}, nan) },
			"NaN in v": func(c *attentionCase) { kerneltest.SetElem(c.v, []int{0, 69, 1}, nan) },
			"Inf in k": func(c *attentionCase) { kerneltest.SetElem(c.k, []int{0, 5, 1}, inf) },
			"hidden by floats": func(c *attentionCase) {
				c.mask = array.New(array.F32, c.q.Dim(1), 70)
				for s := range 70 {
					kerneltest.SetElem(c.mask, []int{0, s}, -inf)
					kerneltest.SetElem(c.mask, []int{1, s}, lowest)
					if s < 65 {
						kerneltest.SetElem(c.mask, []int{2, s}, -inf)
						kerneltest.SetElem(c.mask, []int{3, s}, lowest)
					}
				}
			},
			"far apart": func(c *attentionCase) {
				for s := range 70 {
					kerneltest.SetElem(c.k, []int{0, s, 0}, float64(s)*4-100)
				}
			},
			"denormal": func(c *attentionCase) {
				for s := range 70 {
					kerneltest.SetElem(c.v, []int{0, s, 0}, 1e-40)
					kerneltest.SetElem(c.k, []int{0, s, 0}, -1e-40)
				}
			},
			"causal hides NaN": func(c *attentionCase) {
				c.IsCausal = true
				kerneltest.SetElem(c.k, []int{0, 20, 1}, nan)
			},
			"mask hides NaN": func(c *attentionCase) {
				c.mask = randomMask(rand.New(rand.NewPCG(1, 1)), c.q.Dim(1), 70)
				for l := range c.q.Dim(1) {
					array.Raw[bool](c.mask)[l*70+5] = l == 0
				}
				kerneltest.SetElem(c.k, []int{0, 5, 1}, nan)
			},
		} {
			for _, queries := range []int{4, 40} {
				t.Run(fmt.Sprintf("%s/%d", name, queries), func(t *testing.T) {
					c := attentionSizes{q: []int{1, queries, 8}, k: []int{1, 70, 8}, v: []int{1, 70, 8}}.
						build(rand.New(rand.NewPCG(3, 4)), array.F32, "contiguous")
					change(c)
					c.check(t)
				})
			}
		}
	})
}

// Each query of three sees keys of weights known by hand.
func TestAttentionByHand(t *testing.T) {
	q := array.FromSlice([]float32{0, 1, 2}, 3, 1)
	k := array.FromSlice([]float32{0, float32(math.Log(3))}, 2, 1)
	v := array.FromSlice([]float32{1, 5}, 2, 1)
	out := array.New(array.F32, 3, 1)
	kerneltest.RunStep(t, Attention{HasScale: true, Scale: 1}, []*array.Array{out}, []*array.Array{q, k, v})
	require.InDeltaSlice(t, []float32{3, 4, 4.6}, array.Data[float32](out), 1e-6)
}

func TestAttentionRefuses(t *testing.T) {
	f := func(shape ...int) *array.Array { return array.New(array.F32, shape...) }
	for name, c := range map[string]attentionCase{
		"rank":        {out: f(3, 2), q: f(4), k: f(5, 4), v: f(5, 2)},
		"depth":       {out: f(3, 2), q: f(3, 4), k: f(5, 3), v: f(5, 2)},
		"keys":        {out: f(3, 2), q: f(3, 4), k: f(5, 4), v: f(6, 2)},
		"result":      {out: f(3, 3), q: f(3, 4), k: f(5, 4), v: f(5, 2)},
		"heads":       {out: f(4, 3, 2), q: f(4, 3, 4), k: f(2, 5, 4), v: f(2, 5, 2)},
		"no groups":   {Attention: Attention{EnableGqa: true}, out: f(4, 3, 2), q: f(4, 3, 4), k: f(3, 5, 4), v: f(3, 5, 2)},
		"type":        {out: f(3, 2), q: f(3, 4), k: array.New(array.F64, 5, 4), v: f(5, 2)},
		"integers":    {out: array.New(array.I32, 3, 2), q: array.New(array.I32, 3, 4), k: array.New(array.I32, 5, 4), v: array.New(array.I32, 5, 2)},
		"mask":        {out: f(3, 2), q: f(3, 4), k: f(5, 4), v: f(5, 2), mask: f(3, 4)},
		"mask's type": {out: f(3, 2), q: f(3, 4), k: f(5, 4), v: f(5, 2), mask: array.New(array.I64, 3, 5)},
		"mask's rank": {out: f(3, 2), q: f(3, 4), k: f(5, 4), v: f(5, 2), mask: f(1, 3, 5)},
	} {
		require.Panics(t, func() { c.Run(&par.Workspace{}, []*array.Array{c.out}, c.in()) }, name)
	}
}

func TestAttentionDoesNotAllocate(t *testing.T) {
	for _, layout := range []string{"contiguous", "strided", "heads"} {
		for _, dt := range []array.DType{array.F32, array.BF16, array.F64} {
			c := attentionSizes{q: []int{4, 60, 16}, k: []int{4, 90, 16}, v: []int{4, 90, 20}, mask: []int{4, 1, 90}}.
				build(rand.New(rand.NewPCG(3, 4)), dt, layout)
			kerneltest.RequireNoAllocs(t, c.Attention, []*array.Array{c.out}, c.in())
		}
	}
}
