package work

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/passes/quant"
	"github.com/gofx-dev/gofx/passes/quant/integer"
	"github.com/gofx-dev/gofx/passes/simplify"
)

// SyntheticBatches is how many synthetic inputs calibrate without data.
const SyntheticBatches = 4

// quantisation reads the configuration of a job, everything statically without one, and
// brings the graph into the form that is quantised.
func (c *captured) quantisation(ctx context.Context, j *Job) (*quant.Config, *quant.Backend, error) {
	config := &quant.Config{Global: quant.Setting{Mode: quant.Static}}
	if j.Config.Name != "" {
		var err error
		if config, err = quant.ParseConfig([]byte(j.Config.Value), j.Config.Name); err != nil {
			return nil, nil, err
		}
	}
	config.Strict = config.Strict || j.Strict
	_, err := passes.Run(ctx, c.gm, []passes.Pass{simplify.FunctionalizeAll}, passes.Options{})
	return config, cpu.QuantBackend(), err
}

// quantise makes the outputs that the flags of quant ask for: the plan, the report,
// the quantised graph for this processor.
func (c *captured) quantise(ctx context.Context, j *Job, res *Result) error {
	config, backend, err := c.quantisation(ctx, j)
	if err != nil {
		return err
	}
	plan, err := quant.Resolve(c.gm, config, backend)
	if err != nil {
		return err
	}
	if res.Text, err = planText(plan, j); err != nil {
		return err
	}
	if j.Report {
		notes := res
		if j.Save { // which calibrates again, and notes it
			notes = &Result{}
		}
		q, err := c.quality(ctx, j, notes, config, backend, j.Ranked)
		if err != nil {
			return err
		}
		if j.JSON {
			if err := document(res, q); err != nil {
				return err
			}
		} else {
			res.Text += q.text()
		}
	}
	if !j.Save {
		return nil
	}
	if _, err := c.integers(ctx, j, res, config, backend); err != nil {
		return err
	}
	c.warnOfWeights(j, res)
	return saved(c.gm, res)
}

// int8 quantises the graph for the engine of that name: everything, statically.
func (c *captured) int8(ctx context.Context, j *Job, res *Result) error {
	config, backend, err := c.quantisation(ctx, j)
	if err != nil {
		return err
	}
	some, err := c.integers(ctx, j, res, config, backend)
	if err == nil && !some {
		res.Notes.Add(&diag.Error{Note: true, Msg: "engine int8 finds nothing to quantise, fxgen quant -plan says why"})
	}
	return err
}

// integers prepares, calibrates, converts and lowers the graph, and reports whether
// anything of it is quantised.
func (c *captured) integers(ctx context.Context, j *Job, res *Result, config *quant.Config, backend *quant.Backend) (bool, error) {
	if err := c.prepare(ctx, j, res, config, backend); err != nil {
		return false, err
	}
	r, err := passes.Run(ctx, c.gm, []passes.Pass{quant.Convert(config, backend), integer.Lower}, passes.Options{})
	return err == nil && r.Changed(), err
}

// prepare adds observers and shows them the inputs of the job, where there are any.
func (c *captured) prepare(ctx context.Context, j *Job, res *Result, config *quant.Config, backend *quant.Backend) error {
	r, err := passes.Run(ctx, c.gm, []passes.Pass{quant.Prepare(config, backend)}, passes.Options{})
	if err == nil && r.Changed() {
		err = c.calibrate(ctx, j, res)
	}
	return err
}

// planText is the plan, as a table or as JSON, or the first line of it.
func planText(p *quant.Plan, j *Job) (string, error) {
	if !j.Plan {
		head, _, _ := strings.Cut(p.String(), "\n")
		return head + "\n", nil
	}
	if !j.JSON {
		return p.String(), nil
	}
	b, err := json.MarshalIndent(p, "", "  ")
	return string(b) + "\n", err
}

// calibrate shows a prepared graph the inputs of the job.
func (c *captured) calibrate(ctx context.Context, j *Job, res *Result) error {
	batches, err := c.calibration(j)
	if err != nil {
		return err
	}
	if len(j.Calib) == 0 {
		return c.calibrateSynthetic(ctx, batches, res)
	}
	return observe(ctx, c.gm, batches)
}

// observe shows batches that the observers have not seen to them.
func observe(ctx context.Context, m *graph.Module, batches [][]*array.Array) error {
	_, err := quant.Calibrate(ctx, m, func(yield func([]*array.Array, error) bool) {
		for _, in := range batches {
			if !yield(in, nil) {
				return
			}
		}
	}, quant.CalibrateOptions{})
	return err
}

