package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/array/weights"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
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
	device                  string
	turns                   []string
	latency                 time.Duration
	stopAt                  string
	threads                 int
	json                    bool
	force                   bool
	job                     work.Job
	minTime, timeout        time.Duration
}

// sourceFlags are those of all commands that capture.
func (f *flags) sourceFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.construct, "new", "", "function, or expression, that makes the module of ./pkg#Type")
	f.typeFlags(c)
	f.decoderFlags(c)
	c.Flags().StringArrayVar(&f.imports, "import", nil, "package with operators of your own to link, such as ./ops (repeat)")
	c.Flags().DurationVar(&f.timeout, "timeout", 2*time.Minute, "the longest that the model's Go code may take to be captured, 0 for any")
	c.Flags().StringVar(&f.passes, "passes", "", "passes with commas between them, ./pkg#Var for one of your own, or none")
}

// decoderFlags are about the decoders of language models.
func (f *flags) decoderFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.job.Cache, "cache", "", "of a .gguf file: element type of keys and values, f32, f16 or int8")
	c.Flags().StringVar(&f.job.Activations, "activations", "", "of a .gguf file: f32, or int8 to round what weights in blocks are multiplied by to 8 bits")
}

// decoder refuses unknown values of those flags, and sources that have no decoder.
func (f *flags) decoder(arg string) error {
	for _, g := range []struct{ name, value, known string }{{"cache", f.job.Cache, "f32, f16 or int8"}, {"activations", f.job.Activations, "f32 or int8"}} {
		switch {
		case g.value == "":
		case filepath.Ext(arg) != ".gguf":
			return usagef("-%s is for .gguf files, got %s", g.name, arg)
		case g.value != "f32" && g.value != "int8" && (g.name != "cache" || g.value != "f16"):
			return usagef("-%s %s: expected %s", g.name, g.value, g.known)
		}
	}
	return nil
}

// typeFlags describe the inputs.
func (f *flags) typeFlags(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.inputs, "input", nil, "NAME=TYPE of an input, such as 'x=f32[N,3,224,224]' (repeat)")
	c.Flags().StringArrayVar(&f.shapes, "shape", nil, "NAME=1,128: sizes of an input; a .onnx, .pt2 or .gguf file is imported with these (repeat)")
}

// valueFlags are those of commands that compute with any engine.
func (f *flags) valueFlags(c *cobra.Command) {
	f.computeFlags(c)
	f.engineFlags(c, work.Plan, "eager, lazy, interp, plan, int8, gpu, xla, module or gen")
	f.calibFlag(c, " with -engine int8")
	f.productsFlag(c)
	f.measureFlag(c)
}

// measureFlag is of commands that run plans.
func (f *flags) measureFlag(c *cobra.Command) {
	c.Flags().BoolVar(&f.job.Measure, "measure", false, "choose between implementations of a step by measuring, where estimates are close, and keep the choices for this machine")
}

// productsFlag is of commands that plan.
func (f *flags) productsFlag(c *cobra.Command) {
	c.Flags().StringVar(&f.job.Products, "products", "", "bf16: round the operands of products and convolutions to it, and sum in f32")
}

// engineFlags choose the engine.
func (f *flags) engineFlags(c *cobra.Command, standard, engines string) {
	c.Flags().StringVar(&f.engine, "engine", standard, engines)
	c.Flags().StringVar(&f.job.On, "device", "", "with -engine gpu: a device as fxgen devices lists them, such as opencl; with xla: a PJRT plugin's file, or name")
}

// calibFlag is of commands that quantise.
func (f *flags) calibFlag(c *cobra.Command, when string) {
	c.Flags().StringArrayVar(&f.calib, "calib", nil, "FILE.npy, or NAME=FILE.npy, of inputs to calibrate with"+when+", commas between several (repeat)")
}

// configFlag is of commands that quantise by a file.
func (f *flags) configFlag(c *cobra.Command, when string) {
	c.Flags().StringVar(&f.config, "config", "", "JSON file of what to quantise"+when+"; without it everything, statically")
}

// deviceFlag is of commands that predict times.
func (f *flags) deviceFlag(c *cobra.Command, when string) {
	c.Flags().StringVar(&f.device, "device", "", "JSON file that describes what times are predicted for"+when+"; devices -calibrate makes one of this machine")
}

