package graph

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// Bound is what a leaf module does, so that a call of it needs no Go value: the
// operator, its attributes and which of the module's tensors are its operands. With
// op.Call as its operator it runs a sub-graph of the module.
type Bound struct {
	Op    *op.Op
	Attrs any
	// Params are the paths of the tensors that follow the call's operands, ""
	// for an absent optional one.
	Params []string
	// Names are the local names of Params ("weight", "bias"), for printers.
	Names []string
	// Type is the Go type, "import/path.Name"; Selector the Go expression that
	// reaches the module from the root ("m.Layer1[0].Conv1"). Both may be empty.
	Type     string
	Selector string
}

// Param is a tensor of the model's state.
type Param struct {
	Path string
	// Value is nil while only the text form has been read.
	Value *array.Array
	// Type is what is declared about a parameter without a value; see TypeOf.
	Type   shape.Type
	Buffer bool // not trained: running statistics, masks
	// Selector is the Go expression that reaches the tensor from the root, or "".
	Selector string
}

// TypeOf returns the value's type, the declared type when there is no value.
func (p *Param) TypeOf() shape.Type {
	if p.Value != nil {
		return shape.TypeOf(p.Value)
	}
	return p.Type
}

// Module is a graph with its state, and with the sub-graphs that it calls: what
// torch.fx calls a GraphModule, as plain data. fx.GraphModule makes it callable.
type Module struct {
	Graph *Graph
	// Type is the Go type or function that was captured, "import/path.Name".
	Type string

	subs    []*Graph
	params  []*Param
	byPath  map[string]*Param
	bounds  []boundEntry
	byMod   map[string]int
	types   *typeCache
	answers *answers

	version uint32 // counts the changes of params, bounds and sub-graphs
}

type boundEntry struct {
	path  string
	bound *Bound
}

// NewModule makes g's module; g must not have one.
func NewModule(g *Graph) *Module {
	m := &Module{Graph: g, byPath: map[string]*Param{}, byMod: map[string]int{}, types: &typeCache{}, answers: &answers{}}
	m.adopt(g)
	return m
}

// adopt makes m the module of g and its regions.
func (m *Module) adopt(g *Graph) {
	g.mod = m
	edited(g)
	for n := range g.Nodes() {
		for _, r := range n.Regions() {
			m.adopt(r)
		}
	}
}

// Param returns the tensor at path, nil when there is none.
func (m *Module) Param(path string) *Param { return m.byPath[path] }

// Params returns the state in the order in which it was added.
func (m *Module) Params() []*Param { return m.params }

// Version is another number after each change of the state, of what leaf modules do
// and of the sub-graphs. It says nothing of nodes.
func (m *Module) Version() uint32 { return m.version }

// Touch ends what is kept about the module (see Analysis), as an edit does. It is for a change
// that no method makes: of a field of a Param, of the elements of an array.
func (m *Module) Touch() { m.version++ }

// Values returns the arrays of the state by path, nil for tensors without one.
func (m *Module) Values() map[string]*array.Array {
	values := make(map[string]*array.Array, len(m.params))
	for _, p := range m.params {
		values[p.Path] = p.Value
	}
	return values
}

// SetParam adds or replaces a tensor of the state. Lint refuses one whose type is not that
// of the get_attr nodes which read it; for a tensor of another type they, and what follows
// from them, are to be given theirs (Node.Retype).
func (m *Module) SetParam(p Param) {
	m.types.forget()
	m.version++
	if old := m.byPath[p.Path]; old != nil {
		*old = p
		return
	}
	q := &p
	m.params = append(m.params, q)
	m.byPath[p.Path] = q
}

// FreshPath returns a path like hint that no tensor of the state has.
func (m *Module) FreshPath(hint string) string {
	path := hint
	for i := 1; m.byPath[path] != nil; i++ {
		path = hint + "_" + itoa(i)
	}
	return path
}

// DropUnused removes sub-graphs and modules that are not called, and tensors that
// neither a get_attr node nor a called module reads. It returns the number of tensors
// removed.
func (m *Module) DropUnused() int {
	m.DropSubs()
	used, called := make(map[string]bool, len(m.params)), map[string]bool{}
	for n := range m.All() {
		switch n.opcode {
		case GetAttr:
			used[n.target] = true
		case CallModule:
			called[n.target] = true
			if b := m.Bound(n.target); b != nil {
				for _, p := range b.Params {
					used[p] = true
				}
			}
		}
	}
	before := len(m.params)
	m.params = slices.DeleteFunc(m.params, func(p *Param) bool {
		if used[p.Path] {
			return false
		}
		delete(m.byPath, p.Path)
		return true
	})
	m.bounds = slices.DeleteFunc(m.bounds, func(b boundEntry) bool { return !called[b.path] })
	clear(m.byMod)
	for i, b := range m.bounds {
		m.byMod[b.path] = i
	}
	m.types.forget()
	m.version++
	return before - len(m.params)
}

