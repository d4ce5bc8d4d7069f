package draw

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// vertex is a node of the drawing: one of the graph, or a collapsed block.
type vertex struct {
	id    string
	node  *graph.Node // nil for boxes
	block *block      // nil for single nodes
	style string      // key of styles
	lines []string
	// column is the part of a long drawing that the vertex is in.
	column int
}

// edge is a line from one vertex to another; several values may run along it.
type edge struct {
	from, to *vertex
	types    []string
	names    []string // meaning of the values to the user
	values   map[*graph.Node]bool
	carried  bool // from one repetition to the next
	inner    bool // from a node to the inputs of its regions
}

func (d *drawing) makeVertices(b *block) {
	if b.collapsed {
		d.boxes[b] = d.box(b)
		return
	}
	for _, it := range b.items {
		if it.block != nil {
			d.makeVertices(it.block)
			continue
		}
		v := &vertex{id: d.id(qualified(it.node)), node: it.node, style: styleOf(it.node), lines: append(labelOf(it.node), d.weightLine(it.node)...)}
		d.vertices[it.node] = v
		d.order = append(d.order, v)
	}
}

// box makes the vertex of a collapsed block, which stands for all nodes in it.
func (d *drawing) box(b *block) *vertex {
	nodes := b.list()
	v := &vertex{block: b, style: "box"}
	switch b.kind {
	case holderBlock:
		v.id, v.node, v.style = d.id(qualified(nodes[0])), nodes[0], styleOf(nodes[0])
		v.lines = append(labelOf(nodes[0]), plural(len(nodes[0].Regions()), "region")+", "+plural(b.size()-1, "node"))
	case mergedBlock:
		v.id = d.id("merged." + qualified(nodes[0]))
		v.lines = []string{plural(b.size(), "node"), nodes[0].Name() + " … " + nodes[len(nodes)-1].Name()}
		if !nodes[0].Opcode().IsCall() && nodes[0].Opcode() == nodes[len(nodes)-1].Opcode() {
			v.style = styleOf(nodes[0])
			v.lines[0] = plural(len(nodes), map[graph.Opcode]string{graph.Placeholder: "input", graph.GetAttr: "constant"}[nodes[0].Opcode()])
		}
	default:
		v.id = d.id("module." + b.path)
		v.lines = []string{b.title()}
		if b.typ != "" {
			v.lines = append(v.lines, base(b.typ))
		}
		count := plural(b.size(), "node")
		if len(b.copies) > 0 {
			count += " each"
		}
		v.lines = append(v.lines, count)
	}
	for _, n := range nodes {
		d.vertices[n] = v
	}
	d.order = append(d.order, v)
	return v
}

// title names a block, with the number of its repetitions.
func (b *block) title() string {
	s := b.path
	switch {
	case b.kind == regionBlock:
		return b.name
	case b.kind == holderBlock:
		return b.items[0].node.String() + " = " + operator(b.items[0].node)
	case b.kind == repeatBlock:
		return "× " + strconv.Itoa(len(b.copies)+1)
	case b.call > 0 && len(b.copies) == 0:
		s += " (call " + strconv.Itoa(b.call+1) + ")"
	}
	if len(b.copies) > 0 {
		if last := b.copies[len(b.copies)-1].path; last != b.path {
			s += " … " + last
		}
		s += "  × " + strconv.Itoa(len(b.copies)+1)
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// qualified returns a name of the node that is unique in its module.
func qualified(n *graph.Node) string {
	if p := n.Graph().Parent(); p != nil {
		for i, r := range p.Regions() {
			if r == n.Graph() {
				return qualified(p) + "/" + strconv.Itoa(i) + "/" + n.Name()
			}
		}
	}
	if m := n.Graph().Module(); m != nil && n.Graph() != m.Graph && m.Sub(n.Graph().Name) == n.Graph() {
		return n.Graph().Name + "." + n.Name() // names have no dots
	}
	return n.Name()
}

// id returns an identifier of letters, digits, _ . - and / that no other vertex has.
func (d *drawing) id(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' || c == '/' {
			b.WriteByte(c)
		} else {
			b.WriteString("-x" + strconv.FormatUint(uint64(c), 16))
		}
	}
	id := b.String()
	d.ids[id]++
	for k := d.ids[id]; k > 1; k++ {
		if next := id + "-" + strconv.Itoa(k); d.ids[next] == 0 {
			d.ids[next]++
			return next
		}
	}
	return id
}

// leafName returns the last part of a path that is not a number, with the parts after
// it.
func leafName(path string) string {
	parts := strings.Split(path, ".")
	i := len(parts) - 1
	for i > 0 && strings.Trim(parts[i], "0123456789") == "" {
		i--
	}
	return strings.Join(parts[i:], ".")
}

// operator names the operation of a node.
func operator(n *graph.Node) string {
	switch o := n.Op(); {
	case o != nil:
		return base(o.Key())
	case n.Opcode() == graph.CallModule:
		return "module"
	case n.Opcode() == graph.CallFunction:
		return "?"
	}
	return n.Opcode().String()
}

