package fusion

import (
	"math"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
)

// unreached is a number that scores do not reach: what is as low has the
// probability 0 next to any score.
const unreached = -1e9

// masked finds the mask of a match, or says why it is not one of the operator.
func (a *attention) masked(m *passes.Match) string {
	scores := m.Nodes[0] // the product, the first call of the pattern
	mask := m.Inputs[attnBias]
	if mask == nil {
		if mask, a.inverted = m.Inputs[attnMasked], true; mask == nil {
			mask, a.inverted = m.Inputs[attnKept], false
		}
	}
	if why := a.windowed(m); why != "" || mask == nil {
		return why
	}
	if why := smaller(mask, scores); why != "" {
		return why
	}
	square := mask.Type().Dims().Sub(max(0, mask.Type().Rank()-2), mask.Type().Rank()).Same(scores.Type().Dims().Sub(scores.Type().Rank()-2, scores.Type().Rank()))
	if m.Inputs[attnBias] != nil {
		if why := sameType(mask, scores); why != "" {
			return why
		}
		if a.attrs.IsCausal = a.windows == nil && square && causalBias(mask); !a.attrs.IsCausal {
			a.mask = mask
		}
		return ""
	}
	fill := m.Numbers[attnValue]
	if t := m.Inputs[attnFill]; t != nil {
		if why := smaller(t, scores); why != "" {
			return why
		}
		var ok bool
		if fill, ok = uniform(t); !ok {
			return "what the mask puts in, " + t.String() + ", is no number that is known"
		}
	}
	switch {
	case !(fill <= unreached):
		return "the mask puts in " + strconv.FormatFloat(fill, 'g', -1, 64) + ", which scores may be below"
	case square && causal(mask, !a.inverted):
		a.attrs.IsCausal, a.inverted = true, false
		return ""
	case keepsSome(mask, !a.inverted), keepsFirst(mask, !a.inverted):
	case math.IsInf(fill, -1):
		a.infinite = true
	default:
		return "a row of the mask " + mask.String() + " may keep nothing, which gives the mean of v here and zeros there"
	}
	a.mask = mask
	return ""
}

// windowed finds what is added to the scores by windows, or says why it does not
// belong to windows.
func (a *attention) windowed(m *passes.Match) string {
	a.shifted = m.Inputs[attnWindow]
	if a.shifted == nil {
		return ""
	}
	var shapes []*graph.Node
	for _, n := range m.Nodes {
		if n.Op() == std.Reshape || n.Op() == std.View {
			shapes = append(shapes, n)
		}
	}
	scores := m.Nodes[0].Type()
	a.windows = shapes[0]
	t, rank := a.windows.Type(), scores.Rank()
	if t.Rank() != rank+1 || !t.Dims().Sub(2, rank+1).Same(scores.Dims().Sub(1, rank)) || !shapes[1].Type().Dims().Same(scores.Dims()) {
		return "at " + a.windows.String() + ": " + t.String() + " are no windows of " + scores.String()
	}
	for _, n := range []*graph.Node{a.q, a.k, a.v} {
		if n.Type().Rank() != rank || !n.Type().Dims().Sub(0, rank-2).Same(scores.Dims().Sub(0, rank-2)) {
			return n.String() + " is " + n.Type().String() + " and has not the windows of the scores, which are " + scores.String()
		}
	}
	if b := m.Inputs[attnBias]; b != nil && b.Type().Rank() == rank && !b.Type().Dim(0).Is(1) {
		return b.String() + " is " + b.Type().String() + ", expected the same for all windows"
	}
	if why := sameType(a.shifted, a.windows); why != "" {
		return why
	}
	return smaller(a.shifted, a.windows)
}

// sameType says why a mask is not of the scores' element type: a sum hides it.
func sameType(mask, scores *graph.Node) string {
	if d := scores.Type().DType(); mask.Type().DType() != d {
		return "the mask " + mask.String() + " is " + mask.Type().String() + ", the scores have " + d.String()
	}
	return ""
}

