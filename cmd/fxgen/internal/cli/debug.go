package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	"github.com/gofx-dev/gofx/passes/debug"
)

// boundFlags are of commands that compare values.
func (f *flags) boundFlags(c *cobra.Command) {
	c.Flags().Float64Var(&f.job.Rel, "rtol", 0, "how far values may be apart, times the largest value of the tensor; with -atol 0, both are 1e-5")
	c.Flags().Float64Var(&f.job.Abs, "atol", 0, "how far values may be apart besides")
}

// stopFlag is of commands that may end a pipeline at a rewrite.
func (f *flags) stopFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.stopAt, "stop-at", "", "PASS:N, end the pipeline after rewrite N of a pass")
}

// readStop reads PASS:N.
func readStop(flag, text string) (n work.Named, err error) {
	if text == "" {
		return n, nil
	}
	i := strings.LastIndex(text, ":")
	if i < 1 {
		return n, usagef("-%s %s: expected PASS:N", flag, text)
	}
	return work.Named{Name: text[:i], Value: text[i+1:]}, nil
}

// second are the flags of the second form of a comparison.
type second struct{ passes, engine, stopAt, weights string }

func (a *app) compare() *cobra.Command {
	var f flags
	var g second
	c := &cobra.Command{Use: "compare [flags] SOURCE SOURCE", Short: "Compare two forms of a model value by value, the first difference first", Args: exactly(2, "two SOURCEs")}
	f.sourceFlags(c)
	f.computeFlags(c)
	f.engineFlags(c, work.Interp, "of the first form: eager, lazy, interp, plan, int8, gpu, xla, module or gen")
	f.calibFlag(c, " with -engine int8")
	f.stopFlag(c)
	c.Flags().StringVar(&g.passes, "passes2", "", "passes of the second form")
	c.Flags().StringVar(&g.engine, "engine2", work.Interp, "engine of the second form")
	c.Flags().StringVar(&g.stopAt, "stop-at2", "", "PASS:N of the second form")
	c.Flags().StringVar(&g.weights, "weights2", "", "weights of the second form")
	f.boundFlags(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		sides, err := a.sides(c, &f, g, args)
		if err != nil {
			return err
		}
		first, other, err := a.bothValues(sides)
		if err != nil {
			return err
		}
		var alone debug.Alone
		if sides[0].inner() && sides[1].inner() && (sides[0].fuses() || sides[1].fuses()) {
			alone = func(v, w string) (x, y *array.Array, err error) {
				if x, err = sides[0].alone(a, v); err == nil {
					y, err = sides[1].alone(a, w)
				}
				return x, y, err
			}
		}
		d, err := debug.CompareValues(first, other, debug.CompareOptions{Rel: f.job.Rel, Abs: f.job.Abs}, alone)
		if err != nil {
			return err
		}
		if err := a.sayComparison(d, f.json); err != nil {
			return err
		}
		if d.First() != nil {
			return errDiffers
		}
		return nil
	}
	return c
}

// side is one form of a comparison.
type side struct {
	s *source
	j *work.Job
}

// sides makes the jobs of a comparison.
func (a *app) sides(c *cobra.Command, f *flags, g second, args []string) (list [2]side, err error) {
	j, err := f.fill(c, work.Values, f.pipeline())
	if err != nil {
		return list, err
	}
	h := *f
	h.engine = g.engine
	copied := *j
	k := &copied
	k.Engine, k.Passes = g.engine, h.pipeline()
	if err := onDevice(j, k); err != nil {
		return list, err
	}
	if c.Flags().Changed("passes2") {
		k.Passes = split(g.passes)
	}
	if g.weights != "" {
		k.Weights = weightsPath(g.weights)
	}
	if k.StopAt, err = readStop("stop-at2", g.stopAt); err != nil {
		return list, err
	}
	if err := known(k, "passes2", "stop-at2"); err != nil {
		return list, err
	}
	for i, side := range []struct {
		f *flags
		j *work.Job
	}{{f, j}, {&h, k}} {
		if (side.j.Engine == work.Eager || side.j.Engine == work.Lazy) && len(side.j.Passes) > 0 {
			return list, usagef("passes are for engines that run a graph; %s calls the Go function as it is", side.j.Engine)
		}
		opened := *side.f
		if !strings.Contains(args[i], "#") && slices.ContainsFunc(args, func(s string) bool { return strings.Contains(s, "#") }) {
			opened.construct = "" // which is for the other one
		}
		if list[i].s, err = a.open(args[i], &opened, side.j); err != nil {
			return list, err
		}
		list[i].j = side.j
	}
	return list, nil
}

