package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/accel"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/exchange"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/lazy/lazytest"
)

func (a *app) print() *cobra.Command {
	var f flags
	var out string
	c := onSource("print", "Print the graph in the text form", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	c.Flags().StringVar(&f.job.After, "after", "", "stop the pipeline after this pass")
	f.stopFlag(c)
	c.Flags().BoolVar(&f.job.Positions, "positions", false, "show where each node was recorded")
	c.Flags().StringVar(&out, "o", "", "file to write instead of the standard output")
	f.forceFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var standard []string
		if f.job.After != "" {
			if standard = work.Optimise(); !slices.Contains(standard, f.job.After) {
				standard = []string{f.job.After}
			}
		}
		res, w, err := a.job(c, &f, work.Print, standard, args[0])
		if err != nil {
			return err
		}
		if out == "" {
			return a.say(res.Text)
		}
		t, err := stamped(out, []byte(res.Text))
		if err != nil {
			return err
		}
		return w.write([]target{t})
	}
	return c
}

func (a *app) run() *cobra.Command {
	var f flags
	c := onSource("run", "Run a network on given inputs", "one SOURCE")
	f.sourceFlags(c)
	f.valueFlags(c)
	f.stopFlag(c)
	c.Flags().StringArrayVar(&f.out, "out", nil, "NAME=FILE.npy, or .npz, which may hold several: file for an output (repeat)")
	f.forceFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		var files []work.Named
		for _, s := range f.out {
			name, path, ok := strings.Cut(s, "=")
			if ext := filepath.Ext(path); !ok || ext != ".npy" && ext != ".npz" {
				return usagef("-out %s: expected NAME=FILE.npy or NAME=FILE.npz", s)
			}
			f.job.Out = append(f.job.Out, name)
			files = append(files, work.Named{Name: name, Value: path})
		}
		res, w, err := a.job(c, &f, work.Run, f.pipeline(), args[0])
		if err != nil {
			return err
		}
		list, err := outputs(res.Files, files)
		if err != nil {
			return err
		}
		if err := w.write(list); err != nil {
			return err
		}
		return a.say(res.Text)
	}
	return c
}

// outputs are the files of results: a .npy file each, and .npz files with those that
// are to go there, by their names.
func outputs(results []work.File, files []work.Named) (list []target, err error) {
	at := map[string]int{}
	archives := map[int][]npy.Named{}
	for i, r := range results {
		path := files[i].Value
		if filepath.Ext(path) != ".npz" {
			list = append(list, target{path: path, data: r.Data})
			continue
		}
		x, err := npy.Read(bytes.NewReader(r.Data), int64(len(r.Data)))
		if err != nil {
			return nil, err
		}
		if _, known := at[path]; !known {
			at[path] = len(list)
			list = append(list, target{path: path})
		}
		archives[at[path]] = append(archives[at[path]], npy.Named{Name: files[i].Name, Array: x})
	}
	for i, arrays := range archives {
		var b bytes.Buffer
		if err := npy.WriteArchive(&b, arrays, false); err != nil {
			return nil, err
		}
		list[i].data = b.Bytes()
	}
	return list, nil
}

func (a *app) bench() *cobra.Command {
	var f flags
	c := onSource("bench", "Measure the time of a run", "one SOURCE")
	f.sourceFlags(c)
	f.valueFlags(c)
	c.Flags().IntVar(&f.job.Repeat, "repeat", 3, "the least number of runs")
	c.Flags().DurationVar(&f.minTime, "min-time", time.Second, "the least time to measure for")
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		res, _, err := a.job(c, &f, work.Bench, f.pipeline(), args[0])
		return a.sayOf(res, err)
	}
	return c
}

// pipeline is the default of an engine: those that compile optimise first.
func (f *flags) pipeline() []string {
	if f.engine == work.Plan || f.engine == work.Int8 || f.engine == "gen" || f.engine == accel.GPU || f.engine == accel.XLA {
		return work.Optimise()
	}
	return nil
}

// job opens the source and does the job of the flags; w writes its results.
func (a *app) job(c *cobra.Command, f *flags, verb string, standard []string, arg string) (res *work.Result, w *writer, err error) {
	j, err := f.fill(c, verb, standard)
	if err != nil {
		return nil, nil, err
	}
	if (j.Engine == work.Eager || j.Engine == work.Lazy) && len(j.Passes) > 0 {
		return nil, nil, usagef("-passes %s is for engines that run a graph; %s calls the Go function as it is", f.passes, j.Engine)
	}
	s, err := a.open(arg, f, j)
	if err != nil {
		return nil, nil, err
	}
	w = a.writer(f, s, j)
	if (verb == work.Run || verb == work.Bench) && (j.Engine == "module" || j.Engine == "gen") {
		res, err = a.built(a.ctx, s, j)
	} else {
		res, err = a.do(a.ctx, s, j)
	}
	return res, w, err
}

// why is about passes: without -passes those of the default pipeline.
func (a *app) why() *cobra.Command {
	var f flags
	c := onSource("why", "Tell which passes and rules made which nodes, and why others did not", "one SOURCE")
	f.sourceFlags(c)
	f.weightFlags(c)
	f.stopFlag(c)
	c.Flags().StringVar(&f.job.Node, "node", "", "the node to explain, by its name before or after any pass")
	c.Flags().BoolVar(&f.job.Diff, "diff", false, "show what each pass changes in the text of the graph")
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		res, _, err := a.job(c, &f, work.Why, work.Optimise(), args[0])
		return a.sayOf(res, err)
	}
	return c
}

