package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/fx"
	"github.com/gofx-dev/gofx/nn"
	"github.com/gofx-dev/gofx/optim"
	"github.com/gofx-dev/gofx/train"
)

// trainFlags are those of train that need more than to be stored.
type trainFlags struct {
	flags
	data, valid []string
	metrics     []string
	out         string
	mixed       string
	recompute   string
}

// trainCommand is the command train.
func trainCommand(a *app) *cobra.Command {
	var f trainFlags
	c := onSource("train", "Train a network and write it with its weights", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	f.trainFlags(c)
	f.forceFlag(c)
	f.jsonFlag(c)
	c.Flag("json").Usage = "print a line of JSON for each epoch, and one for the end"
	c.RunE = func(c *cobra.Command, args []string) error { return trained(a, c, &f, args[0]) }
	return c
}

func (f *trainFlags) trainFlags(c *cobra.Command) {
	t := &f.job.Train
	g := c.Flags()
	g.StringArrayVar(&f.data, "data", nil, "FILE.npz, FILE.csv, NAME=FILE.npy or NAME=FILE.npz#ARRAY: inputs by the model's names, and the targets (repeat)")
	g.StringArrayVar(&f.valid, "valid", nil, "data to evaluate after each epoch, as -data; or the part of -data to put aside for it, such as 0.2")
	g.StringVar(&t.Target, "target", "", "the array, or the column of a table, that has the targets; without it the array that is no input, the last column")
	g.StringVar(&t.Output, "output", "", "the result that the loss compares with the targets, the first one without it")
	g.StringVar(&t.Loss, "loss", "", strings.Join(nn.LossNames(), ", ")+", with settings such as 'cross_entropy(label_smoothing=0.1)'")
	g.StringVar(&t.Optimiser, "optim", "adamw", strings.Join(optim.Names(), ", ")+", with settings such as 'adamw(lr=1e-3,weight_decay=0.01)'")
	g.StringVar(&t.Rate, "lr", "", "the learning rate, short for the setting lr of -optim")
	g.StringVar(&t.Schedule, "schedule", "", strings.Join(optim.ScheduleNames(), ", ")+" of the learning rates, such as 'warmup(steps=100) then cosine(steps=900,least=0.1)'")
	g.StringSliceVar(&f.metrics, "metric", nil, "what is measured besides the loss, with commas between several: "+strings.Join(train.MetricNames(), ", "))
	g.IntVar(&t.Epochs, "epochs", 10, "how often all examples are seen")
	g.IntVar(&t.Batch, "batch", 0, "examples of a step; 32 without it, or what the model takes")
	g.BoolVar(&t.DropLast, "drop-last", false, "leave out the last batch of an epoch where it is smaller")
	g.Uint64Var(&t.Seed, "seed", 1, "of the order of the examples, of -valid 0.2 and of -init")
	g.BoolVar(&t.Initial, "init", false, "begin with random weights, PyTorch's distributions, instead of the module's")
	g.StringArrayVar(&t.Freeze, "freeze", nil, "a parameter, or pattern such as 'encoder.*', that stays as it is (repeat)")
	g.Float64Var(&t.ClipNorm, "clip-norm", 0, "the largest norm of all gradients together, 0 for any")
	g.IntVar(&t.Patience, "patience", 0, "stop after so many epochs without a better loss, of -valid where it is given; 0 does not")
	g.BoolVar(&t.Evaluation, "evaluation", false, "train norms and other calls in evaluation mode as they are")
	g.StringVar(&f.mixed, "mixed", "", "bf16 or f16: products compute in it, parameters and their updates in f32")
	g.StringVar(&f.recompute, "recompute", "", "what is computed again for gradients to save memory: cheap calls, scopes:PATTERN,... or all that a number of bytes such as 512MiB asks for")
	g.StringVar(&f.config, "qat", "", "JSON file of what to quantise: the network learns to be quantised, and is written so")
	g.IntVar(&f.threads, "threads", 0, "the most threads, 0 for all processors; the results are the same")
	g.StringVar(&f.out, "o", "", "folder for the trained graph, which every command takes as SOURCE, and its checkpoints")
	g.IntVar(&t.Every, "every", 0, "steps from one checkpoint to the next, besides those of epochs")
	g.BoolVar(&t.Resume, "resume", false, "go on from the last checkpoint of the folder, where there is one")
}

// files reads the values of -data and -valid.
func (f *trainFlags) files(flag string, values []string) (list []work.Named, err error) {
	for _, v := range values {
		name, file, ok := strings.Cut(v, "=")
		if !ok {
			name, file = "", v
		}
		path, key := work.DataFile(file)
		if !slices.Contains(work.DataEndings, filepath.Ext(path)) || ok && name == "" {
			return nil, usagef("-%s %s: expected FILE.npz, FILE.csv, NAME=FILE.npy or NAME=FILE.npz#ARRAY", flag, v)
		}
		if path = absolute(path); key != "" {
			path += "#" + key
		}
		list = append(list, work.Named{Name: name, Value: path})
	}
	return list, nil
}

// read checks the flags and enters them into the job.
func (f *trainFlags) read() (err error) {
	t := &f.job.Train
	switch {
	case len(f.data) == 0 || t.Loss == "" || f.out == "":
		return usagef("train needs -data, -loss and -o FOLDER")
	case t.Epochs < 1 || t.Batch < 0 || t.Every < 0 || t.Patience < 0 || !(t.ClipNorm >= 0):
		return usagef("-epochs %d -batch %d -every %d -patience %d -clip-norm %g: expected an epoch or more, and nothing negative", t.Epochs, t.Batch, t.Every, t.Patience, t.ClipNorm)
	case t.Resume && f.force:
		return usagef("-resume goes on with the folder, -force begins again; give one of them")
	}
	if err := f.form(); err != nil {
		return err
	}
	if t.Data, err = f.files("data", f.data); err != nil {
		return err
	}
	t.Metrics, t.Force = f.metrics, f.force
	if len(f.valid) == 1 && filepath.Ext(f.valid[0]) != ".npz" {
		if share, err := strconv.ParseFloat(f.valid[0], 64); err == nil {
			if t.Share = share; !(share > 0 && share < 1) {
				return usagef("-valid %s: expected a part between 0 and 1, or files", f.valid[0])
			}
			return nil
		}
	}
	t.Valid, err = f.files("valid", f.valid)
	return err
}

// form reads the flags that say how a step computes what it does.
func (f *trainFlags) form() error {
	t := &f.job.Train
	switch f.mixed {
	case "":
	case "bf16":
		t.Mixed = array.BF16
	case "f16":
		t.Mixed = array.F16
	default:
		return usagef("-mixed %s: expected bf16 or f16", f.mixed)
	}
	if f.mixed != "" && f.config != "" {
		return usagef("-qat learns scales of values in f32, -mixed computes in %s; give one of them", f.mixed)
	}
	bytes, counted := bytesOf(f.recompute)
	scopes, scoped := strings.CutPrefix(f.recompute, "scopes:")
	switch {
	case f.recompute == "":
	case f.recompute == "cheap":
		t.Recompute = &fx.RecomputePolicy{}
	case counted:
		t.Recompute = &fx.RecomputePolicy{Budget: bytes}
	case scoped && scopes != "":
		t.Recompute = &fx.RecomputePolicy{Scopes: strings.Split(scopes, ",")}
	default:
		return usagef("-recompute %s: expected cheap, scopes:PATTERN with commas between several, or a number of bytes, with KiB, MiB or GiB after it or without", f.recompute)
	}
	return nil
}

// trained trains, shows how it goes, and writes the result.
func trained(a *app, c *cobra.Command, f *trainFlags, arg string) error {
	if err := f.read(); err != nil {
		return err
	}
	a.lines = f.json
	files, checkpoints := work.TrainedFiles(f.out)
	f.job.Train.Folder = absolute(checkpoints)
	dir, remove, err := proc.TempDir()
	if err != nil {
		return err
	}
	defer remove()
	f.job.Train.Log = filepath.Join(dir, "log.jsonl")
	j, err := f.fill(c, work.Train, nil)
	if err != nil {
		return err
	}
	s, err := a.open(arg, &f.flags, j)
	if err != nil {
		return err
	}
	w := a.writer(&f.flags, s, j)
	for _, path := range files { // before hours of training
		if _, err := w.fit(target{path: path}); err != nil {
			return err
		}
	}
	ended := follow(a, j.Train.Log, f.json)
	res, err := a.do(a.ctx, s, j)
	ended()
	if err != nil {
		return err
	}
	var list []target
	for _, file := range res.Files {
		t, err := stamped(filepath.Join(f.out, file.Name), file.Data)
		if err != nil {
			return err
		}
		list = append(list, t)
	}
	if err := w.write(list); err != nil || !f.json {
		return err
	}
	doc := resultJSON{Files: []string{}, Diagnostics: a.reported()}
	for _, path := range w.wrote {
		doc.Files = append(doc.Files, filepath.ToSlash(path))
	}
	return json.NewEncoder(a.stdout).Encode(doc)
}

// follow prints what comes to the log of a training, which may run in another process, until
// the returned function is called: epochs as results, and a bar where a person is watching.
func follow(a *app, log string, asJSON bool) (ended func()) {
	stop, stopped := make(chan struct{}), make(chan struct{})
	bar := watched(a.terminal)
	go func() {
		defer close(stopped)
		var in *bufio.Reader
		var rest string
		for last := false; ; {
			if in == nil {
				if f, err := os.Open(log); err == nil {
					defer f.Close()
					in = bufio.NewReader(f)
				}
			}
			for in != nil {
				line, err := in.ReadString('\n')
				if rest += line; err != nil {
					break
				}
				logged(a.stdout, strings.TrimSuffix(rest, "\n"), asJSON, bar)
				rest = ""
			}
			if last {
				break
			}
			select {
			case <-stop:
				last = true
			case <-time.After(50 * time.Millisecond):
			}
		}
		if bar != nil {
			fmt.Fprint(bar, "\r\x1b[K")
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// logged prints a line of the log.
func logged(out io.Writer, line string, asJSON bool, bar io.Writer) {
	var p struct{ Progress *work.Progress }
	if json.Unmarshal([]byte(line), &p) == nil && p.Progress != nil {
		if bar != nil {
			fmt.Fprint(bar, "\r"+progressBar(p.Progress)+"\x1b[K")
		}
		return
	}
	if bar != nil {
		fmt.Fprint(bar, "\r\x1b[K")
	}
	if asJSON {
		fmt.Fprintln(out, line)
		return
	}
	var e map[string]any
	if json.Unmarshal([]byte(line), &e) != nil {
		return
	}
	fmt.Fprintln(out, epochLine(e))
}

// progressBar is a line that says how far an epoch is.
func progressBar(p *work.Progress) string {
	const width = 24
	done := p.Batch * width / max(p.Batches, 1)
	return fmt.Sprintf("epoch %d/%d [%s%s] %d/%d  loss %.4g", p.Epoch, p.Epochs, strings.Repeat("=", done), strings.Repeat(" ", width-done), p.Batch, p.Batches, p.Loss)
}

// epochLine is the text of an epoch: the loss first, then the metrics by name.
func epochLine(e map[string]any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "epoch %v", e["epoch"])
	var names []string
	for name := range e {
		if !slices.Contains([]string{"epoch", "step", "scale", "seconds"}, name) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(x, y string) int {
		key := func(s string) string {
			rest, test := strings.CutPrefix(s, "test_")
			return fmt.Sprintf("%t %t %s", test, rest != "loss", rest)
		}
		return strings.Compare(key(x), key(y))
	})
	for _, name := range names {
		if v, ok := e[name].(float64); ok {
			fmt.Fprintf(&b, "  %s %.6g", name, v)
		} else {
			fmt.Fprintf(&b, "  %s %v", name, e[name])
		}
	}
	return b.String()
}
