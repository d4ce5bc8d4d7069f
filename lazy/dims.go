package lazy

import (
	"container/list"
	"errors"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/shape"
)

// Sizes that differ become symbols without a word of the program: cones that differ in
// numbers that are sizes alone are a family, and of three that differ in one size of a leaf
// the sizes of all attributes are found as functions of it. A cone is run by the graph
// with the symbol only where each of its sizes is what the function says, so that a program
// that asks for a size and branches, or computes with it in another way, is another graph.

// family has the programs of one skeleton: cones that differ in numbers that are sizes alone.
type family struct {
	programs int     // that are kept
	loose    [][]int // sizes of cones that no symbol fits, the last one last
	opens    []*open
	made     int
	shut     bool         // a plan with symbols was refused: no more are made
	extra    map[int]bool // of its programs: each new one begins with them
}

// open says what the sizes of a program with symbols are.
type open struct {
	elem    *list.Element
	symbols []Symbol
	at      []int     // where in sizes each symbol stands
	sizes   []formula // of the cone
	fails   int       // runs that the plan refused
}

// formula is a size as a function of symbols: a number times some of them, plus a number.
type formula struct {
	scale, plus int
	of          []int
}

func (f formula) value(symbols []int) int {
	n := f.scale
	for _, i := range f.of {
		n *= symbols[i]
	}
	return n + f.plus
}

func (f formula) dim() shape.Dim {
	d := shape.Const(f.scale)
	for _, i := range f.of {
		d = d.Mul(shape.Sym(symbolName(i)))
	}
	return d.AddInt(f.plus)
}

func symbolName(i int) string { return "s" + strconv.Itoa(i) }

// Symbol is a size of what a graph reads that the graph leaves open.
type Symbol struct {
	Leaf  int    `json:"leaf"`  // the number of what is read, in the order of the graph
	Axis  int    `json:"axis"`  // of it
	Sizes []int  `json:"sizes"` // that it had when it became a symbol
	Line  string `json:"line"`  // of the first call that reads the leaf
}

// String says which size differed, and where.
func (y Symbol) String() string {
	text := "axis " + strconv.Itoa(y.Axis) + " of leaf " + strconv.Itoa(y.Leaf) + " had the sizes"
	for i, n := range y.Sizes {
		if i > 0 {
			text += ","
		}
		text += " " + strconv.Itoa(n)
	}
	return text + " at " + y.Line
}

const (
	maxLoose = 8 // cones of a family that are remembered
	maxOpen  = 8 // programs with symbols that are made for a family
	maxFails = 2 // runs that the plan of one may refuse
	together = 5 // loose cones from which on sizes that differ together become symbols
)

// opened returns the program with symbols that a cone fits; it makes one where the cone is
// the third one that differs in one size.
func (c *cache) opened(k *cone) *list.Element {
	if c.s.opts.Dims == Fixed || c.s.opts.Rounding {
		return nil
	}
	f := c.family(k)
	for _, o := range f.opens {
		if o.fits(k.sizes) {
			return o.elem
		}
	}
	if slices.ContainsFunc(f.loose, func(s []int) bool { return slices.Equal(s, k.sizes) }) {
		return nil
	}
	if f.loose = append(f.loose, k.sizes); len(f.loose) > maxLoose {
		f.loose = f.loose[1:]
	}
	if f.shut || f.made == maxOpen {
		return nil
	}
	o := f.unify(k)
	if o == nil {
		return nil
	}
	f.loose = slices.DeleteFunc(f.loose, o.fits)
	f.made++
	f.opens = append(f.opens, o)
	// No key of a cone begins with 0.
	c.enter(&program{key: "\x00" + strconv.Itoa(f.made) + " " + string(k.key[:k.skeleton]), open: o}, k)
	return o.elem
}

func (c *cache) family(k *cone) *family {
	f := c.families[string(k.key[:k.skeleton])]
	if f == nil {
		f = &family{extra: map[int]bool{}}
		c.families[string(k.key[:k.skeleton])] = f
	}
	return f
}

