package quant

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
	"github.com/gofx-dev/gofx/op/std"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/tensor"
	"github.com/gofx-dev/gofx/tracer"
)

// Training says how a graph learns to be quantised.
type Training struct {
	// Observe is the number of steps in which scales follow what is observed: a moving average
	// of the extremes of values, the extremes of weights. After them scales are learned, from
	// where they are. 0 observes in all steps and learns no scale.
	Observe int
	// Freeze is the number of steps after which batch norms use their running statistics, and
	// no longer update them. 0: they use those of the batch in all steps.
	Freeze int
	// Momentum says how a batch norm follows its batches, by the path of its running mean: the
	// weight of a new batch, or 0 for the average of all. nil stands for 0.1 everywhere.
	Momentum func(mean string) float64
}

// Train returns the pass quant-train. It takes a functional graph of a model in evaluation
// mode, whose batch norms are not folded yet, and makes the graph that is trained: at each place
// where Convert with the same configuration and backend would quantise there is a
// fake_quantize, batch norms after convolutions and linear layers are folded
// into the fake-quantised weight by their running statistics and corrected by those of the batch, and other batch
// norms are in training mode. What is observed and learned, and the count of steps that the
// settings go by, is state of the module below the path "quant". The stored weights are those of the
// model: nothing folded is written back.
//
// Evaluate makes the graph of what has been learned for evaluation, ConvertTrained the quantised one.
//
// Ref: Jacob et al., Quantization and Training of Neural Networks for Efficient
// Integer-Arithmetic-Only Inference, CVPR 2018; Esser et al., Learned Step Size Quantization, ICLR 2020;
// Krishnamoorthi, arXiv:1806.08342, section 3.2.2 (the correction and freezing of norms).
func Train(c *Config, b *Backend, o Training) passes.Pass {
	return trainPass("quant-train", "Fake-quantises a graph to train it: observers, learned scales, folded batch norms.", c, b,
		func(t *trainee) error {
			t.settings = &o
			return t.fake()
		})
}

// Evaluate returns the pass quant-evaluate. It takes the graph that Train takes, with the state
// that training has left in its module, and writes fake_quantize with the learned scales and batch norms folded
// by their running statistics: all computed of the state, so that the graph can be evaluated between steps. It computes what the graph of
// ConvertTrained does, bit for bit.
func Evaluate(c *Config, b *Backend) passes.Pass {
	return trainPass("quant-evaluate", "Fake-quantises a graph by what training has learned.", c, b, (*trainee).fake)
}

// ConvertTrained returns the pass quant-convert-trained: Convert with the scales that
// training has learned. It takes the graph that Train takes, with the state that training has left in its module.
func ConvertTrained(c *Config, b *Backend) passes.Pass {
	return trainPass("quant-convert-trained", "Writes the quantised form of a graph by what training has learned.", c, b, (*trainee).convert)
}

func trainPass(name, doc string, c *Config, b *Backend, finish func(*trainee) error) passes.Pass {
	order := []passes.Before{{First: name, Then: "quant-lower", Why: "integer operators are made of the quantised form"}}
	for _, fold := range []string{"conv-bn", "linear-bn", "bn-affine"} {
		order = append(order, passes.Before{First: name, Then: fold, Why: "norms that are trained are folded by this pass, which keeps their parameters"})
	}
	return passes.Pass{Name: name, Doc: doc, Whole: true, Order: order, Requires: []passes.Fact{passes.Functional, passes.Flat},
		Run: func(ctx *passes.Ctx, _ *graph.Graph) (bool, error) {
			t := &trainee{ctx: ctx, places: map[*ranged]*place{}, steps: map[string]string{}, dynamic: map[*graph.Node]*graph.Node{},
				reads: map[string]*graph.Node{}, now: map[string]*graph.Node{}}
			if err := t.untrainable(ctx.Module); err != nil {
				return false, err
			}
			if err := t.fold(ctx.Module); err != nil {
				return false, err
			}
			r, err := resolve(ctx.Module, c, b, nil)
			if err != nil {
				return false, err
			}
			t.resolution = r
			r.log(ctx)
			if err := finish(t); err != nil {
				return false, err
			}
			for n := range t.g.Nodes() {
				if n.Opcode() == graph.CallMethod { // as tensor code is recorded
					n.ToFunction()
				}
			}
			ctx.Note(r.plan.summary())
			return true, nil
		}}
}

// trainee is a graph that is trained, or what becomes of it.
type trainee struct {
	*resolution
	ctx      *passes.Ctx
	settings *Training // nil where nothing is trained any more
	folds    []*fold
	places   map[*ranged]*place
	steps    map[string]string // where the state of weights is, by form
	dynamic  map[*graph.Node]*graph.Node
	missing  diag.List // state that training should have left

	last      *graph.Node            // of what the graph begins with
	reads     map[string]*graph.Node // parameters, by path
	now       map[string]*graph.Node // state: as read, or as computed last; norms' statistics as ":" and the path
	count     *graph.Node            // i64: steps before this one
	observing *graph.Node            // bool; nil: always
	frozen    *graph.Node            // bool; nil: never
}

