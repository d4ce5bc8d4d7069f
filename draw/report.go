package draw

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
)

// Report is a page in the making: it records the graph at every stage of a pipeline,
// for a reader who wants to see what each pass did.
//
//	r := draw.NewReport(m, o)
//	passes.Run(ctx, m, pipeline, passes.Options{OnPass: r.OnPass})
//	page := r.HTML()
type Report struct {
	// Overlay colours nodes of the last stage. It is that of the options, until set.
	Overlay *Overlay

	o     Options
	title string
	tables
	stages  []*pageStage
	tensors []pageTensor
	values  map[string]*array.Array // of tensors in the last stage, by path
	docs    map[string][2]string
	last    map[string]int // names of the last stage, and their form in all stages
	uids    int
}

// HTML returns a page about one graph: one file that loads nothing, from the network
// or the disk, and draws itself.
func HTML(m *graph.Module, o Options) []byte { return NewReport(m, o).HTML() }

// NewReport begins a page with a graph before any pass. Of the options the page heeds
// ShowConstants, Source, Sizes and Origin; how it opens say Depth (0: as far as is easy to look
// at), LeftToRight, NoTypes, NoFold and Overlay.
func NewReport(m *graph.Module, o Options) *Report {
	r := &Report{Overlay: o.Overlay, o: o, title: newNames(m).title(), tables: newTables(), last: map[string]int{}, values: map[string]*array.Array{}, docs: map[string][2]string{}}
	r.stage(m, passes.PassReport{Name: "captured"})
	return r
}

// OnPass adds the graph after a pass; it is for [passes.Options].
func (r *Report) OnPass(p passes.PassReport, m *graph.Module) { r.stage(m, p) }

// newNames is a drawing that is asked for names only.
func newNames(m *graph.Module) *drawing { return &drawing{m: m} }

// stage records a graph. Nodes keep the number that they had in the stage before, so
// that the page can show new, removed and changed nodes.
func (r *Report) stage(m *graph.Module, p passes.PassReport) {
	s := &stager{r: r, d: newStageDrawing(m, r.o), uid: map[*graph.Node]int{}, shells: map[*graph.Node][]*block{}}
	s.dissolve(s.d.root)
	for n := range m.All() {
		if !s.d.hidden(n) {
			s.nodes = append(s.nodes, n)
		}
	}
	s.number(p.Log)
	out := &pageStage{Name: clean(p.Name), Matches: p.Matches, Nodes: runList{}}
	for _, n := range p.Notes {
		out.Notes = append(out.Notes, clean(n))
	}
	out.Events = s.events(p)
	for _, n := range s.nodes {
		out.Nodes.add(r.node(s, n))
	}
	out.Root = s.block(s.d.root)
	r.recordTensors(m, len(r.stages))
	r.stages = append(r.stages, out)
	r.last = map[string]int{}
	for _, n := range s.nodes {
		r.last[qualified(n)] = s.uid[n]
	}
}

// newStageDrawing groups a graph and leaves everything else to the page.
func newStageDrawing(m *graph.Module, o Options) *drawing {
	d := newNames(m)
	d.o = o
	d.root = d.tree()
	return d
}

// dissolve puts the only node of a module where the module is, and remembers the module:
// runs are found as if it were not there, and the page needs it only where another stage
// has more nodes in it.
func (s *stager) dissolve(b *block) {
	for i, it := range b.items {
		if it.block == nil {
			continue
		}
		s.dissolve(it.block)
		if c := it.block; c.kind == scopeBlock && len(c.items) == 1 && c.items[0].node != nil {
			n := c.items[0].node
			b.items[i] = c.items[0]
			s.shells[n] = append(s.shells[n], c)
		}
	}
}

// around lists the modules of which a node is all there is, innermost first: the one that
// it calls, and those that have been dissolved.
func (s *stager) around(n *graph.Node) []*block {
	if n.Opcode() != graph.CallModule {
		return s.shells[n]
	}
	c := &block{path: n.Target()}
	if bound := n.Bound(); bound != nil {
		c.typ = bound.Type
	}
	return append([]*block{c}, s.shells[n]...)
}

// stager records one graph.
type stager struct {
	r     *Report
	d     *drawing
	nodes []*graph.Node
	uid   map[*graph.Node]int
	// shells are modules that have one node, by it.
	shells map[*graph.Node][]*block
}

// number gives every node the number of the node of the stage before that it is, or
// took the place of: that of its name and operator, else one that did the same at the same
// line of the same module, else the one that the pass says it replaced, else that of its
// name.
func (s *stager) number(log []passes.Event) {
	gone := map[int]bool{}
	for _, uid := range s.r.last {
		gone[uid] = true
	}
	var fresh []*graph.Node
	for _, n := range s.nodes {
		uid, ok := s.r.last[qualified(n)]
		if !ok || !s.r.identity[uid].likely(identityOf(n)) {
			fresh = append(fresh, n)
			continue
		}
		s.uid[n] = uid
		delete(gone, uid)
	}
	fresh = s.sameLine(fresh, gone)
	fresh = s.replaced(fresh, gone, log)
	fresh = s.sameName(fresh, gone)
	for _, n := range fresh {
		s.uid[n] = s.r.uids
		s.r.uids++
	}
	for _, n := range s.nodes {
		s.r.identity[s.uid[n]] = identityOf(n)
	}
}

// identity is the common data of two nodes that are the same to the reader.
type identity struct{ operator, scope, at string }

func identityOf(n *graph.Node) identity {
	return identity{operator(n), n.Scope().Path, n.Pos().String()}
}