// join enters a program into its family, leave takes it out.
func (c *cache) join(p *program, e *list.Element, k *cone) {
	p.of, p.skeleton = c.family(k), string(k.key[:k.skeleton])
	p.of.programs++
	if p.open != nil {
		p.open.elem = e
	}
}

func (c *cache) leave(p *program) {
	f := p.of
	f.opens = slices.DeleteFunc(f.opens, func(o *open) bool { return o == p.open })
	if f.programs--; f.programs == 0 {
		delete(c.families, p.skeleton)
	}
}

// shut ends a program with symbols for good: each size has a graph of its own then.
func (c *cache) shut(p *program) {
	p.of.shut = true
	if c.programs[p.key] == p.open.elem {
		c.drop(p.open.elem)
	}
}

// refused counts a run that the plan of a program with symbols refused.
func (c *cache) refused(p *program, err error) {
	var e *diag.Error
	if p.open == nil || !errors.As(err, &e) || e.Code != interp.GuardFailed {
		return
	}
	if p.open.fails++; p.open.fails == maxFails {
		c.shut(p)
	}
}

// unify finds the sizes of three cones of the family, of which the last is k, as functions
// of symbols; nil where there is no way.
func (f *family) unify(k *cone) *open {
	last := len(f.loose) - 1
	for j := last - 1; j >= 0; j-- {
		for i := j - 1; i >= 0; i-- {
			if o := unify(k, [3][]int{f.loose[i], f.loose[j], f.loose[last]}, 1); o != nil {
				return o
			}
		}
	}
	if len(f.loose) < together {
		return nil
	}
	return unify(k, [3][]int(f.loose[last-2:]), len(k.sizes))
}

// unify makes symbols of the sizes of leaves that differ, of at most a number of them; those
// that always agree are one.
func unify(k *cone, cones [3][]int, most int) *open {
	o := &open{sizes: make([]formula, len(k.sizes))}
	var symbols [][3]int
	for i := range k.sizes {
		at := [3]int{cones[0][i], cones[1][i], cones[2][i]}
		if i < k.ofLeaves || at[0] == at[1] && at[1] == at[2] || slices.Contains(symbols, at) {
			continue
		}
		if len(symbols) == most || min(at[0], at[1], at[2]) < 2 {
			return nil
		}
		symbols = append(symbols, at)
		o.at = append(o.at, i)
		o.symbols = append(o.symbols, k.symbol(i, at))
	}
	for i := range k.sizes {
		var ok bool
		if o.sizes[i], ok = formulaOf([3]int{cones[0][i], cones[1][i], cones[2][i]}, symbols); !ok {
			return nil
		}
	}
	return o
}

// formulaOf finds a size as a function of symbols that is right for three cones.
func formulaOf(size [3]int, symbols [][3]int) (f formula, ok bool) {
	if size[0] == size[1] && size[1] == size[2] {
		return formula{plus: size[0]}, true
	}
	right := func(f formula) bool {
		for k := range size {
			at := make([]int, len(symbols))
			for j, y := range symbols {
				at[j] = y[k]
			}
			if f.value(at) != size[k] {
				return false
			}
		}
		return true
	}
	for j, y := range symbols {
		a, b := 0, 1
		if y[0] == y[1] {
			b = 2
		}
		scale := (size[b] - size[a]) / (y[b] - y[a])
		if f = (formula{scale: scale, plus: size[a] - scale*y[a], of: []int{j}}); scale != 0 && right(f) {
			return f, true
		}
	}
	for i := range symbols {
		for j := i; j < len(symbols); j++ {
			scale := size[0] / (symbols[i][0] * symbols[j][0])
			if f = (formula{scale: scale, of: []int{i, j}}); scale != 0 && right(f) {
				return f, true
			}
		}
	}
	return f, false
}

