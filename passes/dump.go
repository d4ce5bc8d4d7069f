package passes

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
)

// dump writes the text form of the graph behind a pass, and how it differs from
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
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	ops := compareLines(x, y)
	var out strings.Builder
	last := -1 // last line written
	for i := range ops {
		near := false
		for j := max(0, i-around); j <= min(len(ops)-1, i+around); j++ {
			near = near || ops[j].mark != ' '
		}
		if !near {
			continue
		}
		if i > last+1 {
			out.WriteString("...\n")
		}
		last = i
		line := ops[i].line
		if !strings.HasSuffix(line, "\n") {
			if line == "" {
				continue
			}
			line += "\n"
		}
		out.WriteByte(ops[i].mark)
		out.WriteString(line)
	}
	return out.String()
}

type lineOp struct {
	mark byte
	line string
}

// maxTable bounds the table of compareLines; larger differences are shown as one
// block.
const maxTable = 1 << 22

// compareLines finds a longest common subsequence between what differs.
func compareLines(x, y []string) []lineOp {
	var ops []lineOp
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		ops = append(ops, lineOp{' ', x[0]})
		x, y = x[1:], y[1:]
	}
	var tail []string
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		tail = append(tail, x[len(x)-1])
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	w := len(y) + 1
	if len(x)*w <= maxTable {
		common := make([]int32, (len(x)+1)*w) // common[i*w+j]: of x[i:] and y[j:]
		for i := len(x) - 1; i >= 0; i-- {
			for j := len(y) - 1; j >= 0; j-- {
				if x[i] == y[j] {
					common[i*w+j] = common[(i+1)*w+j+1] + 1
				} else {
					common[i*w+j] = max(common[(i+1)*w+j], common[i*w+j+1])
				}
			}
		}
		i, j := 0, 0
		for i < len(x) && j < len(y) {
			switch {
			case x[i] == y[j]:
				ops = append(ops, lineOp{' ', x[i]})
				i++
				j++
			case common[(i+1)*w+j] >= common[i*w+j+1]:
				ops = append(ops, lineOp{'-', x[i]})
				i++
			default:
				ops = append(ops, lineOp{'+', y[j]})
				j++
			}
		}
		x, y = x[i:], y[j:]
	}
	for _, l := range x {
		ops = append(ops, lineOp{'-', l})
	}
	for _, l := range y {
		ops = append(ops, lineOp{'+', l})
	}
	for i := len(tail) - 1; i >= 0; i-- {
		ops = append(ops, lineOp{' ', tail[i]})
	}
	return ops
}
