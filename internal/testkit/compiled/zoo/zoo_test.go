package zoo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/compiled/zoo/words"
	"github.com/gofx-dev/gofx/internal/testkit/twins"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

type tt = tensor.Tensor

// network is a network with its inputs and its compiled form.
type network struct {
	name    string
	fresh   func() any
	inputs  func() []*tt
	types   []string // of the inputs, for a trace
	forward func(m any, x []*tt) []*tt
	compile func(...compile.Option) (func(m any, x []*tt) []*tt, func() compile.Stats)
}

func image() *tt {
	return tensor.Arange(3*8*8).Cast(tensor.Zeros(1).DType()).DivScalar(100).Sin().Reshape(1, 3, 8, 8)
}

func ids() *tt { return tensor.FromSlice([]int64{3, 1, 4, 1, 5}, 1, 5) }

const imageType = "f32[1,3,8,8]"

type called interface{ Stats() compile.Stats }

// of makes a network of a constructor, a call of the method and one of the compiled form.
func of[M any, C called](name string, fresh func() *M, inputs func() []*tt, types []string, forward func(m *M, x []*tt) []*tt, made func(...compile.Option) C, call func(c C, m *M, x []*tt) []*tt) network {
	return network{name, func() any { return fresh() }, inputs, types, func(m any, x []*tt) []*tt { return forward(m.(*M), x) },
		func(o ...compile.Option) (func(m any, x []*tt) []*tt, func() compile.Stats) {
			c := made(o...)
			return func(m any, x []*tt) []*tt { return call(c, m.(*M), x) }, c.Stats
		}}
}

// one is of for networks with one input and one result.
func one[M any, C interface {
	called
	Call(*M, *tt) *tt
}](name string, fresh func() *M, input func() *tt, typ string, forward func(*M, *tt) *tt, made func(...compile.Option) C) network {
	return of(name, fresh, func() []*tt { return []*tt{input()} }, []string{typ}, func(m *M, x []*tt) []*tt { return []*tt{forward(m, x[0])} }, made,
		func(c C, m *M, x []*tt) []*tt { return []*tt{c.Call(m, x[0])} })
}

func list(x ...*tt) []*tt { return x }

var networks = []network{
	of("Align", NewAlign, func() []*tt { return list(ids(), image()) }, []string{"i64[1,5]", imageType}, func(m *Align, x []*tt) []*tt { return list(m.Forward(x[0], x[1])) },
		CompileAlignForward, func(c *CompiledAlignForward, m *Align, x []*tt) []*tt { return list(c.Call(m, x[0], x[1])) }),
	one("DeBERTa", NewDeBERTa, ids, "i64[1,5]", (*DeBERTa).Forward, CompileDeBERTaForward),
	of("MonoDepth", NewMonoDepth, func() []*tt { return list(image()) }, []string{imageType}, func(m *MonoDepth, x []*tt) []*tt { return m.Forward(x[0]) },
		CompileMonoDepthForward, func(c *CompiledMonoDepthForward, m *MonoDepth, x []*tt) []*tt { return c.Call(m, x[0]) }),
	one("DenseNet", NewDenseNet, image, imageType, (*DenseNet).Forward, CompileDenseNetForward),
	one("Quantized", NewQuantized, image, imageType, (*Quantized).Forward, CompileQuantizedForward),
	one("TridentNet", NewTridentNet, image, imageType, (*TridentNet).Forward, CompileTridentNetForward),
	of("BlockDrop", NewBlockDrop, func() []*tt { return list(image(), tensor.FromSlice([]float32{1, 0, 1}, 1, 3)) }, []string{imageType, "f32[1,3]"},
		func(m *BlockDrop, x []*tt) []*tt { return list(m.Forward(x[0], x[1])) }, CompileBlockDropForward,
		func(c *CompiledBlockDropForward, m *BlockDrop, x []*tt) []*tt { return list(c.Call(m, x[0], x[1])) }),
	of("AttnDecoder", NewAttnDecoder, func() []*tt {
		return list(tensor.FromSlice([]int64{3}), image().Reshape(-1).Narrow(0, 0, 24).Reshape(4, 6))
	}, []string{"i64[1]", "f32[4,6]"},
		func(m *AttnDecoder, x []*tt) []*tt { a, b := m.Forward(x[0], x[1]); return list(a, b) }, CompileAttnDecoderForward,
		func(c *CompiledAttnDecoderForward, m *AttnDecoder, x []*tt) []*tt {
			a, b := c.Call(m, x[0], x[1])
			return list(a, b)
		}),
	one("GreedyDecoder", NewGreedyDecoder, func() *tt { return tensor.Ones(1, 6) }, "f32[1,6]", (*GreedyDecoder).Forward, CompileGreedyDecoderForward),
}

// Six calls are one record, with the results and the fields of the code itself, and of a lazy session.
func TestNetworks(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			call, stats := n.compile(compile.Strict())
			s := lazy.New(lazy.Options{Synchronous: true})
			defer s.Close()
			type world struct {
				M   any
				Out []*tt
			}
			plain, comp, lazily := &world{M: n.fresh()}, &world{M: n.fresh()}, &world{M: n.fresh()}
			for range 6 {
				plain.Out, comp.Out = n.forward(plain.M, n.inputs()), call(comp.M, n.inputs())
				var in []*tt
				for _, x := range n.inputs() {
					in = append(in, s.In(x))
				}
				lazily.Out = n.forward(lazily.M, in)
				require.NoError(t, s.Barrier())
				require.Empty(t, twins.Differ(plain, comp))
				require.Empty(t, twins.DifferLazily(plain, lazily))
			}
			require.Equal(t, Captured[n.name], Graphs{n.traces(), s.Stats().Graphs, stats().Records}, "%s", stats())
			require.Equal(t, 1, stats().Misses)
			require.Zero(t, stats().Plain)
		})
	}
}

