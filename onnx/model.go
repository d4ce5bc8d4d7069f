package onnx

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/onnx/internal/importer"
)

// MostBound is how many executables a Model keeps unless ModelOptions say otherwise.
const MostBound = 8

// mostBoundBytes is the total size of the values that one executable may be bound to:
// they are sizes, axes and counts, and are compared in every run.
const mostBoundBytes = 1 << 20

// ModelOptions say how a Model is made. The zero value is right for most.
type ModelOptions struct {
	Import  Options          // Values stay bound for good
	Compile lowering.Options // for every executable; Outputs and Donate count those of the graph
	Most    int              // executables that are kept, 0 for MostBound
}

// Model runs a file on a target. Inputs that ranks and axes follow from are bound by their values:
// there is an executable for each set of these values that has come, and for each form of the
// graph that sizes of inputs lead to (Options.Sizes), of which the least
// recently used one goes when there are too many. Files without such inputs have one.
// A Model may be used by many goroutines at once.
type Model struct {
	file   *File
	target lowering.Target
	opts   ModelOptions

	mu     sync.Mutex
	made   []*boundModel // the one used last comes first
	stats  ModelStats
	closed bool
}

// ModelStats count the work of a Model.
type ModelStats struct {
	Held     int   // executables that are kept
	Compiled int64 // executables that were made
	Evicted  int64 // of these, those that had to go for others
	Runs     int64
}

// boundModel is an executable for values of inputs.
type boundModel struct {
	shape string                  // which inputs there are, and their ranks
	bound map[string]*array.Array // own copies
	made  *importer.Imported
	exe   lowering.Executable
	users int
	gone  bool // to be closed by its last user
}

// NewModel returns a model that compiles when it is run.
func NewModel(f *File, t lowering.Target, o ModelOptions) *Model {
	if o.Most <= 0 {
		o.Most = MostBound
	}
	return &Model{file: f, target: t, opts: o}
}

// Run computes the outputs, in the order of File.Outputs, for inputs by their names in the
// file, members of a sequence x as x[0], x[1]. Inputs of the file that have a default may
// be absent. Errors are those of importing, of compiling, and of the executable; an input
// that the file does not have is an error too.
func (m *Model) Run(ctx context.Context, inputs map[string]*array.Array) ([]*array.Array, error) {
	if err := m.known(inputs); err != nil {
		return nil, err
	}
	b, err := m.take(inputs)
	if err != nil {
		return nil, err
	}
	defer m.give(b)
	s := Sample{Inputs: inputs, Lengths: m.file.f.LengthsOf(inputs, m.opts.Import.Lengths)}
	fixed := slices.Collect(maps.Keys(b.bound))
	return b.exe.Run(ctx, m.file.Args(s, slices.AppendSeq(fixed, maps.Keys(m.opts.Import.Values))))
}

// known refuses names that the file does not have.
func (m *Model) known(inputs map[string]*array.Array) error {
	lengths := m.file.f.LengthsOf(inputs, m.opts.Import.Lengths)
	var names []string
	for _, in := range m.file.f.Inputs() {
		names = append(names, m.file.f.Parts(in.Name, in.Type, lengths)...)
	}
	var errs diag.List
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		switch {
		case !slices.Contains(names, name):
			errs.Add(diag.New(interp.ExtraInput, "input "+diag.Quote(name)+" is not one of the model's").At(diag.Pos{File: m.file.f.Name}))
		case inputs[name] == nil:
			errs.Add(diag.New(interp.MissingInput, "input "+diag.Quote(name)+" is nil").At(diag.Pos{File: m.file.f.Name}))
		}
	}
	return errs.Err()
}

// take finds the executable for values, or makes it.
func (m *Model) take(inputs map[string]*array.Array) (*boundModel, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, diag.New(lowering.Closed, "the model is closed, expected an open one").WithHint("make it again")
	}
	m.stats.Runs++
	shape := describeInputs(inputs)
	at := slices.IndexFunc(m.made, func(b *boundModel) bool {
		return b.shape == shape && b.holds(inputs) && b.made.Fits(inputs)
	})
	if at < 0 {
		b, err := m.compile(inputs, shape)
		if err != nil {
			return nil, err
		}
		m.stats.Compiled++
		m.made = append(m.made, b)
		at = len(m.made) - 1
	}
	b := m.made[at]
	b.users++
	copy(m.made[1:at+1], m.made[:at])
	m.made[0] = b
	for len(m.made) > m.opts.Most {
		last := m.made[len(m.made)-1]
		m.made = m.made[:len(m.made)-1]
		m.stats.Evicted++
		if last.gone = true; last.users == 0 {
			_ = last.exe.Close() // nobody waits for it
		}
	}
	return b, nil
}

func (m *Model) give(b *boundModel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.users--; b.users == 0 && b.gone {
		_ = b.exe.Close() // nobody waits for it
	}
}

// compile binds the values that determine sizes and compiles the rest.
func (m *Model) compile(inputs map[string]*array.Array, shape string) (*boundModel, error) {
	made, err := importer.ImportFor(m.file.f, inputs, importer.Options(m.opts.Import))
	if err != nil {
		return nil, err
	}
	b := &boundModel{shape: shape, made: made, bound: map[string]*array.Array{}}
	total := 0
	for _, name := range made.Names {
		b.bound[name] = array.Clone(inputs[name])
		total += inputs[name].Len() * inputs[name].DType().Size()
	}
	if total > mostBoundBytes {
		return nil, diag.New(CodeValue, "sizes follow from "+strconv.Itoa(total)+" bytes of inputs, expected at most "+strconv.Itoa(mostBoundBytes)).
			At(diag.Pos{File: m.file.f.Name}).WithHint("bind them when importing (ModelOptions.Import.Values)")
	}
	b.exe, err = m.target.Compile(made.Module, m.opts.Compile)
	return b, err
}

// holds reports whether inputs have the values that the executable is bound to.
func (b *boundModel) holds(inputs map[string]*array.Array) bool {
	for name, own := range b.bound {
		a := inputs[name]
		if a == nil || a.DType() != own.DType() || !slices.Equal(a.Shape(), own.Shape()) ||
			!bytes.Equal(array.Bytes(array.Contiguous(a)), array.Bytes(own)) {
			return false
		}
	}
	return true
}

// describeInputs is a text for the facts that determine the graph apart from values: which
// inputs are given, and their ranks.
func describeInputs(inputs map[string]*array.Array) string {
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		text = strconv.AppendQuote(text, name)
		text = strconv.AppendInt(text, int64(inputs[name].Rank()), 10)
	}
	return string(text)
}

// Stats returns the model's counts so far.
func (m *Model) Stats() ModelStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.stats
	s.Held = len(m.made)
	return s
}

// Close releases the executables. Runs in progress end first with theirs.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	var errs diag.List
	for _, b := range m.made {
		if b.gone = true; b.users == 0 {
			errs.Add(b.exe.Close())
		}
	}
	m.made = nil
	return errs.Err()
}
