package std

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// EinsumAttrs are the attributes of einsum. Equation has a letter for each
// dimension of each operand, "..." for those that broadcast, and after "->"
// those of the result; without "->" the result has the ellipsis and, sorted, the
// letters that occur once.
type EinsumAttrs struct {
	Equation string `fx:",arg"`
}

// Einsum is torch.einsum. Operands are contracted from left to right. The result
// has memory of its own, also where PyTorch returns a view ("ii->i").
//
//gofx:torch torch.einsum(equation, *operands)
var Einsum = op.Define("einsum", op.Spec[EinsumAttrs]{
	Differs: []op.Difference[EinsumAttrs]{
		departs[EinsumAttrs](op.Refuses, "bool", func(in []*array.Array) bool { return len(in) > 0 && in[0].DType() == array.Bool }),
		refusesMixed[EinsumAttrs](),
		departs[EinsumAttrs](op.Alters, "integers keep their type, where PyTorch has i64 if one is summed before they are multiplied", func(in []*array.Array) bool { return !floats(in...) }),
		departs[EinsumAttrs](op.Extends, "integers but i64 that are summed before they are multiplied", func(in []*array.Array) bool { return !floats(in...) }),
	},
	Doc: "einsum sums products of the elements of the operands over the letters that the result of equation lacks.",
	In:  op.Args("operands..."), Class: op.Contraction,
	Infer: func(c *op.Infer, a EinsumAttrs, in []shape.Type) (shape.Type, error) {
		e, d, err := planEinsum(c, a, in)
		if err != nil {
			return shape.Type{}, err
		}
		if e.open {
			return shape.Unranked(d), nil
		}
		dims := make([]shape.Dim, len(e.out))
		for i, l := range e.out {
			dims[i] = e.size[l]
		}
		return shape.TensorType(d, shape.Of(dims...)), nil
	},
	Decompose: func(b op.Builder, a EinsumAttrs, in []op.Value) op.Value {
		types := make([]shape.Type, len(in))
		for i, v := range in {
			types[i] = v.Type()
		}
		e, _, err := planEinsum(nil, a, types)
		if err != nil {
			panic(err)
		}
		return e.contract(composer{b}, in)
	},
	Flops: func(a EinsumAttrs, in []shape.Type, _ shape.Type) shape.Dim {
		e, _, err := planEinsum(nil, a, in)
		if err != nil || e.open {
			return shape.Unknown
		}
		n := shape.Const(2)
		for _, l := range e.all {
			n = n.Mul(e.size[l])
		}
		return n
	},
	Samples: einsumSamples,
	Bad:     einsumBad,
})

// label is one index of an einsum: a letter, or, below, the ellipsis dimension
// -label counted from the end.
type label int

// einsumPlan is an equation applied to operands.
type einsumPlan struct {
	operands [][]label
	out, all []label
	size     map[label]shape.Dim
	open     bool // the ellipsis of an operand of unknown rank is in the result
}

// terms splits an equation into the subscripts of operands and of the result.
func (a EinsumAttrs) terms() (in []string, out string, explicit bool, err error) {
	eq := strings.ReplaceAll(a.Equation, " ", "")
	left, out, explicit := strings.Cut(eq, "->")
	in = strings.Split(left, ",")
	for _, t := range append(slices.Clone(in), out) {
		rest := strings.Replace(t, "...", "", 1)
		for _, r := range rest {
			if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
				return nil, "", false, badAttr("equation", strconv.Quote(a.Equation), "letters, commas, one ... in each term and one ->")
			}
		}
	}
	return in, out, explicit, nil
}

func planEinsum(c *op.Infer, a EinsumAttrs, in []shape.Type) (*einsumPlan, array.DType, error) {
	names := make([]string, len(in))
	for i := range names {
		names[i] = "operand " + strconv.Itoa(i)
	}
	d, err := sameNumber(names, in)
	if err != nil {
		return nil, d, err
	}
	terms, out, explicit, err := a.terms()
	if err != nil {
		return nil, d, err
	}
	if len(in) != len(terms) {
		return nil, d, diag.New(op.OperandCount, strconv.Itoa(len(in))+" operands, expected "+strconv.Itoa(len(terms))+" for equation "+strconv.Quote(a.Equation))
	}
	e := &einsumPlan{size: map[label]shape.Dim{}}
	hidden, wide := false, 0 // an ellipsis of unknown extent, and the greatest known
	for i, t := range terms {
		n, known, err := ellipsisRank(names[i], t, in[i])
		if err != nil {
			return nil, d, err
		}
		hidden, wide = hidden || !known, max(wide, n)
		labels := expandTerm(t, n)
		e.operands = append(e.operands, labels)
		for k, l := range labels {
			if j := slices.Index(labels, l); j < k {
				if _, err := c.Equal(in[i].Dim(k), in[i].Dim(j), op.ShapeMismatch, func() string {
					return names[i] + " " + in[i].String() + " has sizes " + in[i].Dim(j).String() + " and " + in[i].Dim(k).String() + " for " + strconv.Quote(string(rune(l)))
				}); err != nil {
					return nil, d, err
				}
			}
			if err := e.meet(c, l, in[i].Dim(k), names[i]); err != nil {
				return nil, d, err
			}
		}
	}
	if !explicit {
		out = e.implicitResult(terms)
	}
	e.out, e.open = expandTerm(out, wide), hidden && strings.Contains(out, "...")
	for i, l := range e.out {
		if _, ok := e.size[l]; !ok || slices.Contains(e.out[:i], l) {
			return nil, d, badAttr("equation", strconv.Quote(a.Equation), "letters of the operands in the result, each once")
		}
	}
	return e, d, nil
}