// fuses reports whether the engine may compute several values in one.
func (s side) fuses() bool { return s.j.Engine == work.Plan || s.j.Engine == work.Int8 }

// inner reports whether the engine shows more than results.
func (s side) inner() bool { return s.fuses() || s.j.Engine == work.Interp }

// bothValues runs both forms. Where one shows its results alone, so does the other.
func (a *app) bothValues(sides [2]side) (first, second []debug.Observation, err error) {
	var inputs [2][]string
	for i, to := range []*[]debug.Observation{&first, &second} {
		if *to, inputs[i], err = sides[i].values(a, ""); err != nil {
			return nil, nil, err
		}
	}
	if !slices.Equal(inputs[0], inputs[1]) {
		return nil, nil, diag.New(debug.NotComparable, "the inputs of the first are "+strings.Join(inputs[0], ", ")+", those of the second "+strings.Join(inputs[1], ", "))
	}
	if !sides[0].inner() || !sides[1].inner() {
		inner := func(v debug.Observation) bool { return v.Result == 0 }
		first, second = slices.DeleteFunc(first, inner), slices.DeleteFunc(second, inner)
	}
	return first, second, nil
}

// values runs the form and returns its values, or the one of a node alone, and the names
// of the inputs.
func (s side) values(a *app, node string) ([]debug.Observation, []string, error) {
	j := *s.j
	j.Node = node
	if j.Engine == "module" || j.Engine == "gen" {
		j.Verb, j.All = work.Run, true
		res, err := a.built(a.ctx, s.s, &j)
		if err != nil {
			return nil, nil, err
		}
		list, err := work.Results(res)
		return list, res.InputNames, err
	}
	res, err := a.do(a.ctx, s.s, &j)
	if err != nil {
		return nil, nil, err
	}
	list, err := work.Received(res)
	return list, res.InputNames, err
}

func (s side) alone(a *app, node string) (*array.Array, error) {
	list, _, err := s.values(a, node)
	if err != nil {
		return nil, err
	}
	return list[0].Array, nil
}

// rowJSON is a line of compare -json.
type rowJSON struct {
	Node    string         `json:"node"`
	Other   string         `json:"other"`
	Op      string         `json:"op"`
	Scope   string         `json:"scope,omitempty"`
	Pos     string         `json:"pos,omitempty"`
	Result  *int           `json:"result,omitempty"`
	Largest *float64       `json:"largest"` // null for infinite
	At      int            `json:"at"`
	ULPs    *float64       `json:"ulp"`
	SQNR    debug.Decibels `json:"sqnr_db"`
	Differs string         `json:"differs,omitempty"`
	Alone   bool           `json:"alone,omitempty"`
}

// sayComparison prints a comparison.
func (a *app) sayComparison(d *debug.Comparison, asJSON bool) error {
	for _, list := range [][]debug.Row{d.Rows, d.Results} {
		for i := range list {
			list[i].Pos.File = relative(list[i].Pos.File)
		}
	}
	if !asJSON {
		return a.say(d.String())
	}
	rows := func(list []debug.Row) []rowJSON {
		out := []rowJSON{}
		for _, r := range list {
			j := rowJSON{Node: r.Node, Other: r.Other, Op: r.Op, Scope: r.Scope, Pos: r.Pos.String(), At: r.At, SQNR: r.SQNR(), Differs: r.Differs, Alone: r.Alone}
			if r.Result > 0 {
				k := r.Result - 1
				j.Result = &k
			}
			if j.Largest, j.ULPs = finite(r.Largest), finite(r.ULPs); r.Unlike {
				j.Largest, j.ULPs = nil, nil
			}
			out = append(out, j)
		}
		return out
	}
	e := json.NewEncoder(a.stdout)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"rows": rows(d.Rows), "results": rows(d.Results), "only_first": append([]string{}, d.OnlyFirst...), "only_second": append([]string{}, d.OnlySecond...)})
}

// finite returns nil for numbers that JSON cannot write.
func finite(v float64) *float64 {
	if v-v != 0 {
		return nil
	}
	return &v
}

