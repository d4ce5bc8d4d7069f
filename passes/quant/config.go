package quant

import (
	"path"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/op"
)

// Setting is what is asked of an operator.
type Setting struct {
	Mode       Mode
	Activation Scheme // of the operator's operands and result
	Weight     Scheme
}

// Selector says which operators are meant; exactly one field is set.
type Selector struct {
	Op    string // the operator's name: "linear"
	Type  string // the Go type of the module that calls it: "nn.Linear", or with its import path
	Scope string // the path of the module: "encoder.*" is everything below encoder, as is "encoder"
	Name  string // the node's name
	// Pos is where the selector is written, for messages.
	Pos diag.Pos
}

// Rule is a setting for some operators.
type Rule struct {
	Selector
	Setting
}

// Config says what to quantise. Of the rules for an operator the most specific one
// decides alone: by name before scope before type before op, among equals the last
// one. Operators without a rule get Global. What Exclude selects stays in float.
type Config struct {
	Global  Setting
	Rules   []Rule
	Exclude []Selector
	// Strict makes everything that is asked for and not granted an error.
	Strict bool
	// File is what the configuration was read from, for messages.
	File string

	at diag.Pos // of Global in the file
}

// String returns "op linear".
func (s Selector) String() string {
	kind, what := s.parts()
	return kind + " " + what
}

func (s Selector) parts() (kind, what string) {
	switch {
	case s.Name != "":
		return "name", s.Name
	case s.Scope != "":
		return "scope", s.Scope
	case s.Type != "":
		return "type", s.Type
	}
	return "op", s.Op
}

// rank orders kinds of selectors, the most specific one last.
func (s Selector) rank() int {
	switch {
	case s.Name != "":
		return 4
	case s.Scope != "":
		return 3
	case s.Type != "":
		return 2
	}
	return 1
}

// matches reports whether the selector means the node.
func (s Selector) matches(n *graph.Node) bool {
	switch {
	case s.Name != "":
		return n.Name() == s.Name
	case s.Scope != "":
		at := n.Scope().Path
		return glob(s.Scope, at) || glob(s.Scope+".*", at)
	case s.Type != "":
		have := n.Scope().Type
		return have == s.Type || have[strings.LastIndexByte(have, '/')+1:] == s.Type
	}
	return n.Op() != nil && n.Op().Key() == s.Op
}

func glob(pattern, name string) bool {
	ok, _ := path.Match(pattern, name) // check has refused malformed ones
	return ok
}

// check returns what is wrong with the configuration on its own.
func (c *Config) check() diag.List {
	var errs diag.List
	bad := func(p diag.Pos, msg, hint string) {
		if p.File == "" {
			p = diag.Pos{File: c.File}
		}
		errs = append(errs, diag.New(BadConfig, msg).At(p).WithHint(hint))
	}
	c.Global.check(func(msg, hint string) { bad(c.at, "global: "+msg, hint) })
	selector := func(s Selector, in string) {
		set := 0
		for _, f := range []string{s.Op, s.Type, s.Scope, s.Name} {
			if f != "" {
				set++
			}
		}
		if set != 1 {
			bad(s.Pos, in+" selects by "+strconv.Itoa(set)+" properties, expected exactly one of op, type, scope and name", "write one rule for each")
		} else if _, err := path.Match(s.Scope, ""); err != nil {
			bad(s.Pos, in+": the pattern "+strconv.Quote(s.Scope)+" is malformed", "* stands for any text, ? for a character, [a-z] for one of several")
		}
	}
	for _, r := range c.Rules {
		selector(r.Selector, "a rule")
		r.Setting.check(func(msg, hint string) { bad(r.Pos, "rule for "+r.Selector.String()+": "+msg, hint) })
	}
	for _, s := range c.Exclude {
		selector(s, "an exclusion")
	}
	return errs
}

func (s Setting) check(bad func(msg, hint string)) {
	if int(s.Mode) >= len(modeNames) {
		bad("mode "+s.Mode.String()+" is none", "use a constant of this package")
	}
	s.Activation.check("activation", bad)
	s.Weight.check("weight", bad)
	if s.Activation.Bits == 4 {
		bad("activation of 4 bits, expected 8", "only weights have 4 bits")
	}
	if s.Activation.Granularity == PerGroup {
		bad("activation in groups, expected tensor or channel", "only weights have groups")
	}
	if k := s.Weight.Observer.Kind; k == MovingAverage {
		bad("weight observed by "+k.String()+", which averages batches", "weights do not change: use min_max")
	}
	s.checkMode(bad)
}

