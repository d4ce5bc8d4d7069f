package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/capture"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
	"github.com/gofx-dev/gofx/models"
)

// source is the object that a SOURCE argument names.
type source struct {
	name string
	here *work.Source    // done in this process
	pkg  *capture.Target // done in a test binary of the package

	reads []string // the files that it is, where it is files
}

// open finds the object that a SOURCE argument names and loads it if it is a file. A job
// that needs operators or passes of the user's own runs in a test binary that has them.
func (a *app) open(arg string, f *flags, j *work.Job) (*source, error) {
	link, err := f.link(j)
	if err != nil {
		return nil, err
	}
	if err := f.decoder(arg); err != nil {
		return nil, err
	}
	if pkg, symbol, ok := strings.Cut(arg, "#"); ok {
		t, err := capture.Parse(pkg, symbol, f.construct)
		if err != nil {
			return nil, err
		}
		t.Link = link
		return &source{name: symbol, pkg: t}, nil
	}
	if f.construct != "" {
		return nil, usagef("-new is for sources of the form ./pkg#Type, got %s", arg)
	}
	if m := models.Lookup(arg); m != nil {
		if !link.Empty() {
			return &source{name: m.Name, pkg: capture.Host(link, "", m.Name)}, nil
		}
		return &source{name: m.Name, here: work.Model(m)}, nil
	}
	reads, err := graphFiles(arg)
	if err != nil {
		return nil, err
	}
	s := &source{name: filepath.Base(filepath.Clean(arg)), reads: reads}
	if !link.Empty() {
		s.pkg = capture.Host(link, absolute(arg), "")
		return s, nil
	}
	if s.here, err = work.Open(arg, &f.job); err != nil {
		return nil, unlinked(err)
	}
	return s, nil
}

// graphFiles lists the files of a source that is a file or a folder.
func graphFiles(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(arg, `./\`):
		names := make([]string, 0, len(models.All()))
		for _, m := range models.All() {
			names = append(names, m.Name)
		}
		return nil, bad("there is no built-in network, file or folder "+arg, near.Hint(arg, names, "the built-in networks are "+strings.Join(names, ", ")))
	case errors.Is(err, os.ErrNotExist):
		return nil, bad("there is no file or folder "+arg, neighbour(arg, "check the path; Go code is named with its package: ./pkg#Name"))
	case err != nil:
		return nil, work.Unreadable(arg, err)
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(arg, graph.GraphFile)); err != nil {
			return nil, bad(arg+" holds no "+graph.GraphFile, "to capture Go code, name a function or type: "+arg+"#Net")
		}
		return filepath.Glob(filepath.Join(arg, "*"))
	case !slices.Contains(work.Endings, filepath.Ext(arg)):
		return nil, bad(arg+" is no source", "a source is a built-in network, a .fx, .onnx, .pt2 or .gguf file, a saved folder or ./pkg#Name")
	}
	return []string{arg}, nil
}

// neighbour is the hint of a path that leads nowhere: the file of its folder that was probably
// meant, else the other hint.
func neighbour(path, otherwise string) string {
	list, _ := os.ReadDir(filepath.Dir(path))
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	if name := near.Of(filepath.Base(path), names); name != "" {
		return "did you mean " + filepath.Join(filepath.Dir(path), name) + "?"
	}
	return otherwise
}

// unlinked tells, of operators that are not known here, how to link theirs.
func unlinked(err error) error {
	var l diag.List
	if !errors.As(err, &l) {
		return err
	}
	out := make(diag.List, len(l))
	for i, e := range l {
		c := *e
		if c.Code == graph.UnknownOp && !near.IsHint(c.Hint) {
			c.Hint = "name the package that defines it: -import ./ops"
		}
		out[i] = &c
	}
	return out
}

func bad(msg, hint string) error { return diag.New(work.BadSource, msg).WithHint(hint) }

// do does a job where the source exists, and prints the notes.
func (a *app) do(ctx context.Context, s *source, j *work.Job) (*work.Result, error) {
	var res *work.Result
	var err error
	if s.pkg != nil {
		done := func() {}
		if j.Verb != work.Train { // which says itself how far it is
			done = a.busy("capturing " + s.name)
		}
		res, err = s.pkg.Do(ctx, j)
		done()
		fmt.Fprint(a.terminal, s.pkg.Output) // as the user's own program writes it
	} else {
		res, err = work.Do(ctx, s.here, j)
	}
	if err != nil {
		return nil, err
	}
	for _, n := range res.Notes {
		n.Note = true
	}
	a.diagnostics(res.Notes)
	return res, nil
}
