package train

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Trainer runs a step over the batches of a loader, epoch after epoch.
type Trainer struct {
	Step   *Step
	Eval   *Eval // of the test batches, after each epoch; nil: there is none
	Epochs int
	// UseAverage evaluates the moving averages of the parameters (optim.Rule.Average).
	UseAverage bool
	// Stop ends training early; nil does not.
	Stop *EarlyStop
	// Plateau lowers learning rates; nil does not.
	Plateau *Plateau
	// Checkpoints keep the state; without a folder there are none.
	Checkpoints Checkpoints
	// Log gets a line of JSON after each epoch; nil gets none.
	Log io.Writer
	// OnBatch is called after each step, OnEpoch after each epoch; the error ErrStop ends
	// training, another one fails it.
	OnBatch func(ctx context.Context, b Batch) error
	OnEpoch func(ctx context.Context, e Epoch) error
}

// ErrStop is what a callback returns to end training without an error.
var ErrStop = errors.New("stop training")

// Batch is what a step gave.
type Batch struct {
	Epoch, Index int // from 0 on
	Step         int // from 1 on, over all epochs
	Metrics      map[string]float64
}

// Epoch is what an epoch gave: means over its examples, of training by the names of the step's
// results, of the test with test_ in front.
type Epoch struct {
	Epoch   int // from 1 on
	Step    int // steps so far
	Metrics map[string]float64
	Scale   float64 // of the learning rates, see Plateau
	Seconds float64
}

// EarlyStop ends training when a metric has not become better for Patience epochs.
type EarlyStop struct {
	Metric   string // such as test_loss
	Greater  bool   // is better
	Patience int
	MinDelta float64 // by which it must become better
}

// Plateau multiplies the learning rates by Factor when a metric has not become better for more
// than Patience epochs, as torch.optim.lr_scheduler.ReduceLROnPlateau.
type Plateau struct {
	Metric    string
	Greater   bool
	Patience  int
	Factor    float64
	Threshold float64 // by which part it must become better; PyTorch's is 1e-4
	Least     float64 // of the product of the factors
}

// position is where training stands: what a checkpoint has besides tensors.
type position struct {
	Epoch, Batch, Step int
	Sums               map[string]exact // of metrics times examples, in this epoch
	Examples           int
	Stop, Plateau      best
}

// best is how a metric went.
type best struct {
	Seen  bool
	Value exact
	Bad   int // epochs since
}

// exact is a number that JSON keeps, whatever it is.
type exact float64

// MarshalText implements encoding.TextMarshaler.
func (e exact) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(e), 'x', -1, 64), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *exact) UnmarshalText(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	*e = exact(v)
	return err
}

// after takes the metric of an epoch.
func (b *best) after(v float64, better func(v, best float64) bool) {
	if !math.IsNaN(v) && (!b.Seen || better(v, float64(b.Value))) {
		*b = best{Seen: true, Value: exact(v)}
	} else {
		b.Bad++
	}
}

// Fit trains until Epochs have passed, from the last checkpoint on where there is one, and returns
// the epochs that it ended. test is for Eval, and may be nil. The model has the parameters
// afterwards, also when there is an error.
//
// When ctx ends, the step that runs is finished, a checkpoint is written where there is a folder,
// and the error is ctx's. A loss that is not finite is an error (FX3108) that names the first node
// that gave no number.
func (t *Trainer) Fit(ctx context.Context, batches, test Loader) ([]Epoch, error) {
	if err := t.check(batches, test); err != nil {
		return nil, err
	}
	r := &run{Trainer: t, batches: batches, test: test}
	release, err := r.begin()
	if err != nil {
		return nil, err
	}
	defer release()
	defer t.Step.Sync()
	var list []Epoch
	for !r.ended() {
		e, err := r.epoch(ctx)
		if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
			err = errors.Join(err, r.save())
		}
		if e != nil {
			list = append(list, *e)
		}
		if errors.Is(err, ErrStop) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
	}
	return list, nil
}

