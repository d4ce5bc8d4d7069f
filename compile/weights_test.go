package compile_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/compile"
	"github.com/gofx-dev/gofx/compile/state"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// packs is this CPU, which keeps what it has compiled.
type packs struct {
	cpu.Target
	all *[]*cpu.Executable
}

func (p packs) Compile(m *graph.Module, o lowering.Options) (lowering.Executable, error) {
	e, err := p.Target.Compile(m, o)
	if err == nil {
		*p.all = append(*p.all, e.(*cpu.Executable))
	}
	return e, err
}

// packed returns the bytes of packed weights of the graph compiled last.
func (p packs) packed() int64 {
	return slices.Clone(*p.all)[len(*p.all)-1].Footprint().Packed
}

type twoLayers struct {
	Conv *nn.Conv2d
	Head *nn.Linear
}

func (m *twoLayers) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.Head.Forward(m.Conv.Forward(x).Relu().Flatten(1, -1))
}

const nnPath = "github.com/gofx-dev/gofx/nn."

var twoLayersTable = state.Table{
	Func: "(*twoLayers).Forward", Receiver: true,
	Fields: []state.Field{
		{Type: pkg + ".twoLayers", Name: "Conv", FieldType: "*" + nnPath + "Conv2d", Access: state.Load},
		{Type: pkg + ".twoLayers", Name: "Head", FieldType: "*" + nnPath + "Linear", Access: state.Load},
		{Type: nnPath + "Linear", Name: "Weight", FieldType: "*github.com/gofx-dev/gofx/tensor.Tensor", Access: state.Load},
		{Type: nnPath + "Linear", Name: "Bias", FieldType: "*github.com/gofx-dev/gofx/tensor.Tensor", Access: state.Load},
		{Type: nnPath + "ConvBase", Name: "Weight", FieldType: "*github.com/gofx-dev/gofx/tensor.Tensor", Access: state.Load},
		{Type: nnPath + "ConvBase", Name: "Bias", FieldType: "*github.com/gofx-dev/gofx/tensor.Tensor", Access: state.Load},
	},
}

type twoLayersIn struct {
	M *twoLayers
	X *tensor.Tensor
}

// Weights of nn are constants of the graph, packed, until code takes their memory.
func TestWeightsOfModulesArePacked(t *testing.T) {
	p := packs{all: &[]*cpu.Executable{}}
	run := func(in *twoLayersIn, out *oneOut) { out.R = in.M.Forward(in.X) }
	f := compile.New(twoLayersTable, run, compile.On(p, lowering.Options{Exact: true}), compile.Strict())
	m := &twoLayers{nn.NewConv2d(3, 16, 3, nn.Padding(1)), nn.NewLinear(16*8*8, 32)}
	x := tensor.FromSlice(make([]float32, 16*3*8*8), 16, 3, 8, 8)
	x.AddScalarInPlace(0.5)
	call := func(records, hits int) {
		t.Helper()
		require.True(t, f.Call(twoLayersIn{m, x}).R.Equal(m.Forward(x)))
		s := f.Stats()
		require.Equal(t, records, s.Records, "%s", s)
		require.Equal(t, hits, s.Hits, "%s", s)
	}
	call(1, 0)
	call(1, 1)
	both := p.packed()
	require.GreaterOrEqual(t, both, int64(4*(16*3*9+16*8*8*32)), "each weight is packed")
	m.Head.Weight.AddScalarInPlace(1)
	call(2, 1)
	require.Equal(t, both, p.packed(), "a weight that is written once is packed again")
	data := array.Data[float32](m.Head.Weight.Array())
	call(3, 1)
	require.Less(t, p.packed(), both-int64(4*16*8*8*32)+1, "memory that code has is read")
	data[0] = 9
	call(3, 2)
}
