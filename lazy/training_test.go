package lazy_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
)

// trainer updates parameters by a rule of package optim, in ordinary code: in a session where s is
// one, else at once.
type trainer struct {
	s            *lazy.Session
	rule         optim.Optimiser
	params       []*tensor.Tensor
	slots        []map[string]*tensor.Tensor
	step, factor *tensor.Tensor
}

func newTrainer(s *lazy.Session, rule optim.Optimiser, params []*tensor.Tensor) *trainer {
	o := &trainer{s: s, rule: rule, params: params, step: tensor.Param(array.New(array.F64)), factor: tensor.Param(array.New(array.F64))}
	o.factor.AddScalarInPlace(1)
	for _, p := range params {
		slots := map[string]*tensor.Tensor{}
		for _, name := range rule.Slots() {
			slots[name] = tensor.Param(array.New(p.DType(), p.Shape()...))
		}
		o.slots = append(o.slots, slots)
	}
	return o
}

func (o *trainer) in(x *tensor.Tensor) *tensor.Tensor {
	if o.s == nil {
		return x
	}
	return o.s.In(x)
}

// update makes a step down the loss, and returns it.
func (o *trainer) update(t *testing.T, loss func() *tensor.Tensor) (v *tensor.Tensor) {
	var grads []*tensor.Tensor
	if o.s == nil {
		var err error
		v, grads, err = fx.ValueAndGrad(loss, o.params...)
		require.NoError(t, err)
	} else {
		v = loss()
		grads = tensor.Grad(v, o.params...)
	}
	o.step.AddScalarInPlace(1)
	for i, p := range o.params {
		slots := maps.Clone(o.slots[i])
		p.AssignInPlace(o.rule.Update(optim.NewUpdate(p, grads[i], o.step, o.factor, slots)))
		for _, name := range o.rule.Slots() {
			o.slots[i][name].AssignInPlace(slots[name])
		}
	}
	if o.s != nil {
		require.NoError(t, o.s.Barrier())
	}
	return v
}

// W11: a masked language model learns in a session with eager code's losses, and nothing is compiled
// after the third step.
func TestWorkloads_W11_maskedLM(t *testing.T) {
	for _, donate := range []bool{false, true} {
		run := func(s *lazy.Session) (losses []float64) {
			m := filled(models.NewRobertaForMaskedLM(small(models.RobertaLarge, 1)))
			params := slices.DeleteFunc(nn.Parameters(m), func(p *tensor.Tensor) bool {
				return p == m.Roberta.Pooler.Dense.Weight || p == m.Roberta.Pooler.Dense.Bias
			})
			o := newTrainer(s, optim.AdamW{LR: 0.01, WeightDecay: 0.01}, params)
			compiles := 0
			for i := range 100 {
				words := tensor.FromSlice(make([]int64, 16), 2, 8)
				for k := range 16 {
					words.Select(0, k/8).Select(0, k%8).AddScalarInPlace(2 + (i*5+k*7)%30)
				}
				masked := words.Clone()
				masked.Select(1, i%8).AssignInPlace(tensor.FromSlice([]int64{39, 39}))
				ids, target := o.in(masked), o.in(words)
				loss := o.update(t, func() *tensor.Tensor {
					return nn.NewCrossEntropyLoss().Forward(m.Forward(ids, ids.OnesLike()).Flatten(0, 1), target.Flatten(0, 1))
				})
				losses = append(losses, loss.Item())
				if s != nil && i == 2 {
					compiles = s.Stats().Compiles
				}
			}
			if s != nil {
				require.Equal(t, []int{1, 1, 97}, []int{compiles, s.Stats().Compiles, s.Stats().Hits})
				require.Equal(t, donate, s.Stats().Donated > 0)
			}
			return losses
		}
		want := run(nil)
		require.Less(t, want[99], want[0]/2, "it learns")
		require.Equal(t, want, run(open(t, lazy.Options{Gradients: true, Donate: donate, Synchronous: true})))
	}
}

// radam is a step of RAdam as code with branches has it: on the decay, and on the number of steps.
func radam(p, g, m, v *tensor.Tensor, step int, decay float64) {
	const lr, b1, b2 = 0.03, 0.9, 0.99
	if decay != 0 {
		g = g.Add(p.MulScalar(decay))
	}
	m.MulScalarInPlace(b1)
	m.AddInPlace(g.MulScalar(1 - b1))
	v.MulScalarInPlace(b2)
	v.AddInPlace(g.Square().MulScalar(1 - b2))
	power := math.Pow(b2, float64(step))
	most := 2/(1-b2) - 1
	size := lr / (1 - math.Pow(b1, float64(step)))
	if n := most - 2*float64(step)*power/(1-power); n >= 5 {
		size *= math.Sqrt((1 - power) * (n - 4) / (most - 4) * (n - 2) / n * most / (most - 2))
		p.SubInPlace(m.Div(v.Sqrt().AddScalar(1e-8)).MulScalar(size))
	} else {
		p.SubInPlace(m.MulScalar(size))
	}
}

