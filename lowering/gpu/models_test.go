package gpu_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/zoo"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/tracer"
)

// TestModelsEqualTheInterpreter runs networks on the device.
func TestModelsEqualTheInterpreter(t *testing.T) {
	g := target(t)
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			ref := fxtest.LoadFixture(t, model.Name)
			row, _ := zoo.Of(model.Name)
			if zoo.Lookup("gpu").Tier(row) != zoo.Change {
				fxtest.Nightly(t)
			}
			m, in := traced(t, model)
			require.Empty(t, lowering.Query(g, m.Graph))
			want, err := (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
			require.NoError(t, err)
			e := compile(t, g, m)
			for range 2 {
				got, err := e.Run(ctx, in)
				require.NoError(t, err)
				// ten layers of sums in f32, which the interpreter makes in f64, and roundings to 8 bits
				if !slices.Contains([]string{"lstm_10x256", "lstm_cells", "quantized_resnet18"}, model.Name) {
					fxtest.Close(t, model.Name, want, got)
				}
				ref.Check(t, got)
			}
			t.Log(e.Stats(), "times of a run:", least3(t, e, in), "cpu:", least3(t, onCPU(t, m), in))
		})
	}
}

// TestArenasAreTheLeast: the values of a run take no more than those that are in use at one time, in
// every network but those in which no order that is tried leaves no gap, which take an eighth more at most. Nothing is computed.
func TestArenasAreTheLeast(t *testing.T) {
	for _, model := range models.All() {
		t.Run(model.Name, func(t *testing.T) {
			m := untrained(t, model, model.New())
			bytes, used, err := gpu.Arena(m, lowering.Options{Shapes: model.Dims})
			require.NoError(t, err)
			t.Logf("%d bytes, %d of them at once", bytes, used)
			require.Positive(t, used)
			if slices.Contains([]string{"deeplabv3_mobilenet_v3_large", "lstm_cells", "gru_bidir", "attn_decoder"}, model.Name) {
				require.Greater(t, bytes, used, "it is least now: take it off the list")
				used += used / 8
			}
			require.LessOrEqual(t, bytes, used)
		})
	}
}

func onCPU(t *testing.T, m *graph.Module) lowering.Executable {
	e, err := cpu.Target{}.Compile(m, lowering.Options{})
	require.NoError(t, err)
	return e
}

// least3 is the least time of three runs.
func least3(t *testing.T, e lowering.Executable, in []*array.Array) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		_, err := e.Run(ctx, in)
		require.NoError(t, err)
		best = min(best, time.Since(start))
	}
	return best
}

// untrained is a network as it is given.
func untrained(t testing.TB, model *models.Model, module any) *graph.Module {
	t.Helper()
	p := tracer.Tracer{}
	for _, in := range model.Inputs {
		p.Inputs = append(p.Inputs, tracer.Input{Name: in.Name, Type: in.ShapeType()})
	}
	m, err := p.Trace(ctx, module)
	require.NoError(t, err)
	return m
}

func traced(t testing.TB, model *models.Model) (*graph.Module, []*array.Array) {
	t.Helper()
	module := model.New()
	models.Synthetic(model, module, "gofx-1")
	m := untrained(t, model, module)
	x, err := model.SyntheticInputs("gofx-1")
	require.NoError(t, err)
	in := make([]*array.Array, len(x))
	for i := range x {
		in[i] = x[i].Array()
	}
	return m, in
}
