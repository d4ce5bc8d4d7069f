package capturefuzz

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/gofx-dev/gofx/internal/testkit/capturefuzz/judge"
)

// Failure is a program and how it fails.
type Failure struct {
	Program *Program
	judge.Verdict
}

// Failures returns the worst verdict of each program that fails, in order.
func Failures(list []judge.Verdict, programs []*Program) []Failure {
	worst := map[int]judge.Verdict{}
	for _, v := range list {
		if old, ok := worst[v.ID]; v.Kind.Bad() && (!ok || v.Kind.Silent() && !old.Kind.Silent()) {
			worst[v.ID] = v
		}
	}
	var all []Failure
	for _, p := range programs {
		if v, ok := worst[p.ID]; ok {
			all = append(all, Failure{p, v})
		}
	}
	return all
}

// like reports whether two verdicts are of one failure.
func like(a, b judge.Verdict) bool {
	return a.Kind == b.Kind && a.Engine == b.Engine && a.Capture == b.Capture && a.Code == b.Code
}

// Reduce drops statements, results and state from failing programs as long as
// they fail the same way. All candidates of a round are built as one batch.
func Reduce(b *Batch, failures []Failure) ([]Failure, error) {
	small := slices.Clone(failures)
	open := make([]bool, len(small))
	for i := range open {
		open[i] = true
	}
	for slices.Contains(open, true) {
		var jobs []Failure // candidates, and the failure that they must show
		var of []int
		b.Programs = nil
		for i, f := range small {
			if !open[i] {
				continue
			}
			for _, c := range candidates(f.Program) {
				c = c.renumber(len(b.Programs))
				b.Programs = append(b.Programs, c)
				jobs, of = append(jobs, Failure{c, f.Verdict}), append(of, i)
			}
		}
		if len(b.Programs) == 0 {
			break
		}
		list, err := b.Judge()
		if err != nil {
			return nil, err
		}
		best := map[int]Failure{}
		for _, v := range list {
			f := jobs[v.ID]
			if old, ok := best[of[v.ID]]; like(v, f.Verdict) && (!ok || f.Program.weight() < old.Program.weight()) {
				best[of[v.ID]] = Failure{f.Program, v}
			}
		}
		for i := range small {
			f, found := best[i]
			if open[i] = open[i] && found; found {
				small[i] = f
			}
		}
	}
	return small, nil
}

// weight is the measure that reduction makes small.
func (p *Program) weight() int {
	n := 5*len(p.Results) + 5*len(p.Fields) + 5*len(p.Inputs) + 5*len(p.Global)
	for _, s := range all(p.Body) {
		n += 10 + len(s.Head)/40
	}
	return n
}

// candidates returns smaller programs: without half of the statements, without
// one statement, result, field or input.
func candidates(p *Program) (list []*Program) {
	n := len(all(p.Body))
	add := func(c *Program) {
		if c != nil {
			list = append(list, c)
		}
	}
	for parts := 2; parts <= 4 && n > 8; parts++ {
		for k := range parts {
			add(p.without(k*n/parts, (k+1)*n/parts))
		}
	}
	for i := range n {
		add(p.without(i, i+1))
	}
	for i := range p.Results {
		if len(p.Results) > 1 {
			add(p.clone().dropResult(i))
		}
	}
	text := p.text1()
	for i, f := range p.Fields {
		if !regexp.MustCompile(`\bm\.` + f.Name + `\b`).MatchString(text + p.makes(i)) {
			c := p.clone()
			c.Fields = slices.Delete(c.Fields, i, i+1)
			add(c)
		}
	}
	if k := len(p.Inputs) - 1; k > 0 && !regexp.MustCompile(`\b`+p.Inputs[k].Name+`\b`).MatchString(text) {
		c := p.clone()
		c.Inputs = c.Inputs[:k]
		add(c)
	}
	if len(p.Global) > 0 && !strings.Contains(text, p.Global[0].Name) {
		c := p.clone()
		c.Global = nil
		add(c)
	}
	return list
}