// attributes returns the attributes that are not zero, "" when there are none.
func attributes(n *graph.Node) string {
	o := n.Op()
	if o == nil || o.Codec() == nil || !o.Codec().Accepts(n.Attrs()) {
		return ""
	}
	return strings.Trim(o.Codec().Print(n.Attrs()), "{}")
}

// styleOf returns the key of the node's style.
func styleOf(n *graph.Node) string {
	switch n.Opcode() {
	case graph.Placeholder:
		return "input"
	case graph.Output:
		return "output"
	case graph.GetAttr:
		return "constant"
	}
	if o := n.Op(); o != nil {
		return o.Class.String()
	}
	return op.Opaque.String()
}

// labelOf returns the lines of a node's label.
func labelOf(n *graph.Node) []string {
	var lines []string
	switch n.Opcode() {
	case graph.Placeholder, graph.GetAttr:
		return []string{n.Target()}
	case graph.Output:
		return []string{"output"}
	case graph.CallModule:
		lines = []string{leafName(n.Target()), operator(n)}
		if lines[0] == lines[1] || lines[0] == "" {
			lines = lines[1:]
		}
	default:
		lines = []string{operator(n)}
	}
	return append(lines, wrap(attributes(n), 32)...)
}

// weightLine says how large the weight of a call is: of the tensors of the state
// that it reads, the one with the most dimensions. Constants that are drawn say it
// themselves.
func (d *drawing) weightLine(n *graph.Node) []string {
	best, name, more := shape.Type{}, "", false
	for _, p := range stateOf(n) {
		if d.o.ShowConstants && p.node != nil || !p.typ.Ranked() {
			continue
		}
		part := p.path[strings.LastIndexByte(p.path, '.')+1:]
		switch rank := p.typ.Rank(); {
		case name == "" || rank > best.Rank() || rank == best.Rank() && rank == 1 && part == "weight":
			best, name, more = p.typ, part, false
		case rank == best.Rank() && rank > 1:
			more = true
		}
	}
	switch {
	case name == "":
		return nil
	case more:
		return []string{name + " " + best.String() + ", …"}
	}
	return []string{name + " " + best.String()}
}

// wrap breaks a list of attributes into lines of about width characters.
func wrap(s string, width int) (lines []string) {
	const most = 4
	for s != "" {
		if len(lines) == most {
			return append(lines, "…")
		}
		if len(s) <= width {
			return append(lines, s)
		}
		cut := strings.LastIndex(s[:width], ", ")
		if cut < 0 {
			cut = strings.Index(s, ", ")
		}
		if cut < 0 {
			return append(lines, s)
		}
		lines = append(lines, s[:cut+1])
		s = s[cut+2:]
	}
	return lines
}

func (d *drawing) makeEdges() {
	type key struct {
		from, to *vertex
		carried  bool
	}
	known := map[key]*edge{}
	add := func(from, to *graph.Node, name string, inner bool) {
		v, w := d.vertices[d.drawn(from)], d.vertices[d.drawn(to)]
		if v == nil || w == nil || v == w {
			return
		}
		k := key{v, w, d.carried(from, to)}
		e := known[k]
		if e == nil {
			e = &edge{from: v, to: w, carried: k.carried, inner: inner, values: map[*graph.Node]bool{}}
			known[k] = e
			d.edges = append(d.edges, e)
		}
		// The edge after the getitem shows the type of a tuple's member.
		if t := from.Type().String(); !inner && to.Op() != op.GetItem && !slices.Contains(e.types, t) {
			e.types = append(e.types, t)
		}
		if name != "" && !slices.Contains(e.names, name) {
			e.names = append(e.names, name)
		}
		e.values[d.drawn(from)] = true
	}
	for n := range d.m.All() {
		if d.hidden(n) {
			continue
		}
		names := operandNames(n)
		for i := range n.NumArgs() {
			if a := n.Arg(i); a != nil {
				add(a, n, names(i), false)
			}
		}
		for _, r := range n.Regions() {
			if r == nil {
				continue
			}
			for _, p := range r.Inputs() {
				add(n, p, "", true)
			}
		}
	}
}

// operandNames returns a function that names the role of an operand: the
// operator's name of it, or the result of the graph.
func operandNames(n *graph.Node) func(i int) string {
	if n.Opcode() == graph.Output {
		results := map[int]string{}
		resultNames(n.Structure(), "", results)
		return func(i int) string { return results[i] }
	}
	o := n.Op()
	return func(i int) string {
		if o == nil || len(o.In) == 0 || i >= len(o.In) && !o.Variadic() {
			return ""
		}
		in := o.In[min(i, len(o.In)-1)]
		if in.Variadic {
			return in.Name + "[" + strconv.Itoa(i-len(o.In)+1) + "]"
		}
		return in.Name
	}
}

func resultNames(s *graph.Structure, name string, out map[int]string) {
	if s == nil {
		return
	}
	if s.Kind == graph.LeafValue {
		out[s.Index] = name
		return
	}
	for i, f := range s.Fields {
		part := "[" + strconv.Itoa(i) + "]"
		if i < len(s.Keys) {
			if part = s.Keys[i]; name != "" {
				part = "." + part
			}
		}
		resultNames(f, name+part, out)
	}
}
