package cost_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/graph/count"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cost"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes"
)

// workOf counts the plan of a network after the default pipeline.
func workOf(t *testing.T, name string, sizes map[string]int) *cost.Work {
	t.Helper()
	m := models.Lookup(name)
	var opts []fx.Option
	for _, in := range m.Inputs {
		opts = append(opts, fx.Input(in.Name, in.Type))
	}
	gm, err := fx.Trace(context.Background(), m.New(), opts...)
	require.NoError(t, err)
	_, err = passes.Run(context.Background(), gm.Module, fx.Optimise(), passes.Options{})
	require.NoError(t, err)
	e, err := cpu.Compile(gm.Module, lowering.Options{Threads: 1, Shapes: sizes})
	require.NoError(t, err)
	defer e.Close()
	w, err := e.Cost(sizes)
	require.NoError(t, err)
	return w
}

// totals are the sums of a work.
func totals(w *cost.Work) (flops, weights, values int64) {
	for _, s := range w.Steps {
		flops, weights, values = flops+s.Flops, weights+s.Weights, values+s.Values
	}
	return
}

const f32 = 4

// hand adds up what layers take, written down as in a book.
type hand struct{ flops, weights, values int64 }

// layer is one step: operations, elements of the state, and of everything else.
func (h *hand) layer(flops, weights, values int) {
	h.flops, h.weights, h.values = h.flops+int64(flops), h.weights+int64(f32*weights), h.values+int64(f32*values)
}

// linear is a product of n rows with a bias; extra are operations for each result, more
// the further operands of its size.
func (h *hand) linear(n, in, out, extra, more int) {
	h.layer(2*n*in*out+extra*n*out, in*out+out, n*in+n*out*(1+more))
}

// conv is a convolution of size by size maps with a bias, to maps of size/stride.
func (h *hand) conv(n, in, out, kernel, size, stride, extra, more int) {
	to := size / stride
	results := n * out * to * to
	h.layer(2*results*in*kernel*kernel+extra*results, out*in*kernel*kernel+out, n*in*size*size+results*(1+more))
}

func requireHand(t *testing.T, h hand, w *cost.Work) {
	t.Helper()
	flops, weights, values := totals(w)
	require.Equal(t, h, hand{flops, weights, values})
}

func TestMlpByHand(t *testing.T) {
	const n = 8
	var h hand
	h.linear(n, 784, 512, 1, 0) // relu
	h.linear(n, 512, 512, 1, 0)
	h.linear(n, 512, 10, 0, 0)
	w := workOf(t, "mlp", map[string]int{"N": n})
	requireHand(t, h, w)
	require.EqualValues(t, f32*n*784, w.Memory.Inputs)
	require.EqualValues(t, f32*n*10, w.Memory.Outputs)
	require.GreaterOrEqual(t, w.Memory.Arena, int64(f32*2*n*512), "the results of two layers are there at once")
	require.GreaterOrEqual(t, w.Memory.Weights, int64(f32*(785*512+513*512+513*10)))
	require.EqualValues(t, f32*2*n*512, w.Steps[1].Live)
}

func TestResnet18ByHand(t *testing.T) {
	const n = 2
	var h hand
	h.conv(n, 3, 64, 7, 224, 2, 1, 0)
	h.layer(n*64*112*112, 0, n*64*(112*112+56*56)) // the pool compares each element
	in, size := 64, 56
	for _, out := range []int{64, 128, 256, 512} {
		for block := range 2 {
			stride := 1
			if block == 0 && out > 64 {
				stride = 2
				h.conv(n, in, out, 1, size, 2, 0, 0) // the way around
			}
			h.conv(n, in, out, 3, size, stride, 1, 0)
			in, size = out, size/stride
			h.conv(n, out, out, 3, size, 1, 2, 1) // with the sum
		}
	}
	h.layer(n*512*7*7, 0, n*512*(7*7+1))
	h.linear(n, 512, 1000, 0, 0)
	requireHand(t, h, workOf(t, "resnet18", map[string]int{"N": n}))
}