func (a *app) bisect() *cobra.Command {
	var f flags
	var check string
	c := onSource("bisect", "Find the pass, and the rewrite of it, that changes what a network computes", "one SOURCE")
	f.sourceFlags(c)
	f.computeFlags(c)
	c.Flags().StringVar(&f.engine, "engine", work.Interp, "interp or plan: what computes the transformed graph; lazy: find the call whose delay in a lazy session changes the results")
	c.Flags().BoolVar(&f.job.Rounding, "rounding", false, "with -engine lazy: let plans round as they do by themselves")
	c.Flags().StringVar(&check, "check", "", "program that decides instead: it gets the folder of a saved graph as its last argument, and exits with 0 where that is right")
	f.boundFlags(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.engine == work.Lazy {
			return bisectSession(a, c, &f, check, args[0])
		}
		if f.engine != work.Interp && f.engine != work.Plan {
			return usagef("-engine %s: expected interp, plan or lazy", f.engine)
		}
		if f.job.Rounding {
			return usagef("-rounding is for -engine lazy")
		}
		if f.job.Check = strings.Fields(check); len(f.job.Check) > 0 {
			if f.job.CheckDir = absolute("."); strings.ContainsRune(f.job.Check[0], filepath.Separator) {
				f.job.Check[0] = absolute(f.job.Check[0])
			}
		}
		res, _, err := a.job(c, &f, work.Bisect, work.Optimise(), args[0])
		if err != nil || f.json {
			return a.sayOf(res, err)
		}
		return a.say(res.Text + repeat(c, res.Culprit, args[0]))
	}
	return c
}

// bisectSession looks for a call instead of a rewrite.
func bisectSession(a *app, c *cobra.Command, f *flags, check, source string) error {
	if check != "" {
		return usagef("-check is for graphs, -engine lazy runs Go code")
	}
	res, _, err := a.job(c, f, work.Bisect, nil, source)
	return a.sayOf(res, err)
}

// repeat returns the commands that show the graph before and after a rewrite, and how
// their values differ.
func repeat(c *cobra.Command, found work.Culprit, source string) string {
	given := ""
	c.Flags().Visit(func(g *pflag.Flag) {
		if !slices.Contains([]string{"passes", "check", "json", "engine"}, g.Name) {
			values := []string{g.Value.String()}
			if list, ok := g.Value.(pflag.SliceValue); ok {
				values = list.GetSlice()
			}
			for _, v := range values {
				given += " -" + g.Name + " " + word(v)
			}
		}
	})
	before, behind := found.Until, found.Until
	stop, stop2 := "", ""
	if found.Match > 0 {
		stop, stop2 = " -stop-at "+found.Pass+":"+strconv.Itoa(found.Match-1), " -stop-at2 "+found.Pass+":"+strconv.Itoa(found.Match)
	} else {
		before = before[:len(before)-1]
	}
	list := func(names []string) string {
		return word(strings.Join(append(names[:len(names):len(names)], "none")[:max(len(names), 1)], ","))
	}
	source = word(source)
	return fmt.Sprintf("before and after it:\n  fxgen compare -passes %s%s -passes2 %s%s%s %s %s\n", list(before), stop, list(behind), stop2, given, source, source)
}

// word quotes text that a shell would split.
func word(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t\n'\"`$&|;<>()*?[]{}#~!\\") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (a *app) minimise() *cobra.Command {
	var f flags
	var out string
	c := onSource("minimise", "Cut a network down to the few nodes that fail, and write a test of them", "one SOURCE")
	f.sourceFlags(c)
	f.computeFlags(c)
	c.Flags().StringVar(&f.engine, "engine", work.Interp, "interp or plan: what computes the transformed graph")
	f.boundFlags(c)
	c.Flags().StringVar(&out, "o", "", "file to write, ending in _test.go, instead of the standard output")
	c.Flags().StringVar(&f.job.Package, "package", "", "name of the test's package; without it that of the folder with _test")
	c.Flags().StringVar(&f.job.Test, "name", "TestMinimised", "name of the test; with -o that of the file")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		switch {
		case f.engine != work.Interp && f.engine != work.Plan:
			return usagef("-engine %s: expected interp or plan", f.engine)
		case out != "" && !strings.HasSuffix(out, "_test.go"):
			return usagef("-o %s: expected a name that ends in _test.go", out)
		}
		if out != "" && !c.Flags().Changed("name") { // so that a folder can hold several
			f.job.Test = "Test" + goname.Upper(strings.TrimSuffix(filepath.Base(out), "_test.go"))
		}
		if f.job.Package == "" {
			f.job.Package = "minimised_test"
			if name := capture.PackageIn(filepath.Dir(absolute(out))); out != "" && name != "" {
				f.job.Package = name + "_test"
			}
		}
		res, w, err := a.job(c, &f, work.Shrink, work.Optimise(), args[0])
		if err != nil || out == "" {
			return a.sayOf(res, err)
		}
		t, err := stamped(out, res.Files[0].Data)
		if err != nil {
			return err
		}
		return w.write([]target{t})
	}
	return c
}
