package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/userpkg"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/models"
)

// source is what a SOURCE argument names.
type source struct {
	name string
	here *work.Source    // done in this process
	pkg  *userpkg.Target // done in a test binary of the package

	reads []string // the files that it is, where it is files
}

// open finds out what a SOURCE argument names and loads what is a file.
func (a *app) open(arg, constructor string) (*source, error) {
	if pkg, symbol, ok := strings.Cut(arg, "#"); ok {
		t, err := userpkg.Parse(pkg, symbol, constructor)
		if err != nil {
			return nil, err
		}
		return &source{name: symbol, pkg: t}, nil
	}
	if constructor != "" {
		return nil, usagef("-new is for sources of the form ./pkg#Type, got %s", arg)
	}
	if m := models.Lookup(arg); m != nil {
		return &source{name: m.Name, here: work.Model(m)}, nil
	}
	info, err := os.Stat(arg)
	switch {
	case strings.HasSuffix(arg, ".onnx"):
		return nil, bad(arg+": reading ONNX files is not part of this program", "give the network as Go, or as a graph in the text form")
	case errors.Is(err, os.ErrNotExist) && !strings.ContainsAny(arg, `./\`):
		names := make([]string, 0, len(models.All()))
		for _, m := range models.All() {
			names = append(names, m.Name)
		}
		return nil, bad("there is no built-in network, file or folder "+arg, "the built-in networks are "+strings.Join(names, ", "))
	case err != nil:
		return nil, bad(err.Error(), "")
	}
	name := filepath.Base(filepath.Clean(arg))
	reads := []string{arg}
	var m *graph.Module
	switch {
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(arg, graph.GraphFile)); err != nil {
			return nil, bad(arg+" holds no "+graph.GraphFile, "to capture Go code, name a function or type: "+arg+"#Net")
		}
		reads, _ = filepath.Glob(filepath.Join(arg, "*"))
		m, err = graph.Load(arg)
	case strings.HasSuffix(arg, ".fx"):
		var text []byte
		if text, err = os.ReadFile(arg); err == nil {
			m, err = graph.Parse(text, arg)
		}
	default:
		return nil, bad(arg+" is no source", "a source is a built-in network, a .fx file, a saved folder or ./pkg#Name")
	}
	if err != nil {
		return nil, err
	}
	if err := graph.Lint(m.Graph).Err(); err != nil {
		return nil, err
	}
	return &source{name: name, here: &work.Source{Name: name, Graph: m}, reads: reads}, nil
}

func bad(msg, hint string) error { return diag.New(work.BadSource, msg).WithHint(hint) }

// do does a job where the source exists, and prints the notes.
func (a *app) do(ctx context.Context, s *source, j *work.Job) (*work.Result, error) {
	var res *work.Result
	var err error
	if s.pkg != nil {
		done := a.busy("capturing " + s.name)
		res, err = s.pkg.Do(ctx, j)
		done()
		fmt.Fprint(a.stderr, s.pkg.Output)
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