// sayOf says the text of a result that there is without an error.
func (a *app) sayOf(res *work.Result, err error) error {
	if err != nil {
		return err
	}
	return a.say(res.Text)
}

func (a *app) say(text string) error {
	_, err := io.WriteString(a.stdout, text)
	return err
}

// lazyCommand runs code in a session, and says what the session did.
func lazyCommand(a *app) *cobra.Command {
	var f flags
	var dot, check bool
	var golden, gen string
	c := onSource("lazy", "Run Go code in a lazy session, and tell its graphs and what asked for values, where", "one SOURCE")
	f.sourceFlags(c)
	f.computeFlags(c)
	c.Flags().IntVar(&f.job.Repeat, "runs", 4, "the number of runs; of four, the last is compiled")
	c.Flags().BoolVar(&f.job.Rounding, "rounding", false, "let plans round as they do by themselves")
	c.Flags().BoolVar(&f.job.Donate, "donate", false, "update the model in its memory at the third equal run and later; with -gen, have the code do so")
	c.Flags().BoolVar(&dot, "dot", false, "print the succession of the graphs in the language of Graphviz")
	c.Flags().StringVar(&golden, "golden", "", "FILE with the graphs that are expected; without the file, it is written")
	c.Flags().StringVar(&gen, "gen", "", "folder to write: the graphs of the runs as a Go package, for lazy.Options.Generated")
	c.Flags().StringVar(&f.job.Package, "package", "", "with -gen: name of the generated package")
	c.Flags().BoolVar(&check, "check", false, "with -gen: write nothing, and fail if the files on disk are not those that would be written")
	f.forceFlag(c)
	f.jsonFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if f.job.Repeat < 1 {
			return usagef("-runs %d: expected at least 1", f.job.Repeat)
		}
		if dot && f.json {
			return usagef("-dot and -json are two forms of the output, give one of them")
		}
		f.engine = work.Lazy
		if gen != "" {
			if dot || golden != "" {
				return usagef("-gen writes code, -dot and -golden write graphs as text; give one of them")
			}
			return lazyGen(a, c, &f, gen, check, args[0])
		}
		if check || f.job.Package != "" {
			return usagef("-check and -package are for -gen DIR")
		}
		res, w, err := a.job(c, &f, work.Lazy, nil, args[0])
		if err != nil {
			return err
		}
		var e lazy.Explanation
		if err := json.Unmarshal([]byte(res.Text), &e); err != nil {
			return err
		}
		placed(&e)
		if golden != "" {
			return compareGraphs(a, &e, golden, f.force, w)
		}
		switch {
		case dot:
			return a.say(e.DOT())
		case f.json:
			enc := json.NewEncoder(a.stdout)
			enc.SetIndent("", "  ")
			return enc.Encode(&e)
		}
		return a.say(e.String())
	}
	return c
}

// lazyGen writes the graphs of code in a session as Go, or checks what was written.
func lazyGen(a *app, c *cobra.Command, f *flags, dir string, check bool, arg string) error {
	if filepath.Ext(dir) == ".go" {
		return usagef("-gen %s: expected a folder, each graph has files of its own", dir)
	}
	if f.json && !check {
		return usagef("-json with -gen is for -check: what is written is Go")
	}
	j, err := f.fill(c, work.Lazy, nil)
	if err != nil {
		return err
	}
	j.MaxBytes, j.Graphs = a.most, true
	s, err := a.open(arg, f, j)
	if err != nil {
		return err
	}
	dir = place(j, dir, s)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return diag.New(codeNoWrite, "-gen "+dir+" is a file, expected a folder").WithHint("choose another place")
	}
	if s.pkg != nil {
		s.pkg.Generated = absolute(dir)
	}
	res, err := a.do(a.ctx, s, j)
	if err != nil {
		return err
	}
	g, err := outputOf(res, j, dir, a.writer(f, s, j))
	switch {
	case err != nil:
		return err
	case check:
		return judge(a, g, f.json)
	}
	return deliver(a, g)
}

// compareGraphs compares the graphs with a file, or writes it.
func compareGraphs(a *app, e *lazy.Explanation, file string, force bool, w *writer) error {
	text, err := lazytest.Text(e)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); force || errors.Is(err, fs.ErrNotExist) {
		return w.write([]target{{path: file, data: []byte(text)}})
	}
	wrong, err := lazytest.Compare(e, file)
	if err != nil || len(wrong) == 0 {
		return err
	}
	if err := a.say(strings.Join(wrong, "\n") + "\n"); err != nil {
		return err
	}
	return errDiffers
}

// placed gives files relative paths. Where fxgen itself asked for values, no line did.
func placed(e *lazy.Explanation) {
	at := func(s *string) {
		i := strings.LastIndexByte(*s, ':')
		if i < 0 {
			return
		}
		if name := filepath.Base((*s)[:i]); name == exchange.HarnessFile || name == exchange.NamesFile {
			*s = "fxgen"
			return
		}
		*s = relative((*s)[:i]) + (*s)[i:]
	}
	for _, list := range [][]lazy.Flush{e.Flushes, e.Copies} {
		for i := range list {
			at(&list[i].At)
		}
	}
	for _, g := range e.Graphs {
		for i := range g.Flushes {
			at(&g.Flushes[i].At)
		}
		for i := range g.Lines {
			at(&g.Lines[i].At)
		}
		if d := g.Differs; d != nil {
			at(&d.Here.At)
			at(&d.There.At)
		}
	}
}
