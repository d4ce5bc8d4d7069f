package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/onnx"
)

// Outcomes of a case.
const (
	agrees  = "agrees"
	differs = "differs"
	refused = "refused"
)

// verdict is a case of verify in its document.
type verdict struct {
	Case    string  `json:"case"`
	State   string  `json:"state"`
	Samples int     `json:"samples"`
	Max     float64 `json:"max_difference"` // of two elements
	Rel     float64 `json:"rtol_reached"`   // the least -rtol that allows it
	Why     string  `json:"why,omitempty"`
	// Bound are inputs that are fixed to the values of a sample, as sizes follow from them.
	Bound []string `json:"bound,omitempty"`
	Note  string   `json:"note,omitempty"` // operators that do not run on the engine's device

	sets []work.CaseSet
	got  [][]*array.Array // by sample
	err  error
}

func (a *app) verify() *cobra.Command {
	var f flags
	var tol onnx.Tolerance
	c := &cobra.Command{Use: "verify [flags] CASE_DIR...", Short: "Compare models with the results stored next to them, in ONNX's test layout",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("verify takes folders of cases, got none")
			}
			return nil
		}}
	c.Flags().Float64Var(&tol.Rel, "rtol", onnx.StandardTolerance.Rel, "how far an element may be from the expected one, of that one")
	c.Flags().Float64Var(&tol.Abs, "atol", onnx.StandardTolerance.Abs, "how far it may be besides")
	f.typeFlags(c)
	f.engineFlags(c, work.Plan, "interp, plan, gpu, xla, module or gen")
	c.Flags().StringVar(&f.passes, "passes", "", "passes with commas between them, or none")
	c.Flags().IntVar(&f.threads, "threads", 0, "the most threads of a run, 0 for all processors")
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, dirs []string) error {
		if !(tol.Rel >= 0) || !(tol.Abs >= 0) {
			return usagef("-rtol %g -atol %g: expected numbers of 0 or more", tol.Rel, tol.Abs)
		}
		engines := []string{work.Interp, work.Plan, accel.GPU, accel.XLA, "module", "gen"}
		if !slices.Contains(engines, f.engine) {
			return usagef("-engine %s: verify compares the engines interp, plan, gpu, xla, module and gen", f.engine)
		}
		j, err := f.fill(c, work.Verify, f.pipeline())
		if err != nil {
			return err
		}
		list, err := a.verdicts(j, dirs)
		if err != nil {
			return err
		}
		for _, v := range list {
			v.judge(tol)
		}
		return a.verdictReport(j, list)
	}
	return c
}

// verdicts computes the cases.
func (a *app) verdicts(j *work.Job, dirs []string) ([]*verdict, error) {
	list := make([]*verdict, len(dirs))
	for i, dir := range dirs {
		v := &verdict{Case: filepath.ToSlash(filepath.Clean(dir))}
		v.try(func() (err error) {
			v.sets, err = work.OpenCase(dir, j)
			for _, s := range v.sets {
				v.Bound = slices.Compact(slices.Sorted(slices.Values(append(v.Bound, s.Bound...))))
			}
			return err
		})
		list[i] = v
	}
	if j.Engine == "module" || j.Engine == "gen" {
		return list, a.verifyBuilt(a.ctx, j, list)
	}
	for _, v := range list {
		for _, s := range v.sets {
			v.try(func() error {
				res, err := a.silently(a.ctx, s, j)
				if err == nil {
					v.got, v.Note = append(v.got, res.Outputs), res.StandIn
				}
				return err
			})
			if err := a.ctx.Err(); err != nil {
				return nil, err
			}
			if accel.Absent(v.err) {
				return nil, v.err // which is no fault of a case
			}
		}
	}
	return list, nil
}

// silently does the job on a set. Its notes are the same for every sample and no news.
func (a *app) silently(ctx context.Context, s work.CaseSet, j *work.Job) (*work.Result, error) {
	job := *j
	job.Inputs, job.Shapes = nil, nil // the models are imported with them
	return work.Do(ctx, s.Source, &job)
}

