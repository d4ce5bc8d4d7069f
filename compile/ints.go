package compile

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes that code is told as ints stay symbols where the table says all that code does with them. A capture notes the size of each int, by the
// line that was told it. Every comparison that code may make of such ints becomes a relation that the record holds for, whether the call has come
// to it or not. What operators are given is an expression of these sizes: the one that has the number of this run.

// asked is what a capture knows of ints. It implements lazy.Ints.
type asked struct {
	table  *state.Ints
	told   [][]sizeNow // by line of the table
	sides  []shape.Relation
	unsure bool // an int may be negative, where code divides it, or more than an int, or one of very many sizes
}

// sizeNow is a size, and what it is in this run. Sums and products of ints that are too large are right again where the result fits an int, and
// what code compares, divides or takes the least of has to fit: see whole.
type sizeNow struct {
	d    shape.Dim
	n    int
	most float64 // the size is no more, and its negative no less, where no symbol is above mostSize
}

// mostSize is the greatest size that a record with relations of sizes is for.
const mostSize = math.MaxInt32

// maxSizes is the most sizes that an expression is looked at for.
const maxSizes = 64

// ints returns what a capture that follows sizes knows of ints, nil where the table has none.
func (c *core) ints(s *sizes) lazy.Ints {
	if s == nil || len(c.asks.Asks) == 0 {
		return nil
	}
	return &asked{table: c.asks, told: make([][]sizeNow, len(c.asks.Asks))}
}

