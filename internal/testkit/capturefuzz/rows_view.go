package capturefuzz

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// viewRow is one way to see the elements of a value: it returns the call and the
// sizes, "" when the row does not apply.
type viewRow struct {
	name   string
	weight int
	rank   int // least rank
	call   func(g *gen, v *value) (string, []dim)
}

var views = []viewRow{
	{"select", 6, 1, selectView},
	{"at", 2, 2, func(g *gen, v *value) (string, []dim) {
		i, j := g.index(v.dims[0]), g.index(v.dims[1])
		return fmt.Sprintf("At(%d, %d)", i, j), slices.Clone(v.dims[2:])
	}},
	{"slice", 6, 1, sliceView},
	{"narrow", 3, 1, func(g *gen, v *value) (string, []dim) {
		k := g.IntN(v.rank())
		n := v.dims[k].least()
		start := g.IntN(n)
		length := 1 + g.IntN(n-start)
		return fmt.Sprintf("Narrow(%s, %d, %d)", g.axis(k, v), start, length), with(v.dims, k, fixed(length))
	}},
	{"transpose", 5, 2, func(g *gen, v *value) (string, []dim) {
		i, j := g.IntN(v.rank()), g.IntN(v.rank())
		d := slices.Clone(v.dims)
		d[i], d[j] = d[j], d[i]
		return fmt.Sprintf("Transpose(%s, %s)", g.axis(i, v), g.axis(j, v)), d
	}},
	{"t", 2, 2, func(g *gen, v *value) (string, []dim) {
		if v.rank() != 2 {
			return "", nil
		}
		return "T()", []dim{v.dims[1], v.dims[0]}
	}},
	{"permute", 2, 2, func(g *gen, v *value) (string, []dim) {
		perm := g.Perm(v.rank())
		d := make([]dim, v.rank())
		list := make([]string, v.rank())
		for i, k := range perm {
			d[i], list[i] = v.dims[k], g.axis(k, v)
		}
		return "Permute(" + strings.Join(list, ", ") + ")", d
	}},
	{"movedim", 1, 2, func(g *gen, v *value) (string, []dim) {
		from, to := g.IntN(v.rank()), g.IntN(v.rank())
		d := slices.Delete(slices.Clone(v.dims), from, from+1)
		return fmt.Sprintf("Movedim([]int{%s}, %s)", g.axis(from, v), g.axis(to, v)), slices.Insert(d, to, v.dims[from])
	}},
	{"reshape", 5, 1, reshapeView},
	{"flatten", 3, 2, func(g *gen, v *value) (string, []dim) {
		i := g.IntN(v.rank() - 1)
		j := i + 1 + g.IntN(v.rank()-i-1)
		return fmt.Sprintf("Flatten(%s, %s)", g.axis(i, v), g.axis(j, v)), append(append(slices.Clone(v.dims[:i]), product(v.dims[i:j+1])), v.dims[j+1:]...)
	}},
	{"unflatten", 2, 1, func(g *gen, v *value) (string, []dim) {
		k := g.find(v, func(d dim) bool { return d.known() && (d.is(4) || d.is(6)) })
		if k < 0 {
			return "", nil
		}
		a := fixed(2)
		b := fixed(v.dims[k].at[0] / 2)
		return fmt.Sprintf("Unflatten(%s, 2, %s)", g.axis(k, v), pick(g, b.expr, "-1")), append(append(slices.Clone(v.dims[:k]), a, b), v.dims[k+1:]...)
	}},
	{"squeeze", 2, 1, func(g *gen, v *value) (string, []dim) {
		k := g.find(v, func(d dim) bool { return d.is(1) })
		if k < 0 {
			return "", nil
		}
		return fmt.Sprintf("Squeeze(%s)", g.axis(k, v)), slices.Delete(slices.Clone(v.dims), k, k+1)
	}},
	{"unsqueeze", 4, 0, func(g *gen, v *value) (string, []dim) {
		k := g.IntN(v.rank() + 1)
		return fmt.Sprintf("Unsqueeze(%d)", k), slices.Insert(slices.Clone(v.dims), k, fixed(1))
	}},
	{"diagonal", 3, 2, diagonalView},
	{"expand", 2, 1, func(g *gen, v *value) (string, []dim) {
		d := slices.Clone(v.dims)
		list := make([]string, len(d))
		for i := range d {
			list[i] = "-1"
			if d[i].is(1) {
				d[i] = fixed(2 + g.IntN(2))
				list[i] = d[i].expr
			}
		}
		if g.chance(40) {
			d, list = append([]dim{fixed(2)}, d...), append([]string{"2"}, list...)
		}
		return "Expand(" + strings.Join(list, ", ") + ")", d
	}},
	{"piece", 5, 1, pieceView},
}

