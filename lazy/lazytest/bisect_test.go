package lazytest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/tensor"
)

// faulty is a target whose plans leave out calls of tanh.
type faulty struct{ cpu.Target }

func (f faulty) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	m = graph.Clone(m)
	for n := range m.Graph.Nodes() {
		if n.Opcode() == graph.CallFunction && n.Op().Name == "tanh" {
			n.ReplaceUses(n.Arg(0), nil)
			m.Graph.Erase(n)
		}
	}
	return f.Target.Compile(m, o)
}

// chain has calls of one operator, and tanh as call number at.
func chain(x *tensor.Tensor, calls, at int) (*tensor.Tensor, diag.Pos) {
	var where diag.Pos
	for i := 1; i <= calls; i++ {
		if i == at {
			x, where = x.Tanh(), diag.Here()
			continue
		}
		x = x.AddScalar(0.5)
	}
	return x, where
}

// TestBisect plants a fault at each place of a program, and finds it in as many tries as
// halving takes.
func TestBisect(t *testing.T) {
	for _, calls := range []int{1, 2, 5, 16} {
		for at := 1; at <= calls; at++ {
			want, _ := chain(tensor.Ones(2), calls, at)
			var where diag.Pos
			c, err := lazytest.Bisect(lazy.Options{Target: faulty{}}, func(s *lazy.Session) bool {
				var y *tensor.Tensor
				y, where = chain(s.In(tensor.Ones(2)), calls, at)
				return y.Equal(want)
			})
			require.NoError(t, err)
			require.Equal(t, []any{at, calls, "tanh", where.String()}, []any{c.Call, c.Calls, c.Op, c.At})
			most := 1 // the first try, and the logarithm
			for n := 1; n < calls; n *= 2 {
				most++
			}
			if at == calls {
				most++ // that the last call is right by itself
			}
			require.LessOrEqual(t, c.Tries, most, "%d of %d", at, calls)
		}
	}
}

func TestBisect_nothing(t *testing.T) {
	c, err := lazytest.Bisect(lazy.Options{}, func(s *lazy.Session) bool { return s.In(tensor.Ones(2)).Exp().Sum().Item() > 0 })
	require.NoError(t, err)
	require.Nil(t, c)
	c, err = lazytest.Bisect(lazy.Options{}, func(s *lazy.Session) bool { return s.In(tensor.Ones(2)).Exp().Sum().Item() < 0 })
	require.NoError(t, err)
	require.Zero(t, c.Call)
	require.Contains(t, c.String(), "wrong with each call computed by itself")
	_, err = lazytest.Bisect(lazy.Options{}, func(s *lazy.Session) bool {
		s.In(tensor.Ones(2)).Gather(s.In(tensor.FromSlice([]int64{5})), 0)
		return false
	})
	require.Error(t, err, "a mistake of the program")
}

// A fault of a compiler is found by its call.
func ExampleBisect() {
	want := tensor.Ones(2).Exp().Tanh().Neg()
	c, err := lazytest.Bisect(lazy.Options{Target: faulty{}}, func(s *lazy.Session) bool {
		return s.In(tensor.Ones(2)).Exp().Tanh().Neg().Equal(want)
	})
	fmt.Println(c.Op, "is call", c.Call, "of", c.Calls, err)
	// Output: tanh is call 2 of 3 <nil>
}
