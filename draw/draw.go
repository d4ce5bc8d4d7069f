package draw

import (
	"strings"

	"github.com/gofx-dev/gofx/graph"
)

// Options chooses what a drawing shows. The zero value shows all levels of
// modules, types on the edges, and no constants.
type Options struct {
	// Depth is the number of levels of modules and regions that are drawn; deeper
	// modules are one box each. A module that holds nothing but one other module is
	// no level of its own. 0 draws all levels.
	Depth int
	// ShowConstants draws get_attr nodes: parameters, buffers and other tensors
	// of the model's state.
	ShowConstants bool
	// LeftToRight lets values flow to the right instead of down.
	LeftToRight bool
	// NoTypes leaves the types of the values off the edges.
	NoTypes bool
	// NoFold draws every repetition of a block instead of the first one.
	NoFold bool
	// Columns is the number of columns of a drawing: 1 for none, 0 for as many as make a
	// long drawing about twice as long as wide.
	Columns int
	// Limit is the number of nodes that a drawing with Depth may have: when there
	// are more, neighbours are merged into boxes. 0 is 180. A drawing without
	// Depth has no limit.
	Limit int
	// Overlay colours the nodes that it marks; nil draws classes alone.
	Overlay *Overlay
	// Source reads a file of source for a page, which then shows the lines that its
	// nodes were recorded at. With nil it names them only.
	Source func(file string) ([]byte, error) `json:"-"`
	// Sizes are the values of symbols for the operations and bytes on a page; 1 when
	// not given.
	Sizes map[string]int
	// Origin says on a page where the values of weights come from, such as a file.
	Origin string
}

const defaultLimit = 180

// DOT returns the drawing in Graphviz's language. It never fails: it shows the
// parts of an invalid graph that it can read. Every node has an id that HTML
// refers to.
func DOT(m *graph.Module, o Options) string {
	w := &dotWriter{d: newDrawing(m, o), begun: map[*block]bool{}}
	w.write()
	return w.b.String()
}

// drawing is the rest of a graph after hiding, folding and collapsing.
type drawing struct {
	m        *graph.Module
	o        Options
	root     *block
	vertices map[*graph.Node]*vertex // by drawn node
	boxes    map[*block]*vertex      // by collapsed block
	order    []*vertex
	canon    map[*graph.Node]*graph.Node // node of a repetition to the drawn one
	loops    map[*graph.Node][]turn      // repetitions around a node, outermost first
	ids      map[string]int
	edges    []*edge
	marks    map[*vertex]Mark
	cuts     []cut
	wires    []*wire
	roofs    map[roof]string // ids
}

// cut is where a column begins: at first, to the right of that which begins at beside.
type cut struct{ beside, first *vertex }

// turn says which repetition of a block a node belongs to.
type turn struct {
	block *block
	index int
}

func newDrawing(m *graph.Module, o Options) *drawing {
	d := &drawing{m: m, o: o, vertices: map[*graph.Node]*vertex{}, boxes: map[*block]*vertex{},
		canon: map[*graph.Node]*graph.Node{}, loops: map[*graph.Node][]turn{}, ids: map[string]int{}}
	d.root = d.tree()
	compress(d.root)
	if !o.NoFold {
		d.fold(d.root)
	}
	d.collapse(d.root, 0)
	if o.Depth > 0 {
		d.limit()
	}
	d.makeVertices(d.root)
	d.makeEdges()
	d.mark()
	d.columns()
	return d
}

// hidden reports whether the node is not drawn.
func (d *drawing) hidden(n *graph.Node) bool {
	return n.Opcode() == graph.GetAttr && !d.o.ShowConstants
}

// drawn returns the node that stands for n, which may be in a repetition.
func (d *drawing) drawn(n *graph.Node) *graph.Node {
	for c := d.canon[n]; c != nil; c = d.canon[n] {
		n = c
	}
	return n
}

// turns lists the repetitions that n belongs to, outermost first.
func (d *drawing) turns(n *graph.Node) []turn {
	list := d.loops[n]
	if c := d.canon[n]; c != nil {
		if inner := d.turns(c); len(inner) > len(list) {
			list = append(list[:len(list):len(list)], inner[len(list):]...)
		}
	}
	return list
}

// carried reports whether a value goes from one repetition of a block to another.
func (d *drawing) carried(from, to *graph.Node) bool {
	a, b := d.turns(from), d.turns(to)
	for i := range min(len(a), len(b)) {
		if a[i].block != b[i].block {
			return false
		}
		if a[i].index != b[i].index {
			return true
		}
	}
	return false
}

// title names the drawing: the captured type, else the graph.
func (d *drawing) title() string {
	if d.m.Type != "" {
		return base(d.m.Type)
	}
	if d.m.Graph.Name != "" {
		return d.m.Graph.Name
	}
	return "graph"
}

// base cuts the folders off "import/path.Name".
func base(typ string) string { return typ[strings.LastIndexByte(typ, '/')+1:] }