// predicted enters the device and its settings into the job.
func (f *flags) predicted(j *work.Job) error {
	j.Latency = int64(f.latency)
	switch {
	case f.device != "" && j.Verb == work.Draw && j.Overlay != work.OverlayCost:
		return usagef("-device is for -overlay cost, a drawing without it predicts nothing")
	case f.device == "" && (j.Rate != 0 || j.Latency != 0):
		return usagef("-rate and -latency are for -device, without it nothing is predicted")
	case j.Rate < 0 || j.Latency < 0 || (j.Rate == 0) != (j.Latency == 0):
		return usagef("-rate %g -latency %v: expected requests a second and the time that one may take, both more than 0", j.Rate, f.latency)
	}
	for _, s := range f.turns {
		name, value, _ := strings.Cut(s, "=")
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || name == "" {
			return usagef("-turns %s: expected NAME=N, the name of a while and how often it runs its body", s)
		}
		if j.Turns == nil {
			j.Turns = map[string]int{}
		}
		j.Turns[name] = n
	}
	if f.device == "" {
		return nil
	}
	text, err := os.ReadFile(f.device)
	if err != nil {
		return bad("-device: "+err.Error(), "give a file that describes a device, as docs/cost.md has it")
	}
	j.Device = work.Named{Name: f.device, Value: string(text)}
	return nil
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
			flag := "-config"
			if j.Verb == work.Train {
				flag = "-qat"
			}
			return bad(flag+": "+err.Error(), "give a file that says what to quantise, as docs/quant.md describes it")
		}
		j.Config = work.Named{Name: f.config, Value: string(text)}
	}
	for _, list := range f.calib {
		for _, file := range strings.Split(list, ",") {
			name, path, ok := strings.Cut(strings.TrimSpace(file), "=")
			if !ok {
				name, path = "", name
			}
			if ext := filepath.Ext(path); ext != ".npy" && ext != ".npz" {
				return usagef("-calib %s: expected FILE.npy, FILE.npz or NAME=FILE, with one comma between several", list)
			}
			j.Calib = append(j.Calib, work.Named{Name: name, Value: absolute(path)})
		}
	}
	return nil
}

// computeFlags are those of commands that compute.
func (f *flags) computeFlags(c *cobra.Command) {
	f.weightFlags(c)
	c.Flags().StringArrayVar(&f.in, "in", nil, "NAME=VALUE of an input: FILE.npy, FILE.npz, FILE.pb, numbers (2,3), ramp or synthetic:SEED (repeat)")
	c.Flags().IntVar(&f.threads, "threads", 0, "the most threads of a run, 0 for all processors")
	c.Flags().StringVar(&f.seed, "seed", work.DefaultSeed, "seed of synthetic inputs and weights that have none of their own")
}

func (f *flags) weightFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.weights, "weights", "", "FILE (safetensors or its index, npz, GGUF, torch.save's), FILE#NAME for a part of one, or synthetic:SEED")
	c.Flags().StringArrayVar(&f.job.Rename, "rename", nil, "'FROM=TO' for names of -weights, such as 'norm*=bn*': * stands for any text (repeat; of several the first that fits a name)")
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
		file, _ := weights.Split(j.Weights)
		w.reads = append(w.reads, file)
	}
	for _, in := range slices.Concat(j.In, j.Calib, j.Train.Data, j.Train.Valid) {
		if path, _ := work.DataFile(in.Value); filepath.IsAbs(path) {
			w.reads = append(w.reads, path)
		}
	}
	for _, read := range []work.Named{j.Config, j.Device, j.Marks} {
		if read.Name != "" {
			w.reads = append(w.reads, absolute(read.Name))
		}
	}
	a.writers = append(a.writers, w)
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
		if work.IsFile(in.Value) {
			j.In[i].Value = absolute(in.Value)
		}
	}
	j.Weights = weightsPath(f.weights)
	if len(j.Rename) > 0 && !filepath.IsAbs(j.Weights) {
		return nil, usagef("-rename is for the names in a file, give it with -weights FILE")
	}
	if verb != work.Values {
		if err := onDevice(&j); err != nil {
			return nil, err
		}
	}
	if err := f.calibration(&j); err != nil {
		return nil, err
	}
	if err := f.predicted(&j); err != nil {
		return nil, err
	}
	var err error
	if j.StopAt, err = readStop("stop-at", f.stopAt); err != nil {
		return nil, err
	}
	j.Passes = standard
	if c.Flags().Changed("passes") {
		j.Passes = split(f.passes)
	}
	return &j, known(&j, "passes", "stop-at")
}

// onDevice refuses -device where no engine takes it.
func onDevice(jobs ...*work.Job) error {
	j := jobs[0]
	if j.On == "" || slices.ContainsFunc(jobs, func(j *work.Job) bool { return j.Engine == accel.GPU || j.Engine == accel.XLA }) {
		return nil
	}
	return usagef("-device is for -engine gpu and xla, engine %s runs on the processor", j.Engine)
}

// known checks the pipeline of a job, and that there is one where it is to be ended.
func known(j *work.Job, passes, stop string) error {
	if j.StopAt.Name != "" && len(j.Passes) == 0 {
		return usagef("-%s %s:%s: there are no passes; give -%s", stop, j.StopAt.Name, j.StopAt.Value, passes)
	}
	return work.Known(j.Passes)
}

// link is the list of packages that the flags want linked.
func (f *flags) link(j *work.Job) (l capture.Link, err error) {
	l.Imports = f.imports
	for _, p := range j.Passes {
		if work.OwnPass(p) && !slices.Contains(l.Passes, p) {
			l.Passes = append(l.Passes, p)
		}
	}
	return l, l.Check()
}

// weightsPath makes the path of a file of weights absolute.
func weightsPath(s string) string {
	if s == "" || s == "synthetic" || strings.HasPrefix(s, "synthetic:") {
		return s
	}
	return absolute(s)
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
