package safetensors

import (
	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Loader hands the tensors of a file to a program as array.Loader does, which it is, and
// finds those that the program does not know.
type Loader struct {
	array.Loader
	file *File
	seen map[string]bool
}

// NewLoader returns a loader for the tensors of a file.
func NewLoader(f *File) *Loader {
	seen := map[string]bool{}
	return &Loader{file: f, seen: seen, Loader: *array.LoaderOf(func(name string) (*array.Array, error) {
		seen[name] = true
		if _, ok := f.find(name); !ok {
			return nil, nil
		}
		return f.Get(name)
	})}
}

// Err returns all errors as a diag.List, nil when there were none. It is called
// after all tensors have been taken. schema is the SchemaHash of the program's
// tensors: when the file's differs, tensors that were not taken are listed too.
func (l *Loader) Err(schema uint64) error {
	var errs diag.List
	errs.Add(l.Loader.Err())
	if l.file.SchemaHash() != schema {
		for _, name := range l.file.Names() {
			if !l.seen[name] {
				d, shape, _, _, _ := l.file.Info(name)
				errs = append(errs, diag.New(CodeUnexpected, "tensor "+diag.Quote(name)+" is "+array.Describe(d, shape)+", expected no such tensor"))
			}
		}
	}
	return errs.Err()
}