// symbol describes a size of a leaf.
func (k *cone) symbol(i int, sizes [3]int) Symbol {
	y := Symbol{Sizes: slices.Clone(sizes[:])}
	first := k.ofLeaves
	for n, l := range k.leaves {
		if l.slot != nil {
			continue
		}
		if rank := l.data.Rank(); i < first+rank {
			y.Leaf, y.Axis = n, i-first
			break
		}
		first += l.data.Rank()
	}
	for _, q := range k.calls {
		if q.pc != 0 && slices.Contains(q.args, k.leaves[y.Leaf]) {
			y.Line = diag.Resolve(q.pc).String()
			break
		}
	}
	return y
}

// fits reports whether the sizes of a cone are those of the program for some values of its
// symbols. 0 and 1 are none: what has such sizes may broadcast, or be nothing.
func (o *open) fits(sizes []int) bool {
	var buf [4]int
	symbols := buf[:0]
	for _, i := range o.at {
		if sizes[i] < 2 {
			return false
		}
		symbols = append(symbols, sizes[i])
	}
	for i, f := range o.sizes {
		if f.value(symbols) != sizes[i] {
			return false
		}
	}
	return true
}

// graph makes the graph of a cone. One with symbols that has no such graph ends, ok is
// false then.
func (c *cache) graph(p *program, k *cone) (exe *compiled, m *graph.Module, ok bool) {
	if p.open == nil {
		exe, m, _ = c.build(p, k)
		return exe, m, true
	}
	err := func() (err error) {
		defer diag.Catch(&err)
		var calls []*graph.Node
		if exe, m, calls = c.build(p, k); !p.open.types(calls, k) {
			err = errShut
		}
		return err
	}()
	if err != nil {
		c.shut(p)
	}
	return exe, m, err == nil
}

var errShut = diag.New(Closed, "the sizes of a graph with symbols are not those of the calls")

// types reports whether the calls of a graph have the types that they have in the cone.
func (o *open) types(calls []*graph.Node, k *cone) bool {
	env := func(name string) shape.Dim {
		for j, i := range o.at {
			if symbolName(j) == name {
				return shape.Const(k.sizes[i])
			}
		}
		return shape.Unknown
	}
	for i, q := range k.calls {
		if !calls[i].Type().Bind(env).Same(q.typ) {
			return false
		}
	}
	return true
}

// fit reports whether values have the sizes that the cone's calls have.
func fit(out []*array.Array, keep []int, k *cone) bool {
	for i, n := range keep {
		if !shape.TypeOf(out[i]).Same(k.calls[n].typ) {
			return false
		}
	}
	return true
}

// resizing gives the attributes and leaves of a program with symbols their sizes.
type resizing struct {
	calls, leaves []shape.Dim // that are left
}

func (p *program) resizing(k *cone) *resizing {
	if p.open == nil {
		return nil
	}
	dims := make([]shape.Dim, len(p.open.sizes))
	for i, f := range p.open.sizes {
		dims[i] = f.dim()
	}
	return &resizing{dims[:k.ofLeaves], dims[k.ofLeaves:]}
}

// leaf makes the input of a leaf.
func (r *resizing) leaf(at *graph.Cursor, name string, l *place) *graph.Node {
	t := shape.TypeOf(l.data)
	if r == nil || l.slot != nil {
		return at.Placeholder(name, t, nil)
	}
	t = t.WithDims(shape.Of(r.leaves[:t.Rank()]...))
	r.leaves = r.leaves[t.Rank():]
	n := at.Placeholder(name, t, nil)
	for axis, d := range t.Dims().Slice() {
		if symbol, ok := d.IsSymbol(); ok {
			at.Graph().DefineSymbol(symbol, n, axis)
		}
	}
	return n
}

// attrs returns the attributes of a call that takes no values, and gives those of a lifted
// one, nil for none, their sizes.
func (r *resizing) attrs(q *place, l *operand) (attrs any) {
	if r == nil {
		return q.attrs
	}
	codec, before := q.op.Codec(), r.calls
	if l == nil {
		attrs, r.calls = codec.Resized(q.attrs, before)
		return attrs
	}
	l.Attrs, r.calls = codec.Resized(l.Attrs, before)
	if attrs, ok := l.Join(l.Attrs); ok {
		return attrs
	}
	attrs, _ = codec.Resized(q.attrs, before)
	return attrs
}
