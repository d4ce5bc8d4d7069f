package nn

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/safetensors"
	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// Entry is one tensor of a state dict.
type Entry struct {
	Name    string   // PyTorch's: "layer1.0.conv1.weight"
	Aliases []string // further names of a tied tensor
	Tensor  *tensor.Tensor
	Buffer  bool // not trained
}

// NonPersistent is a module with tensors that are no part of its state dict.
type NonPersistent interface{ NonPersistentTensors() []*tensor.Tensor }

// StateDict returns the tensors of a module by PyTorch's names, in the order of
// declaration. A tied tensor is listed once, under its first name.
func StateDict(m any) []Entry {
	var all []Entry
	at := map[any]int{}
	skip := map[any]bool{}
	tensor.Walk(m, func(it tensor.Item) bool {
		if it.Tensor == nil {
			if n, ok := it.Module.(NonPersistent); ok {
				for _, x := range n.NonPersistentTensors() {
					if x != nil {
						skip[x.ID()] = true
					}
				}
			}
			return true
		}
		id := it.Tensor.ID()
		if skip[id] {
			return false
		}
		if i, known := at[id]; known {
			all[i].Aliases = append(all[i].Aliases, it.Path)
			return false
		}
		at[id] = len(all)
		all = append(all, Entry{Name: it.Path, Tensor: it.Tensor, Buffer: it.Buffer})
		return false
	})
	return all
}

// NumParameters returns the number of elements of the trained tensors: buffers
// do not count, tied tensors count once.
func NumParameters(m any) int {
	n := 0
	for _, e := range StateDict(m) {
		if e.Buffer {
			continue
		}
		size := 1
		for _, d := range e.Tensor.Shape() {
			size *= d
		}
		n += size
	}
	return n
}

// Weights is where LoadStateDict takes tensors from.
type Weights interface {
	// Names returns the names of all tensors.
	Names() []string
	// Type returns element type and shape without reading the data. Where arrays have no
	// such element type it is Invalid, and Get has the error.
	Type(name string) (d array.DType, shape []int, ok bool)
	// Get reads a tensor.
	Get(name string) (*array.Array, error)
}

// File makes the tensors of a safetensors file Weights.
func File(f *safetensors.File) Weights { return fileWeights{f} }

type fileWeights struct{ *safetensors.File }

func (f fileWeights) Type(name string) (array.DType, []int, bool) {
	d, sh, _, _, ok := f.Info(name)
	return d, sh, ok
}

// Arrays are Weights in memory, by name.
type Arrays map[string]*array.Array

