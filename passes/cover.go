package passes

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/shape"
)

// Cover chooses sizes for the symbols of a graph at which it is to be tried: each size
// that follows from symbols is to take EnoughValues different values, one of them large.
// What is right for small sizes alone, such as those for which (N-1)//64+1 is 1, shows then.
//
// Sizes stay below what Most and MostWork allow, so that trying them takes no time.
type Cover struct {
	sizes   []shape.Dim    // that follow from symbols
	seen    []map[int]bool // the values of each
	choices []sizing       // sizes that the guards and the bounds allow, the largest first
	next    float64        // the elements of what Next has returned
	large   bool           // such sizes have been added
}

type sizing struct {
	sizes    map[string]int
	elements float64
}

// EnoughValues of a size make it covered. Sizes are chosen so that no more than Most
// elements are in all values of the graph together, and no more than MostWork operations
// are done, or Times as many as with the sizes that were first.
const (
	EnoughValues = 3
	Most         = 1 << 22
	MostWork     = 1 << 28
	Times        = 4
)

// NewCover looks at the sizes of a graph: of its values, attributes and guards, as far as
// they follow from symbols of inputs. The graph has been run with the sizes base, of which
// symbols that are fixed keep theirs.
func NewCover(g *graph.Graph, base map[string]int, fixed func(symbol string) bool) *Cover {
	c := &Cover{}
	known := map[string]bool{}
	given := func(symbol string) bool {
		s, defined := g.Symbol(symbol)
		_, sized := base[symbol]
		return defined && sized && s.Node.Opcode() == graph.Placeholder
	}
	solver, _ := solveSizes(g, nil)
	add := func(d shape.Dim) {
		d = solver.Resolve(d) // a guard may say that it is a number
		names := d.Symbols()
		if len(names) == 0 || d.IsUnknown() || known[d.String()] || slices.ContainsFunc(names, func(s string) bool { return !given(s) }) {
			return
		}
		known[d.String()] = true
		c.sizes, c.seen = append(c.sizes, d), append(c.seen, map[int]bool{})
	}
	var elements, work tally
	for n := range g.Nodes() {
		eachSize(n.Type(), add)
		if n.Op() != nil && n.Op().Codec().Accepts(n.Attrs()) {
			n.Op().Codec().Symbols(n.Attrs(), add)
		}
		if n.Type().Kind() == shape.Tensor {
			elements.add(n.Type().Dims().Prod())
		}
		work.add(count.Flops(n))
	}
	c.Add(base)
	mostElements, mostWork := max(Most, Times*elements.of(base)), max(MostWork, Times*work.of(base))
	for _, s := range candidates(g, base, func(symbol string) bool { return fixed(symbol) || !given(symbol) }) {
		if n := elements.of(s); n <= mostElements && work.of(s) <= mostWork && c.allowed(g, s) {
			c.choices = append(c.choices, sizing{s, n})
		}
	}
	slices.SortStableFunc(c.choices, func(a, b sizing) int { return cmp.Compare(b.elements, a.elements) })
	return c
}

// tally is a sum of sizes, each as often as it occurs.
type tally struct {
	times map[string]float64
	sizes []shape.Dim
}

func (c *tally) add(d shape.Dim) {
	if c.times == nil {
		c.times = map[string]float64{}
	}
	if d.IsUnknown() {
		return
	}
	if c.times[d.String()]++; c.times[d.String()] == 1 {
		c.sizes = append(c.sizes, d)
	}
}

// of is infinite where a size is too large for a number.
func (c *tally) of(sizes map[string]int) (sum float64) {
	for _, d := range c.sizes {
		n, err := d.Eval(lookIn(sizes))
		if err != nil && len(d.Symbols()) > 0 && !slices.ContainsFunc(d.Symbols(), func(s string) bool { _, known := sizes[s]; return !known }) {
			return math.Inf(1)
		}
		sum += c.times[d.String()] * float64(n)
	}
	return sum
}

func eachSize(t shape.Type, f func(d shape.Dim)) {
	for i := range t.Len() {
		eachSize(t.Member(i), f)
	}
	for _, d := range t.Dims().Slice() {
		f(d)
	}
}

// Add notes that the graph has been run with these sizes.
func (c *Cover) Add(sizes map[string]int) {
	c.large = c.large || c.next > 0
	for i, d := range c.sizes {
		if n, err := d.Eval(lookIn(sizes)); err == nil {
			c.seen[i][n] = true
		}
	}
}

// Missing lists the sizes that have taken fewer than EnoughValues values.
func (c *Cover) Missing() (list []shape.Dim) {
	for i, d := range c.sizes {
		if len(c.seen[i]) < EnoughValues {
			list = append(list, d)
		}
	}
	return list
}

// Next returns sizes with which most of what is missing takes a new value, each once; ok is
// false where there are none. Of several they are the largest until some have been added,
// then the smallest.
func (c *Cover) Next() (sizes map[string]int, ok bool) {
	best, most := -1, 0
	for i := range c.choices {
		if gain := c.gain(c.choices[i].sizes); gain > most || gain == most && gain > 0 && c.large {
			best, most = i, gain
		}
	}
	if best < 0 {
		return nil, false
	}
	sizes, c.next = c.choices[best].sizes, c.choices[best].elements
	c.choices = slices.Delete(c.choices, best, best+1)
	return sizes, true
}

// ladder are sizes to choose from: between powers of two and next to them.
var ladder = []int{2, 3, 4, 5, 7, 9, 12, 16, 24, 31, 33, 48, 64, 65, 96, 100, 129, 160, 200, 224, 257, 320, 400, 513, 640, 769, 1000, 1025, 1500, 2049, 3001, 4097, 8193, 16385, 32769, 65537}

// candidates are sizes of all symbols together, which differ if they may, and of each by itself.
func candidates(g *graph.Graph, base map[string]int, fixed func(string) bool) (list []map[string]int) {
	var open []string
	for _, s := range g.Symbols() {
		if !fixed(s.Name) {
			open = append(open, s.Name)
		}
	}
	set := func(names []string, size func(i int) int) {
		m := maps.Clone(base)
		for i, name := range names {
			step := g.Relations().Of(name).Step
			m[name] = (size(i) + step - 1) / step * step
		}
		list = append(list, m)
	}
	for _, n := range ladder {
		set(open, func(i int) int { return n + i })
		set(open, func(int) int { return n })
		for _, name := range open {
			set([]string{name}, func(int) int { return n })
		}
	}
	return list
}

// allowed reports whether all sizes are none below 0 and the guards hold.
func (c *Cover) allowed(g *graph.Graph, sizes map[string]int) bool {
	for _, d := range c.sizes {
		if n, err := d.Eval(lookIn(sizes)); err != nil || n < 0 {
			return false
		}
	}
	return !g.Relations().Broken(sizes)
}

// gain counts the missing sizes that take a new value.
func (c *Cover) gain(sizes map[string]int) (n int) {
	for i, d := range c.sizes {
		if len(c.seen[i]) >= EnoughValues {
			continue
		}
		if v, err := d.Eval(lookIn(sizes)); err == nil && !c.seen[i][v] {
			n++
		}
	}
	return n
}

func lookIn(sizes map[string]int) func(string) (int, bool) {
	return func(s string) (int, bool) { n, ok := sizes[s]; return n, ok }
}