// SetBound says what the leaf module at path does. Attributes nil stand for the
// operator's zero value, as they do for cursors.
func (m *Module) SetBound(path string, b Bound) {
	if b.Attrs == nil && b.Op != nil && b.Op.Codec() != nil {
		b.Attrs = b.Op.Codec().Zero()
	}
	m.types.drop(path)
	m.version++
	if i, ok := m.byMod[path]; ok {
		m.bounds[i].bound = &b
		return
	}
	m.byMod[path] = len(m.bounds)
	m.bounds = append(m.bounds, boundEntry{path, &b})
}

// Bound returns what the leaf module at path does, nil when it is unknown.
func (m *Module) Bound(path string) *Bound {
	if i, ok := m.byMod[path]; ok {
		return m.bounds[i].bound
	}
	return nil
}

// Bounds yields the leaf modules in the order in which they were added.
func (m *Module) Bounds() func(yield func(path string, b *Bound) bool) {
	return func(yield func(string, *Bound) bool) {
		for _, b := range m.bounds {
			if !yield(b.path, b.bound) {
				return
			}
		}
	}
}

// paramTypes returns the types of a leaf's parameter operands.
func (m *Module) paramTypes(path string, b *Bound) []shape.Type {
	if t, ok := m.types.get(path); ok {
		return t
	}
	t := make([]shape.Type, len(b.Params))
	for i, p := range b.Params {
		if q := m.byPath[p]; q != nil {
			t[i] = q.TypeOf()
		}
	}
	m.types.put(path, t)
	return t
}

// typeCache has the types of the parameters of leaves by their paths. Readers of a graph,
// of which there may be many at once, fill it.
type typeCache struct {
	mu sync.RWMutex
	m  map[string][]shape.Type
}

func (c *typeCache) get(path string) (t []shape.Type, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t, ok = c.m[path]
	return t, ok
}

func (c *typeCache) put(path string, t []shape.Type) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil {
		c.m = map[string][]shape.Type{}
	}
	c.m[path] = t
}

func (c *typeCache) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.m = nil
}

func (c *typeCache) drop(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, path)
}

func itoa(i int) string {
	if i < 10 {
		return string(rune('0' + i))
	}
	return itoa(i/10) + string(rune('0'+i%10))
}

// Become gives m the graph, state and type of o, which must not be used
// afterwards.
func (m *Module) Become(o *Module) {
	o.version += m.version + 1
	*m = *o
	for g := range m.Graphs() {
		m.adopt(g)
	}
}

// The files of a saved module.
const (
	GraphFile   = "graph.fx"
	WeightsFile = "weights.safetensors"
)

// Save writes a module into a folder, which is made if necessary: the text form
// with positions (of files only the base names) and the values of the parameters.
// Equal modules give equal bytes. Both files are written next to the old ones
// first and replace them only when complete; of several calls at once, also in several
// processes, both are those of the last one, where folders have locks (Linux, macOS). Parameters without values are an
// error that names all of them, and so is what Load would refuse: what Lint
// finds, default values that have no text form, Go code that no name leads to, and what
// the text form does not read back. Side data of nodes (Key) is not saved.
func Save(dir string, module *Module) (err error) {
	l := lint(module.Graph)
	refused := l.list
	for n := range module.All() {
		if d := n.Default(); d != nil && strings.HasPrefix(literal(d), "opaque") {
			refused = append(refused, n.Error(BadDefault, "default value of "+n.String()+" is no number, bool, string or array, so that it cannot be saved"))
		}
		if o := n.Op(); o != nil && op.Lookup(o.Key()) != o {
			refused = append(refused, unsaved(n, o))
		}
	}
	tensors := make([]safetensors.Named, 0, len(module.params))
	for _, p := range module.params {
		if p.Value == nil {
			refused.Add(diag.New(WeightMissing, "parameter "+strconv.Quote(p.Path)+" has no value, expected "+p.Type.String()))
			continue
		}
		tensors = append(tensors, safetensors.Named{Name: p.Path, Array: p.Value})
	}
	if err := refused.Err(); err != nil {
		return err
	}
	options := PrintOptions{Positions: true, BaseNames: true}
	text := printed(module, options)
	if l.assumed || !module.plain() {
		if _, err := Parse(text, filepath.Join(dir, GraphFile)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return folderError(dir, err)
	}
	swap.Clean(dir, unfinished)
	tmp, err := os.MkdirTemp(dir, unfinished+"*")
	if err != nil {
		return folderError(dir, err)
	}
	defer func() {
		if e := os.RemoveAll(tmp); err == nil && e != nil {
			err = folderError(tmp, e)
		}
	}()
	second := make(chan error, 1) // the disk takes its time for each
	go func() {
		second <- writeFile(filepath.Join(tmp, GraphFile), func(w io.Writer) (err error) { _, err = w.Write(text); return err })
	}()
	err = writeFile(filepath.Join(tmp, WeightsFile), func(w io.Writer) error { return safetensors.Write(w, tensors, nil) })
	if e := <-second; err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	var files []swap.File
	for _, f := range []string{WeightsFile, GraphFile} {
		files = append(files, swap.File{Temp: filepath.Join(tmp, f), Path: filepath.Join(dir, f)})
	}
	if err := swap.Into(files, 1); err != nil { // without a graph the folder is none that Load reads
		return folderError(dir, err)
	}
	return nil
}

// unfinished begins the name of the folder that files are written to.
const unfinished = ".save-"

// plain reports whether the text of a module that Lint accepts, in which no rule assumes
// anything about sizes, is sure to be read back: it has nothing that the reader limits,
// checks against other lines or may derive otherwise.
func (m *Module) plain() bool {
	if len(m.subs) > 0 || len(m.Graph.symbols.guards) > 0 {
		return false
	}
	for n := range m.Graph.Nodes() {
		if n.extra != nil && (len(n.extra.regions) > 0 || n.extra.def != nil || n.extra.structure != nil) {
			return false
		}
		if n.typ.Kind() == shape.Tuple || typeBytes(n.typ) > 0 {
			return false
		}
		if o := n.Op(); o != nil && (o.Codec() == nil || o.Codec().HasDims()) {
			return false
		}
	}
	return true
}

// unsaved is the error of a call of Go code that Load cannot find by its name.
func unsaved(n *Node, o *op.Op) *diag.Error {
	e := n.Error(UnknownOp, o.Key()+" is Go code without a name that a saved graph could find it by")
	if n.Opcode() == CallModule {
		return e.WithHint("capture without keeping the module " + strconv.Quote(n.Target()) + " whole, or give it an operator and tensor.Leaf")
	}
	return e.WithHint("define the operator once, with op.Define in a package variable, and call that one")
}

// writeFile makes a file, of which everything is on disk when it returns.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return folderError(path, err)
	}
	w := bufio.NewWriterSize(f, 1<<16)
	err = write(w)
	for _, step := range []func() error{w.Flush, f.Sync, f.Close} {
		if e := step(); err == nil && e != nil {
			err = folderError(path, e)
		}
	}
	return err
}

