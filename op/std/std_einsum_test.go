package std

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// einsumReference loops over all values of all letters.
func einsumReference(attrs any, in []*wide) []*wide {
	left, out, explicit := strings.Cut(strings.ReplaceAll(attrs.(EinsumAttrs).Equation, " ", ""), "->")
	// Digits stand for the dimensions of an ellipsis, the last being 0.
	dots := func(term string, n int) string {
		digits := ""
		for i := range n {
			digits = string(rune('0'+i)) + digits
		}
		return strings.Replace(term, "...", digits, 1)
	}
	terms, widest := strings.Split(left, ","), 0
	if !explicit {
		if strings.Contains(left, "...") {
			out = "..."
		}
		letters := []rune(left)
		slices.Sort(letters)
		for _, r := range letters {
			if strings.Count(left, string(r)) == 1 && r != ',' && r != '.' {
				out += string(r)
			}
		}
	}
	sizes := map[rune]int{}
	for i, t := range terms {
		if strings.Contains(t, "...") {
			n := len(in[i].dims) - len(t) + 3
			terms[i], widest = dots(t, n), max(widest, n)
		}
		for k, r := range terms[i] {
			if sizes[r] < 2 || in[i].dims[k] == 0 {
				sizes[r] = in[i].dims[k]
			}
		}
	}
	out = dots(out, widest)
	letters, box := []rune{}, []int{}
	for r, n := range sizes {
		letters, box = append(letters, r), append(box, n)
	}
	pick := func(term string, x []int) []int {
		at := []int{}
		for _, r := range term {
			at = append(at, x[slices.Index(letters, r)])
		}
		return at
	}
	res := newWide(pick(out, box)...)
	each(box, func(x []int) {
		p := 1.0
		for i, t := range terms {
			p *= in[i].at(pick(t, x)...)
		}
		res.v[res.exact(pick(out, x))] += p
	})
	return []*wide{res}
}

func TestEinsum(t *testing.T) {
	checkAgainst(t, Einsum, einsumReference)
}

func TestEinsumSymbols(t *testing.T) {
	n, l, c := shape.Sym("N"), shape.Sym("T"), shape.Const
	q := shape.TensorType(array.F32, shape.Of(n, l, c(12), c(64)))
	a := EinsumAttrs{"bqhd,bkhd->bhqk"}
	y, err := Einsum.Type(nil, a, []shape.Type{q, q})
	require.NoError(t, err)
	require.Equal(t, "f32[N,12,T,T]", y.String())
	require.Equal(t, "1536*N*T*T", Einsum.Flops(a, []shape.Type{q, q}, y).String())
	y, err = Einsum.Type(nil, EinsumAttrs{"...d,de->...e"}, []shape.Type{shape.Unranked(array.F32), q.WithDims(shape.ConstDims(3, 4))})
	require.NoError(t, err)
	require.Equal(t, "f32[*]", y.String())
	_, err = Einsum.Type(nil, EinsumAttrs{"ij,jk->ik"}, []shape.Type{q.WithDims(shape.ConstDims(2, 3)), q.WithDims(shape.ConstDims(4, 5))})
	require.ErrorContains(t, err, `operand 1 has size 4 for "j", expected 3`)
}

// TestEinsumOfUnknownSizes: the decomposition needs the ranks of the operands and
// no size of theirs.
func TestEinsumOfUnknownSizes(t *testing.T) {
	size := map[rune]int{'a': 2, 'b': 3, 'c': 4, 'd': 5, 'i': 6, 'j': 7}
	g := &op.Gen{}
	for _, eq := range []string{"abi,icd->dacb", "ab,cd->abcd", "abij,bij->ab", "ab,ab->a", "abc,acd->abd", "ai,bi->ab", "i,i->", "abi,i->ab", "i,bi->b",
		"abc,d->dabc", "abij,cij,d->dcab", "aab,bc->ca", "ij,ji->", "abi,cdij->jabcd"} {
		var in, open []op.Value
		b := &recorder{types: map[*array.Array]shape.Type{}}
		for _, term := range strings.Split(strings.Split(eq, "->")[0], ",") {
			var dims []int
			var hidden []shape.Dim
			for _, r := range term {
				dims, hidden = append(dims, size[r]), append(hidden, shape.Unknown)
			}
			x := g.Normal(dims...)
			in = append(in, known{x, shape.TypeOf(x)})
			open = append(open, known{x, shape.TensorType(array.F32, shape.Of(hidden...))})
		}
		want := Einsum.Expand(b, EinsumAttrs{eq}, in).(known)
		got := Einsum.Expand(b, EinsumAttrs{eq}, open).(known)
		require.Equal(t, want.a.Shape(), got.a.Shape(), eq)
		for i := range want.a.Len() {
			require.InDelta(t, array.Float64At(want.a, i), array.Float64At(got.a, i), 1e-5, eq)
		}
	}
}

// The common products need no copy: a matrix product and views only.
func TestEinsumCalls(t *testing.T) {
	g := &op.Gen{}
	for eq, want := range map[string][]string{
		"ij,jk->ik":       {"matmul"},
		"bij,bkj->bik":    {"permute", "matmul"},
		"bqhd,bkhd->bhqk": {"permute", "permute", "matmul"},
		"ij->ji":          {"permute", "clone"},
		"i,j->ij":         {"reshape", "mul"},
	} {
		t.Run(eq, func(t *testing.T) {
			b := &recorder{}
			var in []op.Value
			for _, term := range strings.Split(strings.Split(eq, "->")[0], ",") {
				dims := []int{3, 3, 3, 3}[:len(term)]
				x := g.Normal(dims...)
				in = append(in, known{x, shape.TypeOf(x)})
			}
			Einsum.Expand(b, EinsumAttrs{eq}, in)
			require.Equal(t, want, b.names)
		})
	}
}