// place is where the scale of a group of values comes from.
type place struct {
	key    string // below statePath
	seen   []string
	fixed  bool
	covers op.Range
}

// untrainable refuses what would be left in evaluation mode without a word.
func (t *trainee) untrainable(m *graph.Module) error {
	top := map[*graph.Node]bool{}
	for n := range m.Graph.Nodes() {
		top[n] = true
	}
	for n := range m.Graph.All() {
		switch {
		case n.Op() == nil || !n.Op().HasModes():
		case passes.Training(n):
			return n.Error(NotPrepared, n.Op().Name+" is in training mode").WithHint("capture the model in evaluation mode: the pass brings batch norms into training mode itself")
		case !top[n]:
			return n.Error(NotPrepared, n.Op().Name+" stands within control flow, where it cannot be trained").WithHint("take it out of the loop or branch")
		}
	}
	return nil
}

// record records tensor code before the cursor's place.
func (t *trainee) record(c *graph.Cursor, fn func(in ...*tensor.Tensor) []*tensor.Tensor, args ...*graph.Node) ([]*graph.Node, error) {
	r := tracer.Tracer{Name: "quant", Frames: -1}
	return r.Record(t.ctx.Context, c, fn, args...)
}

// one is record for one result.
func (t *trainee) one(c *graph.Cursor, fn func(in ...*tensor.Tensor) *tensor.Tensor, args ...*graph.Node) (*graph.Node, error) {
	out, err := t.record(c, func(in ...*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{fn(in...)} }, args...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// state reads a tensor of the state below statePath at the start of the graph. A graph that is
// trained makes those that there are not.
func (t *trainee) state(key string, first *array.Array, buffer bool) {
	path := statePath + "." + key
	if t.module.Param(path) == nil {
		if t.settings == nil {
			t.missing.Add(diag.New(NotPrepared, "training has left no "+strconv.Quote(path)).
				WithHint("train with the same model, configuration and backend; the module is to have the state of the graph that was trained"))
			return
		}
		t.module.SetParam(graph.Param{Path: path, Value: first, Buffer: buffer})
	}
	t.now[key] = t.param(path)
}

// param reads a parameter at the start of the graph.
func (t *trainee) param(path string) *graph.Node {
	if n := t.reads[path]; n != nil {
		return n
	}
	c := t.start()
	n := c.GetAttr(path)
	n.SetLive(true)
	t.reads[path], t.last = n, n
	return n
}

// start returns a cursor after what the graph begins with.
func (t *trainee) start() *graph.Cursor {
	if t.last != nil {
		return t.g.After(t.last)
	}
	for n := range t.g.Nodes() {
		if n.Opcode() != graph.Placeholder {
			return t.g.Before(n)
		}
	}
	return t.g.At()
}

// write ends the graph with the writes of the state that has changed.
func (t *trainee) write() {
	var keys []string
	for key, n := range t.now {
		if n.Opcode() != graph.GetAttr {
			keys = append(keys, key) // computed, and not as it was read
		}
	}
	slices.Sort(keys)
	c := t.g.Before(t.g.Output())
	for _, key := range keys {
		path, ofNorm := strings.CutPrefix(key, ":")
		if !ofNorm {
			path = statePath + "." + key
		}
		to := c.GetAttr(path)
		to.SetLive(true)
		c.Function(op.Assign, nil, to, t.now[key])
	}
}

// switches makes the nodes that the number of steps decides, and counts the step.
func (t *trainee) switches() {
	if t.settings == nil {
		return
	}
	t.state("steps", array.New(array.I64), true)
	t.count = t.now["steps"]
	c := t.start()
	before := func(n int) *graph.Node {
		if n == 0 {
			return nil
		}
		t.last = c.Function(std.Lt, std.BinaryAttrs{Other: op.Int(int64(n))}, t.count, nil)
		return t.last
	}
	t.observing = before(t.settings.Observe)
	if late := before(t.settings.Freeze); late != nil {
		t.last = c.Function(std.LogicalNot, nil, late)
		t.frozen = t.last
	}
	t.last = c.Function(std.Add, std.AddAttrs{Other: op.Int(1)}, t.count)
	t.now["steps"] = t.last
}

// keyOf names the state of a weight after the call that reads it first.
func keyOf(u *unit, w *weight) string {
	key := u.head.Name() + ".weight"
	if len(u.weights) > 1 {
		key += strconv.Itoa(w.arg)
	}
	return key
}
