package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/tensor"
)

// odd is the value of all operands of the network of precision: f32 has it exactly; bf16, f16
// and the 19 bits of tf32 round it to 1.
const odd = 1 + 1.0/(1<<12)

// coarsest is the relative difference from the exact results that f32 stays below by far, and
// that rounding one operand exceeds by far (1/4096).
const coarsest = 1.0 / (1 << 16)

// precise are a convolution and a linear layer as large as networks have them.
type precise struct {
	Conv   *nn.Conv2d
	Linear *nn.Linear
}

// precision is their network. Terms of sums are odd squared: the results are 576 and 512 of
// them.
var precision = &models.Model{Name: "precision", Outputs: []string{"conv", "linear"},
	New: func() any {
		return &precise{Conv: nn.NewConv2d(64, 64, 3, nn.NoBias(), nn.NoInit()), Linear: nn.NewLinear(512, 512, nn.NoBias(), nn.NoInit())}
	},
	Inputs: []models.InputSpec{{Name: "x", Type: "f32[N,64,16,16]", Rule: models.Fixed{Number: odd}}, {Name: "y", Type: "f32[32,512]", Rule: models.Fixed{Number: odd}}}}

// Forward computes both.
func (p *precise) Forward(x, y *tensor.Tensor) (conv, linear *tensor.Tensor) {
	return p.Conv.Forward(x), p.Linear.Forward(y)
}

// precisionCase asks whether peers round operands of f32.
func precisionCase() *Case {
	return &Case{Group: "precision", Shape: "f32", Network: precision, Dims: map[string]int{"N": 1}, Op: "network", Tol: -1,
		Engines: []Engine{{Name: "plan", Ours: func(w *network, threads int) (*Ours, error) { return w.plan(fx.Optimise(), threads) }}}}
}

// fill makes all weights odd: the module's own, which are captured.
func (p *precise) fill() {
	for _, t := range []*tensor.Tensor{p.Conv.Weight, p.Linear.Weight} {
		v := array.Data[float32](t.Array())
		for i := range v {
			v[i] = odd
		}
	}
}

// precisely asks every peer for the network of precision, and notes who rounds operands. The
// row has the differences from the exact results.
func (b *bench) precisely() (*Row, error) {
	c := precisionCase()
	row := &Row{Group: c.Group, Shape: c.Shape, Threads: b.threads, Errors: map[string]float64{}, CPU: b.cpu}
	b.stamp(row)
	f := &field{seen: func(name string, probe []float64) {
		row.Errors[name] = coarseness(probe)
	}}
	defer f.close()
	if err := b.network(c, row, f); err != nil {
		return nil, fmt.Errorf("precision: %w", err)
	}
	row.Errors["gofx"] = coarseness(f.want)
	for name, e := range row.Errors {
		if !(e < coarsest) {
			b.coarse[name] = fmt.Sprintf("rounds operands of f32: a difference of %.2g of exact results, f32 stays below %.2g", e, coarsest)
			warn("%s %s", name, b.coarse[name])
		}
	}
	return row, nil
}

// coarseness is the largest relative difference of results from the exact ones.
func coarseness(probe []float64) (worst float64) {
	for i, terms := range []float64{576, 512} {
		exact := terms * odd * odd
		for _, v := range probe[i*peers.Places : (i+1)*peers.Places] {
			worst = max(worst, math.Abs(v-exact)/exact)
		}
	}
	return worst
}

// hurry is the time of a call from which on -turns counts.
const hurry = 100 * time.Millisecond

// loaded prepares one peer, whose results must be those of gofx.
func (b *bench) loaded(c *Case, f *field, p *peers.Peer, q peerCase) (*runner, error) {
	q.load.Do = "load"
	inputs := max(1, c.Dims["N"])
	if took := b.slow[c.slowKey(q.name)]; took*float64(inputs) > float64(b.limit) {
		return nil, fmt.Errorf("one input took %.0f s, %d would take more than %v (-limit)", took/1e9, inputs, b.limit)
	}
	a, err := p.Do(q.load)
	id := q.load.ID
	f.closes = append(f.closes, func() { _, _ = p.Do(peers.Request{Do: "drop", ID: id}) })
	if err == nil {
		want := f.want
		if q.results > 0 {
			want = want[:q.results*peers.Places]
		}
		err = c.disagree(q.name, want, a.Probe)
	}
	if err != nil {
		return nil, err
	}
	if f.seen != nil {
		f.seen(q.name, a.Probe)
	}
	r := &runner{name: q.name, process: p, time: func(warm, calls int) (time.Duration, error) {
		a, err := p.Do(peers.Request{Do: "run", ID: id, Warm: warm, Calls: calls})
		return time.Duration(a.NS), err
	}}
	r.slow = c.Network != nil && a.NS >= max(float64(hurry), b.turns*f.ours)
	if r.slow && inputs == 1 {
		b.slow[c.slowKey(q.name)] = a.NS
	}
	return r, nil
}

// slowKey names a peer and a network, whatever its batch.
func (c *Case) slowKey(peer string) string {
	if c.Network == nil {
		return ""
	}
	return fmt.Sprint(peer, " ", c.Group, " ", c.Network.Name, " ", c.Quant != nil)
}

// timeOnce measures one call of each peer that is much slower than gofx: in turns, all others
// would wait for it.
func (b *bench) timeOnce(c *Case, row *Row, list []*runner) {
	for _, r := range list {
		d, err := r.time(0, 1)
		if err != nil {
			b.leaveOut(c, row, r.name, err)
			b.restart(r.process, err)
			continue
		}
		if row.Once == nil {
			row.Once = map[string]float64{}
		}
		row.Once[r.name] = d.Seconds() * 1e3
	}
}

// quietly does something while the machine is quiet.
func (b *bench) quietly(do func()) error {
	release, err := held(b.hold)
	if err == nil {
		do()
		release()
	}
	return err
}

// held starts a command that makes the machine quiet, and waits until it prints a byte. release
// ends its input, at which it lets others go on, and waits for its end.
func held(command string) (release func(), err error) {
	if command == "" {
		return func() {}, nil
	}
	cmd := exec.Command("sh", "-c", command)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("-hold: %w", err)
	}
	if _, err := io.ReadFull(out, make([]byte, 1)); err != nil {
		_ = in.Close()
		return nil, fmt.Errorf("-hold: %s has ended without a word: %w", command, cmd.Wait())
	}
	return func() { _ = in.Close(); _, _ = io.Copy(io.Discard, out); _ = cmd.Wait() }, nil
}