// run is the work of one Fit.
type run struct {
	*Trainer
	batches, test Loader
	at            position
	synced        position        // when the model's tensors were those of the step
	wrote         map[string]bool // names of the checkpoints of this run
}

// epoch runs the rest of an epoch.
func (r *run) epoch(ctx context.Context) (*Epoch, error) {
	begin := time.Now()
	for r.at.Batch < r.batches.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := r.step(ctx); err != nil {
			return nil, err
		}
	}
	e := &Epoch{Epoch: r.at.Epoch + 1, Step: r.at.Step, Metrics: map[string]float64{}}
	for name, sum := range r.at.Sums {
		e.Metrics[name] = float64(sum) / float64(r.at.Examples)
	}
	if err := r.evaluate(ctx, e.Metrics); err != nil {
		return nil, err
	}
	r.at.Epoch, r.at.Batch, r.at.Sums, r.at.Examples = r.at.Epoch+1, 0, nil, 0
	r.judge(e.Metrics)
	e.Scale, e.Seconds = r.Step.Scale(), time.Since(begin).Seconds()
	if err := r.save(); err != nil {
		return e, err
	}
	r.mark()
	if err := r.log(e); err != nil {
		return e, err
	}
	if r.OnEpoch != nil {
		if err := r.OnEpoch(ctx, *e); err != nil {
			return e, err
		}
	}
	return e, nil
}

// ended reports whether nothing is left to train.
func (r *run) ended() bool { return r.at.Epoch >= r.Epochs || r.stopped() }

// stopped reports whether training has ended early.
func (r *run) stopped() bool { return r.Stop != nil && r.at.Stop.Bad >= max(r.Stop.Patience, 1) }

// step trains one batch.
func (r *run) step(ctx context.Context) error {
	batch, err := r.batches.Batch(r.at.Epoch, r.at.Batch)
	if err != nil {
		return err
	}
	// A step that is broken off would have written a part of the state.
	out, err := r.Step.Run(context.WithoutCancel(ctx), batch...)
	if err != nil {
		return err
	}
	m := numbers(r.Step.Names(), out)
	if loss := m["loss"]; math.IsNaN(loss) || math.IsInf(loss, 0) {
		return r.blame(ctx, loss)
	}
	n := examples(batch)
	if r.at.Sums == nil {
		r.at.Sums = map[string]exact{}
	}
	for name, v := range m {
		r.at.Sums[name] += exact(v * float64(n))
	}
	r.at.Examples += n
	r.at.Step++
	b := Batch{Epoch: r.at.Epoch, Index: r.at.Batch, Step: r.at.Step, Metrics: m}
	r.at.Batch++
	if every := r.Checkpoints.Every; every > 0 && r.at.Step%every == 0 {
		if err := r.save(); err != nil {
			return err
		}
	}
	if r.OnBatch != nil {
		return r.OnBatch(ctx, b)
	}
	return nil
}

// numbers returns results by name.
func numbers(names []string, out []*array.Array) map[string]float64 {
	m := map[string]float64{}
	for i, name := range names {
		m[name] = array.Float64At(out[i], 0)
	}
	return m
}

// examples is the number of examples in a batch.
func examples(batch []*array.Array) int {
	for _, a := range batch {
		if a != nil && a.Rank() > 0 {
			return a.Dim(0)
		}
	}
	return 1
}

// evaluate adds the means over the test's examples.
func (r *run) evaluate(ctx context.Context, m map[string]float64) error {
	if r.Eval == nil || r.test == nil {
		return nil
	}
	if r.UseAverage {
		r.Step.Average()
		defer r.Step.Sync()
	} else {
		r.Step.Sync()
	}
	means, err := r.Eval.Mean(ctx, r.test)
	for name, v := range means {
		m["test_"+name] = v
	}
	return err
}

