package parity

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

func init() { area("2.1", recordRows) }

var recordRows = []row{
	{id: "14a", input: "tensor code recorded at a cursor of a finished graph, with a value of it and a tensor of its module", outcome: "the nodes stand there, with the lines of the code; the tensor is read by its path",
		on: in((*tracer.Tracer).Record, (*fx.GraphModule).Record), test: func(t *testing.T) {
			gm := fx.NewGraphModule(linear(t))
			g := gm.Graph
			out, err := gm.Record(context.Background(), g.Before(g.Output()), func(y *tensor.Tensor) *tensor.Tensor {
				return y.Sub(gm.State().Tensor("scale"))
			}, g.Find("y"))
			require.NoError(t, err)
			g.Output().SetArg(0, out[0])
			require.Equal(t, "x fc w y scale sub output", order(g))
			require.Equal(t, "scale", g.Find("scale").Target())
			require.Contains(t, out[0].Pos().File, "tracing_edit_test.go")
			require.Equal(t, []float32{20, 6}, values(t, gm.Module, tensor.Ones(1, 2)))
		}},
	{id: "14b", input: "code that reads data, that does not fit, that panics", outcome: "all mistakes at their lines; the graph is as it was",
		on: in((*tracer.Tracer).Record), test: func(t *testing.T) {
			gm := fx.NewGraphModule(linear(t))
			g, text := gm.Graph, gm.Module.String()
			for want, f := range map[string]func(*tensor.Tensor) *tensor.Tensor{
				"FX1004": func(x *tensor.Tensor) *tensor.Tensor { x.Item(); return x },
				"FX2001": func(x *tensor.Tensor) *tensor.Tensor { return x.Neg().Matmul(tensor.Ones(7, 7)) },
				"oh":     func(*tensor.Tensor) *tensor.Tensor { panic("oh") },
			} {
				_, err := gm.Record(context.Background(), g.Before(g.Output()), f, g.Find("y"))
				require.ErrorContains(t, err, want)
				require.ErrorContains(t, err, "tracing_edit_test.go")
				require.Equal(t, text, gm.Module.String())
			}
		}},
	{id: "14c", input: "the value of a module, and of a node, taken out by name", outcome: "a module that computes them and nothing else, by name",
		on: in(graph.Features, (*fx.GraphModule).Features), test: func(t *testing.T) {
			m := newNet()
			part, err := trace(t, m).Features("fc1", "relu")
			require.NoError(t, err)
			require.Equal(t, []string{"fc1", "relu"}, part.Graph.Output().Structure().Keys)
			require.Nil(t, part.Param("fc2.weight"))
			require.Equal(t, tensor.Data[float32](m.Fc1.Forward(twoByTwo)), call(t, part, twoByTwo))
			_, err = trace(t, m).Features("fc3")
			require.ErrorIs(t, err, graph.BadExtract)
		}},
}