// traces is the number of graphs that a trace makes of the network: one, or none where it cannot.
func (n network) traces() int {
	var o []fx.Option
	for i, typ := range n.types {
		o = append(o, fx.Input(fmt.Sprint("x", i), typ))
	}
	if _, err := fx.Trace(context.Background(), n.fresh(), o...); err != nil {
		return 0
	}
	return 1
}

// Networks that pass sizes on compute what their own code computes for each size.
func TestSizes(t *testing.T) {
	align, deberta, depth, dense := CompileAlignForward(), CompileDeBERTaForward(), CompileMonoDepthForward(), CompileDenseNetForward()
	a, d, m, n := NewAlign(), NewDeBERTa(), NewMonoDepth(), NewDenseNet()
	sizes := [][2]int{{1, 5}, {2, 5}, {3, 5}, {2, 7}, {5, 4}, {2, 5}}
	for _, s := range sizes {
		text := tensor.Arange(s[0]*s[1]).RemainderScalar(20).Reshape(s[0], s[1])
		images := tensor.Cat(slices.Repeat(list(image()), s[0]), 0)
		require.True(t, a.Forward(text, images).Equal(align.Call(a, text, images)))
		require.True(t, d.Forward(text).Equal(deberta.Call(d, text)))
		require.True(t, n.Forward(images).Equal(dense.Call(n, images)))
		want, got := m.Forward(images), depth.Call(m, images)
		require.Len(t, got, len(want))
		for i := range want {
			require.True(t, want[i].Equal(got[i]))
		}
	}
	require.Positive(t, align.Stats().Hits, "the last sizes came before: %s", align.Stats())
	require.Positive(t, deberta.Stats().Hits)
}

// Each word that the table lists is a miss when it changes, and a hit when it is changed back; any other word is a hit.
func TestWords(t *testing.T) {
	for _, n := range networks {
		t.Run(n.name, func(t *testing.T) {
			call, stats := n.compile(compile.Capacity(1000))
			table := words.Open(t, "fx_compile.go").Table("Compile" + n.name + "Forward")
			m, as := n.fresh(), n.fresh()
			both := func(path string) {
				want, got := caught(func() []*tt { return n.forward(as, n.inputs()) }), caught(func() []*tt { return call(m, n.inputs()) })
				require.Equal(t, want.failed, got.failed, path)
				require.Empty(t, twins.Differ(want.out, got.out), path)
			}
			both("first")
			both("second")
			changes, same := table.Words(m), table.Words(as)
			listed := 0
			for i, w := range changes {
				if w.Listed {
					listed++
				}
				for _, change := range []bool{true, false} {
					before := stats()
					if change {
						w.Change()
						same[i].Change()
					} else {
						w.Restore()
						same[i].Restore()
					}
					both(w.Path)
					missed := 0
					if w.Listed && change {
						missed = 1
					}
					if !change && strings.HasSuffix(w.Path, ".Training") { // the call before has written the statistics, which are constants of the first record
						missed = 1
					}
					require.Equal(t, missed, stats().Misses-before.Misses, w.Path)
					require.Equal(t, 1-missed, stats().Hits-before.Hits, w.Path)
					if missed == 1 && !change {
						both("a second call that fits the new record")
					}
				}
			}
			require.Positive(t, listed)
			require.Greater(t, len(changes), listed)
			t.Log(len(changes), "words,", listed, "of them listed")
		})
	}
}

// Every policy is the same record: which blocks count is data.
func TestPolicies(t *testing.T) {
	c, m := CompileBlockDropForward(compile.Strict()), NewBlockDrop()
	for policy := range 8 {
		bits := tensor.FromSlice([]float32{float32(policy & 1), float32(policy >> 1 & 1), float32(policy >> 2)}, 1, 3)
		require.True(t, m.Forward(image(), bits).Equal(c.Call(m, image(), bits)))
	}
	require.Equal(t, 1, c.Stats().Records)
	require.Equal(t, 7, c.Stats().Hits)
}

// The state of a decoder grows from call to call, and so does the count, in one record.
func TestDecoderSteps(t *testing.T) {
	c, m, as := CompileAttnDecoderForward(), NewAttnDecoder(), NewAttnDecoder()
	encoded := tensor.Ones(4, 6)
	for i := range 100 {
		word := tensor.FromSlice([]int64{int64(i % 12)})
		want, _ := as.Forward(word, encoded)
		got, _ := c.Call(m, word, encoded)
		require.True(t, want.Equal(got))
	}
	require.Equal(t, 100, m.Steps)
	require.Equal(t, 1, c.Stats().Records)
}

type outcome struct {
	out    []*tt
	failed string
}

func caught(f func() []*tt) (o outcome) {
	defer func() {
		if e := recover(); e != nil {
			o = outcome{failed: fmt.Sprint(e)}
		}
	}()
	return outcome{out: f()}
}