// Mean evaluates all batches of a loader and returns the means over their examples.
func (e *Eval) Mean(ctx context.Context, batches Loader) (map[string]float64, error) {
	m, n := map[string]float64{}, 0
	for i := range batches.Len() {
		batch, err := batches.Batch(0, i)
		if err != nil {
			return nil, err
		}
		out, err := e.Run(ctx, batch...)
		if err != nil {
			return nil, err
		}
		for name, v := range numbers(e.Names(), out) {
			m[name] += v * float64(examples(batch))
		}
		n += examples(batch)
	}
	for name := range m {
		m[name] /= float64(n)
	}
	return m, nil
}

// judge looks at the metrics of an epoch.
func (r *run) judge(m map[string]float64) {
	if p := r.Plateau; p != nil {
		r.at.Plateau.after(m[p.Metric], func(v, best float64) bool {
			if p.Greater {
				return v > best*(1+p.Threshold)
			}
			return v < best*(1-p.Threshold)
		})
		if r.at.Plateau.Bad > p.Patience {
			r.at.Plateau.Bad = 0
			r.Step.SetScale(max(r.Step.Scale()*p.Factor, p.Least))
		}
	}
	if s := r.Stop; s != nil {
		r.at.Stop.after(m[s.Metric], func(v, best float64) bool {
			if s.Greater {
				return v > best+s.MinDelta
			}
			return v < best-s.MinDelta
		})
	}
}

// log writes the line of an epoch.
func (r *run) log(e *Epoch) error {
	if r.Log == nil {
		return nil
	}
	line := map[string]any{"epoch": e.Epoch, "step": e.Step, "scale": e.Scale, "seconds": e.Seconds}
	for name, v := range e.Metrics {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			line[name] = strconv.FormatFloat(v, 'g', -1, 64)
		} else {
			line[name] = v
		}
	}
	text, err := json.Marshal(line)
	if err != nil {
		return err
	}
	_, err = r.Log.Write(append(text, '\n'))
	return err
}

// check returns all that is wrong with the settings.
func (t *Trainer) check(batches, test Loader) error {
	var errs diag.List
	fault := func(msg string) { errs.Add(diag.New(BadTrainer, msg)) }
	if t.Step == nil {
		fault("the trainer has no Step, expected one of NewStep")
		return errs.Err()
	}
	if t.Epochs < 1 {
		fault("Epochs is " + strconv.Itoa(t.Epochs) + ", expected 1 or more")
	}
	if batches == nil || batches.Len() == 0 {
		errs.Add(diag.New(BadData, "the loader has no batches, expected one and more"))
	}
	if (t.Eval == nil) != (test == nil) {
		fault("Eval and the loader of test batches go together, one of them is missing")
	} else if test != nil && test.Len() == 0 {
		errs.Add(diag.New(BadData, "the loader of test batches is empty"))
	}
	if t.UseAverage && (t.Eval == nil || t.Step.rule.Average == 0) {
		fault("UseAverage is set, expected Eval and a rule with Average")
	}
	known := t.metrics()
	if s := t.Stop; s != nil && !slices.Contains(known, s.Metric) {
		fault("Stop looks at " + strconv.Quote(s.Metric) + ", expected one of " + strings.Join(known, ", "))
	}
	if p := t.Plateau; p != nil {
		if !slices.Contains(known, p.Metric) {
			fault("Plateau looks at " + strconv.Quote(p.Metric) + ", expected one of " + strings.Join(known, ", "))
		}
		if !(p.Factor > 0 && p.Factor < 1) {
			fault("the factor of Plateau is " + strconv.FormatFloat(p.Factor, 'g', -1, 64) + ", expected a number between 0 and 1")
		}
	}
	return errs.Err()
}

// metrics returns the names of the metrics of an epoch.
func (t *Trainer) metrics() []string {
	list := slices.Clone(t.Step.Names())
	if t.Eval != nil {
		for _, name := range t.Eval.Names() {
			list = append(list, "test_"+name)
		}
	}
	return list
}
