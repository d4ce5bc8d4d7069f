package work

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Do captures the source and does the job. The error is a diag.List or a
// *diag.Error where the source or the flags are at fault.
func Do(ctx context.Context, s *Source, j *Job) (*Result, error) {
	res, err := do(ctx, s, j)
	return res, s.advised(err, j)
}

func do(ctx context.Context, s *Source, j *Job) (*Result, error) {
	values := j.Verb == Measure || j.Verb == Lazy || j.Verb == Stats && j.costs() || j.Device.Name != "" || j.Verb == Run || j.Verb == Export || j.Verb == Verify || j.Verb == Bench || j.Verb == Profile || j.Verb == Gen || j.Verb == Quant || j.Verb == Feed || j.Verb == Values || j.Verb == Bisect || j.Verb == Shrink || j.Overlay == OverlaySQNR || j.Overlay == OverlayTime || j.Verb == Grad && j.Save || j.Verb == Train || needsValues(j.Passes) || j.Verb == Draw && j.Format != "" && (j.Weights != "" || s.Model != nil)
	if j.Verb == Train {
		j.Training = s.New != nil && !j.Train.Evaluation
	}
	c, err := s.capture(ctx, j, values)
	if err != nil {
		return nil, err
	}
	res := &Result{InputNames: c.inputNames(), OutputNames: c.outputNames()}
	for _, s := range c.gm.Graph.Specialisations() {
		res.Notes = append(res.Notes, &diag.Error{Note: true, Pos: s.Pos, Msg: "fixed while the graph was captured: " + s.What})
	}
	res.Notes = append(res.Notes, c.src.boundNotes()...)
	if j.Verb == Gen && len(j.In) > 0 {
		return nil, diag.New(BadValue, "-in "+j.In[0].Name+"="+j.In[0].Value+": no size follows from the value of an input of this name").
			WithHint("leave it out: the generated code takes the value")
	}
	if j.Verb == Lazy || (j.Engine == Eager || j.Engine == Lazy) && (j.Verb == Run || j.Verb == Bench || j.Verb == Values) {
		return res, c.act(ctx, j, res)
	}
	if j.Verb == Bisect && j.Engine == Lazy {
		return res, bisectSession(ctx, c, j, res)
	}
	switch j.Verb {
	case Why:
		return res, c.why(ctx, j, s.Passes, res)
	case Bisect:
		return res, c.bisect(ctx, j, s.Passes, res)
	case Shrink:
		return res, c.shrink(ctx, j, s, res)
	}
	// Before passes, of which some make what is no model to train any more.
	switch j.Verb {
	case Grad:
		err = c.differentiate(ctx, j)
	case Train:
		err = c.train(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	o := passes.Options{}
	if j.Verb == Draw && j.Format != "" {
		if err := c.report(j, &o); err != nil {
			return nil, err
		}
	}
	if j.Verb == Gen && keepsResults(j.Passes) {
		c.origin = graph.Clone(c.gm)
	}
	if _, err := j.transform(ctx, c.gm, s.Passes, o); err != nil {
		return nil, err
	}
	if j.Engine == Int8 && (j.Verb == Run || j.Verb == Bench || j.Verb == Values) {
		if err := c.int8(ctx, j, res); err != nil {
			return nil, err
		}
	}
	return res, c.act(ctx, j, res)
}

// needsValues reports whether a pass of the pipeline reads weights.
func needsValues(names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return OwnPass(n) || n == "conv-bn" || n == "linear-bn" || n == "bn-affine" || n == "const-fold"
	})
}

// printed is the form in which graphs are printed.
var printed = graph.PrintOptions{BaseNames: true}