// smaller says why an operand would make the scores larger than they are.
func smaller(n, scores *graph.Node) string {
	t, s := n.Type(), scores.Type()
	bad := !t.Ranked() || !s.Ranked() || t.Rank() > s.Rank()
	for i := 1; !bad && i <= t.Rank(); i++ {
		bad = !t.Dim(-i).Is(1) && !t.Dim(-i).Same(s.Dim(-i))
	}
	if bad {
		return n.String() + " is " + t.String() + " and may make the scores larger, which are " + s.String()
	}
	return ""
}

// causal reports whether the last two dimensions of a mask, the others being 1,
// hold want exactly where the column is not after the row. What is not 0 is true.
func causal(n *graph.Node, want bool) bool {
	if x, same := truth(n); x != nil {
		return causal(x, want == same)
	}
	switch n.Op() {
	case std.Gt, std.Lt, std.Ge, std.Le:
		return n.NumArgs() == 2 && compares(n, want)
	case std.Tril:
		v, ok := uniform(n.Arg(0))
		return ok && v != 0 && n.Attrs().(std.TriAttrs).Diagonal == 0 && want
	case std.Triu:
		v, ok := uniform(n.Arg(0))
		return ok && v != 0 && n.Attrs().(std.TriAttrs).Diagonal == 1 && !want
	}
	if x := corner(n); x != nil {
		return causal(x, want)
	}
	return everywhere(n, func(row, col int, v float64) bool { return (v != 0) == ((col <= row) == want) })
}

// truth returns x for what is true where x is, or where x is not, nil for what is neither.
func truth(n *graph.Node) (x *graph.Node, same bool) {
	switch n.Op() {
	case std.LogicalNot:
		return n.Arg(0), false
	case std.BitwiseNot:
		if n.Type().DType() == array.Bool {
			return n.Arg(0), false
		}
	case std.Eq, std.Ne:
		if zero := n.Attrs().(std.BinaryAttrs).Other; n.NumArgs() == 1 && zero.Present() && zero.Float64() == 0 {
			return n.Arg(0), n.Op() == std.Ne
		}
	case std.Cast:
		if n.Type().DType() == array.Bool || n.Arg(0).Type().DType() == array.Bool {
			return n.Arg(0), true
		}
	}
	return nil, false
}

// causalBias is causal for what is added: 0 where a key is kept, else a number that
// no score reaches.
func causalBias(n *graph.Node) bool {
	low := func(s op.Scalar) bool { return s.Present() && s.Float64() <= unreached }
	zero := func(x *graph.Node) bool { v, ok := uniform(x); return ok && v == 0 }
	switch n.Op() {
	case std.Triu:
		v, ok := uniform(n.Arg(0))
		return ok && v <= unreached && n.Attrs().(std.TriAttrs).Diagonal == 1
	case std.MaskedFill:
		return low(n.Attrs().(std.MaskedFillAttrs).Value) && zero(n.Arg(0)) && causal(n.Arg(1), false)
	case std.Where:
		if n.NumArgs() == 2 {
			return low(n.Attrs().(std.WhereAttrs).Other) && zero(n.Arg(1)) && causal(n.Arg(0), true)
		}
		v, ok := uniform(n.Arg(1))
		w, also := uniform(n.Arg(2))
		return ok && also && (v == 0 && w <= unreached && causal(n.Arg(0), true) || v <= unreached && w == 0 && causal(n.Arg(0), false))
	}
	if x := corner(n); x != nil {
		return causalBias(x)
	}
	return everywhere(n, func(row, col int, v float64) bool {
		if col <= row {
			return v == 0
		}
		return v <= unreached
	})
}

