package effects

import (
	"cmp"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// untold are the functions of package tensor that look at sizes, or do what depends on them, without a word to the engine
// that follows sizes. All others ask it for them (tensor.Follower), and lists of results are as long as attributes say. Cond, While and Scan look where
// they are not recorded: see flows.
const untold = "Grad GradWith Tensor.Type"

func looksAtSizes(fn *ssa.Function) bool {
	return pathOf(fn) == tensorPath && slices.Contains(strings.Fields(untold), key(fn))
}

// sizeless are the functions of package tensor that are written by hand, tell code no size and do the same for all.
const sizeless = "Scalar FromSlice Number Ints Floats RunScope Tensor.Rank Tensor.DType"

// tellsSizes reports whether a function of the trusted rooms tells code a size, as a number or otherwise, or does to tensors what
// depends on sizes. Generated functions make one call of their operator, whose attributes are the arguments; those with a list
// of results tell its length.
func tellsSizes(fn *ssa.Function) bool {
	if pathOf(fn) != tensorPath {
		return false
	}
	k := key(fn)
	if slices.Contains(strings.Fields(sizeless), k) {
		return false
	}
	if handwritten(k) || treatment(fn) != operates {
		return true
	}
	for v := range fn.Signature.Results().Variables() {
		p, ok := v.Type().Underlying().(*types.Pointer)
		if !ok || !isNamed(p.Elem(), tensorPath, "Tensor") {
			return true
		}
	}
	return false
}

// keepsSizes finds the places that hold sizes longer than a call: what is there would be a number for all calls.
func (w *walk) keepsSizes() (list []Place) {
	has := func(t types.Type) bool {
		names := map[string]bool{}
		Within(t, names)
		return names[tensorPath+".Size"]
	}
	keep := func(line, what string) {
		list = append(list, Place{Line: line, What: what, Why: "a size is kept there"})
	}
	for v := range w.root.Signature.Results().Variables() {
		if !has(v.Type()) {
			continue
		}
		keep(w.p.of(w.root).line(w.root.Pos()), "a result of "+w.root.Name())
	}
	a := w.all
	for k, acc := range a.fields {
		if t := a.kinds[k.owner]; acc&Store != 0 && t != nil && has(t) {
			keep(a.lines[k], "the field "+k.owner+"."+k.name)
		}
	}
	for k, acc := range a.elems {
		if t := a.kinds[k]; acc&Store != 0 && t != nil && has(t) {
			keep(a.lines[k], "an element of "+k)
		}
	}
	for g, acc := range a.globals {
		if acc&Store != 0 && has(g.Type()) {
			keep(a.lines[g], "the variable "+g.Name())
		}
	}
	return list
}

// list enters what was found. Expressions of lines that are not known do not count: a capture that comes to one of these compares its size.
func (t *ints) list(s *Summary) {
	order := slices.SortedFunc(maps.Keys(t.at), func(a, b Body) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.File, b.File), a.Line-b.Line)
	})
	now := map[int]int{}
	for _, at := range order {
		if why := t.bad[at]; why != "" {
			s.Pinned = append(s.Pinned, Place{Line: at.File + ":" + strconv.Itoa(at.Line), What: "a size as an int", Why: why})
		} else {
			now[t.number(at)] = len(s.Ints.Asks)
			s.Ints.Asks = append(s.Ints.Asks, Ask{at})
		}
	}
	known := func(all []IntExpr) (list []IntExpr) {
		for _, e := range all {
			e = slices.Clone(e)
			for i := range e {
				n, ok := now[e[i].N]
				if e[i].Op != "ask" {
					continue
				}
				if !ok {
					e = nil
					break
				}
				e[i].N = n
			}
			if e != nil {
				list = append(list, e)
			}
		}
		return list
	}
	for b := range t.tests {
		x, _ := t.exprs(b.X, nil)
		y, _ := t.exprs(b.Y, nil)
		for _, p := range known(x) {
			for _, q := range known(y) {
				s.Ints.Tests = append(s.Ints.Tests, IntTest{p, b.Op.String(), q})
			}
		}
	}
	for c, slots := range t.uses {
		u := IntUse{Body: t.line(c), Op: opName(c.Call.StaticCallee()), Count: len(slots)}
		for at := range slots {
			all, _ := t.exprs(t.slot(c, at>>16, at&(1<<16-1)-1), nil)
			u.Exprs = append(u.Exprs, known(all)...)
		}
		s.Ints.Uses = append(s.Ints.Uses, u)
	}
	s.Ints.sort()
}

// slot is the int that an operator is given: an argument, or an element of a variadic one.
func (t *ints) slot(c *ssa.Call, i, elem int) ssa.Value {
	args := c.Call.Args
	if c.Call.StaticCallee().Signature.Recv() != nil {
		args = args[1:]
	}
	if elem < 0 {
		return args[i].(*ssa.MakeInterface).X
	}
	for _, r := range *args[i].(*ssa.Slice).X.Referrers() {
		at, ok := r.(*ssa.IndexAddr)
		if !ok || at.Index.(*ssa.Const).Int64() != int64(elem) {
			continue
		}
		for _, s := range *at.Referrers() {
			if s, ok := s.(*ssa.Store); ok {
				return s.Val.(*ssa.MakeInterface).X
			}
		}
	}
	return nil
}

func compareExpr(a, b IntExpr) int {
	return slices.CompareFunc(a, b, func(x, y IntTerm) int { return cmp.Or(strings.Compare(x.Op, y.Op), x.N-y.N) })
}

// sort orders what was found, each once. Instances of a generic function are one.
func (n *Ints) sort() {
	compare := func(a, b IntTest) int {
		return cmp.Or(compareExpr(a.A, b.A), strings.Compare(a.Op, b.Op), compareExpr(a.B, b.B))
	}
	slices.SortFunc(n.Tests, compare)
	n.Tests = slices.CompactFunc(n.Tests, func(a, b IntTest) bool { return compare(a, b) == 0 })
	place := func(a, b IntUse) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.File, b.File), a.Line-b.Line, strings.Compare(a.Op, b.Op))
	}
	slices.SortStableFunc(n.Uses, place)
	for i := len(n.Uses) - 1; i > 0; i-- {
		if a, b := &n.Uses[i-1], &n.Uses[i]; place(*a, *b) == 0 {
			a.Exprs = append(a.Exprs, b.Exprs...)
			n.Uses = slices.Delete(n.Uses, i, i+1)
		}
	}
	for i := range n.Uses {
		u := &n.Uses[i]
		slices.SortFunc(u.Exprs, compareExpr)
		u.Exprs = slices.CompactFunc(u.Exprs, func(a, b IntExpr) bool { return compareExpr(a, b) == 0 })
	}
}
