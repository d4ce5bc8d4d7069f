package draw

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/internal/opdoc"
	"github.com/gofx-dev/gofx/shape"
)

// tables hold the data that the stages of a page share. Data that is equal in two
// stages is stored once: a pass that changes ten nodes of ten thousand adds ten.
type tables struct {
	strings   []string
	stringID  map[string]int
	nodes     []pageNode
	blocks    []pageBlock
	positions []pagePos
	files     []pageFile
	fileID    map[string]int
	known     map[string]int // numbers of nodes, blocks and positions by their content
	identity  map[int]identity
}

func newTables() tables {
	t := tables{nodes: []pageNode{}, files: []pageFile{}, stringID: map[string]int{}, fileID: map[string]int{}, known: map[string]int{}, identity: map[int]identity{}}
	t.text("")
	t.positions = append(t.positions, pagePos{})
	return t
}

// pageNode is the page's data of a node. Numbers are indexes of strings, except the
// first ones. A node that differs in any field is another pageNode of the same UID.
type pageNode struct {
	UID      int   // the same in all stages
	Args     []int // UIDs, -1 for absent operands
	Name     int
	Opcode   int
	Operator int
	Target   int // of nodes that call no operator
	Attrs    int
	Type     int
	Class    int // key of a style
	Scope    int
	Label    int // lines
	Operands int // names of Args, with newlines between them
	Weights  int // tensors of the state that it uses
	Default  int
	Pos      int   // number of a position
	Flops    int64 // -1 when not known
	Bytes    int64 // -1 when not known
}

// MarshalJSON writes a list, which is a third of the size of an object.
func (n pageNode) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{n.UID, n.Args, n.Name, n.Opcode, n.Operator, n.Target, n.Attrs, n.Type, n.Class, n.Scope, n.Label,
		n.Operands, n.Weights, n.Default, n.Pos, n.Flops, n.Bytes})
}

// pageBlock is a module, a node with regions, or a region. An item is a UID, or
// -1 - the number of a block. Runs are triples: first item, period, count.
type pageBlock struct {
	Kind             string
	Path, Name, Type int
	Call             int
	Items            []int
	Runs             []int
}

// MarshalJSON writes a list.
func (b pageBlock) MarshalJSON() ([]byte, error) {
	return json.Marshal([]any{b.Kind, b.Path, b.Name, b.Type, b.Call, b.Items, b.Runs})
}

// pagePos is a frame of the stack that a node was recorded on, and the frame that called it.
type pagePos struct{ File, Line, Func, Caller int }

// MarshalJSON writes a list.
func (p pagePos) MarshalJSON() ([]byte, error) {
	return json.Marshal([]int{p.File, p.Line, p.Func, p.Caller})
}

// pageFile is a file of source, named without the folders of this machine.
type pageFile struct {
	Name   string         `json:"name"`
	Lines  map[int]string `json:"lines,omitempty"`
	path   string
	wanted []int
}

// pageMark is the mark of an overlay on a node.
type pageMark struct {
	Node int     `json:"n"`
	Heat float64 `json:"h"`
	Text string  `json:"t"`
}

// runList is a list of numbers in which neighbours mostly follow each other: pairs of
// the first number and how many follow.
type runList []int

func (l *runList) add(n int) {
	if k := len(*l); k > 0 && (*l)[k-2]+(*l)[k-1] == n {
		(*l)[k-1]++
		return
	}
	*l = append(*l, n, 1)
}

// pageStage is the graph after a pass.
type pageStage struct {
	Name    string      `json:"name"`
	Matches int         `json:"matches"`
	Notes   []string    `json:"notes,omitempty"`
	Events  []pageEvent `json:"events,omitempty"`
	Nodes   runList     `json:"nodes"` // in order of execution, nodes of regions after their own node
	Root    int         `json:"root"`
}

// text returns the number of a string.
func (t *tables) text(s string) int {
	s = cleanLines(s)
	id, ok := t.stringID[s]
	if !ok {
		id = len(t.strings)
		t.stringID[s] = id
		t.strings = append(t.strings, s)
	}
	return id
}

// cleanLines cleans each line of a text.
func cleanLines(s string) string {
	list := strings.Split(s, "\n")
	for i := range list {
		list[i] = clean(list[i])
	}
	return strings.Join(list, "\n")
}

// once returns the number of an entry of a table, which is made when it is not known.
func once[T any](t *tables, list *[]T, kind string, v T) int {
	text, err := json.Marshal(v)
	if err != nil {
		text = []byte(strconv.Itoa(len(*list))) // numbers and strings always marshal
	}
	key := kind + string(text)
	id, ok := t.known[key]
	if !ok {
		id = len(*list)
		t.known[key] = id
		*list = append(*list, v)
	}
	return id
}

