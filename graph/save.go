package graph

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/shape"
)

// The files of a saved module.
const (
	GraphFile   = "graph.fx"
	WeightsFile = "weights.safetensors"
)

// Save writes a module into a folder, which is made if necessary: the text form
// with positions (of files only the base names) and the values of the parameters.
// Equal modules give equal bytes. Both files are written next to the old ones
// first and replace them only when complete. Parameters without values are an
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