// ellipsisRank returns the number of dimensions that the ellipsis of a term
// stands for; known is false for an ellipsis of an operand of unknown rank.
func ellipsisRank(name, term string, t shape.Type) (n int, known bool, err error) {
	letters := strings.Replace(term, "...", "", 1)
	dots := len(letters) != len(term)
	if !t.Ranked() {
		return 0, !dots, nil
	}
	n = t.Rank() - len(letters)
	if n < 0 || (n > 0 && !dots) {
		return 0, true, diag.New(op.RankMismatch, name+" "+t.String()+" has "+strconv.Itoa(t.Rank())+" dimensions, expected "+
			strconv.Itoa(len(letters))+" for the term "+strconv.Quote(term))
	}
	return n, true, nil
}

// expandTerm returns the labels of a term whose ellipsis stands for n dimensions.
func expandTerm(term string, n int) []label {
	before, after, dots := strings.Cut(term, "...")
	var out []label
	for _, r := range before {
		out = append(out, label(r))
	}
	if dots {
		for i := n; i > 0; i-- {
			out = append(out, label(-i))
		}
	}
	for _, r := range after {
		out = append(out, label(r))
	}
	return out
}

// implicitResult is the result's term of an equation without "->".
func (e *einsumPlan) implicitResult(terms []string) string {
	text, out := strings.Join(terms, ","), ""
	if strings.Contains(text, "...") {
		out = "..."
	}
	sorted := slices.Sorted(slices.Values(e.all))
	for _, l := range sorted {
		if l > 0 && strings.Count(text, string(rune(l))) == 1 {
			out += string(rune(l))
		}
	}
	return out
}

// meet enters a size of a label; sizes of 1 broadcast.
func (e *einsumPlan) meet(c *op.Infer, l label, d shape.Dim, name string) error {
	old, ok := e.size[l]
	if !ok {
		e.all, e.size[l] = append(e.all, l), d
		return nil
	}
	switch {
	case d.Is(1):
		return nil
	case old.Is(1):
		e.size[l] = d
		return nil
	}
	what := "the ellipsis"
	if l > 0 {
		what = strconv.Quote(string(rune(l)))
	}
	d, err := c.Equal(d, old, op.ShapeMismatch, func() string {
		return name + " has size " + d.String() + " for " + what + ", expected " + old.String()
	})
	e.size[l] = d
	return err
}

// tensor is an operand on its way through a contraction.
type tensor struct {
	v      op.Value
	labels []label
}

func (e *einsumPlan) contract(c composer, in []op.Value) op.Value {
	work := make([]tensor, len(in))
	for i, v := range in {
		work[i] = e.distinct(c, tensor{v, e.operands[i]})
	}
	acc := work[0]
	for i := 1; i < len(work); i++ {
		keep := slices.Clone(e.out)
		for _, t := range work[i+1:] {
			keep = append(keep, t.labels...)
		}
		acc = e.pair(c, acc, work[i], keep)
	}
	moved := len(in) == 1 && !slices.ContainsFunc(acc.labels, func(l label) bool { return !slices.Contains(e.out, l) })
	acc = sumLabels(c, acc, func(l label) bool { return !slices.Contains(e.out, l) })
	// A label of the result that was dropped for its size of 1 cannot be missing:
	// the operand that gave the label its size has it.
	perm := make([]int, len(e.out))
	for i, l := range e.out {
		perm[i] = slices.Index(acc.labels, l)
	}
	v := acc.v
	if !slices.IsSorted(perm) {
		v = c.permute(v, perm...)
	}
	if moved {
		// Whether the result is a view must not depend on the equation.
		v = c.Call(Clone, op.None{}, v)
	}
	return v
}

