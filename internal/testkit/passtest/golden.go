// Package passtest runs the golden tests of passes: a txtar file holds a graph in
// the text form before and after the pass, and both are executed and compared.
package passtest

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/passes"
	"github.com/gofx-dev/gofx/shape"
)

// Update, set in the environment, rewrites the expected graphs.
const Update = "GOFX_UPDATE_GOLDENS"

// Golden runs every txtar file of dir. The file begins with a comment that
// describes the case, and may contain the lines
//
//	matches: 2            how often the pass matches; without it, only out.fx counts
//	refused: text         text that a recorded refusal contains; may be repeated
//	error: FX2010         the code of the error that the pass must return
//	run: off              the graphs are not executed
//	within: 0.004         how far results may be apart, in relation to the largest; 2e-5 else
//
// and then in.fx and out.fx. Without out.fx the pass must leave the graph as it
// is. Without a pass in the file's name all files use p.
func Golden(t *testing.T, dir string, p passes.Pass) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens in %s: %v", dir, err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) { one(t, f, p) })
	}
}

// header holds the demands in the comment of a golden.
type header struct {
	matches int
	refused []string
	code    string
	run     bool
	within  float64
}

func readHeader(t *testing.T, comment string) header {
	h := header{matches: -1, run: true, within: 2e-5}
	for _, line := range strings.Split(comment, "\n") {
		key, value, ok := strings.Cut(line, ": ")
		value = strings.TrimSpace(value)
		switch {
		case !ok:
		case key == "matches":
			n, err := strconv.Atoi(value)
			if err != nil {
				t.Fatal(err)
			}
			h.matches = n
		case key == "refused":
			h.refused = append(h.refused, value)
		case key == "within":
			within, err := strconv.ParseFloat(value, 64)
			if err != nil {
				t.Fatal(err)
			}
			h.within = within
		case key == "error":
			h.code = value
		case key == "run":
			h.run = value != "off"
		}
	}
	return h
}

func one(t *testing.T, file string, p passes.Pass) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := txtar.Parse(src)
	h := readHeader(t, string(a.Comment))
	in, want := "", ""
	outAt := -1
	for i, f := range a.Files {
		switch f.Name {
		case "in.fx":
			in = string(f.Data)
		case "out.fx":
			want, outAt = string(f.Data), i
		}
	}
	before := Parse(t, in)
	after := graph.Clone(before)
	report, err := passes.Run(context.Background(), after, []passes.Pass{p}, passes.Options{})
	if h.code != "" {
		if err == nil || !strings.Contains(err.Error(), "["+h.code+"]") {
			t.Fatalf("error is %v, expected code %s", err, h.code)
		}
		if after.String() != before.String() {
			t.Fatalf("the failing pass changed the graph:\n%s", passes.Diff(before.String(), after.String()))
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, h, report)
	Meta(t, before, after)
	got := after.String()
	if os.Getenv(Update) != "" && (outAt >= 0 || got != before.String()) {
		update(t, file, a, outAt, got)
		want = got
	}
	if want == "" {
		want = before.String()
	}
	if got != want {
		t.Errorf("expected -, got +:\n%s", passes.Diff(want, got))
	}
	again := Parse(t, got)
	if equal, diff := graph.Equal(after.Graph, again.Graph); !equal {
		t.Errorf("the text form does not read back: %s", diff)
	}
	if h.run {
		same(t, before, after, h.within)
		stops(t, before, p, report.Matches(p.Name), h.within)
	}
}

// stops ends the pass at each of its rewrites: the graph up to there computes the
// same results as well.
func stops(t *testing.T, before *graph.Module, p passes.Pass, matches int, within float64) {
	for k := range matches {
		m := graph.Clone(before)
		_, err := passes.Run(context.Background(), m, []passes.Pass{p}, passes.Options{StopAt: passes.StopAt{Pass: p.Name, Match: k}})
		if err != nil {
			t.Fatalf("ended at rewrite %d: %v", k, err)
		}
		same(t, before, m, within)
	}
}

