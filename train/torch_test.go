package train_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

const networkScript = `
import json, sys, torch
torch.set_num_threads(1)
given = json.load(sys.stdin)
net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
    torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 3))
with torch.no_grad():
    for p, v in zip(net.parameters(), given["Weights"]):
        p.copy_(torch.tensor(v).reshape(p.shape))
loss = torch.nn.CrossEntropyLoss(label_smoothing=0.1)
o = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=0.01)
x, y = torch.tensor(given["X"]).reshape(-1, 1, 6, 6), torch.tensor(given["Y"])
out = []
for i in range(20):
    o.zero_grad()
    l = loss(net(x), y)
    l.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5)
    o.step()
    out.append(l.item())
net.eval()
out.append(loss(net(x), y).item())
out += net[1].running_mean.tolist() + net[1].running_var.tolist()
print(json.dumps(out))
`

// TestStep_asPyTorch trains a convolutional network with batch norm for 20 steps next to PyTorch:
// losses, the evaluation afterwards, and the running statistics.
func TestStep_asPyTorch(t *testing.T) {
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	m := newConvNet()
	m.Drop.P = 0
	loss := func(x, y *tensor.Tensor) *tensor.Tensor {
		l := nn.NewCrossEntropyLoss()
		l.LabelSmoothing = 0.1
		return l.Forward(m.Forward(x), y)
	}
	data := images()
	var given struct {
		Weights [][]float32
		X       []float32
		Y       []int64
	}
	for _, p := range []*tensor.Tensor{m.Conv.Weight, m.Bn.Weight, m.Bn.Bias, m.Fc.Weight, m.Fc.Bias} {
		given.Weights = append(given.Weights, append([]float32(nil), tensor.Data[float32](p)...))
	}
	given.X, given.Y = array.Data[float32](data[0]), array.Data[int64](data[1])
	var want []float64
	require.NoError(t, oracle.Script(ctx, networkScript, given, &want))

	step, err := train.NewStep(ctx, m, loss, optim.Rule{Optimiser: optim.AdamW{LR: 0.02, WeightDecay: 0.01}, ClipNorm: 0.5}, specs...)
	require.NoError(t, err)
	eval, err := train.NewEval(ctx, m, loss, specs...)
	require.NoError(t, err)
	var got []float64
	for range 20 {
		out, err := step.Run(ctx, data...)
		require.NoError(t, err)
		got = append(got, array.Float64At(out[0], 0))
	}
	step.Sync()
	out, err := eval.Run(ctx, data...)
	require.NoError(t, err)
	got = append(got, array.Float64At(out[0], 0))
	for _, s := range []*tensor.Tensor{m.Bn.RunningMean, m.Bn.RunningVar} {
		for _, v := range tensor.Data[float32](s) {
			got = append(got, float64(v))
		}
	}
	require.InDeltaSlice(t, want, got, 1e-4)
	require.Less(t, got[19], 0.9*got[0])
}
