package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/stamp"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/textdiff"
)

// genFlags are those of gen, check and diff.
type genFlags struct {
	flags
	out     string
	tested  bool
	samples string
}

func (f *genFlags) register(c *cobra.Command) {
	f.sourceFlags(c)
	f.weightFlags(c)
	f.productsFlag(c)
	c.Flags().StringArrayVar(&f.in, "in", nil, "NAME=2,3, or FILE.npy, .npz or .pb: value of an input of a .onnx file that sizes follow from, for good (repeat)")
	c.Flags().StringVar(&f.out, "o", "", "folder, or Go file, to write; the package's name when not given")
	c.Flags().StringVar(&f.job.Package, "package", "", "name of the generated package")
	c.Flags().StringVar(&f.job.Type, "type", "", "name of the generated type (Model)")
	c.Flags().StringVar(&f.job.Func, "func", "", "name of the generated function in module style (Forward)")
	c.Flags().StringVar(&f.job.Style, "style", work.Kernel, "kernel: a package of its own that calls kernels; module: readable Go over the tensor API")
	c.Flags().StringVar(&f.job.WeightsMode, "weights-mode", "auto", "where weights are: embed, external, literal, given by the program, or auto")
	c.Flags().BoolVar(&f.job.Eject, "eject", false, "leave out the header that forbids editing")
	c.Flags().BoolVar(&f.tested, "test", false, "write an example, and a test against samples, next to the code; what .onnx and .pt2 files have without it, unless it is -test=false")
	c.Flags().StringVar(&f.samples, "samples", "", "folder with test_data_set_N of a .onnx or .pt2 file, for the test; without it samples are made up")
	f.forceFlag(c)
}

// testing enters the tests to generate into the job.
func (f *genFlags) testing(c *cobra.Command, j *work.Job, arg string) error {
	given := c.Flags().Changed("test")
	switch {
	case given && !f.tested && (f.samples != "" || len(j.Shapes) > 0 && !slices.Contains([]string{".onnx", ".pt2"}, filepath.Ext(arg))): // which is imported with them
		return usagef("-samples and -shape are for tests, which -test=false leaves out")
	case given && !f.tested:
		j.Tested = work.TestedNo
	case given, f.samples != "":
		j.Tested = work.TestedYes
	}
	if f.samples != "" {
		j.SamplesDir = absolute(f.samples)
	}
	return nil
}

func (a *app) gen() *cobra.Command {
	return a.genCommand("gen", "Write generated Go", func(g *generated) error { return deliver(a, g) })
}

// deliver writes what was generated.
func deliver(a *app, g *generated) error {
	if err := g.writer.write(g.files); err != nil {
		return err
	}
	for _, path := range g.strays {
		a.diagnostics(diag.List{{Note: true, Msg: path + " was generated earlier and is not any more; delete it"}})
	}
	return nil
}

// difference is a line of check.
type difference struct {
	Path  string `json:"path"`
	State string `json:"state"`
}

func (g *generated) differences() []difference {
	list := []difference{}
	for _, t := range stale(g.files) {
		what := "differs"
		if _, err := os.Stat(t.path); errors.Is(err, fs.ErrNotExist) {
			what = "is missing"
		}
		list = append(list, difference{filepath.ToSlash(t.path), what})
	}
	for _, path := range g.strays {
		list = append(list, difference{filepath.ToSlash(path), "is not generated any more"})
	}
	return list
}

func (a *app) check() *cobra.Command {
	asJSON := false
	c := a.genCommand("check", "Fail if the files on disk are not what gen would write", func(g *generated) error { return judge(a, g, asJSON) })
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return c
}

// judge tells which files on disk are not the generated ones.
func judge(a *app, g *generated, asJSON bool) error {
	list := g.differences()
	outdated(a, list)
	if asJSON {
		e := json.NewEncoder(a.stdout)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"stale": list}); err != nil {
			return err
		}
	} else {
		for _, d := range list {
			fmt.Fprintln(a.stdout, d.Path, d.State)
		}
		if err := a.unified(g); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		return errDiffers
	}
	return nil
}

func (a *app) diff() *cobra.Command {
	return a.genCommand("diff", "Print how the files on disk differ from what gen would write", func(g *generated) error {
		if err := a.unified(g); err != nil {
			return err
		}
		for _, path := range g.strays {
			fmt.Fprintf(a.stdout, "Only on disk: %s\n", path)
		}
		list := g.differences()
		if outdated(a, list); len(list) > 0 {
			return errDiffers
		}
		return nil
	})
}

// unified prints how the files on disk differ from the generated ones.
func (a *app) unified(g *generated) error {
	for _, t := range stale(g.files) {
		before, err := os.ReadFile(t.path)
		name := t.path
		if err != nil {
			name = os.DevNull
		}
		if !textual(before) || !textual(t.data) {
			fmt.Fprintf(a.stdout, "Binary files %s and %s differ\n", name, t.path)
			continue
		}
		if err := a.say(textdiff.Unified(filepath.ToSlash(name), filepath.ToSlash(t.path), string(before), string(t.data))); err != nil {
			return err
		}
	}
	return nil
}

