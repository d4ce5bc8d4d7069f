package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/userpkg"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
)

// flags are those that several commands share; each command registers its own
// selection.
type flags struct {
	inputs, in, out, shapes []string
	calib                   []string
	config                  string
	construct               string
	imports                 []string
	weights, passes, seed   string
	engine                  string
	threads                 int
	json                    bool
	force                   bool
	job                     work.Job
	minTime, timeout        time.Duration
}

// sourceFlags are those of all commands that capture.
func (f *flags) sourceFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.construct, "new", "", "function, or expression, that makes the module of ./pkg#Type")
	c.Flags().StringArrayVar(&f.inputs, "input", nil, "NAME=TYPE of an input, such as x=f32[N,3,224,224] (repeat)")
	c.Flags().StringArrayVar(&f.imports, "import", nil, "package with operators of your own to link, such as ./ops (repeat)")
	c.Flags().DurationVar(&f.timeout, "timeout", 2*time.Minute, "the longest that the model's Go code may take to be captured, 0 for any")
	c.Flags().StringVar(&f.passes, "passes", "", "passes with commas between them, ./pkg#Var for one of your own, or none")
}

// valueFlags are those of commands that compute with any engine.
func (f *flags) valueFlags(c *cobra.Command) {
	f.computeFlags(c)
	c.Flags().StringVar(&f.engine, "engine", work.Plan, "eager, interp, plan, int8, module or gen")
	f.calibFlag(c, " with -engine int8")
}

// calibFlag is of commands that quantise.
func (f *flags) calibFlag(c *cobra.Command, when string) {
	c.Flags().StringArrayVar(&f.calib, "calib", nil, "FILE.npy, or NAME=FILE.npy, of inputs to calibrate with"+when+", commas between several (repeat)")
}

// configFlag is of commands that quantise by a file.
func (f *flags) configFlag(c *cobra.Command, when string) {
	c.Flags().StringVar(&f.config, "config", "", "JSON file of what to quantise"+when+"; without it everything, statically")
}

// calibration enters the files of -config and -calib into the job.
func (f *flags) calibration(j *work.Job) error {
	switch some := len(f.calib) > 0 || f.config != ""; {
	case some && j.Verb == work.Draw && j.Overlay != work.OverlaySQNR:
		return usagef("-calib and -config are for -overlay sqnr, a drawing without it quantises nothing")
	case some && (j.Verb == work.Run || j.Verb == work.Bench) && j.Engine != work.Int8:
		return usagef("-calib is for -engine int8, engine %s calibrates nothing", j.Engine)
	}
	if f.config != "" {
		text, err := os.ReadFile(f.config)
		if err != nil {
			return bad("-config: "+err.Error(), "give a file that says what to quantise, as docs/quant.md describes it")
		}
		j.Config = work.Named{Name: f.config, Value: string(text)}
	}
	for _, list := range f.calib {
		for _, file := range split(list) {
			name, path, ok := strings.Cut(file, "=")
			if !ok {
				name, path = "", file
			}
			if filepath.Ext(path) != ".npy" {
				return usagef("-calib %s: expected FILE.npy or NAME=FILE.npy", file)
			}
			j.Calib = append(j.Calib, work.Named{Name: name, Value: absolute(path)})
		}
	}
	return nil
}

// computeFlags are those of commands that compute.
func (f *flags) computeFlags(c *cobra.Command) {
	f.weightFlags(c)
	c.Flags().StringArrayVar(&f.in, "in", nil, "NAME=VALUE of an input: FILE.npy, ramp or synthetic:SEED (repeat)")
	f.shapeFlag(c)
	c.Flags().IntVar(&f.threads, "threads", 0, "the most threads of a run, 0 for all processors")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic inputs and weights that have none of their own")
}

func (f *flags) weightFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.weights, "weights", "", "FILE.safetensors or synthetic:SEED")
}

func (f *flags) shapeFlag(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.shapes, "shape", nil, "NAME=1,128: sizes of an input (repeat)")
}

// forceFlag is of commands that write files.
func (f *flags) forceFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.force, "force", false, "replace files that fxgen did not write, or that were changed since")
}

// writer writes the results of a job on a source.
func (a *app) writer(f *flags, s *source, j *work.Job) *writer {
	w := &writer{ctx: a.ctx, force: f.force, reads: s.reads}
	if s.pkg != nil {
		w.owns = s.pkg.Owns
	}
	if filepath.IsAbs(j.Weights) {
		w.reads = append(w.reads, j.Weights)
	}
	for _, in := range slices.Concat(j.In, j.Calib) {
		if filepath.IsAbs(in.Value) {
			w.reads = append(w.reads, in.Value)
		}
	}
	if j.Config.Name != "" {
		w.reads = append(w.reads, absolute(j.Config.Name))
	}
	return w
}

func (f *flags) jsonFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON document")
}

// fill makes the job of the flags. standard is the pipeline without -passes.
func (f *flags) fill(c *cobra.Command, verb string, standard []string) (*work.Job, error) {
	if err := f.check(c); err != nil {
		return nil, err
	}
	j := f.job
	j.Verb, j.Engine, j.Seed, j.Threads, j.JSON = verb, f.engine, f.seed, f.threads, f.json
	j.MinTime, j.Timeout = int64(f.minTime), int64(f.timeout)
	for _, list := range []struct {
		flag string
		from []string
		to   *[]work.Named
	}{{"input", f.inputs, &j.Inputs}, {"in", f.in, &j.In}, {"shape", f.shapes, &j.Shapes}} {
		for _, s := range list.from {
			name, value, ok := strings.Cut(s, "=")
			if !ok || name == "" {
				return nil, usagef("-%s %s: expected NAME=VALUE", list.flag, s)
			}
			if slices.ContainsFunc(*list.to, func(n work.Named) bool { return n.Name == name }) {
				return nil, usagef("-%s %s: %s was given before; give each input once", list.flag, s, name)
			}
			*list.to = append(*list.to, work.Named{Name: name, Value: value})
		}
	}
	for i, in := range j.In {
		if ext := filepath.Ext(in.Value); ext == ".npy" || ext == ".pb" {
			j.In[i].Value = absolute(in.Value)
		}
	}
	j.Weights = f.weights
	if j.Weights != "" && j.Weights != "synthetic" && !strings.HasPrefix(j.Weights, "synthetic:") {
		j.Weights = absolute(j.Weights)
	}
	if err := f.calibration(&j); err != nil {
		return nil, err
	}
	j.Passes = standard
	if c.Flags().Changed("passes") {
		j.Passes = split(f.passes)
	}
	if err := work.Known(j.Passes); err != nil {
		return nil, err
	}
	return &j, nil
}

// link is what the flags want linked.
func (f *flags) link(j *work.Job) (l userpkg.Link, err error) {
	l.Imports = f.imports
	for _, p := range j.Passes {
		if work.OwnPass(p) && !slices.Contains(l.Passes, p) {
			l.Passes = append(l.Passes, p)
		}
	}
	return l, l.Check()
}

func absolute(path string) string {
	if p, err := filepath.Abs(path); err == nil {
		return p
	}
	return path
}

// split takes a list of passes apart; "none" is the empty list.
func split(s string) []string {
	list := []string{}
	for _, name := range strings.Split(s, ",") {
		if name = strings.TrimSpace(name); name != "" && name != "none" {
			list = append(list, name)
		}
	}
	return list
}
