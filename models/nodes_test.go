package models

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
)

// TestResNet50Nodes counts the same nodes as the torch.fx paper's section 6.1. At
// module level a trace has 177 nodes, as torch.fx's. Flat, with each parameter
// read by a node of its own, it has 444: 1 input, 53 convolutions, 53 batch norms,
// 49 relus, 16 additions, 2 pools, flatten, linear, 1 output and 267 reads (53
// convolution weights, 4 tensors of each batch norm, weight and bias of the last
// layer). The paper says 445 and does not itemise them; nothing of the network is
// left over that a 445th node could stand for.
func TestResNet50Nodes(t *testing.T) {
	net := Lookup("resnet50").New()
	module, err := fx.Trace(context.Background(), net)
	require.NoError(t, err)
	require.Equal(t, 177, module.Graph.Len())
	flat, err := fx.Trace(context.Background(), net, fx.Flat())
	require.NoError(t, err)
	counts := map[string]int{}
	for n := range flat.Graph.Nodes() {
		name := n.Opcode().String()
		if o := n.Op(); o != nil {
			name = o.Name
		}
		counts[name]++
	}
	require.Equal(t, map[string]int{graph.Placeholder.String(): 1, "conv2d": 53, "batch_norm": 53, "relu": 49, "add": 16, "max_pool2d": 1,
		"adaptive_avg_pool2d": 1, "flatten": 1, "linear": 1, graph.GetAttr.String(): 267, graph.Output.String(): 1}, counts)
	require.Equal(t, 444, flat.Graph.Len())
}