// axis spells an axis, sometimes from the end.
func (g *gen) axis(k int, v *value) string {
	if g.chance(30) {
		k -= v.rank()
	}
	return strconv.Itoa(k)
}

// index chooses an index that is valid for every size.
func (g *gen) index(d dim) int {
	if n := d.least(); n > 1 && g.chance(80) {
		return g.IntN(n) - pick(g, 0, 0, n)
	}
	if !d.known() && g.chance(25) {
		return 1 // not for all sizes
	}
	return pick(g, 0, -1)
}

func (g *gen) find(v *value, f func(d dim) bool) int {
	for _, k := range g.Perm(v.rank()) {
		if f(v.dims[k]) {
			return k
		}
	}
	return -1
}

// with returns sizes with another one at k.
func with(dims []dim, k int, d dim) []dim {
	c := slices.Clone(dims)
	c[k] = d
	return c
}

func product(dims []dim) dim {
	p := fixed(1)
	for _, d := range dims {
		for i := range p.at {
			p.at[i] *= d.at[i]
		}
	}
	if p.known() {
		return fixed(p.at[0])
	}
	p.expr = ""
	return p
}

func selectView(g *gen, v *value) (string, []dim) {
	k := g.IntN(v.rank())
	return fmt.Sprintf("Select(%s, %d)", g.axis(k, v), g.index(v.dims[k])), slices.Delete(slices.Clone(v.dims), k, k+1)
}

func sliceView(g *gen, v *value) (string, []dim) {
	k := g.IntN(v.rank())
	d := v.dims[k]
	n := d.least()
	start, stop, end := g.IntN(n), "tensor.End", func(n int) int { return n }
	switch {
	case n > start+1 && g.chance(50):
		e := start + 1 + g.IntN(n-start)
		stop, end = strconv.Itoa(e), func(int) int { return e }
	case n > 1 && g.chance(30):
		stop, end = "-1", func(n int) int { return n - 1 }
	case !d.known() && d.expr != "" && g.chance(30) && !strings.HasSuffix(d.expr, "Dim(0)") && !strings.HasSuffix(d.expr, "Dim(1)"):
		stop = d.expr
	}
	step, opts := 1, ""
	if g.chance(45) {
		step = 2 + g.IntN(2)
		opts = fmt.Sprintf(", tensor.SliceAttrs{Step: %d}", step)
	}
	size := by(d, "", func(n int) int { return max(0, (end(n)-start+step-1)/step) })
	if size.least() < 1 {
		return "", nil
	}
	return fmt.Sprintf("Slice(%s, %d, %s%s)", g.axis(k, v), start, stop, opts), with(v.dims, k, size)
}

func reshapeView(g *gen, v *value) (string, []dim) {
	method := pick(g, "Reshape", "Reshape", "View")
	switch g.IntN(3) {
	case 0:
		return method + "(-1)", []dim{product(v.dims)}
	case 1:
		if v.rank() < 2 || !v.dims[v.rank()-1].known() {
			return "", nil
		}
		last := v.dims[v.rank()-1]
		return fmt.Sprintf("%s(-1, %s)", method, last.expr), []dim{product(v.dims[:v.rank()-1]), last}
	}
	if !spelled(v.dims) {
		return "", nil
	}
	d := slices.Insert(slices.Clone(v.dims), g.IntN(v.rank()+1), fixed(1))
	return method + "(" + goSizes(d) + ")", d
}

