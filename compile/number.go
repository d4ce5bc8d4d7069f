package compile

import (
	"math"
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Numbers become inputs of a graph where the table says that all code does with them is to give them, or what it computes
// with them and constants, to operators. The table does not say to which calls of the graph: two captures do, between
// which only such numbers differ. What differs in their graphs depends on these, what does not differ depends on none.

// opened are the numbers of a record that are inputs.
type opened struct {
	words  []state.Word
	paths  map[string]bool
	calls  []openCall
	leaves []slot
	sizes  sizes
	sides  []shape.Relation // of sizes, which hold for the record's calls
	like   *record          // which the numbers were found by
	rolls  *rolls           // the loops that are rolled, nil for none
}

// slot is a number of a graph that is an expression of a word.
type slot struct {
	at   int // a number of the attributes of a call, or the number of a leaf
	word int // of opened
	expr state.Expr
}

// openCall is a call with such numbers.
type openCall struct {
	number int   // of the call
	within []int // see lazy.OpenCall
	call   *lazy.CapturedCall
	lifted op.Lifted
	slots  []slot
}

// failing counts the numbers that differ from those of the record used last, and returns those that have differed LiftAfter
// times.
func (b *bucket) failing(c *core, image *state.Image) map[string]bool {
	after := c.opts.lift
	b.mu.RLock()
	defer b.mu.RUnlock()
	if len(b.records) == 0 {
		return nil
	}
	open := map[string]bool{}
	for _, w := range image.Words() {
		if w.Rounds {
			continue
		}
		if was, ok := b.records[0].was(w.Path); ok && !was.Same(w.Was) {
			b.differed[w.Path]++
		}
		if b.differed[w.Path] >= after {
			open[w.Path] = true
		}
	}
	if c.anySize {
		b.sizes(image, after, open)
	}
	return open
}

// shut has numbers compared for good, of which something else depends than the graph.
func (b *bucket) shut(o *opened) {
	for _, w := range o.words {
		b.differed[w.Path] = math.MinInt
	}
	b.compares(&o.sizes)
}

// was is the number that a word had when the record was made.
func (r *record) was(path string) (state.Scalar, bool) {
	i := slices.IndexFunc(r.words, func(w state.Word) bool { return w.Path == path })
	if i < 0 {
		return state.Scalar{}, false
	}
	return r.words[i].Was, true
}

// near lists the records that fit a call except for words that may become inputs, and the paths of these.
func (b *bucket) near(c *core, k *call, image *state.Image, fits *record) (open map[string]bool, list []*record) {
	if fits != nil {
		return nil, nil
	}
	if open = b.failing(c, image); len(open) == 0 {
		return nil, nil
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, r := range b.records {
		if r.guard.CheckBut(&k.machine, k.in, k.out, open) {
			list = append(list, r)
		}
	}
	return open, list
}

// opening finds the numbers that become inputs: those at the paths of open, by a record that fits in everything
// except them. It returns nil where there is none, or the graphs differ in another way.
func opening(near []*record, image *state.Image, open map[string]bool, followed *sizes, got *lazy.Captured) *opened {
	words, shapes := image.Words(), image.Sizes()
	for _, old := range near {
		o := compared(old, words, shapes, open, got)
		if o != nil && (!o.sizes.open() || got.Looked == "" && !got.Unsure && len(got.Writes) == 0 && o.sizes.same(followed) && sided(got.Sides, o.sizes.was)) {
			o.sides = got.Sides
			return o
		}
	}
	return nil
}

// comparison is of the calls of an older record with new ones.
type comparison struct {
	*opened
	was  []state.Scalar // of the words, in the older record
	fail bool
	top  int   // the number of the call that is compared, outside of functions
	path []int // from there to the call, see lazy.OpenCall
}

func compared(old *record, words []state.Word, shapes []state.Sized, open map[string]bool, got *lazy.Captured) *opened {
	c := &comparison{opened: &opened{paths: map[string]bool{}, like: old}}
	for _, w := range words {
		was, ok := old.was(w.Path)
		switch {
		case !ok || !open[w.Path]:
			continue
		case was.Same(w.Was) && !old.opens(w.Path): // it is compared as before
			continue
		case !apart(w, was), !w.SameSide(was, w.Was):
			return nil
		}
		c.paths[w.Path] = true
		c.words, c.was = append(c.words, w), append(c.was, was)
	}
	if !c.sizes.find(old.sizes, shapes) || len(c.words)+len(c.sizes.now) == 0 || len(old.got.Calls) != len(got.Calls) || len(old.got.Leaves) != len(got.Leaves) {
		return nil
	}
	for i := range got.Leaves {
		c.leaf(i, &old.got.Leaves[i], &got.Leaves[i])
	}
	c.all(old.got.Calls, got.Calls)
	if c.fail {
		return nil
	}
	return c.opened
}

// all compares the calls of two captures that have equally many.
func (c *comparison) all(old, now []lazy.CapturedCall) {
	for i := range now {
		c.top = i
		c.call(&old[i], &now[i])
	}
}

// bodies compares the functions of two calls.
func (c *comparison) bodies(old, now *lazy.CapturedCall) {
	for i := range now.Bodies {
		a, b := &old.Bodies[i], &now.Bodies[i]
		if len(a.Params) != len(b.Params) || len(a.Calls) != len(b.Calls) || !slices.Equal(a.Results, b.Results) {
			c.fail = true
			return
		}
		path := c.path
		for j := range b.Calls {
			c.path = append(slices.Clip(path), i, j)
			c.call(&a.Calls[j], &b.Calls[j])
		}
		c.path = path
	}
}

// apart reports whether all that operators are given of a word differs between two numbers of it: a call that is
// given any of it differs then.
func apart(w state.Word, was state.Scalar) bool {
	return !slices.ContainsFunc(w.Exprs, func(e state.Expr) bool { return e.Eval(w.Was).Same(e.Eval(was)) })
}

// inputs are the words that became inputs.
func (r *record) inputs() []state.Word {
	if r.open == nil {
		return nil
	}
	return r.open.words
}

func (r *record) opens(path string) bool { return r.open != nil && r.open.paths[path] }

// leaf compares what calls read. A number that differs is a slot.
func (c *comparison) leaf(i int, old, now *lazy.CapturedLeaf) {
	a, b := old.Array, now.Array
	switch {
	case old.Tensor != now.Tensor || now.Tensor < 0 && (a == nil || b == nil):
		c.fail = true
	case a == b || now.Tensor >= 0 || array.Equal(a, b):
	default:
		is := func(x state.Scalar, of *array.Array) bool {
			e := elementOf(x)
			return e != nil && array.Equal(e, of)
		}
		if s, ok := c.slot(func(was, now state.Scalar) bool { return is(was, a) && is(now, b) }); ok {
			s.at = i
			c.leaves = append(c.leaves, s)
		}
	}
}

// call compares two calls. Numbers of attributes that differ are slots.
func (c *comparison) call(old, now *lazy.CapturedCall) {
	if old.Op != now.Op || old.Index != now.Index || !slices.Equal(old.Args, now.Args) || len(old.Bodies) != len(now.Bodies) ||
		!c.sizes.open() && (!old.Type.Same(now.Type) || !slices.EqualFunc(old.In, now.In, shape.Type.Same)) {
		c.fail = true
		return
	}
	if now.Op == nil {
		return
	}
	c.bodies(old, now)
	if now.Sizes != nil {
		attrs, ok := now.Resized(c.sizes.was)
		c.fail = c.fail || !ok || !now.Op.Codec().Equal(old.Attrs, attrs)
		return
	}
	if now.Op.Codec().Equal(old.Attrs, now.Attrs) {
		return
	}
	o := openCall{number: c.top, within: c.path, call: now}
	a, b := now.Op.Codec().Numbers(old.Attrs), now.Op.Codec().Numbers(now.Attrs)
	if len(a) != len(b) {
		c.fail = true
		return
	}
	for j := range b {
		if a[j] == b[j] {
			continue
		}
		if s, ok := c.slot(func(was, now state.Scalar) bool { return scalarOf(was) == a[j] && scalarOf(now) == b[j] }); ok {
			s.at = j
			o.slots = append(o.slots, s)
		}
	}
	var ok bool
	if o.lifted, ok = now.Op.Lift(now.Attrs, now.In); !ok || o.lifted.Op == nil || !now.Op.Codec().Equal(now.Op.Codec().WithNumbers(old.Attrs, b), now.Attrs) || !c.sizes.keeps(now, o.lifted) {
		c.fail = true
		return
	}
	c.calls = append(c.calls, o)
}

// slot finds the only expression of a word that gives a number that differs. 0 and 1 are none: graphs may compute less
// for them.
func (c *comparison) slot(is func(was, now state.Scalar) bool) (found slot, ok bool) {
	for i, w := range c.words {
		for _, e := range w.Exprs {
			now := e.Eval(w.Was)
			if !is(e.Eval(c.was[i]), now) || special(now) {
				continue
			}
			if ok && (i != found.word || !slices.Equal(plain(e), plain(found.expr))) {
				c.fail = true
			}
			found, ok = slot{word: i, expr: e}, true
		}
	}
	c.fail = c.fail || !ok
	return found, ok
}

// plain is an expression without a last conversion to float64: where numbers of both forms are given, they are integers
// of one value, or floats of one.
func plain(e state.Expr) state.Expr {
	if n := len(e); n > 0 && e[n-1].Op == "convert" && e[n-1].Kind == "float64" {
		return e[:n-1]
	}
	return e
}

func special(s state.Scalar) bool { return s.Float64() == 0 || s.Float64() == 1 }

// scalarOf is a number as attributes have it.
func scalarOf(s state.Scalar) op.Scalar {
	if s.IsFloat() {
		return op.Float(s.F)
	}
	return op.Int(s.I)
}

// elements make tensors without dimensions, by the type of the number.
var elements = map[string]func(state.Scalar) *array.Array{
	"float32": func(s state.Scalar) *array.Array { return array.Scalar(float32(s.F)) },
	"float64": func(s state.Scalar) *array.Array { return array.Scalar(s.F) },
	"int8":    func(s state.Scalar) *array.Array { return array.Scalar(int8(s.I)) },
	"int16":   func(s state.Scalar) *array.Array { return array.Scalar(int16(s.I)) },
	"int32":   func(s state.Scalar) *array.Array { return array.Scalar(int32(s.I)) },
	"int64":   func(s state.Scalar) *array.Array { return array.Scalar(s.I) },
	"uint8":   func(s state.Scalar) *array.Array { return array.Scalar(uint8(s.I)) },
	"uint16":  func(s state.Scalar) *array.Array { return array.Scalar(uint16(s.I)) },
	"uint32":  func(s state.Scalar) *array.Array { return array.Scalar(uint32(s.I)) },
	"uint64":  func(s state.Scalar) *array.Array { return array.Scalar(uint64(s.I)) },
}

// elementOf is the tensor without dimensions that has a number, nil for numbers that are no elements.
func elementOf(s state.Scalar) *array.Array {
	if f := elements[s.Kind]; f != nil {
		return f(s)
	}
	return nil
}

// opening is what the graph leaves open.
func (o *opened) opening() (l lazy.Opening) {
	if o == nil {
		return l
	}
	l.Sizes, l.Symbols = o.symbols(), len(o.sizes.now)
	for _, s := range o.leaves {
		l.Leaves = append(l.Leaves, s.at)
	}
	for _, c := range o.calls {
		l.Calls = append(l.Calls, lazy.OpenCall{Call: c.number, Within: c.within, Lifted: c.lifted})
	}
	return l
}

// numbers are the values of what a graph leaves open.
type numbers struct{ leaves, calls []*array.Array }

// now computes the numbers for a call whose guard was checked. ok is false where the graph is not that of the call.
func (o *opened) now(m *state.Machine) (n numbers, ok bool) {
	if o == nil {
		return n, true
	}
	words := make([]state.Scalar, len(o.words))
	for i := range o.words {
		words[i] = o.words[i].Now(m)
		if !o.words[i].SameSide(words[i], o.words[i].Was) {
			return n, false
		}
	}
	for _, s := range o.leaves {
		x := s.expr.Eval(words[s.word])
		if special(x) {
			return n, false
		}
		n.leaves = append(n.leaves, elementOf(x))
	}
	for i := range o.calls {
		attrs, ok := o.calls[i].attrs(words)
		if !ok {
			return n, false
		}
		c := &o.calls[i]
		values, ok := c.lifted.Again(c.call.Op, attrs, c.call.In, c.call.Type)
		if !ok {
			return n, false
		}
		n.calls = append(n.calls, values...)
	}
	return n, true
}

// attrs are the attributes of the call for these words.
func (c *openCall) attrs(words []state.Scalar) (attrs any, ok bool) {
	list := c.call.Op.Codec().Numbers(c.call.Attrs)
	for _, s := range c.slots {
		x := s.expr.Eval(words[s.word])
		if special(x) {
			return nil, false
		}
		list[s.at] = scalarOf(x)
	}
	return c.call.Op.Codec().WithNumbers(c.call.Attrs, list), true
}

// fits reports whether a record's graph, with the numbers of a call, is the graph that the call has made.
func (r *record) fits(again *record) bool {
	if r.open == nil {
		return true
	}
	now := again.got
	list := make([]state.Scalar, len(r.open.words))
	for i, w := range r.open.words {
		j := slices.IndexFunc(again.words, func(n state.Word) bool { return n.Path == w.Path })
		if j < 0 {
			return false
		}
		list[i] = again.words[j].Was
	}
	sizes := r.open.sizes.at(again.sizes)
	if len(r.got.Calls) != len(now.Calls) || len(r.got.Leaves) != len(now.Leaves) || r.open.sizes.open() && sizes == nil {
		return false
	}
	leaves := slices.Clone(r.got.Leaves)
	for _, s := range r.open.leaves {
		leaves[s.at].Array = elementOf(s.expr.Eval(list[s.word]))
	}
	calls, ok := resized(r.got.Calls, sizes)
	if !ok {
		return false
	}
	for i := range r.open.calls {
		c := &r.open.calls[i]
		at := &calls[c.number]
		for w := c.within; len(w) > 0; w = w[2:] {
			at = &at.Bodies[w[0]].Calls[w[1]]
		}
		at.Attrs, _ = c.attrs(list)
	}
	c := &comparison{opened: &opened{sizes: r.open.sizes}}
	for i := range leaves {
		c.leaf(i, &leaves[i], &now.Leaves[i])
	}
	c.all(calls, now.Calls)
	return !c.fail
}

// resized copies calls with what is in their functions, where symbols have these sizes. ok is false where the function divides by 0 for them.
func resized(calls []lazy.CapturedCall, sizes []int) (all []lazy.CapturedCall, ok bool) {
	all = slices.Clone(calls)
	for i := range all {
		c := &all[i]
		if c.Attrs, ok = c.Resized(sizes); !ok {
			return nil, false
		}
		c.Bodies = slices.Clone(c.Bodies)
		for k := range c.Bodies {
			if c.Bodies[k].Calls, ok = resized(c.Bodies[k].Calls, sizes); !ok {
				return nil, false
			}
		}
	}
	return all, true
}

// sameEnd reports whether what two runs of a graph leave is the same.
func sameEnd(a, b *lazy.Captured) bool {
	same := func(x, y lazy.CapturedValue) bool {
		return x.Result == y.Result && x.Tensor == y.Tensor && (x.Result >= 0 || x.Tensor >= 0 || array.Equal(x.Array, y.Array))
	}
	return slices.EqualFunc(a.Writes, b.Writes, func(x, y lazy.CapturedWrite) bool { return x.Tensor == y.Tensor && same(x.Value, y.Value) }) &&
		slices.EqualFunc(a.Found, b.Found, func(x, y lazy.CapturedTensor) bool {
			return x.Param == y.Param && x.Frozen == y.Frozen && x.Memory == y.Memory && x.Like == y.Like && x.SameShow(&y) && (x.Memory >= 0 || same(x.Value, y.Value))
		})
}