func TestBertByHand(t *testing.T) {
	const n, s, d, inner = 2, 8, 768, 3072
	const rows = n * s
	var h hand
	i64 := func(elements int) int { return 2 * elements } // in elements of f32
	h.layer(0, rows*d, i64(rows)+rows*d)                  // words
	h.layer(rows, 0, 2*i64(rows))                         // zeros for their types
	h.layer(0, 2*d, i64(rows)+rows*d)
	h.layer(s, 0, i64(s)) // positions
	h.layer(0, s*d, i64(s)+s*d)
	h.layer((2+5)*rows*d, 2*d, rows*d*3+s*d) // both sums, and the norm
	h.layer(3*rows, 0, i64(rows)+rows)       // the mask: cast, sub, mul
	for range 12 {
		for range 3 {
			h.linear(rows, d, d, 0, 0)
		}
		h.layer(4*n*s*s*d, 0, 4*rows*d+rows)
		h.linear(rows, d, d, 1, 1)
		h.layer(5*rows*d, 2*d, 2*rows*d)
		h.linear(rows, d, inner, 1, 0) // gelu
		h.linear(rows, inner, d, 1, 1)
		h.layer(5*rows*d, 2*d, 2*rows*d)
	}
	h.linear(n, d, d, 1, 0) // the pooler and its tanh
	requireHand(t, h, workOf(t, "bert_base", map[string]int{"N": n, "S": s}))
}

func TestWorkOfControlFlow(t *testing.T) {
	m, err := graph.Parse([]byte(`gofx 1
graph net(%x: f32[N,8], %p: bool[]) {
  symbol N = dim(%x, 0)
  %c = call_function[cond](%p, %x) : f32[N,8] {
    region(%i: f32[N,8]) {
      %i1 = call_function[softmax](%i) {dim=1} : f32[N,8]
      return %i1
    }
    region(%i: f32[N,8]) {
      return %i
    }
  }
  %w = call_function[while](%c) {carry=1} : f32[N,8] {
    region(%i: f32[N,8]) {
      %s = call_function[sum](%i) : f32[]
      %t = call_function[gt](%s, %s) : bool[]
      return %t
    }
    region(%i: f32[N,8]) {
      %w = get_attr[w] : f32[8,8]
      %j = call_function[matmul](%i, %w) : f32[N,8]
      return %j
    }
  }
  %z = call_function[sum](%w) {dim=[0]} : f32[8]
  %s = call_function[scan](%z, %w) {carry=1, seqs=1} : (f32[8], f32[N,8]) {
    region(%h: f32[8], %v: f32[8]) {
      %h1 = call_function[add](%h, %v) : f32[8]
      return %h1, %h1
    }
  }
  %y = call_function[getitem](%s) {index=1} : f32[N,8]
  return %y
}
param w : f32[8,8]
`), "net.fx")
	require.NoError(t, err)
	ready, err := lowering.Prepare(m, lowering.Options{})
	require.NoError(t, err)
	p, err := cpu.Plan(ready, lowering.Options{})
	require.NoError(t, err)
	counted := func(sizes map[string]int) *cost.Work {
		w, err := cost.Of(p, sizes)
		require.NoError(t, err)
		return w
	}
	of := func(w *cost.Work, op string) (s cost.Step) {
		for _, one := range w.Steps {
			if one.Op == op {
				s.Times, s.Flops, s.Weights = s.Times+one.Times, s.Flops+one.Flops, s.Weights+one.Weights
			}
		}
		return s
	}
	w := counted(map[string]int{"N": 3})
	require.Equal(t, []string{count.Turns("w")}, w.Assumed)
	require.EqualValues(t, 4*3*8, of(w, "softmax").Flops, "the branch that computes more")
	require.EqualValues(t, 3, of(w, "add").Times)
	require.EqualValues(t, 3*8, of(w, "add").Flops)
	require.EqualValues(t, 2*3*8*8, of(w, "matmul").Flops)

	w = counted(map[string]int{"N": 3, count.Turns("w"): 5})
	require.Empty(t, w.Assumed)
	require.EqualValues(t, 5*2*3*8*8, of(w, "matmul").Flops)
	require.EqualValues(t, 5*f32*8*8, of(w, "matmul").Weights)
	require.EqualValues(t, f32*8*8, w.Memory.Weights)

	require.Equal(t, []string{count.Turns("w")}, w.Loops)

	_, err = cost.Of(p, map[string]int{"N": 3, count.Turns("w"): 1 << 61})
	require.ErrorContains(t, err, "turns computes or moves more than can be counted")
	_, err = cost.Of(p, nil)
	require.ErrorIs(t, err, lowering.BadOption)
	_, err = cost.Of(p, map[string]int{"N": -1})
	require.Error(t, err)
	_, err = cost.Of(p, map[string]int{"N": 1 << 62})
	require.Error(t, err)
}