func textual(b []byte) bool { return !slices.Contains(b, 0) }

// generated is the output of gen for its arguments.
type generated struct {
	files  []target
	writer *writer
	strays []string // files that fxgen wrote to the folder and does not write now
}

func (a *app) genCommand(name, short string, finish func(*generated) error) *cobra.Command {
	var f genFlags
	c := onSource(name, short, "one SOURCE")
	f.register(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		g, err := again(a, c, &f, name, args[0])
		if err != nil {
			return err
		}
		return finish(g)
	}
	return c
}

// again is generate for gen. For check and diff a source may also be a file that compile wrote.
func again(a *app, c *cobra.Command, f *genFlags, verb, arg string) (*generated, error) {
	if funcs := madeBy(arg); funcs != nil && verb != "gen" {
		return compiled(a, arg, f.force, funcs)
	}
	return a.generate(c, f, arg)
}

func (a *app) generate(c *cobra.Command, f *genFlags, arg string) (*generated, error) {
	if !slices.Contains([]string{work.Kernel, work.Module}, f.job.Style) {
		return nil, usagef("-style %s: expected kernel or module", f.job.Style)
	}
	if !slices.Contains([]string{"auto", "embed", "external", "literal", "given"}, f.job.WeightsMode) {
		return nil, usagef("-weights-mode %s: expected auto, embed, external, literal or given", f.job.WeightsMode)
	}
	var standard []string
	switch f.job.Style {
	case work.Kernel:
		if standard = work.Optimise(); f.job.Func != "" {
			return nil, usagef("-func %s is for -style module; in kernel style the entry is the method Forward of the type that -type names", f.job.Func)
		}
	case work.Module:
		if f.job.Type != "" {
			return nil, usagef("-type %s is for -style kernel; in module style the entry is the function that -func names", f.job.Type)
		}
		if f.job.WeightsMode != "auto" {
			return nil, usagef("-weights-mode %s is for -style kernel; module style puts weights into a file", f.job.WeightsMode)
		}
	}
	if f.job.Func != "" && !token.IsIdentifier(f.job.Func) {
		return nil, usagef("-func %s: expected a Go identifier", f.job.Func)
	}
	if filepath.Base(f.out) == ".go" {
		return nil, usagef("-o %s: expected a folder, or the name of a Go file", f.out)
	}
	j, err := f.fill(c, work.Gen, standard)
	if err != nil {
		return nil, err
	}
	j.MaxBytes = a.most
	if err := f.testing(c, j, arg); err != nil {
		return nil, err
	}
	s, err := a.open(arg, &f.flags, j)
	if err != nil {
		return nil, err
	}
	dir := place(j, f.out, s)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, diag.New(codeNoWrite, "-o "+dir+" is a file, expected a folder or the name of a .go file").WithHint("choose another place")
	}
	if s.pkg != nil {
		s.pkg.Generated = absolute(dir)
		if j.File != "" {
			s.pkg.Generated = absolute(f.out)
		}
	}
	res, err := a.do(a.ctx, s, j)
	if err != nil {
		return nil, err
	}
	return outputOf(res, j, dir, a.writer(&f.flags, s, j))
}

// outputOf are the files of a result, which belong into a folder.
func outputOf(res *work.Result, j *work.Job, dir string, w *writer) (*generated, error) {
	g := &generated{writer: w}
	names := map[string]bool{}
	for _, file := range res.Files {
		t := target{filepath.Join(dir, file.Name), file.Data}
		if !j.Eject { // ejected code is the user's from then on
			var err error
			if t, err = stamped(t.path, t.data); err != nil {
				return nil, err
			}
		}
		g.files = append(g.files, t)
		names[file.Name] = true
	}
	if !j.Eject {
		g.strays = strays(dir, j.File, names)
	}
	return g, nil
}

// place decides the folder, the files' names and the package's name.
func place(j *work.Job, out string, s *source) (dir string) {
	dir = out
	switch {
	case strings.HasSuffix(out, ".go"):
		dir, j.File = filepath.Dir(out), strings.TrimSuffix(filepath.Base(out), ".go")
	case out == "" && j.Package != "":
		dir = j.Package
	case out == "":
		dir = work.PackageName(s.name)
	}
	j.OutDir = absolute(dir)
	if j.Package == "" {
		if j.Package = capture.PackageIn(j.OutDir); j.Package == "" {
			j.Package = work.PackageName(j.OutDir)
		}
	}
	return dir
}

// strays lists the Go and weight files of a folder that fxgen wrote and that are
// not among the names; of those that begin with a given name where there is one.
func strays(dir, file string, names map[string]bool) (list []string) {
	for _, pattern := range []string{"*.go", "*.safetensors"} {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, f := range files {
			if names[filepath.Base(f)] || file != "" && !capture.PartOf(f, filepath.Join(dir, file)) {
				continue
			}
			if data, ok := contents(f); ok && stamp.Of(f, data) != stamp.Foreign {
				list = append(list, f)
			}
		}
	}
	return list
}
