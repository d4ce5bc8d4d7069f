package shard

import (
	"path"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

// String returns the plan for people: what a partition holds and does, and the exchanges, those
// of one line of the model together.
func (p *Plan) String() string {
	t := p.Totals()
	var b strings.Builder
	b.WriteString("mesh " + p.Mesh.String() + ", " + strconv.Itoa(p.Mesh.Partitions()) + " partitions; each has\n")
	row := func(name, text string) { b.WriteString("  " + name + strings.Repeat(" ", 10-len(name)) + text + "\n") }
	row("inputs", Bytes(t.Inputs))
	row("weights", Bytes(t.Weights))
	row("outputs", Bytes(t.Outputs))
	row("work", strconv.FormatFloat(float64(t.Flops)/1e9, 'f', 3, 64)+" GFLOP")
	if len(p.Exchanges) == 0 {
		row("sends", "nothing")
	}
	for _, g := range p.grouped() {
		row("sends", Bytes(g.sum)+" in "+strconv.Itoa(g.count)+" × "+g.text)
	}
	return b.String()
}

// group are exchanges that one line of the model needs for the same reason.
type group struct {
	text  string
	count int
	sum   int64
}

func (p *Plan) grouped() (list []*group) {
	known := map[string]*group{}
	for _, e := range p.Exchanges {
		of := e.Op + "'s " + e.What
		if e.Op == "" {
			of = "stored weights"
		}
		text := string(e.Kind) + " along " + e.Axis + " of " + of + place(e.Pos)
		g := known[text]
		if g == nil {
			g = &group{text: text}
			known[text] = g
			list = append(list, g)
		}
		g.count++
		g.sum += e.Bytes
	}
	return list
}

// place is a position without its folder.
func place(pos diag.Pos) string {
	if pos.File == "" {
		return ""
	}
	return " (" + path.Base(strings.ReplaceAll(pos.File, "\\", "/")) + ":" + strconv.Itoa(pos.Line) + ")"
}

// Bytes returns a number of bytes in the largest unit of which there is one at least.
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	x := float64(n)
	for len(units) > 1 && x >= 1024 {
		x, units = x/1024, units[1:]
	}
	digits := 1
	if units[0] == "B" {
		digits = 0
	}
	return strconv.FormatFloat(x, 'f', digits, 64) + " " + units[0]
}
