package array

import (
	"slices"

	"github.com/gofx-dev/gofx/diag"
)

// Loader hands tensors to a program that knows their names, types and shapes, and
// collects everything that does not agree. The zero value gives tensors without
// memory, for computing sizes.
type Loader struct {
	find func(name string) (*Array, error)
	errs diag.List
}

// LoaderOf returns a loader for the tensors that find returns, nil for names that
// it does not know.
func LoaderOf(find func(name string) (*Array, error)) *Loader { return &Loader{find: find} }

// Tensor stores in dst the tensor of that name, which must have element type d
// and the shape.
func (l *Loader) Tensor(dst **Array, name string, d DType, shape ...int) {
	if l.find == nil {
		*dst = Make(d, nil, nil, 0, nil)
		(*dst).Reset(d, shape)
		return
	}
	a, err := l.find(name)
	switch {
	case err != nil:
		l.errs.Add(err)
	case a == nil:
		l.bad(CodeMissing, name, "missing", d, shape)
	case a.DType() != d || !slices.Equal(a.Shape(), shape):
		l.bad(CodeMismatch, name, Describe(a.DType(), a.Shape()), d, shape)
	}
	*dst = a
}

// bad lists a tensor that differs from the expected one.
func (l *Loader) bad(c diag.Code, name, is string, d DType, shape []int) {
	l.errs = append(l.errs, diag.New(c, "tensor "+diag.Quote(name)+" is "+is+", expected "+Describe(d, shape)))
}

// Err returns all errors as a diag.List, nil when there were none. It is called
// after all tensors have been taken.
func (l *Loader) Err() error { return l.errs.Err() }