// try goes on with a case unless it has failed.
func (v *verdict) try(f func() error) {
	defer func() {
		if r := recover(); r != nil {
			v.err = diag.Bug(v.Case + ": " + fmt.Sprint(r))
		}
	}()
	if v.err == nil {
		v.err = f()
	}
}

// verifyBuilt generates code for all cases, builds it as one program, and runs that once
// for each sample.
func (a *app) verifyBuilt(ctx context.Context, j *work.Job, list []*verdict) error {
	dir, remove, err := proc.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	h, err := findHome(ctx, ".")
	if err != nil {
		return err
	}
	p := program{dir: dir, home: h}
	type run struct {
		v *verdict
		*part
	}
	var runs []run
	for _, v := range list {
		for _, s := range v.sets {
			v.try(func() error {
				feed := feedOf(j)
				made, err := a.silently(ctx, s, &feed)
				if err == nil {
					p.style = feed.Style
					runs = append(runs, run{v, p.add("model"+strconv.Itoa(len(runs)), made)})
				}
				return err
			})
		}
	}
	if len(runs) == 0 {
		return nil
	}
	done := a.busy("building " + counted(len(runs), "package"))
	err = p.build(ctx)
	done()
	if err != nil {
		return err
	}
	for _, r := range runs {
		r.v.try(func() error {
			out, err := p.outputs(ctx, r.part, j)
			r.v.got = append(r.v.got, out)
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// judge compares the results with the expected ones.
func (v *verdict) judge(tol onnx.Tolerance) {
	v.Samples, v.State = len(v.sets), agrees
	for i, got := range v.got {
		v.try(func() error {
			d, err := v.sets[i].Sample.Check(got, tol)
			v.Max, v.Rel = max(v.Max, d.Max), max(v.Rel, d.Rel)
			return err
		})
	}
	if v.err == nil {
		return
	}
	if v.State = refused; errors.Is(v.err, onnx.CodeDiffers) {
		v.State = differs
	}
	v.Why = v.err.Error()
	if l := slices.DeleteFunc(all(v.err), func(e *diag.Error) bool { return e.Note }); len(l) > 0 {
		v.Why = l[0].Error()
		if len(l) > 1 {
			v.Why = counted(len(l), "message") + ", the first: " + v.Why
		}
	}
	v.Why, _, _ = strings.Cut(v.Why, "\n")
}

// verdictReport prints the cases; those that are refused have their messages on stderr.
func (a *app) verdictReport(j *work.Job, list []*verdict) error {
	bad, end := 0, errDiffers
	for _, v := range list {
		if v.State != agrees {
			bad++
		}
		if errors.Is(v.err, diag.Internal) {
			end = v.err
		}
		switch v.State {
		case refused:
			a.diagnostics(all(v.err))
		case differs:
			a.found = append(a.found, all(v.err)...) // the results say it
		}
	}
	if j.JSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"engine": j.Engine, "agree": len(list) - bad, "cases": list}); err != nil {
			return err
		}
	} else {
		for _, v := range list {
			line := fmt.Sprintf("%s %s: %s", v.State, v.Case, v.Why)
			if v.State == agrees {
				line = fmt.Sprintf("%s %s: %s, largest difference %.3g", v.State, v.Case, counted(v.Samples, "sample"), v.Max)
			}
			if len(v.Bound) > 0 {
				line += "; fixed to the sample: " + strings.Join(v.Bound, ", ")
			}
			if v.Note != "" {
				line += "; " + v.Note
			}
			fmt.Fprintln(a.stdout, line)
		}
	}
	if bad > 0 {
		return end
	}
	return nil
}

// all lists the diagnostics of an error.
func all(err error) diag.List {
	var l diag.List
	if errors.As(err, &l) {
		return slices.Clone(l)
	}
	var e *diag.Error
	if !errors.As(err, &e) {
		e = diag.Bug(err.Error())
	}
	return diag.List{e}
}
