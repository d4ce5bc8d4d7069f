package lazytest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/lazy"
)

// Update, set in the environment, has Golden write the files.
const Update = "GOFX_UPDATE_GOLDENS"

// T is a *testing.T or *testing.B.
type T interface {
	Helper()
	Errorf(format string, args ...any)
}

// Flushes runs step, and fails where it does not compute as often as want says, by reason.
func Flushes(t T, s *lazy.Session, want lazy.Counts, step func()) {
	t.Helper()
	before := map[lazy.Flush]int{}
	counts := maps.Clone(s.Stats().Flushes)
	for _, f := range s.Explain().Flushes {
		before[lazy.Flush{Reason: f.Reason, At: f.At}] = f.Count
	}
	step()
	got := lazy.Counts{}
	for why, n := range s.Stats().Flushes {
		if n -= counts[why]; n > 0 {
			got[why] = n
		}
	}
	want = maps.Clone(want)
	maps.DeleteFunc(want, func(_ lazy.Reason, n int) bool { return n == 0 })
	if maps.Equal(got, want) {
		return
	}
	var lines strings.Builder
	for _, f := range s.Explain().Flushes {
		if f.Count -= before[lazy.Flush{Reason: f.Reason, At: f.At}]; f.Count > 0 {
			fmt.Fprintf(&lines, "\n  %s", f)
		}
	}
	t.Errorf("the step computes %s, expected %s; read values after the step, or change the counts%s", text(got), text(want), &lines)
}

func text(c lazy.Counts) string {
	if len(c) == 0 {
		return "nothing"
	}
	var parts []string
	for _, why := range slices.Sorted(maps.Keys(c)) {
		parts = append(parts, string(why)+" "+strconv.Itoa(c[why]))
	}
	return strings.Join(parts, ", ")
}

// MaxGraphs fails where the session has met more than most graphs. It says of each further
// one at which call it differs from the graph before it that is most like it.
func MaxGraphs(t T, s *lazy.Session, most int) {
	t.Helper()
	n := s.Stats().Graphs
	if n <= most {
		return
	}
	var why strings.Builder
	for _, g := range s.Explain().Graphs {
		if g.Number > most && g.Differs != nil {
			fmt.Fprintf(&why, "\ngraph %d %s", g.Number, strings.TrimSuffix(g.Differs.String(), "\n"))
		}
	}
	t.Errorf("the session has met %d graphs, expected at most %d; what differs from step to step is not to change calls or sizes%s", n, most, &why)
}

// Generated fails on each graph that has run and that lazy.Options.Generated does not have, with the
// lines that had it computed.
func Generated(t T, s *lazy.Session) {
	t.Helper()
	for _, g := range s.Explain().Graphs {
		if g.Missed == 0 {
			continue
		}
		var lines strings.Builder
		for _, f := range g.Flushes {
			fmt.Fprintf(&lines, "\n  %s", f)
		}
		t.Errorf("graph %d is not in Options.Generated, %d of its %d runs had no code; generate again (fxgen lazy -gen) with inputs that take this path%s",
			g.Number, g.Missed, g.Runs, &lines)
	}
}

// Golden compares the graphs of a session with those of a file in the text form, which is
// reviewed and checked in. It fails on each graph that the file does not have, with the first
// line that differs, and on each that the session has not met. With GOFX_UPDATE_GOLDENS=1 in
// the environment it writes the file.
//
// What was computed by a plan and is read later is computed again, in a graph of its own: give
// the session Options.Synchronous, so that graphs do not depend on the speed of the compiler.
func Golden(t T, s *lazy.Session, file string) {
	t.Helper()
	e := s.Explain()
	if os.Getenv(Update) != "" {
		if err := write(e, file); err != nil {
			t.Errorf("the graphs cannot be written: %v", err)
		}
		return
	}
	wrong, err := Compare(e, file)
	if err != nil {
		t.Errorf("the graphs cannot be compared: %v; run the test with %s=1 to write them, and review the file", err, Update)
	}
	for _, w := range wrong {
		t.Errorf("%s; run the test with %s=1 if it is meant", w, Update)
	}
}

// Compare returns how the graphs of a session differ from those of a file.
func Compare(e *lazy.Explanation, file string) (wrong []string, err error) {
	got, err := blocksOf(e)
	if err != nil {
		return nil, err
	}
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	want := blocks(string(src))
	for _, b := range got {
		if !slices.ContainsFunc(want, b.equal) {
			wrong = append(wrong, fmt.Sprintf("graph %d is not in %s\n%s", b.number, file, b.differs(want, file)))
		}
	}
	for _, b := range want {
		if !slices.ContainsFunc(got, b.equal) {
			wrong = append(wrong, fmt.Sprintf("%s:%d: the session has not met this graph", file, b.line))
		}
	}
	return wrong, nil
}

// Text is the file of a session's graphs that Compare reads.
func Text(e *lazy.Explanation) (string, error) {
	list, err := blocksOf(e)
	var b strings.Builder
	for _, x := range list {
		b.WriteString(strings.Join(x.lines, "\n") + "\n" + end + "\n")
	}
	return b.String(), err
}

func write(e *lazy.Explanation, file string) error {
	text, err := Text(e)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

// end is the line after a graph.
const end = "----"

// block is a graph in the text form.
type block struct {
	lines  []string
	at     map[string]string // where calls are in the program, by their lines
	number int               // of the graph, of a session's
	line   int               // in the file, of a file's
}

func blocksOf(e *lazy.Explanation) (list []block, err error) {
	for _, g := range e.Graphs {
		if g.Text == "" {
			return nil, fmt.Errorf("graph %d has no text, because the graphs of the session have too many calls in sum", g.Number)
		}
		b := block{lines: strings.Split(strings.TrimSpace(g.Text), "\n"), at: map[string]string{}, number: g.Number}
		for _, l := range g.Lines {
			b.at[l.Text] = filepath.Base(l.At)
		}
		list = append(list, b)
	}
	return list, nil
}

// blocks reads a file.
func blocks(src string) (list []block) {
	b := block{line: 1}
	for i, line := range strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n") {
		if line != end {
			b.lines = append(b.lines, line)
			continue
		}
		list = append(list, b)
		b = block{line: i + 2}
	}
	return list
}

func (b block) equal(x block) bool { return slices.Equal(b.lines, x.lines) }

// differs shows the first line that is not in the graph of a list that is most like this one.
func (b block) differs(list []block, file string) string {
	best, most := block{}, -1
	for _, x := range list {
		n := 0
		for n < len(b.lines) && n < len(x.lines) && b.lines[n] == x.lines[n] {
			n++
		}
		if n > most {
			best, most = x, n
		}
	}
	if most < 0 {
		return "the file has no graph"
	}
	here, there := "the end", "the end"
	if most < len(b.lines) {
		here = strings.TrimSpace(b.lines[most])
		if at := b.at[here]; at != "" {
			here += "  # " + at
		}
	}
	if most < len(best.lines) {
		there = strings.TrimSpace(best.lines[most]) + "  # " + filepath.Base(file) + ":" + strconv.Itoa(best.line+most)
	}
	return "  got  " + here + "\n  want " + there
}
