package lazy_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// unet is a network that goes down by halves and up again, over lengths of both parities.
type unet struct{ Down, Mid, Up *nn.Conv1d }

func newUnet() *unet {
	same := nn.Padding(1)
	return &unet{nn.NewConv1d(2, 4, 3, same), nn.NewConv1d(4, 4, 3, same), nn.NewConv1d(8, 2, 3, same)}
}

func (u *unet) Forward(x *tensor.Tensor) *tensor.Tensor {
	skip := u.Down.Forward(x).Relu()
	low := u.Mid.Forward(skip.MaxPool1d(2))
	up := low.Unsqueeze(-1).Expand(low.Dim(0), low.Dim(1), low.Dim(2), 2).Reshape(low.Dim(0), low.Dim(1), 2*low.Dim(2))
	up = up.Pad(0, skip.Dim(2)-up.Dim(2))
	return u.Up.Forward(tensor.Cat([]*tensor.Tensor{skip, up}, 1))
}

// Sizes that a program halves, rounds or pools are sizes of one graph, for even and odd ones.
func TestDims_quotients(t *testing.T) {
	net := newUnet()
	pooled := nn.NewConv1d(1, 3, 5, nn.Stride(2))
	for _, c := range []struct {
		name             string
		graphs, compiles int
		shows            string // what Explain shows
		f                func(x *tensor.Tensor) *tensor.Tensor
	}{
		{"halves", 3, 1, "s0//2", func(x *tensor.Tensor) *tensor.Tensor {
			h := x.Dim(0) / 2
			return x.Slice(0, 0, h).Mul(x.Slice(0, x.Dim(0)-h, tensor.End)).Exp()
		}},
		{"rounded up", 3, 1, "(s0-1)//2+1", func(x *tensor.Tensor) *tensor.Tensor { return x.Slice(0, 0, (x.Dim(0)+1)/2).Exp() }},
		{"n/2+1", 3, 1, "s0//2+1", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, x.Dim(0)/2+1).Exp() }},
		{"(n-1)/2", 3, 1, "(s0-1)//2", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, (x.Dim(0)-1)/2).Exp() }},
		{"2*(n/3), which is n-3 for 9, 10 and 11", 4, 1, "2*(s0//3)", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, 2*(x.Dim(0)/3)).Exp() }},
		{"n%4, where nothing is another graph", 7, 2, "s0-4*(s0//4)", func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, x.Dim(0)%4).Exp() }},
		{"chunk, which has no size of its own", 3, 1, "open: s0, axis 0 of leaf 0 had the sizes 9, 10, 11 at ", func(x *tensor.Tensor) *tensor.Tensor { c := x.Chunk(2, 0); return c[0].Exp().Sum().Add(c[1].Sum()) }},
		{"of a size on the way", 3, 1, "s0//2", func(x *tensor.Tensor) *tensor.Tensor {
			y := tensor.Cat([]*tensor.Tensor{x, x}, 0)
			return y.Narrow(0, 0, y.Dim(0)/4+x.Dim(0)/2).Exp()
		}},
		{"pooled", 3, 1, "sizes that follow: 4*s0, ", func(x *tensor.Tensor) *tensor.Tensor {
			y := pooled.Forward(x.Reshape(1, 1, 4*x.Dim(0))).MaxPool1d(2)
			return y.Reshape(3 * y.Dim(2)).Exp()
		}},
		{"squares", 3, 1, "(s0//2)*(s0//2)", func(x *tensor.Tensor) *tensor.Tensor {
			y := x.Expand(x.Dim(0), x.Dim(0), x.Dim(1)).Permute(2, 0, 1).AvgPool2d(2)
			return y.Reshape(x.Dim(1), y.Dim(1)*y.Dim(2)).Exp()
		}},
		{"unet", 3, 1, "s0//2", func(x *tensor.Tensor) *tensor.Tensor {
			return net.Forward(x.Narrow(1, 0, 2).Transpose(0, 1).Unsqueeze(0))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, lazy.Options{Synchronous: true})
			run := func(n int) {
				x := ramp(n, 4)
				require.Equal(t, fmt.Sprint(c.f(x)), fmt.Sprint(c.f(s.In(x))), n)
			}
			for n := 9; n < 32; n++ {
				run(n)
			}
			for n := 60; n > 20; n-- {
				run(n)
			}
			st := s.Stats()
			require.Equal(t, []int{c.graphs, c.compiles}, []int{st.Graphs, st.Compiles}, s.Explain())
			require.Contains(t, s.Explain().String(), c.shows)
		})
	}
}

// A quotient of cones that were alike by chance is found again when one is not.
func TestDims_guessesThatWereWrong(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true})
	f := func(x *tensor.Tensor) *tensor.Tensor { return x.Narrow(0, 0, x.Dim(0)/5).Exp() }
	graphs := []int{}
	for n := 10; n < 40; n++ { // 2 rows of 10 to 14 elements, 3 of 15 ...
		require.Equal(t, fmt.Sprint(f(ramp(n))), fmt.Sprint(f(s.In(ramp(n)))), n)
		graphs = append(graphs, s.Stats().Graphs)
	}
	require.Equal(t, []int{1, 2, 3, 3, 3, 4, 4}, graphs[:7], "12 has a symbol and 2 rows, 15 has quotients")
	require.Equal(t, 4, graphs[len(graphs)-1])
	require.Contains(t, s.Explain().String(), "s0//5")
}
