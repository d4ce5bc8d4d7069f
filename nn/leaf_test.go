package nn_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/shape"
	"github.com/gofx-dev/gofx/tensor"
)

// spy is an engine that writes down the leaf calls that it sees.
type spy struct {
	tensor.Capturer // what the tests do not ask for
	seen            []string
}

func (s *spy) Call(c *tensor.Call) []*tensor.Tensor {
	s.seen = append(s.seen, "call "+c.Op.Name+c.Op.Codec().Print(c.Attrs))
	n, _ := c.Op.NumResults(c.Attrs)
	return s.proxies(n)
}

func (s *spy) proxies(n int) []*tensor.Tensor {
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = tensor.NewProxy(s, nil)
	}
	return out
}

func (s *spy) Type(x *tensor.Tensor) shape.Type {
	if t, ok := x.Value().(shape.Type); ok {
		return t
	}
	return shape.Type{}
}
func (s *spy) Observe(*tensor.Tensor, string) *array.Array { panic("a leaf reads data") }
func (s *spy) Assign(_, _ *tensor.Tensor, what string)     { s.seen = append(s.seen, "assign") }

func (s *spy) Gradient(*tensor.Tensor, []*tensor.Tensor, tensor.GradOptions) []*tensor.Tensor {
	panic("this engine keeps no calls")
}

func (s *spy) Leaf(m any, b *tensor.Bound, in []*tensor.Tensor) ([]*tensor.Tensor, bool) {
	var w strings.Builder
	w.WriteString(b.Op.Name + b.Op.Codec().Print(b.Attrs))
	for i, p := range b.Params {
		w.WriteString(" " + b.Names[i])
		if p == nil {
			w.WriteString("=nil")
		} else {
			w.WriteString(p.Type().Dims().String())
		}
	}
	s.seen = append(s.seen, w.String())
	n, _ := b.Op.NumResults(b.Attrs)
	return s.proxies(n), true
}

func (s *spy) Enter(any, []*tensor.Tensor) ([]*tensor.Tensor, func(), bool) {
	return nil, func() {}, false
}

// TestLeaves checks what every leaf module does: its operator, attributes and
// parameters, and that it runs on an input and gives the expected shape.
func TestLeaves(t *testing.T) {
	for _, c := range leafCases {
		t.Run(c.want, func(t *testing.T) {
			s := &spy{}
			ty, err := shape.ParseType(c.in)
			require.NoError(t, err)
			nn.RunAll(c.m, c.args(tensor.NewProxy(s, ty))...)
			require.Equal(t, []string{c.want}, s.seen)

			d, dims, ok := ty.Concrete()
			require.True(t, ok)
			x := array.New(d, dims...)
			for i := range x.Len() {
				array.SetFloat64At(x, i, float64(i%3))
			}
			out := nn.RunAll(c.m, c.args(tensor.New(x))...)
			require.Equal(t, c.out, out[0].Type().String())
		})
	}
}
