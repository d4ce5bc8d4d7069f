// Package play does the jobs of the playground, which is fxgen in a page: package work does
// them, as for the command line, and a request of the page is a command line with few flags. It
// knows nothing of pages: command playground passes requests on, and package page has the page.
//
// Read Request, then Session.Do.
package play

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/report"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/stamp"
	"github.com/gofx-dev/gofx/cmd/fxgen/internal/work"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/models"
)

// Request is what the page asks for.
type Request struct {
	Verb   string   `json:"verb"`   // print, why, draw or gen
	Source string   `json:"source"` // a built-in network, or a file of a kind that fxgen reads
	Again  bool     `json:"again"`  // the file has other contents than at the request before
	Passes []string `json:"passes"`
	After  string   `json:"after"` // of print: the last pass
	Shapes []string `json:"shapes"`
	Style  string   `json:"style"` // of gen
}

// Answer is what the page shows.
type Answer struct {
	OK          bool                `json:"ok"`
	Text        string              `json:"text"`    // of all verbs but gen
	Files       []File              `json:"files"`   // of gen
	Name        string              `json:"name"`    // of the package, or of the page without its ending
	Command     string              `json:"command"` // that has this result
	Diagnostics []report.Diagnostic `json:"diagnostics"`

	Zip []byte `json:"-"` // of gen: the files in a folder that has the package's name
}

// File is a generated file.
type File struct {
	Name string `json:"name"`
	Size int    `json:"size"`
	Text string `json:"text,omitempty"` // of Go source
}

// Session keeps the source of a request for the next one.
type Session struct {
	name string
	src  *work.Source
}

// Do does what a request asks for. Faults of fxgen are diagnostics, too.
func (s *Session) Do(ctx context.Context, r *Request) (a *Answer) {
	defer func() {
		if p := recover(); p != nil {
			a = answered(r, nil, diag.Bug(fmt.Sprint(p)))
		}
	}()
	err := s.open(r)
	if err != nil {
		return answered(r, nil, err)
	}
	j, err := s.job(r)
	if err != nil {
		return answered(r, nil, err)
	}
	res, err := work.Do(ctx, s.src, j)
	if err != nil {
		return answered(r, j, err)
	}
	a = answered(r, j, nil)
	for _, n := range res.Notes {
		n.Note = true
		a.Diagnostics = append(a.Diagnostics, report.Of(n))
	}
	if err := a.take(r, j, res); err != nil {
		return answered(r, j, err)
	}
	return a
}

// open opens the source, unless it is that of the request before.
func (s *Session) open(r *Request) error {
	if s.src != nil && s.name == r.Source && !r.Again {
		return nil
	}
	s.src = nil
	if m := models.Lookup(r.Source); m != nil {
		s.src = work.Model(m)
	} else if !slices.Contains(work.Endings, path.Ext(r.Source)) {
		return diag.New(work.BadSource, r.Source+" is no source").WithHint("a source is a built-in network, or a file that ends in " + strings.Join(work.Endings, ", "))
	} else {
		src, err := work.Open(r.Source, &work.Job{})
		if err != nil {
			return err
		}
		s.src = src
	}
	s.name = r.Source
	return nil
}

// job makes the job that the command line of the request stands for.
func (s *Session) job(r *Request) (*work.Job, error) {
	j := &work.Job{Verb: r.Verb, Seed: work.DefaultSeed, Passes: r.Passes, After: r.After}
	for _, text := range r.Shapes {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, diag.New(work.BadValue, "-shape "+text+": expected NAME=SIZES").WithHint("give the sizes of an input, such as x=1,3,224,224")
		}
		j.Shapes = append(j.Shapes, work.Named{Name: name, Value: value})
	}
	switch r.Verb {
	case work.Print:
	case work.Why:
		j.JSON, j.Diff = true, true
	case work.Draw:
		j.Format = "html"
	case work.Gen:
		j.Package, j.Style, j.WeightsMode, j.Tested = work.PackageName(s.src.Name), r.Style, "auto", work.TestedNo
		if s.bare() {
			j.Weights = "synthetic"
		}
	default:
		return nil, diag.Bug("the page asks for " + r.Verb)
	}
	return j, work.Known(j.Passes)
}

// bare reports whether the source is a graph whose weights have no values.
func (s *Session) bare() bool {
	if s.src.Graph == nil {
		return false
	}
	for _, p := range s.src.Graph.Params() {
		if p.Value == nil {
			return true
		}
	}
	return false
}

// take makes the answer of a result, with the marks of files that the command writes.
func (a *Answer) take(r *Request, j *work.Job, res *work.Result) error {
	if a.Text = res.Text; r.Verb == work.Draw {
		a.Name = work.PackageName(r.Source)
		data, err := stamp.Add("page.html", []byte(res.Text))
		a.Text = string(data)
		return err
	}
	if r.Verb != work.Gen {
		return nil
	}
	a.Name = j.Package
	var packed bytes.Buffer
	size := 0
	for _, f := range res.Files {
		size += len(f.Data) + 1024
	}
	packed.Grow(size) // doubling would take twice the memory, which is short in a page
	z := zip.NewWriter(&packed)
	for i, f := range res.Files {
		data, err := stamp.Add(f.Name, f.Data)
		if err != nil {
			return err
		}
		res.Files[i].Data = nil
		file := File{Name: f.Name, Size: len(data)}
		method := zip.Store // weights do not shrink
		if path.Ext(f.Name) == ".go" {
			file.Text, method = string(data), zip.Deflate
		}
		a.Files = append(a.Files, file)
		w, err := z.CreateHeader(&zip.FileHeader{Name: j.Package + "/" + f.Name, Method: method})
		if err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	err := z.Close()
	a.Zip = packed.Bytes()
	return err
}

// answered is an answer without a result: with an error or none.
func answered(r *Request, j *work.Job, err error) *Answer {
	a := &Answer{OK: err == nil, Command: command(r, j), Diagnostics: []report.Diagnostic{}}
	var l diag.List
	var e *diag.Error
	switch {
	case err == nil:
	case errors.As(err, &l):
	case errors.As(err, &e):
		l = diag.List{e}
	default:
		l = diag.List{&diag.Error{Msg: err.Error()}}
	}
	l = slices.Clone(l)
	l.Sort()
	for _, e := range l {
		cured := report.Cured(e)
		a.Diagnostics = append(a.Diagnostics, report.Of(&cured))
	}
	return a
}
