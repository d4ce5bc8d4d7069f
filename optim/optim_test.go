package optim_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/train"
)

var ctx = context.Background()

// bowl is a model of two tensors whose loss has a minimum that is not at 0.
type bowl struct{ P, Q *tensor.Tensor }

func newBowl() *bowl {
	return &bowl{tensor.Param(array.FromSlice([]float64{1, -2, 0.5}, 3)), tensor.Param(array.FromSlice([]float64{0.3, -0.1, 2, 1}, 2, 2))}
}

func (m *bowl) Forward(x *tensor.Tensor) *tensor.Tensor {
	p := m.P.SubScalar(0.7).Mul(x)
	square := m.Q.Mul(m.Q)
	return p.Mul(p).Sum().Add(square.AddScalar(1).Log().Sum()).Add(square.Sum().MulScalar(0.1)).Add(m.P.Sum().Mul(m.Q.Sum()).MulScalar(0.1))
}

var optimisers = []struct {
	torch string
	rule  optim.Rule
}{
	{"SGD(ps, lr=0.1)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}}},
	{"SGD(ps, lr=0.1, momentum=0.9, dampening=0.3, weight_decay=0.01)", optim.Rule{Optimiser: optim.SGD{LR: 0.1, Momentum: 0.9, Dampening: 0.3, WeightDecay: 0.01}}},
	{"SGD(ps, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)", optim.Rule{Optimiser: optim.SGD{LR: 0.05, Momentum: 0.9, Nesterov: true, WeightDecay: 0.01}}},
	{"Adam(ps, lr=0.1, weight_decay=0.01)", optim.Rule{Optimiser: optim.Adam{LR: 0.1, WeightDecay: 0.01}}},
	{"Adam(ps, lr=0.1, betas=(0.8, 0.99), amsgrad=True)", optim.Rule{Optimiser: optim.Adam{LR: 0.1, Beta1: 0.8, Beta2: 0.99, AMSGrad: true}}},
	{"AdamW(ps, lr=0.1, weight_decay=0.01)", optim.Rule{Optimiser: optim.AdamW{LR: 0.1, WeightDecay: 0.01}}},
	{"RAdam(ps, lr=0.1)", optim.Rule{Optimiser: optim.RAdam{LR: 0.1}}},
	{"RAdam(ps, lr=0.1, betas=(0.8, 0.9), weight_decay=0.1)", optim.Rule{Optimiser: optim.RAdam{LR: 0.1, Beta1: 0.8, Beta2: 0.9, WeightDecay: 0.1}}},
	{"RMSprop(ps, lr=0.1)", optim.Rule{Optimiser: optim.RMSprop{LR: 0.1}}},
	{"RMSprop(ps, lr=0.1, alpha=0.9, centered=True, momentum=0.5, weight_decay=0.1)", optim.Rule{Optimiser: optim.RMSprop{LR: 0.1, Alpha: 0.9, Centered: true, Momentum: 0.5, WeightDecay: 0.1}}},
	{"SGD([{'params': [p]}, {'params': [q], 'lr': 0.01}], lr=0.1)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Groups: []optim.Group{{Params: []string{"q"}, Optimiser: optim.SGD{LR: 0.01}}}}},
	{"SGD(ps, lr=0.1); clip = lambda: torch.nn.utils.clip_grad_norm_(ps, 0.5)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, ClipNorm: 0.5}},
	{"SGD(ps, lr=0.1); clip = lambda: torch.nn.utils.clip_grad_value_(ps, 0.3)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, ClipValue: 0.3}},
	{"SGD(ps, lr=0.1); s = sched.StepLR(o, 3, 0.5)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.StepDecay(3, 0.5)}},
	{"SGD(ps, lr=0.1); s = sched.ExponentialLR(o, 0.9)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.Exponential(0.9)}},
	{"SGD(ps, lr=0.1); s = sched.CosineAnnealingLR(o, 20, eta_min=0.001)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.Cosine(20, 0.01)}},
	{"SGD(ps, lr=0.1); s = sched.LinearLR(o, start_factor=0.2, total_iters=5)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.WarmUp(5, 0.2, nil)}},
	{"SGD(ps, lr=0.1); s = sched.OneCycleLR(o, max_lr=0.1, total_steps=20, cycle_momentum=False)", optim.Rule{Optimiser: optim.SGD{LR: 0.1}, Schedule: optim.OneCycle(20, 0.3, 25, 1e4)}},
}

const optimScript = `
import json, sys, torch
import torch.optim.lr_scheduler as sched
out = []
for text in json.load(sys.stdin):
    p = torch.tensor([1, -2, 0.5], dtype=torch.float64, requires_grad=True)
    q = torch.tensor([[0.3, -0.1], [2, 1]], dtype=torch.float64, requires_grad=True)
    ps = [p, q]
    env = {"torch": torch, "sched": sched, "p": p, "q": q, "ps": ps, "s": None, "clip": None}
    exec("o = torch.optim." + text, env)
    steps = []
    for i in range(20):
        env["o"].zero_grad()
        d = (p - 0.7) * (1 + i % 3)
        loss = (d * d).sum() + torch.log(q * q + 1).sum() + 0.1 * (q * q).sum() + 0.1 * p.sum() * q.sum()
        loss.backward()
        if env["clip"]: env["clip"]()
        env["o"].step()
        if env["s"] and i < 19: env["s"].step()
        steps.append([loss.item()] + p.tolist() + q.flatten().tolist())
    out.append(steps)
print(json.dumps(out))
`

// TestOptimisers_asPyTorch compares 20 steps of each optimiser, and of what a rule adds.
func TestOptimisers_asPyTorch(t *testing.T) {
	if err := oracle.Available(); err != nil {
		t.Skip(err)
	}
	var ask []string
	for _, c := range optimisers {
		ask = append(ask, c.torch)
	}
	var want [][][]float64
	require.NoError(t, oracle.Script(ctx, optimScript, ask, &want))
	for k, c := range optimisers {
		t.Run(c.torch, func(t *testing.T) {
			m := newBowl()
			step := newStep(t, m, c.rule)
			for i := range 20 {
				got := []float64{run(t, step, float64(1+i%3))}
				got = append(append(got, tensor.Data[float64](m.P)...), tensor.Data[float64](m.Q)...)
				for j, v := range got {
					require.InDelta(t, want[k][i][j], v, 1e-9*(1+math.Abs(v)), "step %d, number %d", i+1, j)
				}
			}
		})
	}
}

func newStep(t *testing.T, m any, r optim.Rule) *train.Step {
	t.Helper()
	step, err := train.NewStep(ctx, m, m, r, fx.Input("x", "f64[]"))
	require.NoError(t, err)
	require.NoError(t, step.Compile(ctx, lowering.Options{}))
	return step
}

// run makes a step and brings the parameters to the model.
func run(t *testing.T, s *train.Step, x float64) float64 {
	t.Helper()
	out, err := s.Run(ctx, array.Scalar(x))
	require.NoError(t, err)
	s.Sync()
	return array.Float64At(out[0], 0)
}

// squares has the loss Σp².
type squares struct{ P *tensor.Tensor }

func (m *squares) Forward(x *tensor.Tensor) *tensor.Tensor { return m.P.Mul(m.P).Sum().Mul(x) }

// Values of traps.md.
func TestOptimisers_values(t *testing.T) {
	for _, c := range []struct {
		o     optim.Optimiser
		after map[int]float64
	}{
		{optim.AdamW{LR: 0.1, WeightDecay: 0.01}, map[int]float64{1: 0.8990000005, 2: 0.7985190272}},
		{optim.SGD{LR: 0.1, Momentum: 0.9, Nesterov: true, WeightDecay: 0.01}, map[int]float64{1: 0.6181, 2: 0.21923761}},
		{optim.RAdam{LR: 0.1}, map[int]float64{7: 0.1969662261}},
	} {
		m := &squares{tensor.Param(array.FromSlice([]float64{1, -2}, 2))}
		step := newStep(t, m, optim.Rule{Optimiser: c.o})
		for i := 1; i <= 7; i++ {
			run(t, step, 1)
			if want, ok := c.after[i]; ok {
				require.InDelta(t, want, tensor.Data[float64](m.P)[0], 1e-9, "%T, step %d", c.o, i)
			}
		}
	}
	clipped := optim.Rule{ClipNorm: 1}.Clip([]*tensor.Tensor{tensor.FromSlice([]float64{3}, 1), tensor.FromSlice([]float64{4}, 1)})
	require.InDelta(t, 0.6, clipped[0].Item(), 1e-6)
	require.InDelta(t, 0.8, clipped[1].Item(), 1e-6)
}

// halves is a model of a parameter in f16, half of which has a gradient.
type halves struct{ P *tensor.Tensor }

func (m *halves) Forward(x *tensor.Tensor) *tensor.Tensor {
	return m.P.Slice(0, 0, 1).Cast(array.F64).Sum().Mul(x)
}

// TestAdam_halves: an eps that halves can just hold still divides what has no gradient.
func TestAdam_halves(t *testing.T) {
	for _, o := range []optim.Optimiser{optim.Adam{LR: 0.5, Eps: 1e-7}, optim.AdamW{LR: 0.5, Eps: 1e-7}} {
		p := tensor.Param(array.Cast(array.FromSlice([]float32{1, 2}, 2), array.F16))
		m := &halves{p}
		step := newStep(t, m, optim.Rule{Optimiser: o})
		run(t, step, 1)
		require.Equal(t, []float32{0.5, 2}, tensor.Data[float32](m.P.Cast(array.F32)))
	}
}

// TestLAMB_paper follows algorithm 2 in plain Go.
func TestLAMB_paper(t *testing.T) {
	m := &squares{tensor.Param(array.FromSlice([]float64{1, -2, 0}, 3))}
	o := optim.LAMB{LR: 0.05, WeightDecay: 0.1}
	step := newStep(t, m, optim.Rule{Optimiser: o})
	p, ms, vs := []float64{1, -2, 0}, make([]float64, 3), make([]float64, 3)
	for k := 1; k <= 20; k++ {
		x := float64(1 + k%3)
		r := make([]float64, 3)
		var np, nr float64
		for i := range p {
			g := 2 * p[i] * x
			ms[i], vs[i] = 0.9*ms[i]+0.1*g, 0.999*vs[i]+0.001*g*g
			hat, root := ms[i]/(1-math.Pow(0.9, float64(k))), math.Sqrt(vs[i]/(1-math.Pow(0.999, float64(k))))
			r[i] = hat/(root+1e-6) + 0.1*p[i]
			np, nr = np+p[i]*p[i], nr+r[i]*r[i]
		}
		for i := range p {
			p[i] -= 0.05 * math.Sqrt(np) / math.Sqrt(nr) * r[i]
		}
		run(t, step, x)
		require.InDeltaSlice(t, p, tensor.Data[float64](m.P), 1e-9, "step %d", k)
	}
	zero := &squares{tensor.Param(array.New(array.F64, 2))}
	step = newStep(t, zero, optim.Rule{Optimiser: o})
	run(t, step, 1)
	require.Equal(t, []float64{0, 0}, tensor.Data[float64](zero.P), "norms of 0")
}

// Schedules that PyTorch has under other names, at single steps.
func TestSchedules(t *testing.T) {
	at := func(s optim.Schedule, step float64) float64 { return s(tensor.Scalar(step)).Item() }
	warm := optim.WarmUp(4, 0, optim.Cosine(10, 0))
	for step, want := range map[float64]float64{0: 0, 1: 0.25, 3: 0.75, 4: 1, 9: 0.5, 14: 0, 99: 0} {
		require.InDelta(t, want, at(warm, step), 1e-12, "step %v", step)
	}
	both := optim.Times(optim.Exponential(0.5), optim.WarmUp(2, 0.5, nil))
	require.InDelta(t, 0.5, at(both, 0), 1e-12)
	require.InDelta(t, 0.25*1, at(both, 2), 1e-12)
	require.InDelta(t, 1.0/(10*100), at(optim.OneCycle(5, 0.4, 10, 100), 1000), 1e-12)
}

// TestRule_mistakes demands all mistakes of settings at once.
func TestRule_mistakes(t *testing.T) {
	bad := optim.Rule{
		Optimiser: optim.SGD{LR: -1, Momentum: math.NaN(), Nesterov: true},
		Groups:    []optim.Group{{Params: []string{"head.*"}, Optimiser: optim.Adam{LR: 1, Beta1: 1}}},
		ClipNorm:  -1, Average: 1, Accumulate: -2,
	}
	err := bad.Check([]string{"fc.weight"})
	require.ErrorIs(t, err, optim.BadSetting)
	for _, want := range []string{"LR is -1", "Momentum is NaN", "Beta1 is 1", `the group of "head.*" has no parameters`, "a bound of gradients"} {
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, optim.Rule{}.Check(nil), "no optimiser")
	for _, o := range []optim.Optimiser{optim.RAdam{}, optim.LAMB{LR: 1, Eps: -1}, optim.RMSprop{LR: 1, Alpha: 2}, optim.AdamW{LR: math.Inf(1)}} {
		require.ErrorIs(t, o.Check(), optim.BadSetting, fmt.Sprintf("%T", o))
	}
	_, err = train.NewStep(ctx, newBowl(), newBowl(), optim.Rule{Optimiser: slotless{}}, fx.Input("x", "f64[]"))
	require.Error(t, err)
}

// slotless uses a slot that it does not name.
type slotless struct{ optim.SGD }

func (slotless) Update(u *optim.Update) *tensor.Tensor { return u.Slot("none") }
func (slotless) Check() error                          { return nil }

// TestParseSchedule holds named schedules to those of Go, and the mistakes to their words.
func TestParseSchedule(t *testing.T) {
	for text, want := range map[string]optim.Schedule{
		"warmup(steps=10,first=0.2)":                                    optim.WarmUp(10, 0.2, nil),
		" warmup(steps=10) then step(size=3) ":                          optim.WarmUp(10, 0, optim.StepDecay(3, 0.1)),
		"warmup(steps=2) then warmup(steps=3)":                          optim.WarmUp(2, 0, optim.WarmUp(3, 0, nil)),
		"exponential(gamma=0.9)":                                        optim.Exponential(0.9),
		"onecycle(steps=20)":                                            optim.OneCycle(20, 0.3, 25, 1e4),
		"cosine(steps=7,least=0.25)":                                    optim.Cosine(7, 0.25),
		"warmup(steps=1) then onecycle(steps=4,part=0.5,div=2,final=3)": optim.WarmUp(1, 0, optim.OneCycle(4, 0.5, 2, 3)),
	} {
		got, err := optim.ParseSchedule(text)
		require.NoError(t, err, text)
		for step := range 24 {
			x := tensor.Scalar(float64(step))
			require.Equal(t, want(x).Item(), got(x).Item(), "%s at %d", text, step)
		}
	}
	for text, want := range map[string]string{
		"cosin(steps=1)":                       "did you mean cosine",
		"cosine(steps=-1,least=2)":             "steps is -1, expected a number of updates from 1; least is 2, expected a number from 0 to 1",
		"cosine(steps=9) then step(size=1)":    "schedule cosine has no end",
		"warmup(steps=9) then":                 "a parenthesis is missing",
		"warmup(steps=9) then ":                `there is no schedule ""`,
		"exponential":                          "gamma is 0, expected a number above 0",
		"exponential(gamma=NaN)":               "gamma is NaN",
		"onecycle(steps=3,part=1)":             "part is 1, expected a number between 0 and 1",
		"step(size=1.5)":                       "expected a whole number",
		"warmup(steps=0) then cosine(steps=0)": "schedule warmup: steps is 0",
		"":                                     `there is no schedule ""`,
	} {
		_, err := optim.ParseSchedule(text)
		require.ErrorContains(t, err, want, text)
	}
}