// corner returns x for what shows the upper left corner of x's last two dimensions.
func corner(n *graph.Node) *graph.Node {
	rank := n.Type().Rank()
	if !n.Type().Ranked() || n.NumArgs() == 0 || n.Arg(0) == nil || n.Arg(0).Type().Rank() < 2 {
		return nil
	}
	x := n.Arg(0)
	switch n.Op() {
	case std.Unsqueeze, std.Reshape, std.View, std.Expand:
		// Sizes of 1 in front, no others: rows and columns stay what they are.
		for i := range rank - 2 {
			if !n.Type().Dim(i).Is(1) && n.Op() != std.Expand {
				return nil
			}
		}
		for i := range x.Type().Rank() - 2 {
			if !x.Type().Dim(i).Is(1) {
				return nil
			}
		}
		if rank < 2 || !n.Type().Dim(-1).Same(x.Type().Dim(-1)) || !n.Type().Dim(-2).Same(x.Type().Dim(-2)) {
			return nil
		}
		return x
	case std.Slice:
		if a := n.Attrs().(std.SliceAttrs); a.Start.Is(0) && a.Step <= 1 {
			return x
		}
	case std.Narrow:
		if n.Attrs().(std.NarrowAttrs).Start.Is(0) {
			return x
		}
	}
	return nil
}

// compares is causal for a comparison of positions.
func compares(n *graph.Node, want bool) bool {
	a, b := position(n.Arg(0)), position(n.Arg(1))
	switch {
	case a == -1 && b == -2: // column with row
		return n.Op() == std.Le && want || n.Op() == std.Gt && !want
	case a == -2 && b == -1:
		return n.Op() == std.Ge && want || n.Op() == std.Lt && !want
	}
	return false
}

// position returns -1 for 0, 1, 2, ... along the last dimension, -2 along the one
// before, all others being 1; 0 for anything else.
func position(n *graph.Node) int {
	from := n
	for from.Op() == std.Unsqueeze || from.Op() == std.Reshape || from.Op() == std.View {
		from = from.Arg(0)
	}
	a, ok := from.Attrs().(std.ArangeAttrs)
	if !ok || a.Start != 0 || a.Step > 1 || a.Step < 0 || !wide(from) || !n.Type().Ranked() {
		return 0
	}
	axis := 0
	for i := 1; i <= n.Type().Rank(); i++ {
		switch d := n.Type().Dim(-i); {
		case i <= 2 && axis == 0 && d.Same(a.End) && !d.Is(1):
			axis = -i
		case !d.Is(1):
			return 0
		}
	}
	return axis
}

// wide reports whether a value counts further than sizes go; in 16 bits and fewer it
// may wrap around.
func wide(n *graph.Node) bool { return n.Type().DType() == array.I64 || n.Type().DType() == array.I32 }

// uniform returns the number that all elements of a value are, as its type has it: 0.5
// is 0 among whole numbers.
func uniform(n *graph.Node) (v float64, ok bool) {
	held := func(s op.Scalar) (float64, bool) {
		d := n.Type().DType()
		if d == array.Invalid {
			return 0, false
		}
		return array.Float64At(array.Cast(array.Scalar(s.Float64()), d), 0), true
	}
	switch a := n.Attrs().(type) {
	case std.FullAttrs:
		return held(a.Value)
	case std.FullLikeAttrs:
		return held(a.Value)
	}
	switch n.Op() {
	case std.Ones, std.OnesLike:
		return 1, true
	case std.Zeros, std.ZerosLike:
		return 0, true
	}
	value := constant(n)
	if value == nil || value.Len() == 0 {
		return 0, false
	}
	v = array.Float64At(value, 0)
	for i := range value.Len() {
		if array.Float64At(value, i) != v {
			return 0, false
		}
	}
	return v, true
}

// constant returns the value of a parameter that no run changes, else nil.
func constant(n *graph.Node) *array.Array {
	if n.Opcode() != graph.GetAttr || n.Live() {
		return nil
	}
	m := n.Graph().Module()
	if p := m.Param(n.Target()); p != nil && !graph.EffectsOf(m.Graph).WrittenState(n.Target()) {
		return p.Value
	}
	return nil
}

// everywhere reports whether a constant matrix, with sizes of 1 in front, holds
// what is right at each place.
func everywhere(n *graph.Node, right func(row, col int, v float64) bool) bool {
	value := constant(n)
	if value == nil || value.Rank() < 2 || value.Len() != value.Dim(-2)*value.Dim(-1) {
		return false
	}
	flat, cols := array.Contiguous(value), value.Dim(-1)
	for i := range flat.Len() {
		if !right(i/cols, i%cols, array.Float64At(flat, i)) {
			return false
		}
	}
	return true
}

