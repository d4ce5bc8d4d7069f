package fxtest

import (
	"fmt"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/op"
)

// Scalars returns calls of an operator with tensors of rank 0 only, made of its samples: those
// that it takes, one for each set of attributes and types.
func Scalars(o *op.Op) (calls []op.Sample) {
	seen := map[string]bool{}
	for _, s := range o.Samples() {
		for _, attrs := range []any{s.Attrs, o.Codec().Zero()} {
			in := make([]*array.Array, len(s.In))
			key := fmt.Sprint(attrs)
			for i, a := range s.In {
				if a == nil {
					continue
				}
				in[i] = array.New(a.DType())
				if a.Len() > 0 {
					in[i] = array.Reshape(array.Contiguous(array.Slice(flat(a), 0, 0, 1, 1)))
				}
				key += a.DType().String()
			}
			if _, err := o.Eval(&kernel.Workspace{}, attrs, in); err == nil && !seen[key] {
				seen[key] = true
				calls = append(calls, op.Sample{Name: s.Name + ", of scalars " + key, Attrs: attrs, In: in})
			}
		}
	}
	return calls
}

func flat(a *array.Array) *array.Array { return array.Reshape(array.Contiguous(a), a.Len()) }