func update(t *testing.T, file string, a *txtar.Archive, outAt int, got string) {
	if outAt < 0 {
		a.Files = append(a.Files, txtar.File{Name: "out.fx"})
		outAt = len(a.Files) - 1
	}
	a.Files[outAt].Data = []byte(got)
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

func checkReport(t *testing.T, h header, r *passes.Report) {
	p := r.Passes[0]
	if h.matches >= 0 && p.Matches != h.matches {
		t.Errorf("%d matches, expected %d:\n%s", p.Matches, h.matches, r.Explain())
	}
	for _, want := range h.refused {
		found := false
		for _, e := range p.Refused {
			found = found || strings.Contains(e.String(), want)
		}
		if !found {
			t.Errorf("no candidate was refused because of %q:\n%s", want, r.Explain())
		}
	}
}

// Parse reads a graph in the text form and gives its parameters pseudo-random
// values; "gofx 1" may be left out.
func Parse(t testing.TB, text string) *graph.Module {
	t.Helper()
	if !strings.HasPrefix(text, "gofx ") {
		text = "gofx 1\n" + text
	}
	m, err := graph.Parse([]byte(text), "in.fx")
	if err != nil {
		t.Fatal(err)
	}
	Fill(t, m)
	return m
}

// Fill gives parameters without a value pseudo-random ones, those whose path
// contains "var" positive ones.
func Fill(t testing.TB, m *graph.Module) {
	t.Helper()
	r := passes.Random{State: 1}
	for _, p := range m.Params() {
		if p.Value != nil {
			continue
		}
		d, dims, ok := p.Type.Concrete()
		if !ok {
			t.Fatalf("parameter %s has the type %s, expected sizes", p.Path, p.Type)
		}
		q := *p
		q.Value = r.Array(d, dims...)
		if d.IsFloat() && strings.Contains(p.Path, "var") {
			f := array.Cast(q.Value, array.F64)
			for i, v := range array.Data[float64](f) {
				array.Data[float64](f)[i] = v*v + 0.1
			}
			q.Value = array.Cast(f, d)
		}
		m.SetParam(q)
	}
}

// Same runs two modules on the same pseudo-random inputs and compares results.
func Same(t testing.TB, a, b *graph.Module) {
	t.Helper()
	same(t, a, b, 2e-5)
}

// same is Same with a bound of its own.
func same(t testing.TB, a, b *graph.Module, rel float64) {
	t.Helper()
	nop := passes.Pass{Name: "replace", Run: func(c *passes.Ctx, _ *graph.Graph) (bool, error) {
		c.Module.Become(graph.Clone(b))
		return true, nil
	}}
	_, err := passes.Run(context.Background(), graph.Clone(a), []passes.Pass{nop}, passes.Options{
		NoLint: true, Numeric: &passes.Numeric{Seed: 7, Rel: rel, Abs: rel / 2}})
	if err != nil {
		t.Error(err)
	}
}

// Meta checks that a pass kept the data of nodes: a graph whose values all have
// a type and a position still has them, and no symbol or guard is missing.
func Meta(t testing.TB, before, after *graph.Module) {
	t.Helper()
	typed, placed := true, true
	for n := range before.All() {
		typed = typed && n.Type().Kind() != shape.None
		placed = placed && n.Pos().File != ""
	}
	for n := range after.All() {
		if typed && n.Type().Kind() == shape.None {
			t.Errorf("%s has lost its type", n)
		}
		if placed && n.Pos().File == "" {
			t.Errorf("%s has lost its position", n)
		}
	}
	for _, s := range before.Graph.Symbols() {
		if _, ok := after.Graph.Symbol(s.Name); !ok {
			t.Errorf("symbol %s was dropped", s.Name)
		}
	}
	if len(after.Graph.Guards()) < len(before.Graph.Guards()) {
		t.Errorf("%d guards, there were %d", len(after.Graph.Guards()), len(before.Graph.Guards()))
	}
}
