package passes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/textdiff"
)

// dump writes the text form of the graph after a pass, and how it differs from
// that before.
func (r *runner) dump(pass string) error {
	if r.DumpDir == "" {
		return nil
	}
	text := graph.Print(r.mod, graph.PrintOptions{Positions: true})
	base := filepath.Join(r.DumpDir, fmt.Sprintf("%02d-%s", r.dumps, fileName(pass)))
	if r.dumps == 0 {
		if err := os.MkdirAll(r.DumpDir, 0o755); err != nil {
			return &diag.Error{Code: DumpFailed, Msg: "the dump folder cannot be made", Err: err}
		}
	} else if err := os.WriteFile(base+".diff", []byte(Diff(r.text, text)), 0o644); err != nil {
		return &diag.Error{Code: DumpFailed, Msg: "the dump cannot be written", Err: err}
	}
	r.dumps++
	r.text = text
	if err := os.WriteFile(base+".fx", []byte(text), 0o644); err != nil {
		return &diag.Error{Code: DumpFailed, Msg: "the dump cannot be written", Err: err}
	}
	return nil
}

// fileName keeps what may stand in a file name on every system.
func fileName(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, s)
}

// around is the number of equal lines that Diff shows around a difference.
const around = 3

// Diff compares two texts line by line: lines of a alone are marked -, lines of
// b alone +, with three equal lines around. It is empty for equal texts.
func Diff(a, b string) string {
	edits := textdiff.Edits(a, b)
	var out strings.Builder
	last := -1 // last line written
	for i, e := range edits {
		near := false
		for j := max(0, i-around); j <= min(len(edits)-1, i+around); j++ {
			near = near || edits[j].Op != ' '
		}
		if !near {
			continue
		}
		if i > last+1 {
			out.WriteString("...\n")
		}
		last = i
		out.WriteByte(e.Op)
		out.WriteString(strings.TrimSuffix(e.Text, "\n") + "\n")
	}
	return out.String()
}