// calibrateSynthetic calibrates with inputs that nobody has chosen. The model need not take
// them all: a mask of zeros alone makes NaN, and an index may be beyond its table. Accepted
// inputs count, and if there are none, the error says which inputs to give.
func (c *captured) calibrateSynthetic(ctx context.Context, batches [][]*array.Array, res *Result) error {
	var taken [][]*array.Array
	var refused error
	for _, in := range batches {
		err := observe(ctx, c.gm, append(slices.Clip(taken), in))
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			refused = cmp.Or(refused, err)
			continue
		}
		taken = append(taken, in)
	}
	if len(taken) == 0 {
		return syntheticRefused(refused)
	}
	msg := "calibrated with " + strconv.Itoa(len(taken)) + " synthetic inputs"
	if n := len(batches) - len(taken); n > 0 {
		msg += ", without " + strconv.Itoa(n) + " that the model does not take"
	}
	res.Notes.Add(&diag.Error{Note: true, Msg: msg + ", whose ranges are not those of real ones; give -calib"})
	return nil
}

// syntheticRefused adds to a model's refusal that its input was synthetic.
func syntheticRefused(err error) error {
	var out diag.List
	for i, e := range all(err) {
		c := *e
		if i == 0 {
			c.Hint = "the inputs were synthetic: give real ones with -calib NAME=FILE.npy"
		}
		out = append(out, &c)
	}
	return out
}

// calibration returns the batches of -calib: the files of each input in their order,
// of which one with more rows than a fixed first size takes is cut. Without -calib they
// are synthetic.
func (c *captured) calibration(j *Job) ([][]*array.Array, error) {
	if len(j.Calib) == 0 {
		var all [][]*array.Array
		for i := range SyntheticBatches {
			k := *j
			if k.Seed = j.seed(); i > 0 {
				k.Seed += "/" + strconv.Itoa(i)
			}
			in, _, err := c.values(&k)
			if err != nil {
				return nil, err
			}
			all = append(all, in)
		}
		return all, nil
	}
	inputs := c.gm.Graph.Inputs()
	of := map[string][]*array.Array{}
	var errs diag.List
	for _, f := range j.Calib {
		at := inputs[0]
		for _, n := range inputs {
			if n.Target() == f.Name {
				at = n
			}
		}
		if name := at.Target(); f.Name != "" && f.Name != name || f.Name == "" && len(inputs) > 1 {
			errs.Add(diag.New(BadValue, "-calib "+f.Value+": which input is meant?").WithHint("write NAME=FILE.npy with the name of an input, such as " + name))
			continue
		}
		a, err := readArray(at.Target(), f.Value)
		if err != nil {
			errs.Add(badValue("-calib "+f.Value, err))
			continue
		}
		of[at.Target()] = append(of[at.Target()], inBatches(a, at)...)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var all [][]*array.Array
	for i, n := range inputs {
		list := of[n.Target()]
		if i == 0 {
			all = make([][]*array.Array, len(list))
		}
		if len(list) != len(all) {
			return nil, diag.New(BadValue, "-calib has "+strconv.Itoa(len(list))+" batches of input "+n.Target()+" and "+strconv.Itoa(len(all))+" of "+inputs[0].Target()).
				WithHint("give each input as many")
		}
		for k, a := range list {
			all[k] = append(all[k], a)
		}
	}
	return all, nil
}

// inBatches returns the parts of an array that an input with a fixed first size takes; the
// array itself if its size is wrong in another way.
func inBatches(a *array.Array, n *graph.Node) []*array.Array {
	t := n.Type()
	if !t.Ranked() || t.Rank() == 0 || a.Rank() != t.Rank() {
		return []*array.Array{a}
	}
	size, fixed := t.Dim(0).Int()
	if !fixed || size == 0 || a.Dim(0) == 0 || a.Dim(0)%size != 0 {
		return []*array.Array{a}
	}
	var parts []*array.Array
	for i := 0; i < a.Dim(0); i += size {
		parts = append(parts, array.Contiguous(array.Slice(a, 0, i, i+size, 1)))
	}
	return parts
}

// saved puts the files of a saved module into the result.
func saved(m *graph.Module, res *Result) error {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	if err := graph.Save(dir, m); err != nil {
		return err
	}
	for _, name := range []string{graph.GraphFile, graph.WeightsFile} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		res.Files = append(res.Files, File{Name: name, Data: b})
	}
	return nil
}
