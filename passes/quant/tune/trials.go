package tune

import (
	"context"
	"iter"
	"slices"
	"strconv"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/debug"
	"github.com/gofx-dev/gofx/passes/quant"
)

// Sensitivity tells what one quantised operator costs and gains.
type Sensitivity struct {
	Node  string `json:"node"`
	Op    string `json:"op"`
	Scope string `json:"scope,omitempty"`
	// Alone is the quality of the results where only this operator is quantised,
	// Without that where only this one is not.
	Alone   Decibels `json:"alone_db"`
	Without Decibels `json:"without_db"`
	// Work is what quantising the operator saves, by the cost that was given; without
	// one it is an estimate of what the operator takes in float.
	Work float64 `json:"work"`

	members []string // the nodes of the operator and of what is fused with it
}

// Trials measures configurations of one calibrated graph next to its float results.
// The graph and what was calibrated are not changed.
type Trials struct {
	prepared *graph.Module
	config   *quant.Config
	backend  *quant.Backend
	engine   EngineFor
	in, want [][]*array.Array
}

// NewTrials runs the float graph of a prepared and calibrated one on all batches,
// which it keeps.
func NewTrials(ctx context.Context, prepared *graph.Module, c *quant.Config, b *quant.Backend, batches iter.Seq2[[]*array.Array, error], engine EngineFor) (*Trials, error) {
	t := &Trials{prepared: prepared, config: c, backend: b, engine: engine}
	float := graph.Clone(prepared)
	if err := quant.Strip(float); err != nil {
		return nil, err
	}
	e, err := engine.engine(float)
	if err != nil {
		return nil, err
	}
	err = runAll(ctx, e, batches, func(in, out []*array.Array) error {
		for i, a := range out {
			out[i] = array.Clone(a)
		}
		t.in, t.want = append(t.in, in), append(t.want, out)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(t.in) == 0 {
		return nil, diag.New(quant.NoBatches, "there are no batches to compare with").WithHint("give inputs that are like those of use")
	}
	return t, nil
}

// Convert returns the quantised form of the graph with the operators of some nodes
// left in float.
func (t *Trials) Convert(ctx context.Context, float ...string) (*graph.Module, error) {
	m := graph.Clone(t.prepared)
	_, err := passes.Run(ctx, m, []passes.Pass{quant.Convert(t.excluding(float), t.backend)}, passes.Options{})
	return m, err
}

// excluding returns the configuration with more nodes that stay in float.
func (t *Trials) excluding(names []string) *quant.Config {
	c := *t.config
	c.Strict = false
	c.Exclude = slices.Clone(c.Exclude)
	for _, n := range names {
		c.Exclude = append(c.Exclude, quant.Selector{Name: n})
	}
	return &c
}

// Quality returns the signal over the noise of all f32 results of a quantised form.
func (t *Trials) Quality(ctx context.Context, m *graph.Module) (Decibels, error) {
	e, err := t.engine.engine(m)
	if err != nil {
		return 0, err
	}
	var d debug.Distance
	for i, in := range t.in {
		out, err := e.Run(ctx, in)
		if err != nil {
			return 0, err
		}
		if e := sameShapes(t.want[i], out, func(k int) string { return "result " + strconv.Itoa(k) }); e != nil {
			return 0, e
		}
		for k, a := range out {
			if a.DType() == array.F32 && t.want[i][k].DType() == array.F32 {
				d.Add(t.want[i][k], a)
			}
		}
	}
	return d.SQNR(), nil
}

// without measures the form in which some nodes stay in float.
func (t *Trials) without(ctx context.Context, names []string) (Decibels, error) {
	m, err := t.Convert(ctx, names...)
	if err != nil {
		return 0, err
	}
	return t.Quality(ctx, m)
}

// nodesOf lists the names of all nodes of some operators.
func nodesOf(list []Sensitivity) (all []string) {
	for _, s := range list {
		all = append(all, s.members...)
	}
	return all
}