func folderError(path string, err error) error {
	return &diag.Error{Code: FolderError, Pos: diag.Pos{File: path}, Msg: "cannot be used", Err: err}
}

// Load reads what Save wrote. The operators must be linked. Missing, unexpected
// and mis-shaped weights are all reported in one diag.List, and so is what Lint
// finds; a file of another version of the text form is refused.
func Load(dir string) (*Module, error) {
	defer swap.Hold(dir, true)() // both files are of one making
	path := filepath.Join(dir, GraphFile)
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, folderError(path, err)
	}
	m, err := Parse(src, path)
	if err != nil {
		return nil, err
	}
	weights, err := safetensors.ReadFile(filepath.Join(dir, WeightsFile))
	if err != nil {
		return nil, err
	}
	if err := m.LoadWeights(weights, filepath.Join(dir, WeightsFile)); err != nil {
		return nil, err
	}
	return m, Lint(m.Graph).Err()
}

// LoadWeights gives every declared parameter its value from an open file, named
// file in errors. It reports all missing, unexpected and mis-shaped tensors at
// once and then changes nothing. The values may share the file's memory.
func (m *Module) LoadWeights(weights *safetensors.File, file string) error {
	var errs diag.List
	fault := func(c diag.Code, msg string) {
		errs = append(errs, &diag.Error{Code: c, Pos: diag.Pos{File: file}, Msg: msg})
	}
	for _, p := range m.params {
		d, dims, _, _, ok := weights.Info(p.Path)
		if !ok {
			fault(WeightMissing, "no tensor "+strconv.Quote(clip(p.Path))+", expected "+p.TypeOf().String())
			continue
		}
		have := shape.TensorType(d, shape.ConstDims(dims...))
		if _, fits := agree(m.Graph, have, p.TypeOf()); !fits || !known(p.TypeOf(), have) {
			fault(WeightMismatch, "tensor "+strconv.Quote(clip(p.Path))+" is "+have.String()+", expected "+p.TypeOf().String())
		}
	}
	for _, name := range weights.Names() {
		if m.byPath[name] == nil {
			fault(WeightUnexpected, "tensor "+strconv.Quote(clip(name))+" is not a parameter of the graph")
		}
	}
	if err := errs.Err(); err != nil {
		return err
	}
	values := make([]Param, len(m.params))
	for i, p := range m.params {
		a, err := weights.Get(p.Path)
		if err != nil {
			return err
		}
		values[i] = *p
		values[i].Value, values[i].Type = a, shape.Type{}
	}
	for _, p := range values {
		m.SetParam(p)
	}
	return nil
}

// known reports whether the sizes that declared knows are those of have.
func known(declared, have shape.Type) bool {
	for i := range declared.Dims().Len() {
		d := declared.Dim(i)
		if !d.IsUnknown() && !d.Equal(have.Dim(i)) {
			return false
		}
	}
	return true
}