func diagonalView(g *gen, v *value) (string, []dim) {
	i, j := 0, 1
	opts := ""
	if v.rank() > 2 && g.chance(50) {
		i, j = 1, 2
		opts = "tensor.DiagonalAttrs{Dim1: 1, Dim2: 2}"
	}
	d := fixed(1)
	for k := range d.at {
		d.at[k] = min(v.dims[i].at[k], v.dims[j].at[k])
	}
	if d.expr = ""; d.known() {
		d = fixed(d.at[0])
	}
	rest := slices.Delete(slices.Clone(v.dims), j, j+1)
	return "Diagonal(" + opts + ")", append(slices.Delete(rest, i, i+1), d)
}

// pieceView takes one of several results.
func pieceView(g *gen, v *value) (string, []dim) {
	k := g.find(v, dim.known)
	if k < 0 {
		return "", nil
	}
	n := v.dims[k].at[0]
	axis := g.axis(k, v)
	switch g.IntN(4) {
	case 0:
		return fmt.Sprintf("Unbind(%s, %d)[%d]", axis, n, g.IntN(n)), slices.Delete(slices.Clone(v.dims), k, k+1)
	case 1:
		return fmt.Sprintf("UnbindDim(%s)[%d]", axis, g.IntN(n)), slices.Delete(slices.Clone(v.dims), k, k+1)
	case 2:
		if n%2 != 0 {
			return "", nil
		}
		return fmt.Sprintf("Chunk(2, %s)[%d]", axis, g.IntN(2)), with(v.dims, k, fixed(n/2))
	}
	if n < 2 {
		return "", nil
	}
	a := 1 + g.IntN(n-1)
	sizes := []int{a, n - a}
	i := g.IntN(2)
	return fmt.Sprintf("Split([]int{%d, %d}, %s)[%d]", a, n-a, axis, i), with(v.dims, k, fixed(sizes[i]))
}

// view returns an expression of a view of v and its known properties; nil when
// no row applied.
func (g *gen) view(v *value) (string, *value) {
	for range 20 {
		r := drawn(g, views, func(r viewRow) int { return r.weight })
		if v.rank() < r.rank || v.rank() > 4 {
			continue
		}
		if call, dims := r.call(g, v); call != "" {
			return v.name + "." + call, &value{dtype: v.dtype, dims: dims, eager: v.eager, mem: v.mem}
		}
	}
	return "", nil
}

// oneView declares a view.
func oneView(g *gen) bool {
	v := g.choose(anyValue)
	code, w := g.view(v)
	if w == nil {
		return false
	}
	g.hot = w.mem
	g.let("view", code, w)
	return true
}

// listView declares all pieces of a value, in a slice.
func listView(g *gen) bool {
	v := g.choose(func(v *value) bool { return g.find(v, dim.known) >= 0 })
	if v == nil {
		return false
	}
	k := g.find(v, dim.known)
	n := v.dims[k].at[0]
	name := g.name("l")
	dims, count := slices.Delete(slices.Clone(v.dims), k, k+1), n
	code := fmt.Sprintf("%s.Unbind(%s, %d)", v.name, g.axis(k, v), n)
	if n%2 == 0 && g.chance(50) {
		dims, count = with(v.dims, k, fixed(n/2)), 2
		code = fmt.Sprintf("%s.Chunk(2, %s)", v.name, g.axis(k, v))
	}
	g.emit(&Stmt{Kind: "list-view", Head: name + " := " + code, Defs: []string{name}})
	for i := range count {
		g.add(&value{name: fmt.Sprintf("%s[%d]", name, i), dtype: v.dtype, dims: dims, eager: v.eager, mem: v.mem})
	}
	g.hot = v.mem
	return true
}
