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
	walks    int
	shut     bool         // a plan with symbols was refused: no more are made
	extra    map[int]bool // of its programs: each new one begins with them
}

// open says what the sizes of a program with symbols are.
type open struct {
	elem    *list.Element
	symbols []Symbol
	at      []int       // where in sizes each symbol stands
	terms   []shape.Dim // of symbols, which formulas count after these
	sizes   []formula   // of the cone
	from    [][]int     // sizes of cones that it was made of
	fails   int         // runs that the plan refused
}

// Symbol is a size of what a graph reads that the graph leaves open.
type Symbol struct {
	Name  string `json:"name"`
	Leaf  int    `json:"leaf"`  // the number of what is read, in the order of the graph
	Axis  int    `json:"axis"`  // of it
	Sizes []int  `json:"sizes"` // that it had when it became a symbol
	Line  string `json:"line"`  // of the first call that reads the leaf
}

// String tells the name, which size differed, and where.
func (y Symbol) String() string {
	text := y.Name + ", axis " + strconv.Itoa(y.Axis) + " of leaf " + strconv.Itoa(y.Leaf) + " had the sizes"
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
			o.saw(k.sizes)
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
	o, instead := c.foreseen(k), (*open)(nil)
	if o == nil {
		o, instead = f.unify(k)
	}
	if o == nil {
		return nil
	}
	f.loose = slices.DeleteFunc(f.loose, o.fits)
	f.made++
	f.opens = append(f.opens, o)
	// No key of a cone begins with 0.
	c.enter(&program{key: "\x00" + strconv.Itoa(f.made) + " " + string(k.key[:k.skeleton]), open: o}, k)
	if instead != nil && slices.Contains(f.opens, instead) {
		c.drop(instead.elem)
	}
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

// symbol describes a size of a leaf.
func (k *cone) symbol(i int, sizes []int) Symbol {
	y := Symbol{Sizes: sizes}
	first := k.ofLeaves
	for n, l := range k.leaves {
		if l.slot() != nil {
			continue
		}
		if rank := l.data.Rank(); i < first+rank {
			y.Leaf, y.Axis = n, i-first
			break
		}
		first += l.data.Rank()
	}
	for _, q := range k.calls {
		if q.pc != 0 && slices.Contains(q.args(), k.leaves[y.Leaf]) {
			y.Line = diag.Resolve(q.pc).String()
			break
		}
	}
	return y
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
	for i, q := range k.calls {
		if !o.same(calls[i].Type(), q.typ, k.sizes) {
			return false
		}
	}
	return true
}

// fits reports whether values have the sizes that the cone's calls have.
func (e *compiled) fits(out []*array.Array, k *cone) bool {
	for q, values := range e.results(out, k) {
		if !typeOfRun(values, q.typ.Kind() == shape.Tuple).Same(q.typ) {
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
		dims[i] = p.open.dim(f)
	}
	return &resizing{dims[:k.ofLeaves], dims[k.ofLeaves:]}
}

// leaf makes the input of a leaf; turned tells that it is given as it lies in memory, in an order of its axes that is nil for
// their own.
func (r *resizing) leaf(at *graph.Cursor, name string, l *place, turned bool) (n *graph.Node, order []int) {
	t := shape.TypeOf(l.data)
	if r != nil && l.slot() == nil {
		t = t.WithDims(shape.Of(r.leaves[:t.Rank()]...))
		r.leaves = r.leaves[t.Rank():]
	}
	dims := slices.Clone(t.Dims().Slice())
	if turned {
		order = orderOf(l.data)
	}
	for i, axis := range order {
		dims[i] = t.Dim(axis)
	}
	n = at.Placeholder(name, t.WithDims(shape.Of(dims...)), nil)
	for axis, d := range dims {
		if symbol, ok := d.IsSymbol(); ok {
			at.Graph().DefineSymbol(symbol, n, axis)
		}
	}
	return n, order
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
