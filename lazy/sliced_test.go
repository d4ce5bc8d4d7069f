package lazy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// A Go slice of a tensor's memory is that memory wherever it was taken: before the session, before the
// session has met the tensor, of a view, or after a recorded write. In-place calls are seen by it at
// once, and what Go code writes through it stands over what was recorded before.
func TestSlices_takenBefore(t *testing.T) {
	linear := func() *tensor.Tensor { return nn.NewLinear(3, 1, nn.Seed(1)).Weight }
	plain := func() *tensor.Tensor { return tensor.FromSlice([]float32{1, 2, 3}, 1, 3) }
	param := func() *tensor.Tensor { return tensor.Param(plain().Array()) }
	for name, c := range map[string]struct {
		w      func() *tensor.Tensor
		inside bool // the slice is taken in the session
		later  bool // after a write
		take   func(w *tensor.Tensor) []float32
	}{
		"a layer's weight":            {w: linear},
		"a parameter":                 {w: param},
		"a tensor":                    {w: plain},
		"a parameter, in the session": {w: param, inside: true},
		"a weight, after a write":     {w: linear, inside: true, later: true},
		"a parameter, after a write":  {w: param, inside: true, later: true},
		"a tensor, after a write":     {w: plain, inside: true, later: true},
		"a view of a parameter":       {w: param, take: func(w *tensor.Tensor) []float32 { return tensor.Data[float32](w.Reshape(3)) }},
		"a view of a weight, inside":  {w: linear, inside: true, take: func(w *tensor.Tensor) []float32 { return tensor.Data[float32](w.Reshape(3)) }},
	} {
		t.Run(name, func(t *testing.T) {
			if c.take == nil {
				c.take = tensor.Data[float32]
			}
			run := func(in func(*tensor.Tensor) *tensor.Tensor, end func()) []any {
				w := c.w()
				var d []float32
				if !c.inside {
					d = c.take(w)
				}
				x := in(tensor.Ones(1, 3))
				if c.later {
					w.AddInPlace(x)
				}
				if c.inside {
					d = c.take(w)
				}
				var seen []any
				for n := range 3 {
					w.AddInPlace(x.MulScalar(2))
					seen = append(seen, d[0])
					d[1] = float32(2 + n/2) // in the second round what was there in the first
					y := w.MulScalar(3)
					w.Reshape(3).Narrow(0, 2, 1).MulInPlace(x.Sum())
					seen = append(seen, d[2], y.String(), w.String())
				}
				end()
				return append(seen, d[0], d[1], d[2], w.String())
			}
			same := func(x *tensor.Tensor) *tensor.Tensor { return x }
			want := run(same, func() {})
			for _, o := range []lazy.Options{{}, {Gradients: true}, {Donate: true}, {Rounding: true}} {
				if o.Gradients && strings.HasPrefix(name, "a tensor") {
					continue // FX1055: no gradient goes through memory that the program has of a tensor that is no model's
				}
				s := lazy.New(o)
				require.Equal(t, want, run(s.In, func() { require.NoError(t, s.Barrier()) }), "%+v", o)
				require.NoError(t, s.Close())
			}
		})
	}
}

// Of a slice that a parameter was made of a session knows too little to look at it at each call. What Go code writes
// through it while a write is recorded is an error when the session comes to write there.
func TestSlices_ofParameters(t *testing.T) {
	data := []float32{1, 2}
	w := tensor.Param(array.FromSlice(data, 2))
	s := lazy.New(lazy.Options{})
	defer s.Close()
	w.AddInPlace(s.In(tensor.Ones(2)))
	data[0] = 7
	err := func() (err error) {
		defer diag.Catch(&err)
		_ = w.String()
		return nil
	}()
	require.ErrorContains(t, err, "Go code wrote to memory of the tensor after the session had recorded a write to it")
}

// Eager code that writes values of a parameter to another one leaves no past. A gradient by both is refused, whether or
// not a Go slice of the memory was taken before; it was 0 where one was.
func TestSlices_gradients(t *testing.T) {
	for _, taken := range []bool{false, true} {
		for _, view := range []bool{false, true} {
			t.Run(fmt.Sprint(taken, view), func(t *testing.T) {
				w, b := nn.NewLinear(2, 2).Weight, nn.NewLinear(2, 2).Bias
				if taken {
					tensor.Data[float32](w)[0] = 9
				}
				s := lazy.New(lazy.Options{Gradients: true})
				defer s.Close()
				x := s.In(tensor.Ones(2))
				if view {
					w.T().MulInPlace(b)
				} else {
					w.MulInPlace(b)
				}
				loss := w.Add(x).Sum()
				err := func() (err error) {
					defer diag.Catch(&err)
					tensor.Grad(loss, b, w)
					return nil
				}()
				var d *diag.Error
				require.ErrorAs(t, err, &d)
				require.Equal(t, lazy.Past, d.Code)
				require.NoError(t, s.Barrier())
				require.Equal(t, tensor.Ones(2, 2).String(), tensor.Grad(w.Add(x).Sum(), w)[0].String())
			})
		}
	}
}
