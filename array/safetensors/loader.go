package safetensors

import (
	"slices"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Loader hands the tensors of a file to a program that knows their names, types
// and shapes, and collects everything that does not agree. The zero value gives
// tensors without memory, for computing sizes.
type Loader struct {
	file *File
	find func(name string) (*array.Array, error)
	seen map[string]bool
	errs diag.List
}

// NewLoader returns a loader for the tensors of a file.
func NewLoader(f *File) *Loader {
	return &Loader{file: f, seen: map[string]bool{}, find: func(name string) (*array.Array, error) {
		if _, ok := f.find(name); !ok {
			return nil, nil
		}
		return f.Get(name)
	}}
}

// LoaderOf returns a loader for the tensors that find returns, nil for names that
// it does not know.
func LoaderOf(find func(name string) (*array.Array, error)) *Loader {
	return &Loader{find: find, seen: map[string]bool{}}
}

// Tensor stores in dst the tensor of that name, which must have element type d
// and the shape.
func (l *Loader) Tensor(dst **array.Array, name string, d array.DType, shape ...int) {
	if l.find == nil {
		*dst = array.Make(d, nil, nil, 0, nil)
		(*dst).Reset(d, shape)
		return
	}
	l.seen[name] = true
	a, err := l.find(name)
	switch {
	case err != nil:
		l.errs.Add(err)
	case a == nil:
		l.bad(CodeMissing, name, "missing", array.Describe(d, shape))
	case a.DType() != d || !slices.Equal(a.Shape(), shape):
		l.bad(CodeMismatch, name, array.Describe(a.DType(), a.Shape()), array.Describe(d, shape))
	}
	*dst = a
}

// bad lists a tensor that differs from the expected one.
func (l *Loader) bad(c diag.Code, name, is, expected string) {
	l.errs = append(l.errs, diag.New(c, "tensor "+diag.Quote(name)+" is "+is+", expected "+expected))
}

// Err returns all errors as a diag.List, nil when there were none. It is called
// after all tensors have been taken. schema is the SchemaHash of the program's
// tensors: when the file's differs, tensors that were not taken are listed too.
func (l *Loader) Err(schema uint64) error {
	if l.file != nil && l.file.SchemaHash() != schema {
		for _, name := range l.file.Names() {
			if !l.seen[name] {
				d, shape, _, _, _ := l.file.Info(name)
				l.bad(CodeUnexpected, name, array.Describe(d, shape), "no such tensor")
			}
		}
	}
	return l.errs.Err()
}