// likely tells whether two nodes of one name are the same one: names are given again when
// they become free, but then seldom for the same operator at the same line.
func (a identity) likely(b identity) bool {
	return a.operator == b.operator && (a.at == b.at || a.at == "" || b.at == "")
}

// sameLine numbers fresh nodes like those that are gone and did the same, in order, and
// returns the rest.
func (s *stager) sameLine(fresh []*graph.Node, gone map[int]bool) (rest []*graph.Node) {
	free := map[identity][]int{}
	for uid := range gone {
		free[s.r.identity[uid]] = append(free[s.r.identity[uid]], uid)
	}
	for _, list := range free {
		slices.Sort(list)
	}
	for _, n := range fresh {
		k := identityOf(n)
		list := free[k]
		if len(list) == 0 || k.at == "" {
			rest = append(rest, n)
			continue
		}
		s.uid[n], free[k] = list[0], list[1:]
		delete(gone, list[0])
	}
	return rest
}

// replaced numbers fresh nodes like those that they replaced, and returns the rest.
func (s *stager) replaced(fresh []*graph.Node, gone map[int]bool, log []passes.Event) (rest []*graph.Node) {
	by := successors(log)
	of := map[*graph.Node]int{}
	for _, e := range log {
		uid, ok := s.r.last[qualified(e.Node)]
		if _, taken := of[final(by, e.Node)]; ok && gone[uid] && !taken {
			of[final(by, e.Node)] = uid
		}
	}
	return s.adopt(fresh, gone, func(n *graph.Node) (int, bool) { uid, ok := of[n]; return uid, ok })
}

// sameName numbers fresh nodes like those that are gone and had the name, and returns the rest.
func (s *stager) sameName(fresh []*graph.Node, gone map[int]bool) (rest []*graph.Node) {
	return s.adopt(fresh, gone, func(n *graph.Node) (int, bool) { uid, ok := s.r.last[qualified(n)]; return uid, ok })
}

// adopt gives fresh nodes the numbers that of finds for them among those that are gone, and
// returns the rest.
func (s *stager) adopt(fresh []*graph.Node, gone map[int]bool, of func(n *graph.Node) (uid int, ok bool)) (rest []*graph.Node) {
	for _, n := range fresh {
		uid, ok := of(n)
		if !ok || !gone[uid] {
			rest = append(rest, n)
			continue
		}
		s.uid[n] = uid
		delete(gone, uid)
	}
	return rest
}

func successors(log []passes.Event) map[*graph.Node]*graph.Node {
	by := map[*graph.Node]*graph.Node{}
	for _, e := range log {
		if e.Kind == passes.Replaced && e.By != nil && e.By != e.Node {
			by[e.Node] = e.By
		}
	}
	return by
}

// final follows replacements, which may be replaced in turn.
func final(by map[*graph.Node]*graph.Node, n *graph.Node) *graph.Node {
	for range len(by) {
		next, ok := by[n]
		if !ok {
			break
		}
		n = next
	}
	return n
}

// pageEvent is one entry of a pass's log: what happened, to which node, in favour of
// which, and why. A node that the reader never sees is -1, and then its name counts.
type pageEvent struct {
	Kind string `json:"k"`
	Node int    `json:"n"`
	By   int    `json:"b"`
	Name string `json:"t,omitempty"`
	Why  string `json:"w,omitempty"`
}

// events are the log of a pass with the nodes of both stages.
func (s *stager) events(p passes.PassReport) (list []pageEvent) {
	by := successors(p.Log)
	number := func(n *graph.Node) int {
		if n == nil {
			return -1
		}
		if uid, ok := s.uid[final(by, n)]; ok {
			return uid
		}
		return -1
	}
	for _, e := range slices.Concat(p.Log, p.Refused) {
		out := pageEvent{Kind: eventKinds[e.Kind], Node: -1, By: number(e.By), Why: clean(e.Why)}
		if uid, ok := s.r.last[qualified(e.Node)]; ok {
			out.Node = uid
		} else if out.Node = number(e.Node); out.Node < 0 {
			out.Name = clean(e.Node.Name())
		}
		if e.By == nil {
			out.By = -1
		}
		list = append(list, out)
	}
	return list
}

var eventKinds = map[passes.EventKind]string{passes.Replaced: "replaced", passes.Erased: "erased", passes.Refused: "refused"}

// block records a block once, however many stages have it, and returns its number.
func (s *stager) block(b *block) int {
	out := pageBlock{Kind: blockKinds[b.kind], Path: s.r.text(b.path), Name: s.r.text(b.name), Type: s.r.text(b.typ), Call: b.call}
	for _, it := range b.items {
		if it.node != nil && b.kind != holderBlock {
			out.Items = append(out.Items, s.item(it.node))
		} else if it.node != nil {
			out.Items = append(out.Items, s.uid[it.node])
		} else {
			out.Items = append(out.Items, -1-s.block(it.block))
		}
	}
	if b.kind != holderBlock {
		for _, r := range s.d.runs(b) {
			out.Runs = append(out.Runs, r.At, r.Period, r.Count)
		}
	}
	return s.r.block(out)
}

// item records a node among the items of a block, in the modules that hold nothing else.
func (s *stager) item(n *graph.Node) int {
	out := s.uid[n]
	for _, c := range s.around(n) {
		out = -1 - s.r.block(pageBlock{Kind: blockKinds[scopeBlock], Path: s.r.text(c.path), Type: s.r.text(c.typ), Call: c.call, Items: []int{out}})
	}
	return out
}

// blockKinds are the names of kinds on the page, which finds repetitions in its own way.
var blockKinds = map[blockKind]string{scopeBlock: "module", holderBlock: "holder", regionBlock: "region"}
