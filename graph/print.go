package graph

import (
	"encoding/base64"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// TextVersion is the version of the text form that Print writes and Parse reads.
const TextVersion = 1

// PrintOptions chooses what the text form shows.
type PrintOptions struct {
	// Positions adds where each node was recorded: at "model.go:41" "(*Net).Forward".
	Positions bool
	// BaseNames leaves out the folders of files in positions, so that the text
	// does not depend on the machine.
	BaseNames bool
}

// Print returns the text form of a module: its graph, its sub-graphs, its parameters
// (without their values) and its leaf modules. Parse reads it back. It never fails: of an
// invalid graph it shows what is there, marked so that Parse refuses it.
func Print(m *Module, o PrintOptions) string {
	return string(printed(m, o))
}

// PrintGraph returns the text form of a graph without its module's state.
func PrintGraph(g *Graph, o PrintOptions) string {
	p := &printer{PrintOptions: o}
	p.version()
	p.graph("graph", g)
	return string(p.b)
}

// Fprint writes what Print returns.
func Fprint(w io.Writer, m *Module, o PrintOptions) error {
	_, err := w.Write(printed(m, o))
	return err
}

// lineBytes is what a line takes in most texts.
const lineBytes = 72

func printed(m *Module, o PrintOptions) []byte {
	p := &printer{PrintOptions: o}
	if m != nil && m.Graph != nil {
		p.b = make([]byte, 0, lineBytes*m.Graph.count)
	}
	p.module(m)
	return p.b
}

// String returns the text form without positions.
func (m *Module) String() string { return Print(m, PrintOptions{}) }

// String returns the text form without positions and module state.
func (g *Graph) String() string { return PrintGraph(g, PrintOptions{}) }

// Text returns the node's line of the text form, without its regions.
func (n *Node) Text() string {
	p := &printer{}
	p.statement(n)
	return string(p.b)
}

// printer appends the text form to b.
type printer struct {
	PrintOptions
	b      []byte
	indent int
	places map[PosID]string // the texts of recorded positions
}

func (p *printer) str(parts ...string) {
	for _, s := range parts {
		p.b = append(p.b, s...)
	}
}

func (p *printer) typ(t shape.Type) { p.b = t.Text(append(p.b, ": "...)) }

// name writes "%add_1", or "_" for nothing.
func (p *printer) name(n *Node) {
	if n == nil {
		p.b = append(p.b, '_')
		return
	}
	p.b = n.nameText(append(p.b, '%'))
}

// attrs writes a blank and the attributes that are not zero.
func (p *printer) attrs(c *op.Codec, a any) {
	p.b = append(p.b, ' ')
	before := len(p.b)
	if p.b = c.Text(p.b, a); len(p.b) == before {
		p.b = p.b[:before-1]
	}
}

// line starts a line of a body.
func (p *printer) line() {
	for range p.indent {
		p.b = append(p.b, "  "...)
	}
}

func (p *printer) version() { p.str("gofx ", strconv.Itoa(TextVersion), "\n\n") }

func (p *printer) module(m *Module) {
	p.version()
	if m == nil {
		return
	}
	if m.Type != "" {
		p.str("type ", strconv.Quote(m.Type), "\n")
	}
	if m.Graph != nil {
		p.graph("graph", m.Graph)
	}
	for _, g := range m.subs {
		p.graph("subgraph", g)
	}
	p.state(m)
}

// state writes the parameters and the leaf modules.
func (p *printer) state(m *Module) {
	for _, q := range m.params {
		p.str("param ", word(q.Path), " : ", q.TypeOf().String())
		if q.Buffer {
			p.str(" buffer")
		}
		if q.Selector != "" {
			p.str(" selector ", strconv.Quote(q.Selector))
		}
		p.str("\n")
	}
	for path, b := range m.Bounds() {
		p.bound(path, b)
	}
}

func (p *printer) bound(path string, b *Bound) {
	p.str("module ", word(path), " = ")
	if b.Op == nil {
		p.str("?")
	} else {
		p.str(word(b.Op.Key()))
		if c := b.Op.Codec(); c != nil && c.Accepts(b.Attrs) {
			p.attrs(c, b.Attrs)
		}
	}
	p.str(" (")
	for i, q := range b.Params {
		if i > 0 {
			p.str(", ")
		}
		if name := b.name(i); name != "" {
			p.str(word(name), "=")
		}
		if q == "" {
			p.str("_")
		} else {
			p.str(word(q))
		}
	}
	p.str(")")
	if b.Type != "" {
		p.str(" type ", strconv.Quote(b.Type))
	}
	if b.Selector != "" {
		p.str(" selector ", strconv.Quote(b.Selector))
	}
	p.str("\n")
}

// name returns the local name of parameter i, "" when it has none.
func (b *Bound) name(i int) string {
	if i < len(b.Names) {
		return b.Names[i]
	}
	return ""
}

func (p *printer) graph(keyword string, g *Graph) {
	p.places = nil // those of another graph
	p.str(keyword)
	if g.Name != "" {
		p.str(" ", word(g.Name))
	}
	p.signatureAndBody(g)
}

// signatureAndBody writes "(%x: f32[2]) {", the body and "}".
func (p *printer) signatureAndBody(graph *Graph) {
	p.str("(")
	n := graph.first
	for ; n != nil && n.opcode == Placeholder; n = n.next {
		if n.prev != nil {
			p.str(", ")
		}
		p.name(n)
		if n.target != n.Name() {
			p.str(" ", strconv.Quote(n.target))
		}
		p.typ(n.typ)
		p.inputTail(n)
	}
	p.str(") {\n")
	p.indent++
	facts := factsByNode(graph)
	for m := graph.first; m != n; m = m.next {
		p.symbols(facts[m])
	}
	p.symbols(facts[nil])
	for _, s := range graph.symbols.notes {
		p.line()
		p.note(s)
		p.at(s.Pos)
		p.str("\n")
	}
	for m := graph.first; m != n; m = m.next {
		p.guards(facts[m])
	}
	p.guards(facts[nil])
	for ; n != nil; n = n.next {
		p.node(n)
		p.symbols(facts[n])
		p.guards(facts[n])
	}
	p.indent--
	p.line()
	p.str("}\n")
}

// note writes a specialisation without its position.
func (p *printer) note(s Specialisation) {
	p.str("note ", strconv.Quote(s.What))
	if s.Guard != nil {
		p.str(" guard ", s.Guard.String())
	}
}

// facts are the lines that follow the node which they speak of.
type facts struct {
	symbols []Symbol
	guards  []Guard
}

// factsByNode sorts symbols and guards by the node that they stand after; under
// nil are those whose node is not in g, or is the output, after which nothing stands.
func factsByNode(g *Graph) map[*Node]*facts {
	if len(g.symbols.list)+len(g.symbols.guards) == 0 {
		return nil
	}
	by := map[*Node]*facts{}
	of := func(n *Node) *facts {
		if n != nil && (n.g != g || n.erased || n.opcode == Output) {
			n = nil
		}
		if by[n] == nil {
			by[n] = &facts{}
		}
		return by[n]
	}
	for _, s := range g.symbols.list {
		f := of(s.Node)
		f.symbols = append(f.symbols, s)
	}
	for _, d := range g.symbols.guards {
		f := of(d.Node)
		f.guards = append(f.guards, d)
	}
	return by
}

func (p *printer) symbols(f *facts) {
	if f == nil {
		return
	}
	for _, s := range f.symbols {
		p.line()
		p.str("symbol ", s.Name, " = dim(")
		p.mark(nil, s.Node)
		p.str(", ", strconv.Itoa(s.Axis), ")\n")
	}
}

func (p *printer) guards(f *facts) {
	if f == nil {
		return
	}
	for _, d := range f.guards {
		p.line()
		p.str("guard ", d.String())
		if n := d.Node; n != nil && !n.erased && n.opcode != Output {
			p.str(" from ")
			p.name(n)
		}
		p.str("\n")
	}
}

// inputTail writes default, scope and position of a placeholder.
func (p *printer) inputTail(n *Node) {
	if d := n.Default(); d != nil {
		p.str(" = ", literal(d))
	}
	p.tail(n)
}

// tail writes scope and position.
func (p *printer) tail(n *Node) {
	if n.g != nil && n.scope != 0 {
		s := n.Scope()
		p.str(" in ", strconv.Quote(s.Path))
		if s.Type != "" {
			p.str(" ", strconv.Quote(s.Type))
		}
	}
	if p.Positions && n.g != nil {
		p.place(n)
	}
}

func (p *printer) node(n *Node) {
	p.line()
	p.statement(n)
	if rs := n.Regions(); len(rs) > 0 {
		p.str(" {\n")
		p.indent++
		for _, r := range rs {
			p.line()
			p.str("region")
			if r == nil {
				p.str(" ?\n")
				continue
			}
			if r.Name != "" {
				p.str(" ", word(r.Name))
			}
			p.signatureAndBody(r)
		}
		p.indent--
		p.line()
		p.str("}")
	}
	p.str("\n")
}

// statement writes one node without indentation and regions.
func (p *printer) statement(node *Node) {
	if node.opcode == Output {
		p.output(node)
		return
	}
	p.name(node)
	p.str(" = ", node.opcode.String(), "[", word(node.targetText()), "]")
	switch node.opcode {
	case Placeholder:
		p.str(" ")
		p.typ(node.typ)
		p.inputTail(node)
		return
	case GetAttr:
		if node.Live() {
			p.str(" live")
		}
	default:
		p.str("(")
		for i := range node.args {
			if i > 0 {
				p.str(", ")
			}
			p.mark(node.g, node.args[i].def)
		}
		p.str(")")
		switch {
		case node.attrsFit():
			p.attrs(node.op.Codec(), node.attrs)
		case node.op != nil:
			p.str(" {?}")
		}
	}
	p.str(" ")
	p.typ(node.typ)
	p.tail(node)
}

// targetText is Target for nodes that may lack their operator.
func (n *Node) targetText() string {
	if n.opcode == CallFunction || n.opcode == CallMethod {
		if n.op == nil {
			return "?"
		}
		return n.op.Key()
	}
	return n.target
}

// mark writes an operand; what is wrong with it follows in < >.
func (p *printer) mark(g *Graph, d *Node) {
	p.name(d)
	switch {
	case d == nil:
	case d.erased:
		p.str("<erased>")
	case g != nil && d.g != g:
		p.str("<foreign>")
	}
}

// word returns s as it stands where the text form reads it back as one word,
// quoted otherwise.
func word(s string) string {
	switch s {
	case "", "_", "nil", "struct", "map", "in", "at":
		return strconv.Quote(s)
	}
	for i := 0; i < len(s); i++ {
		if !wordByte(s[i]) || (s[i] == '/' && i+1 < len(s) && s[i+1] == '/') {
			return strconv.Quote(s)
		}
	}
	return s
}

func wordByte(c byte) bool {
	return nameByte(c) || c == '.' || c == '/' || c == '-' || c == '+' || c == '~' || c == '@' || c == '$'
}

// literal returns the text of a placeholder's default value.
func literal(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return strconv.Quote(v)
	case *array.Array:
		if v == nil {
			return "opaque nil"
		}
		return "array " + shape.TypeOf(v).String() + " \"" + base64.StdEncoding.EncodeToString(array.Bytes(array.Contiguous(v))) + "\""
	}
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return strconv.FormatInt(r.Int(), 10)
	case r.CanUint():
		return strconv.FormatUint(r.Uint(), 10)
	case r.CanFloat():
		s := strconv.FormatFloat(r.Float(), 'g', -1, 64)
		if !strings.ContainsAny(s, ".eIN") {
			s += ".0"
		}
		return s
	}
	return "opaque " + strconv.Quote(r.Type().String())
}