func (t *tables) block(b pageBlock) int { return once(t, &t.blocks, "block", b) }

// node records a node and returns its number.
func (r *Report) node(s *stager, n *graph.Node) int {
	names := operandNames(n)
	p := pageNode{UID: s.uid[n], Args: []int{}}
	var operands []string
	for i := range n.NumArgs() {
		a := n.Arg(i)
		if a != nil && s.d.hidden(a) {
			continue // among the weights
		}
		uid := -1
		if a != nil {
			uid = s.uid[a]
		}
		p.Args = append(p.Args, uid)
		operands = append(operands, names(i))
	}
	p.Name, p.Opcode, p.Operator = r.text(qualified(n)), r.text(n.Opcode().String()), r.text(operatorKey(n))
	if n.Opcode() != graph.CallFunction && n.Opcode() != graph.Output {
		p.Target = r.text(n.Target())
	}
	if o := n.Op(); o != nil {
		if _, known := r.docs[o.Key()]; !known {
			r.docs[o.Key()] = [2]string{cleanLines(o.Doc), cleanLines(strings.TrimPrefix(opdoc.Reference(o), o.Doc+"\n\n"))}
		}
	}
	p.Attrs, p.Type, p.Class = r.text(attributes(n)), r.text(n.Type().String()), r.text(styleOf(n))
	p.Scope, p.Label = r.text(n.Scope().Path), r.text(strings.Join(append(labelOf(n), s.d.weightLine(n)...), "\n"))
	p.Operands, p.Weights = r.text(strings.Join(operands, "\n")), r.text(parameters(n))
	if n.Default() != nil {
		p.Default = r.text("yes")
	}
	p.Pos = r.position(n.Stack())
	p.Flops, p.Bytes = -1, -1 // in a region: counted at the node that runs it, as often as it does
	if n.Graph().Parent() == nil {
		p.Flops, p.Bytes = valueAt(count.Flops(n), s.d.o.Sizes), valueAt(count.Bytes(n), s.d.o.Sizes)
	}
	return once(&r.tables, &r.nodes, "node", p)
}

// operatorKey is the operator with its package, "" for other nodes.
func operatorKey(n *graph.Node) string {
	if o := n.Op(); o != nil {
		return o.Key()
	}
	return ""
}

// valueAt evaluates an expression over symbols, which are 1 when they have no size: -1
// when it has no value.
func valueAt(d shape.Dim, sizes map[string]int) int64 {
	v, err := d.Eval(func(name string) (int, bool) {
		if size, ok := sizes[name]; ok {
			return size, true
		}
		return 1, true
	})
	if err != nil {
		return -1
	}
	return int64(v)
}

// position records a stack and returns its number, 0 for none.
func (t *tables) position(stack []diag.Pos) int {
	caller := 0
	for _, p := range slices.Backward(stack) {
		if p.File == "" {
			continue
		}
		id, ok := t.fileID[p.File]
		if !ok {
			id = len(t.files)
			t.fileID[p.File] = id
			t.files = append(t.files, pageFile{Name: clean(fileName(p)), path: p.File})
		}
		before := len(t.positions)
		caller = once(t, &t.positions, "pos", pagePos{id, p.Line, t.text(funcName(p.Func)), caller})
		if caller == before && p.Line > 0 {
			t.files[id].wanted = append(t.files[id].wanted, p.Line)
		}
	}
	return caller
}

// fileName is "models/resnet.go": the package, where it is known, and the file,
// without the folders of this machine.
func fileName(p diag.Pos) string {
	name := path.Base(strings.ReplaceAll(p.File, `\`, "/"))
	pkg, _, _ := strings.Cut(funcName(p.Func), ".")
	if pkg == "" || pkg == "main" {
		return name
	}
	return pkg + "/" + name
}

// funcName is a function without the path of its package.
func funcName(f string) string { return f[strings.LastIndexByte(f, '/')+1:] }

// Lines of source around those that nodes were recorded at, and the longest one.
const (
	aroundSource = 3
	maxSource    = 200
)

// readSource reads the lines that the page shows.
func (r *Report) readSource() {
	if r.o.Source == nil {
		return
	}
	for i := range r.files {
		f := &r.files[i]
		data, err := r.o.Source(f.path)
		if err != nil {
			continue // not on this machine
		}
		text := strings.Split(string(data), "\n")
		f.Lines = map[int]string{}
		for _, at := range f.wanted {
			for k := max(1, at-aroundSource); k <= min(at+aroundSource, len(text)); k++ {
				f.Lines[k] = clip(clean(strings.ReplaceAll(strings.TrimRight(text[k-1], "\r"), "\t", "    ")), maxSource)
			}
		}
	}
}