// keepsSome reports whether a mask is a constant that keeps something in each row.
func keepsSome(n *graph.Node, want bool) bool {
	value := constant(n)
	if value == nil || value.Rank() == 0 || value.Len() == 0 {
		return false
	}
	flat, cols := array.Contiguous(value), value.Dim(-1)
	for start := 0; start < flat.Len(); start += cols {
		kept := false
		for i := start; i < start+cols && !kept; i++ {
			kept = (array.Float64At(flat, i) != 0) == want
		}
		if !kept {
			return false
		}
	}
	return true
}

// keepsFirst reports whether a mask is seen to hold want in the first column of each
// row, as one does that hides the keys after the row: also where rows begin later
// than columns, as those of a decoder do that has keys of tokens before.
func keepsFirst(n *graph.Node, want bool) bool {
	if x, same := truth(n); x != nil {
		return keepsFirst(x, want == same)
	}
	switch n.Op() {
	case std.LogicalAnd, std.LogicalOr:
		return keepsFirst(n.Arg(0), want) && keepsFirst(n.Arg(1), want)
	case std.Gt, std.Lt, std.Ge, std.Le:
		return n.NumArgs() == 2 && startsKept(n, want)
	case std.Tril:
		v, ok := uniform(n.Arg(0))
		return ok && v != 0 && n.Attrs().(std.TriAttrs).Diagonal >= 0 && want
	case std.Triu:
		v, ok := uniform(n.Arg(0))
		return ok && v != 0 && n.Attrs().(std.TriAttrs).Diagonal >= 1 && !want
	case std.Slice:
		if a := n.Attrs().(std.SliceAttrs); isLast(a.Dim, n) && !a.Start.Is(0) {
			return false
		}
		return keepsFirst(n.Arg(0), want)
	case std.Unsqueeze:
		return !isLast(n.Attrs().(std.DimAttrs).Dim, n) && keepsFirst(n.Arg(0), want)
	}
	value := constant(n)
	if value == nil || value.Rank() == 0 || value.Len() == 0 {
		return false
	}
	flat := array.Contiguous(value)
	for i := 0; i < flat.Len(); i += value.Dim(-1) {
		if (array.Float64At(flat, i) != 0) != want {
			return false
		}
	}
	return true
}

func isLast(dim int, n *graph.Node) bool { return dim == -1 || dim == n.Type().Rank()-1 }

// startsKept is keepsFirst for a comparison of columns, which count from 0, with rows.
func startsKept(n *graph.Node, want bool) bool {
	behind := n.Op() == std.Gt || n.Op() == std.Le // want for columns up to the row, not before it
	cols, rows := n.Arg(0), n.Arg(1)
	up := n.Op() == std.Lt || n.Op() == std.Le
	if position(cols) != -1 {
		cols, rows, up, behind = rows, cols, !up, !behind
	}
	if position(cols) != -1 || up != want || !rows.Type().Ranked() || rows.Type().Rank() > 0 && !rows.Type().Dim(-1).Is(1) {
		return false
	}
	least, ok := lowest(rows)
	return ok && (least > 0 || behind && least == 0)
}

// lowest returns a number that no element of a value of whole numbers is below.
func lowest(n *graph.Node) (least float64, ok bool) {
	if !wide(n) {
		return 0, false
	}
	switch attrs := n.Attrs().(type) {
	case std.ArangeAttrs:
		return float64(attrs.Start), attrs.Step >= 0
	case std.AddAttrs:
		alpha := attrs.Alpha
		if alpha.Present() && alpha.Float64() != 1 {
			return 0, false
		}
		least, ok = lowest(n.Arg(0))
		more := attrs.Other.Float64()
		if n.NumArgs() == 2 && ok {
			more, ok = lowest(n.Arg(1))
		}
		return least + more, ok
	}
	switch n.Op() {
	case op.Dim:
		return 0, true
	case std.Slice, std.Narrow, std.Unsqueeze, std.Reshape, std.View, std.Expand:
		return lowest(n.Arg(0))
	}
	return 0, false
}