func (c *captured) act(ctx context.Context, j *Job, res *Result) error {
	switch j.Verb {
	case Print, Grad:
		o := printed
		o.Positions = j.Positions
		res.Text = graph.Print(c.gm, o)
		if j.Verb == Grad && j.Save {
			c.warnOfWeights(j, res)
			return saved(c.gm, res)
		}
		return nil
	case Train:
		return saved(c.gm, res)
	case Stats:
		return c.stats(j, res)
	case Run:
		return c.run(ctx, j, res)
	case Lazy:
		return explain(ctx, c, j, res)
	case Bench:
		return c.bench(ctx, j, res)
	case Profile:
		return c.profile(ctx, j, res)
	case Draw:
		return c.draw(ctx, j, res)
	case Gen:
		return c.gen(ctx, j, res)
	case Quant:
		return c.quantise(ctx, j, res)
	case Measure:
		return c.measure(ctx, j, res)
	case Values:
		return c.observe(ctx, j, res)
	case Verify:
		return c.verify(ctx, j, res)
	case Export:
		return c.export(j, res)
	case Lower:
		return c.lower(j, res)
	case Feed:
		return c.feed(ctx, j, res)
	}
	return diag.Bug("unknown verb " + j.Verb)
}

func (c *captured) run(ctx context.Context, j *Job, res *Result) error {
	in, _, err := c.values(j)
	if err != nil {
		return err
	}
	r, err := c.noted(j, res)
	if err != nil {
		return err
	}
	defer r.close()
	out, err := r.run(ctx, in)
	if err != nil {
		return err
	}
	if j.Engine == Lazy && c.src.Graph == nil {
		res.OutputNames = c.src.outputNamesOf(len(out))
	}
	return Report(j, res, out)
}

func encodeNPY(a *array.Array) ([]byte, error) {
	var b bytes.Buffer
	err := npy.Write(&b, a)
	return b.Bytes(), err
}

// Report puts the outputs of a run into the result: as text, and as the files that
// -out asks for.
func Report(j *Job, res *Result, out []*array.Array) error {
	var errs diag.List
	wanted := j.Out
	if j.All {
		wanted = res.OutputNames
	}
	for _, name := range wanted {
		i := slices.Index(res.OutputNames, name)
		if i < 0 || i >= len(out) {
			errs.Add(diag.New(BadValue, "there is no output "+diag.Name(name)).WithHint(near.Hint(name, res.OutputNames, "the outputs are "+namesText(res.OutputNames))))
			continue
		}
		encode := encodeNPY
		if j.All { // for ourselves
			encode = exchange.Encode
		}
		b, err := encode(out[i])
		if err != nil {
			errs.Add(err)
			continue
		}
		res.Files = append(res.Files, File{Name: name, Data: b})
	}
	if err := errs.Err(); err != nil {
		return err
	}
	if j.JSON {
		return reportJSON(res, out)
	}
	var b strings.Builder
	for i, a := range out {
		fmt.Fprintf(&b, "%s %s\n%s\n", diag.Name(res.OutputNames[i]), typeText(a), array.Format(a, 64))
	}
	res.Text = b.String()
	return nil
}

func typeText(a *array.Array) string { return shape.TypeOf(a).String() }

// outputJSON is an output in the document of run -json. Values that JSON cannot
// say (NaN, infinities) are null.
type outputJSON struct {
	Name  string     `json:"name"`
	DType string     `json:"dtype"`
	Shape []int      `json:"shape"`
	Data  []*float64 `json:"data,omitempty"` // up to maxJSON elements
	Min   *float64   `json:"min"`
	Max   *float64   `json:"max"`
	Mean  *float64   `json:"mean"`
}

const maxJSON = 4096

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func reportJSON(res *Result, out []*array.Array) error {
	list := []outputJSON{}
	for i, a := range out {
		o := outputJSON{Name: res.OutputNames[i], DType: a.DType().String(), Shape: append([]int{}, a.Shape()...)}
		lo, hi, sum := math.Inf(1), math.Inf(-1), 0.0
		for k := range a.Len() {
			v := array.Float64At(a, k)
			lo, hi, sum = min(lo, v), max(hi, v), sum+v
			if a.Len() <= maxJSON {
				o.Data = append(o.Data, finite(v))
			}
		}
		o.Min, o.Max, o.Mean = finite(lo), finite(hi), finite(sum/float64(a.Len()))
		list = append(list, o)
	}
	return document(res, map[string]any{"outputs": list})
}

// document makes the result one JSON document.
func document(res *Result, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	res.Text = b.String()
	return nil
}