// TY-14: the branches of RAdam make four graphs, whose numbers are operands. The rule of package
// optim, which decides by tensors, has eager code's bits as well.
func TestWorkloads_radam(t *testing.T) {
	s := open(t, lazy.Options{Synchronous: true})
	p, m, v := param(1, 2), param(0, 0), param(0, 0)
	q, n, u := param(1, 2), param(0, 0), param(0, 0)
	for _, decay := range []float64{0, 0.25} {
		for step := 1; step <= 40; step++ {
			g := vec(float32(step%3)-1, 0.5)
			radam(p, s.In(g), m, v, step, decay)
			require.NoError(t, s.Barrier())
			radam(q, g, n, u, step, decay)
			require.Equal(t, q.String(), p.String(), "step %d", step)
		}
	}
	require.Equal(t, 4, s.Stats().Graphs)

	s = open(t, lazy.Options{Synchronous: true, Gradients: true})
	for _, decay := range []float64{0, 0.25} {
		rule := optim.RAdam{LR: 0.1, WeightDecay: decay}
		p, q := param(1, 2), param(1, 2)
		in, at := newTrainer(s, rule, []*tensor.Tensor{p}), newTrainer(nil, rule, []*tensor.Tensor{q})
		for range 12 {
			x := in.in(vec(1, -1))
			in.update(t, func() *tensor.Tensor { return p.Mul(x).Square().Sum() })
			at.update(t, func() *tensor.Tensor { return q.Mul(vec(1, -1)).Square().Sum() })
			require.Equal(t, show(q), show(p))
		}
	}
	require.Positive(t, s.Stats().Hits)
}

// Digits are learned in a session: batches in an order of Go's, dropout whose keys are state of the
// model, running averages of norms, and a rate that is halved where the loss of an epoch does not
// fall much. Losses are eager code's, and the rate makes no other graph.
func TestWorkloads_digits(t *testing.T) {
	images, labels := digits(t)
	const size, steps = 50, 20
	run := func(s *lazy.Session, epochs int) (net *nn.Sequential, losses []float64) {
		net = nn.NewSequential(nn.NewConv2d(1, 6, 3, nn.Stride(2), nn.Padding(1)), nn.NewBatchNorm2d(6), nn.NewReLU(), nn.NewFlatten(),
			nn.NewDropout(0.1, nn.DropoutSeed(5)), nn.NewLinear(96, 10))
		nn.ResetParameters(net, 3)
		nn.Train(net)
		o := newTrainer(s, optim.Adam{LR: 0.01}, nn.Parameters(net))
		before := math.Inf(1)
		for range epochs {
			sum := 0.0
			for i := range steps {
				x, y := o.in(images.Narrow(0, i*size, size)), o.in(labels.Narrow(0, i*size, size))
				loss := o.update(t, func() *tensor.Tensor {
					return nn.NewCrossEntropyLoss().Forward(net.Forward(x.Cast(array.F32).DivScalar(16).Unsqueeze(1)), y)
				})
				losses = append(losses, loss.Item())
				sum += loss.Item()
			}
			if sum > 0.7*before {
				o.factor.MulScalarInPlace(0.5)
			}
			before = sum
		}
		return net, losses
	}
	s := open(t, lazy.Options{Gradients: true, Synchronous: true})
	net, losses := run(s, 3)
	_, want := run(nil, 1)
	require.Equal(t, want, losses[:steps])
	require.Equal(t, 3*steps-3, s.Stats().Hits)
	nn.Eval(net)
	test := images.Narrow(0, size*steps, 500).Cast(array.F32).DivScalar(16).Unsqueeze(1)
	right := net.Forward(test).Argmax(1).Eq(labels.Narrow(0, size*steps, 500)).Cast(array.F32).Mean().Item()
	require.Greater(t, right, 0.85, "of images that it has not seen")
}

// digits are images of handwritten digits, u8[N,8,8], and what they show.
func digits(t *testing.T) (images, labels *tensor.Tensor) {
	read := func(name string) *tensor.Tensor {
		a, err := npy.ReadFile("../examples/digits/" + name)
		require.NoError(t, err)
		return tensor.New(a)
	}
	return read("images.npy"), read("labels.npy").Cast(array.I64)
}