// checkMode refuses what the mode does not look at: nothing that is asked is passed over.
func (s Setting) checkMode(bad func(msg, hint string)) {
	a := s.Activation
	switch {
	case s.Mode == Dynamic && a.Observer != Observer{}:
		bad("an observer of activations in mode dynamic, which observes nothing", "leave it out, or use mode static")
	case s.Mode == Dynamic && (a.DType == array.I8 || a.Symmetry == Symmetric || a.Granularity == PerChannel):
		bad("activation "+a.ask()+" in mode dynamic, expected u8 affine tensor", "values are quantised by dynamic_quantize; leave it out, or use mode static")
	case (s.Mode == WeightOnly || s.Mode == Float) && a != Scheme{}:
		bad("activation "+a.ask()+" in mode "+s.Mode.String()+", which leaves values in float", "leave it out, or set the mode to static")
	case s.Mode == Float && s.Weight != Scheme{}:
		bad("weight "+s.Weight.ask()+" in mode float", "leave it out, or set the mode")
	}
}

func (s Scheme) check(of string, bad func(msg, hint string)) {
	if s.DType != array.Invalid && s.DType != array.U8 && s.DType != array.I8 {
		bad(of+" of element type "+s.DType.String()+", expected u8 or i8", "leave it out for the backend's choice")
	}
	if s.Bits != 0 && s.Bits != 8 && s.Bits != 4 {
		bad(of+" of "+strconv.Itoa(s.Bits)+" bits, expected 8 or 4", "")
	}
	if s.Bits == 4 && s.DType == array.I8 {
		bad(of+" of 4 bits and element type i8, expected u8", "two values are kept in a byte, u8")
	}
	if s.Group < 0 || s.Group != 0 && s.Granularity != PerGroup {
		bad(of+" with a group of "+strconv.Itoa(s.Group)+" and granularity "+s.Granularity.String(), "a group belongs to granularity group")
	}
	if a := s.Observer.Averaging; !(a >= 0 && a <= 1) {
		bad(of+" with averaging "+strconv.FormatFloat(a, 'g', -1, 64)+", expected a number from 0 to 1", "")
	}
	if p := s.Observer.Percentile; p != 0 && !(p > 50 && p <= 100) {
		bad(of+" with percentile "+strconv.FormatFloat(p, 'g', -1, 64)+", expected a percentage above 50, up to 100", "")
	}
	if k := s.Observer.Kind; s.Observer.Averaging != 0 && k != MovingAverage {
		bad(of+" with averaging and observer "+k.String(), "averaging belongs to moving_average")
	}
	if k := s.Observer.Kind; s.Observer.Percentile != 0 && k != Percentile {
		bad(of+" with percentile and observer "+k.String(), "percentile belongs to the observer percentile")
	}
	if int(s.Granularity) >= len(granularityNames) || int(s.Symmetry) >= len(symmetryNames) || int(s.Observer.Kind) >= len(observerNames) {
		bad(of+": granularity, symmetry or observer is none", "use a constant of this package")
	}
}

// asked is a setting and who asked for it.
type asked struct {
	Setting
	by       string // "global", "op linear", "exclude scope head"
	explicit bool   // by a rule for the operator or the node itself
}

// rules finds settings of nodes, and what selects nothing.
type rules struct {
	*Config
	hit map[*Selector]bool
}

func newRules(c *Config) *rules { return &rules{c, map[*Selector]bool{}} }

// of returns what is asked of n.
func (r *rules) of(n *graph.Node) asked {
	best, rank := asked{Setting: r.Global, by: "global"}, 0
	for i := range r.Rules {
		s := &r.Rules[i].Selector
		if !s.matches(n) {
			continue
		}
		r.hit[s] = true
		if k := s.rank(); k >= rank {
			best, rank = asked{r.Rules[i].Setting, s.String(), k == 1 || k == 4}, k
		}
	}
	for i := range r.Exclude {
		if s := &r.Exclude[i]; s.matches(n) {
			r.hit[s] = true
			best = asked{by: "exclude " + s.String()}
		}
	}
	return best
}

// idle returns an error for each selector that selected nothing.
func (r *rules) idle() diag.List {
	var errs diag.List
	look := func(s *Selector) {
		if r.hit[s] {
			return
		}
		pos := s.Pos
		if pos.File == "" {
			pos.File = r.File
		}
		e := diag.New(BadConfig, s.String()+" selects nothing: the graph has no such operator").At(pos).
			WithHint("print the graph for the names, scopes and types that it has; fusions may have replaced a node")
		if kind, what := s.parts(); kind == "op" && op.Lookup(what) == nil {
			e = diag.New(BadConfig, "there is no operator "+strconv.Quote(what)).At(pos).WithHint("docs/ops.md lists them")
		}
		errs = append(errs, e)
	}
	for i := range r.Rules {
		look(&r.Rules[i].Selector)
	}
	for i := range r.Exclude {
		look(&r.Exclude[i])
	}
	return errs
}
