package cardtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/interp"
	"github.com/gofx-dev/gofx/lowering/gpu"
	"github.com/gofx-dev/gofx/models"
	"github.com/gofx-dev/gofx/passes/arrange"
	"github.com/gofx-dev/gofx/passes/fusion"
	"github.com/gofx-dev/gofx/shape"
)

// seed is that of weights and inputs.
const seed = "gofx-1"

// The types that networks are run in.
const (
	f32  = "f32"
	tf32 = "tf32" // products round f32 to it
	f16  = "f16"  // products and what follows them, by passes/arrange
)

// job is one program: a network at a size and in a type, or samples of operators.
type job struct {
	Name     string // "resnet50/32/f16", "operators/abs-ceil"
	Network  string // "" for operators
	Batch    int
	Type     string
	Unfolded bool // batch normalisations stay next to convolutions

	// build makes the graph with its inputs, expect what it gives.
	build  func(ctx context.Context) (*graph.Module, []*array.Array, error)
	expect func(ctx context.Context) ([]result, error)
}

// built is a job's graph and its inputs.
type built struct {
	module *graph.Module
	in     []*array.Array
	took   time.Duration
}

func (j *job) built(ctx context.Context) (*built, error) {
	start := time.Now()
	m, in, err := j.build(ctx)
	return &built{m, in, time.Since(start)}, err
}

// target returns what compiles the job, to which a device and a pack may be added.
func (j *job) target() gpu.Target { return gpu.Target{TF32: j.Type == tf32} }

// network is a model of package models at sizes, loaded once for all jobs in a row that use it.
type network struct {
	model  *models.Model
	dims   map[string]int
	loaded *weights

	wide, half []*array.Array // what the interpreter gives
}

// weights are those of one model, shared by its networks; keep drops others.
type weights struct{ module any }

// last are the weights that were asked for last: those of all networks do not fit next to each other
// into small machines.
var last *weights

func (n *network) weights() any {
	if last != nil && last != n.loaded {
		last.module = nil
	}
	if last = n.loaded; last.module == nil {
		last.module = n.model.New()
		models.Synthetic(n.model, last.module, seed)
	}
	return last.module
}

// trace captures the network at its sizes.
func (n *network) trace(ctx context.Context) (*fx.GraphModule, error) {
	var opts []fx.Option
	for _, in := range n.model.Inputs {
		t := in.ShapeType().Bind(func(symbol string) shape.Dim { return shape.Const(n.dims[symbol]) })
		opts = append(opts, fx.Input(in.Name, t.String()))
	}
	return fx.Trace(ctx, n.weights(), opts...)
}

// pipeline is what a network goes through for a type.
func pipeline(typ string, unfolded bool) []fx.Pass {
	list := fx.Optimise()
	if unfolded {
		list = slices.DeleteFunc(list, func(p fx.Pass) bool {
			return p.Name == fusion.ConvBN.Name || p.Name == fusion.BNAffine.Name
		})
	}
	if typ == f16 {
		list = append(list, arrange.Half)
	}
	return list
}

// build captures the network and has it optimised.
func (n *network) build(ctx context.Context, typ string, unfolded bool) (*graph.Module, error) {
	gm, err := n.trace(ctx)
	if err != nil {
		return nil, err
	}
	_, err = gm.Apply(ctx, pipeline(typ, unfolded), fx.PassOptions{})
	return gm.Module, err
}

func (n *network) inputs() ([]*array.Array, error) {
	var in []*array.Array
	for _, spec := range n.model.Inputs {
		x, err := models.SyntheticInput(spec, seed, n.dims)
		if err != nil {
			return nil, err
		}
		in = append(in, x.Array())
	}
	return in, nil
}

// results are what the interpreter gives for the network as it was captured, and how far 16 bits of its
// products move them: tf32 has as many digits as f16.
func (n *network) results(ctx context.Context, typ string) ([]result, error) {
	in, err := n.inputs()
	if err != nil {
		return nil, err
	}
	if n.wide == nil {
		gm, err := n.trace(ctx)
		if err != nil {
			return nil, err
		}
		if n.wide, err = interpret(ctx, gm.Module, in); err != nil {
			return nil, err
		}
	}
	if typ != f32 && n.half == nil {
		m, err := n.build(ctx, f16, false)
		if err != nil {
			return nil, err
		}
		if n.half, err = interpret(ctx, m, in); err != nil {
			return nil, err
		}
	}
	out := make([]result, len(n.wide))
	for i, a := range n.wide {
		out[i] = sampled(n.model.Outputs[i], a)
		if typ == f32 {
			out[i].near(nil)
		} else {
			out[i].near(n.half[i])
		}
	}
	return out, nil
}

// interpret keeps a sample of the results: those of a language model take gigabytes.
func interpret(ctx context.Context, m *graph.Module, in []*array.Array) ([]*array.Array, error) {
	return (&interp.Interpreter{State: interp.NewState(m)}).RunArrays(ctx, in)
}

// networks are what the table has, with the sizes besides the batch.
var networks = []struct {
	name string
	dims map[string]int
}{
	{"resnet50", nil}, {"learning_to_paint", nil},
	{"bert_base", map[string]int{"S": 128}}, {"gpt2", map[string]int{"S": 128}},
}

// batches are the batch sizes of the table.
var batches = []int{1, 32}

// jobs returns all there are: operators first, then control flow, then networks, those with the same weights in a row.
func jobs() []*job {
	list := append(operators(), control())
	for _, n := range networks {
		list = append(list, jobsOf(models.Lookup(n.name), n.dims, batches)...)
	}
	return append(list, jobsOf(models.Lookup("mlp"), nil, []int{3})...)
}

// jobsOf returns the jobs of a model: every type at every batch, and f32 and f16 with normalisations apart
// where it has any.
func jobsOf(m *models.Model, dims map[string]int, batches []int) (list []*job) {
	loaded := &weights{}
	for _, batch := range batches {
		n := &network{model: m, dims: map[string]int{"N": batch}, loaded: loaded}
		for k, v := range dims {
			n.dims[k] = v
		}
		for _, typ := range []string{f32, tf32, f16} {
			list = append(list, n.job(typ, false))
		}
		if m.Name == "resnet50" {
			list = append(list, n.job(f32, true), n.job(f16, true))
		}
	}
	return list
}

func (n *network) job(typ string, unfolded bool) *job {
	batch := n.dims["N"]
	name := []string{n.model.Name, fmt.Sprint(batch), typ}
	if unfolded {
		name = append(name, "unfolded")
	}
	return &job{Name: strings.Join(name, "/"), Network: n.model.Name, Batch: batch, Type: typ, Unfolded: unfolded,
		build: func(ctx context.Context) (*graph.Module, []*array.Array, error) {
			m, err := n.build(ctx, typ, unfolded)
			if err != nil {
				return nil, nil, err
			}
			in, err := n.inputs()
			return m, in, err
		},
		expect: func(ctx context.Context) ([]result, error) { return n.results(ctx, typ) }}
}