// frame is the innermost one of the user's code, if it is code of the call that is recorded.
func (a *asked) frame() (f runtime.Frame, ok bool) {
	var pcs [64]uintptr
	n := runtime.Callers(3, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	found := false
	for more := n > 0; more; {
		var g runtime.Frame
		g, more = frames.Next()
		switch {
		case strings.HasPrefix(g.Function, exclusiveName):
			return f, found
		case !found && !strings.HasPrefix(g.Function, tensorRoom) && !strings.HasPrefix(g.Function, lazyRoom) && !strings.HasPrefix(g.Function, askedName):
			f, found = g, true
		}
	}
	return f, found && n == len(pcs) && inside()
}

// The rooms whose functions are not the user's.
const (
	tensorRoom = "github.com/gofx-dev/gofx/tensor."
	lazyRoom   = "github.com/gofx-dev/gofx/lazy."
	askedName  = "github.com/gofx-dev/gofx/compile.(*asked)."
)

// Here implements lazy.Ints.
func (a *asked) Here() bool { return inside() }

// Told implements lazy.Ints.
func (a *asked) Told(d shape.Dim, n int) bool {
	f, ok := a.frame()
	if !ok {
		return false
	}
	i := slices.IndexFunc(a.table.Asks, func(l state.Line) bool { return l.Has(&f) })
	if i < 0 {
		return false
	}
	a.unsure = a.unsure || n > mostSize
	a.told[i] = with(a.told[i], sizeNow{d, n, mostSize})
	return true
}

func with(list []sizeNow, s sizeNow) []sizeNow {
	if slices.ContainsFunc(list, func(o sizeNow) bool { return o.d.Same(s.d) }) {
		return list
	}
	return append(list, s)
}

// Given implements lazy.Ints. As many of the sizes as the table says are such ints, and have the number of one expression.
func (a *asked) Given(o *op.Op, dims []shape.Dim) (now []shape.Dim, ok bool) {
	i := slices.IndexFunc(a.table.Uses, func(u state.IntUse) bool { return u.Op == o.Name })
	if i < 0 {
		return dims, true
	}
	f, ok := a.frame()
	if !ok {
		return dims, true
	}
	i = slices.IndexFunc(a.table.Uses, func(u state.IntUse) bool { return u.Op == o.Name && u.Has(&f) })
	if i < 0 {
		return dims, true
	}
	u := &a.table.Uses[i]
	var all []sizeNow
	for _, e := range u.Exprs {
		for _, s := range a.sizes(e) {
			all = with(all, s)
		}
	}
	if !slices.ContainsFunc(all, func(s sizeNow) bool { _, known := s.d.Int(); return !known }) {
		return dims, true
	}
	now = slices.Clone(dims)
	found := 0
	for i, d := range dims {
		n, known := d.Int()
		if !known {
			continue
		}
		may := slices.DeleteFunc(slices.Clone(all), func(s sizeNow) bool { return s.n != n })
		switch len(may) {
		case 0:
		case 1:
			now[i] = may[0].d
			found++
		default:
			return dims, false
		}
	}
	return now, found == u.Count
}

// sizes lists what an expression may be. Each of its ints is any that its line was told.
func (a *asked) sizes(e state.IntExpr) (list []sizeNow) {
	var stack [][]sizeNow
	for _, t := range e {
		switch t.Op {
		case "ask":
			stack = append(stack, a.told[t.N])
			continue
		case "const":
			stack = append(stack, []sizeNow{{shape.Const(t.N), t.N, math.Abs(float64(t.N))}})
			continue
		}
		n := len(stack)
		var out []sizeNow
		for _, x := range stack[n-2] {
			for _, y := range stack[n-1] {
				out = with(out, a.apply(t.Op, x, y))
			}
		}
		if len(out) > maxSizes {
			a.unsure = true
			out = out[:maxSizes]
		}
		stack = append(stack[:n-2], out)
	}
	return stack[0]
}

func (a *asked) apply(name string, x, y sizeNow) (s sizeNow) {
	defer func() { a.unsure = a.unsure || s.d.IsUnknown() }()
	switch name {
	case "+":
		return a.fits(sizeNow{x.d.Add(y.d), x.n + y.n, x.most + y.most}, (x.n+y.n > x.n) == (y.n > 0))
	case "-":
		return a.fits(sizeNow{x.d.Sub(y.d), x.n - y.n, x.most + y.most}, (x.n-y.n < x.n) == (y.n > 0))
	case "*":
		return a.fits(sizeNow{x.d.Mul(y.d), x.n * y.n, x.most * y.most}, x.n == 0 || x.n*y.n/x.n == y.n)
	}
	a.whole(x)
	a.whole(y)
	switch name {
	case "min":
		return sizeNow{x.d.Min(y.d), min(x.n, y.n), max(x.most, y.most)}
	case "max":
		return sizeNow{x.d.Max(y.d), max(x.n, y.n), max(x.most, y.most)}
	}
	if x.n < 0 { // Go rounds to 0, sizes are rounded down
		a.unsure = true
	} else {
		a.holds(shape.Relation{Rel: shape.GE, A: x.d, B: shape.Const(0)})
	}
	q := sizeNow{x.d.FloorDiv(y.d), x.n / y.n, x.most}
	if name == "/" {
		return q
	}
	return sizeNow{x.d.Sub(q.d.Mul(y.d)), x.n % y.n, y.most}
}

// fits is a size that was computed; ok tells that it is no more than an int can be, in this run.
func (a *asked) fits(s sizeNow, ok bool) sizeNow {
	a.unsure = a.unsure || !ok
	return s
}

// whole has the record hold for sizes alone of which a number fits an int: expressions are true for all sizes, and ints wrap around.
func (a *asked) whole(x sizeNow) {
	if x.most < math.MaxInt {
		return
	}
	a.holds(shape.Relation{Rel: shape.GE, A: shape.Const(math.MaxInt), B: x.d})
	a.holds(shape.Relation{Rel: shape.GE, A: x.d, B: shape.Const(-math.MaxInt)})
}

// holds notes a relation that is true in this run, and that the record holds for.
func (a *asked) holds(r shape.Relation) {
	if !slices.Contains(a.sides, r) {
		a.sides = append(a.sides, r)
	}
}

// Sides implements lazy.Ints.
func (a *asked) Sides() (list []shape.Relation, ok bool) {
	for _, t := range a.table.Tests {
		for _, x := range a.sizes(t.A) {
			for _, y := range a.sizes(t.B) {
				a.whole(x)
				a.whole(y)
				list = append(list, side(x, t.Op, y))
			}
		}
	}
	return append(list, a.sides...), !a.unsure
}

// side is the relation of two sizes that a comparison tells apart from others, as it is in this run.
func side(x sizeNow, op string, y sizeNow) shape.Relation {
	switch op {
	case "<", "<=":
		x, y = y, x
	}
	switch op {
	case "==", "!=":
		if x.n == y.n {
			return shape.Relation{Rel: shape.EQ, A: x.d, B: y.d}
		}
		return shape.Relation{Rel: shape.NE, A: x.d, B: y.d}
	case "<=", ">=":
		if x.n >= y.n {
			return shape.Relation{Rel: shape.GE, A: x.d, B: y.d}
		}
		return shape.Relation{Rel: shape.GE, A: y.d, B: x.d.Add(shape.Const(1))}
	}
	if x.n > y.n {
		return shape.Relation{Rel: shape.GE, A: x.d, B: y.d.Add(shape.Const(1))}
	}
	return shape.Relation{Rel: shape.GE, A: y.d, B: x.d}
}

// sided reports whether relations of sizes hold where symbols have these sizes.
func sided(list []shape.Relation, sizes []int) bool {
	env := func(symbol string) (int, bool) {
		i, err := strconv.Atoi(strings.TrimPrefix(symbol, "s"))
		if err != nil || i >= len(sizes) {
			return 0, false
		}
		return sizes[i], sizes[i] <= mostSize
	}
	return !slices.ContainsFunc(list, func(r shape.Relation) bool {
		_, _, ok, err := r.Eval(env)
		return !ok || err != nil
	})
}

// sidesText are relations as people read them.
func sidesText(list []shape.Relation) string {
	all := make([]string, len(list))
	for i, r := range list {
		all[i] = r.String()
	}
	return strings.Join(all, ", ")
}

// sameSide reports whether code has branched in an older call as in a new one, as far as sizes decide that.
func sameSide(near []*record, image *state.Image, got *lazy.Captured) bool {
	return slices.ContainsFunc(near, func(old *record) bool {
		var s sizes
		return s.find(old.sizes, image.Sizes()) && s.open() && sided(got.Sides, s.was)
	})
}

// onSide reports whether a call whose guard was checked has sizes for which the record was made.
func (o *opened) onSide(g *state.Guard, m *state.Machine) bool {
	if o == nil || len(o.sides) == 0 {
		return true
	}
	sizes := make([]int, len(o.sizes.now))
	for i := range sizes {
		sizes[i] = o.sizes.size(i+1, g, m)
	}
	return sided(o.sides, sizes)
}