// makes returns how the other fields are made.
func (p *Program) makes(but int) (text string) {
	for i, f := range p.Fields {
		if i != but {
			text += f.Make + "\n"
		}
	}
	return text
}

// text1 is the text of the body and the results.
func (p *Program) text1() string {
	var b strings.Builder
	for _, s := range p.Body {
		p.text(&b, s, 1)
	}
	return b.String() + strings.Join(p.Results, " ")
}

func cloneAll(body []*Stmt) []*Stmt {
	var out []*Stmt
	for _, s := range body {
		c := *s
		c.Body, c.Return = cloneAll(s.Body), slices.Clone(s.Return)
		out = append(out, &c)
	}
	return out
}

func (p *Program) clone() *Program {
	c := *p
	c.Body, c.Results = cloneAll(p.Body), slices.Clone(p.Results)
	c.Fields, c.Global, c.Inputs = slices.Clone(p.Fields), slices.Clone(p.Global), slices.Clone(p.Inputs)
	return &c
}

// renumber gives the program another number, which its package-level names hold.
func (p *Program) renumber(id int) *Program {
	c := p.clone()
	from, to := fmt.Sprintf("global%d", p.ID), fmt.Sprintf("global%d", id)
	fix := func(s *string) { *s = regexp.MustCompile(`\b`+from+`\b`).ReplaceAllString(*s, to) }
	for _, s := range all(c.Body) {
		fix(&s.Head)
		fix(&s.Tail)
		for i := range s.Return {
			fix(&s.Return[i])
		}
	}
	for i := range c.Results {
		fix(&c.Results[i])
	}
	for i := range c.Global {
		fix(&c.Global[i].Name)
		fix(&c.Global[i].Make)
	}
	c.ID = id
	return c
}

// without drops the statements of some numbers, and all that need their
// declarations; nil when nothing would be left to return.
func (p *Program) without(from, to int) *Program {
	c := p.clone()
	drop := map[*Stmt]bool{}
	gone := map[string]bool{}
	remove := func(s *Stmt) {
		for _, x := range all([]*Stmt{s}) {
			drop[x] = true
			for _, d := range x.Defs {
				gone[d] = true
			}
		}
	}
	list := all(c.Body)
	for _, s := range list[from:to] {
		if s.Kind != "return" && s.Kind != "branch" {
			remove(s)
		}
	}
	if len(drop) == 0 {
		return nil
	}
	needs := func(text string) bool {
		return slices.ContainsFunc(uses(text), func(name string) bool { return gone[name] })
	}
	for again := true; again; {
		again = false
		for _, s := range list {
			if !drop[s] && (needs(s.Head) || needs(s.Tail) || needs(strings.Join(s.Return, " ")) || s.lost(needs)) {
				remove(s)
				again = true
			}
		}
	}
	c.Body = keepOnly(c.Body, drop)
	for i := len(c.Results) - 1; i >= 0; i-- {
		if !needs(c.Results[i]) {
			continue
		}
		if len(c.Results) == 1 {
			return nil
		}
		c = c.dropResult(i)
	}
	return c
}

// lost reports whether a function's return, which it cannot be without, needs
// something.
func (s *Stmt) lost(needs func(string) bool) bool {
	return slices.ContainsFunc(s.Body, func(x *Stmt) bool {
		return x.Kind == "return" && needs(x.Head) || x.Kind == "branch" && x.lost(needs)
	})
}

func keepOnly(body []*Stmt, drop map[*Stmt]bool) []*Stmt {
	var out []*Stmt
	for _, s := range body {
		if !drop[s] {
			s.Body = keepOnly(s.Body, drop)
			out = append(out, s)
		}
	}
	return out
}

func (p *Program) dropResult(i int) *Program {
	p.Results = slices.Delete(p.Results, i, i+1)
	for _, s := range all(p.Body) {
		if s.Return != nil {
			s.Return = slices.Delete(s.Return, i, i+1)
		}
	}
	return p
}