// distinct takes diagonals so that each label occurs once, and drops dimensions
// of size 1 that broadcast.
func (e *einsumPlan) distinct(c composer, t tensor) tensor {
	labels := slices.Clone(t.labels)
	var broadcast []int
	for i, l := range labels {
		if t.v.Type().Dim(i).Is(1) && !e.size[l].Is(1) {
			broadcast = append(broadcast, i)
		}
	}
	if broadcast != nil {
		t.v = c.Call(Squeeze, SqueezeAttrs{Dim: op.IntList(broadcast...)}, t.v)
		for _, i := range slices.Backward(broadcast) {
			labels = slices.Delete(labels, i, i+1)
		}
	}
	for i := 0; i < len(labels); i++ {
		j := slices.Index(labels[i+1:], labels[i])
		if j < 0 {
			continue
		}
		j += i + 1
		l := labels[i]
		t.v = c.Call(Diagonal, DiagonalAttrs{Dim1: i, Dim2: j}, t.v)
		labels = append(slices.Delete(slices.Delete(labels, j, j+1), i, i+1), l)
		i = -1
	}
	return tensor{t.v, labels}
}

// sumLabels sums over the labels that drop selects, in the operand's type.
func sumLabels(c composer, t tensor, drop func(l label) bool) tensor {
	var dims []int
	var rest []label
	for i, l := range t.labels {
		if drop(l) {
			dims = append(dims, i)
		} else {
			rest = append(rest, l)
		}
	}
	if dims == nil {
		return t
	}
	return tensor{c.Call(Sum, ReduceAttrs{Dim: op.IntList(dims...), DType: t.v.Type().DType()}, t.v), rest}
}

// pair contracts two operands: labels of one alone that nothing needs are summed
// first, those of both that nothing needs are the inner dimension of a product
// of matrices, those of both that are needed its batch.
func (e *einsumPlan) pair(c composer, x, y tensor, keep []label) tensor {
	alone := func(other tensor) func(label) bool {
		return func(l label) bool { return !slices.Contains(keep, l) && !slices.Contains(other.labels, l) }
	}
	x, y = sumLabels(c, x, alone(y)), sumLabels(c, y, alone(x))
	var batch, inner, left, right []label
	for _, l := range x.labels {
		switch {
		case !slices.Contains(y.labels, l):
			left = append(left, l)
		case slices.Contains(keep, l):
			batch = append(batch, l)
		default:
			inner = append(inner, l)
		}
	}
	for _, l := range y.labels {
		if !slices.Contains(x.labels, l) {
			right = append(right, l)
		}
	}
	out := slices.Concat(batch, left, right)
	if e.unsized(slices.Concat(out, inner)) {
		return pairUnsized(c, x, y, batch, inner, left, right)
	}
	if len(inner) == 0 {
		ones := make([]shape.Dim, len(left))
		for i := range ones {
			ones[i] = shape.Const(1)
		}
		lv := c.order(x, slices.Concat(batch, left))
		rv := c.order(y, slices.Concat(batch, right))
		if len(left) > 0 && len(batch) > 0 {
			rv = c.reshape(rv, shape.Of(slices.Concat(e.sizes(batch), ones, e.sizes(right))...))
		}
		if len(right) > 0 && len(left)+len(batch) > 0 {
			lv = c.reshape(lv, shape.Of(slices.Concat(e.sizes(batch), e.sizes(left), slices.Repeat([]shape.Dim{shape.Const(1)}, len(right)))...))
		}
		return tensor{c.mul(lv, rv), out}
	}
	lv := c.order(x, slices.Concat(batch, left, inner))
	rv := c.order(y, slices.Concat(batch, inner, right))
	lv = e.merge(c, lv, batch, left, inner)
	rv = e.merge(c, rv, batch, inner, right)
	v := c.Call(Matmul, op.None{}, lv, rv)
	if len(left) != 1 || len(right) != 1 {
		v = c.reshape(v, shape.Of(e.sizes(out)...))
	}
	return tensor{v, out}
}

// order permutes t to the given order of labels.
func (c composer) order(t tensor, want []label) op.Value {
	perm := make([]int, len(want))
	for i, l := range want {
		perm[i] = slices.Index(t.labels, l)
	}
	if slices.IsSorted(perm) {
		return t.v
	}
	return c.permute(t.v, perm...)
}

func (e *einsumPlan) sizes(labels []label) []shape.Dim {
	out := make([]shape.Dim, len(labels))
	for i, l := range labels {
		out[i] = e.size[l]
	}
	return out
}

// merge reshapes to [batch..., rows, columns].
func (e *einsumPlan) merge(c composer, v op.Value, batch, rows, cols []label) op.Value {
	if len(rows) == 1 && len(cols) == 1 {
		return v
	}
	dims := e.sizes(batch)
	for _, g := range [][]label{rows, cols} {
		dims = append(dims, shape.Of(e.sizes(g)...).Prod())
	}
	return c.reshape(v, shape.Of(dims...))
}