// Names returns the names of all arrays, sorted.
func (w Arrays) Names() []string {
	names := make([]string, 0, len(w))
	for n := range w {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Type returns element type and shape of an array.
func (w Arrays) Type(name string) (array.DType, []int, bool) {
	a, ok := w[name]
	if !ok {
		return array.Invalid, nil, false
	}
	return a.DType(), a.Shape(), true
}

// Get returns an array.
func (w Arrays) Get(name string) (*array.Array, error) {
	if a, ok := w[name]; ok {
		return a, nil
	}
	return nil, diag.New(MissingWeight, "there is no tensor "+diag.Name(name))
}

// LoadOption changes what LoadStateDict accepts.
type LoadOption func(*loading)

type loading struct{ missing, unexpected, cast bool }

// NotStrict accepts missing and unexpected names, as strict=False does in PyTorch.
func NotStrict() LoadOption { return func(l *loading) { l.missing, l.unexpected = true, true } }

// AllowUnexpected accepts names that the module lacks.
func AllowUnexpected() LoadOption { return func(l *loading) { l.unexpected = true } }

// CastTypes converts weights of another element type to the module's own.
func CastTypes() LoadOption { return func(l *loading) { l.cast = true } }

// LoadStateDict copies weights into the tensors of a module. All missing,
// unexpected, mis-shaped and mis-typed names are reported at once, as a
// diag.List, and nothing is changed then. A tied tensor is looked for under its
// first name, then under the others. Weights none of which fits are always an
// error. The counters of batch normalisation,
// num_batches_tracked, may be missing and are kept then.
func LoadStateDict(m any, src Weights, opts ...LoadOption) error {
	var l loading
	for _, o := range opts {
		o(&l)
	}
	errs := tensor.StateErrors(m)
	entries := StateDict(m)
	known := map[string]bool{}
	from := make([]string, len(entries)) // "" where the weights have no such name
	for i, e := range entries {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			known[name] = true
			d, sh, ok := src.Type(name)
			if !ok {
				continue
			}
			if from[i] == "" {
				from[i] = name
			}
			l.check(&errs, e, name, d, sh)
		}
		if from[i] == "" && !l.missing && !isCounter(e) {
			errs.Add(weightError(MissingWeight, e.Name, "is missing, the module expects "+e.Tensor.Type().String(), ""))
		}
	}
	var unexpected []string
	for _, name := range src.Names() {
		if !known[name] {
			unexpected = append(unexpected, name)
		}
	}
	if !l.unexpected {
		for _, name := range unexpected {
			errs.Add(weightError(UnexpectedWeight, name, "is unexpected, the module has no such tensor", ""))
		}
	}
	if err := errs.Err(); err != nil {
		l.hintRenames(errs, src, unexpected, entries, from)
		return err
	}
	if names := src.Names(); len(names) > 0 && !slices.ContainsFunc(from, func(name string) bool { return name != "" }) {
		return noMatch(entries, names)
	}
	return copyWeights(entries, from, src)
}

// hintRenames adds to errors about names the rules that make the names of a file those of the module.
func (l *loading) hintRenames(errs diag.List, src Weights, unexpected []string, entries []Entry, from []string) {
	if _, ok := src.(weights.File); !ok { // which weights.Rename takes
		return
	}
	var want []string
	byName := map[string]Entry{}
	for i, e := range entries {
		if from[i] == "" {
			want, byName[e.Name] = append(want, e.Name), e
		}
	}
	p := weights.Renames(unexpected, want, func(have, want string) bool {
		var errs diag.List
		d, sh, _ := src.Type(have)
		l.check(&errs, byName[want], have, d, sh)
		return errs == nil
	})
	if len(p.Rules) == 0 {
		return
	}
	call := "weights.Rename(file"
	for _, rule := range p.Rules {
		call += ", " + strconv.Quote(rule)
	}
	for _, e := range errs {
		if e.Code == MissingWeight || e.Code == UnexpectedWeight {
			e.Hint = p.Hint(call + ")")
		}
	}
}

// noMatch refuses weights none of which is the module's, also where missing and
// unexpected names are accepted.
func noMatch(entries []Entry, names []string) error {
	what := "the module has no tensors"
	if len(entries) > 0 {
		what = "the module has " + diag.Name(entries[0].Name) + " and so on"
	}
	return diag.New(NoWeightFits, "none of the weights is the module's: there is "+diag.Name(names[0])+" and so on, "+what).
		WithHint("give weights of this module; fields that hold tensors only in plain interfaces of other packages are not found")
}

// isCounter reports whether a tensor counts batches: checkpoints made before
// PyTorch 0.4.1 have no such tensors, and only training with a cumulative average
// reads them.
func isCounter(e Entry) bool {
	return e.Buffer && strings.HasSuffix(e.Name, "num_batches_tracked")
}

func weightError(c diag.Code, name, msg, hint string) *diag.Error {
	return &diag.Error{Code: c, Op: name, Msg: msg, Hint: hint}
}

func (l *loading) check(errs *diag.List, e Entry, name string, d array.DType, sh []int) {
	t := e.Tensor.Type()
	if want := e.Tensor.Shape(); !slices.Equal(sh, want) {
		errs.Add(weightError(WeightShape, name, "is "+shape.TensorType(d, shape.ConstDims(sh...)).String()+", the module expects "+t.String(), ""))
	} else if d != t.DType() && !l.cast && d != array.Invalid {
		errs.Add(weightError(WeightType, name, "has element type "+d.String()+", the module expects "+t.DType().String(),
			"pass nn.CastTypes() to convert it"))
	}
}

// copyWeights reads everything before it writes anything, so that a file that
// cannot be read leaves the module as it was.
func copyWeights(entries []Entry, from []string, src Weights) error {
	arrays := make([]*array.Array, len(entries))
	var errs diag.List
	for i, name := range from {
		if name == "" {
			continue
		}
		a, err := src.Get(name)
		if err != nil {
			errs.Add(err)
			continue
		}
		arrays[i] = a
	}
	if err := errs.Err(); err != nil {
		return err
	}
	for i, a := range arrays {
		if a == nil {
			continue
		}
		x := entries[i].Tensor
		if a.DType() != x.DType() {
			a = array.Cast(a, x.DType())
		}
		x.AssignInPlace(tensor.New(a))
	}
	return nil
}

// LoadFile is LoadStateDict from a file of weights of any format that weights.Open
// reads: safetensors, an index of its shards, .npz, GGUF, and state dicts of torch.save,
// of which FILE#NAME is a part. The names must be those of the module. The file stays
// mapped, unless it is refused: a trace that is under way may have recorded it. Who loads
// again and again uses weights.Open, LoadStateDict, and the file's Close.
func LoadFile(m any, path string, opts ...LoadOption) error {
	f, err := weights.Open(path)
	if err != nil {
		return err
	}
	if err := LoadStateDict(m, f, opts...); err != nil {
		_ = f.Close() // nothing was taken from it
		return err
	}
	return nil
}

// SaveStateDict writes the state dict of a module as safetensors; a tied tensor
// is written once, under its first name. State that has no name is refused; see
// tensor.StateErrors. meta may be nil.
func SaveStateDict(w io.Writer, m any, meta map[string]string) error {
	if err := tensor.StateErrors(m).Err(); err != nil {
		return err
	}
	var all []safetensors.Named
	for _, e := range StateDict(m) {
		all = append(all, safetensors.Named{Name: e.Name, Array: e.Tensor.Array()})
	}
	return safetensors.Write(w, all, meta)
}

// SaveFile is SaveStateDict into a file, which is replaced only when everything
// has been written.
func SaveFile(path string, m any, meta map[string]string) error {
	return swap.Write(path, ".state-", func(w io.Writer) error { return SaveStateDict(w, m, meta) })
}
