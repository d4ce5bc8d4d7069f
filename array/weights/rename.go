package weights

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// Rename returns a file whose tensors have other names. A rule is FROM=TO: a * stands for
// any text, and the text of the first * of FROM is put for the first of TO, and so on, so
// that "norm*=bn*" gives norm1.weight the name bn1.weight, "*=net.*" puts a prefix before
// all names, and "model.*=*" takes one away. Of several rules the first that fits a name is
// used, once; names that none fits stay. The error is a diag.List with CodeRule for a rule that is
// none, that no name fits, or that gives two tensors one name.
func Rename(f File, rules ...string) (File, error) {
	r := renamed{File: f, old: map[string]string{}}
	var errs diag.List
	fits := make([]bool, len(rules))
	parsed := make([][2][]string, len(rules))
	for i, rule := range rules {
		from, to, ok := strings.Cut(rule, "=")
		parsed[i] = [2][]string{strings.Split(from, "*"), strings.Split(to, "*")}
		if !ok || from == "" || to == "" || len(parsed[i][0]) != len(parsed[i][1]) {
			errs.Add(diag.New(CodeRule, "rule "+quote(rule)+" renames nothing, expected FROM=TO with as many * on both sides"))
			fits[i] = true
		}
	}
	if errs.Err() != nil {
		return nil, errs
	}
	for _, name := range f.Names() {
		new := name
		for i, p := range parsed {
			if texts, ok := match(p[0], name); ok {
				new, fits[i] = fill(p[1], texts), true
				break
			}
		}
		if other, taken := r.old[new]; taken {
			errs.Add(diag.New(CodeRule, "tensors "+quote(other)+" and "+quote(name)+" would both be "+quote(new)+", expected names that differ"))
			continue
		}
		r.names = append(r.names, new)
		r.old[new] = name
	}
	for i, rule := range rules {
		if !fits[i] {
			errs.Add(diag.New(CodeRule, "rule "+quote(rule)+" fits no tensor's name"+such(f.Names())))
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return r, nil
}

// such names a tensor of a file.
func such(names []string) string {
	if len(names) == 0 {
		return ", the file has no tensors"
	}
	return ", the file has " + quote(names[0]) + " for instance"
}

// match returns the texts of the stars of a pattern that was split there.
func match(pattern []string, name string) (texts []string, ok bool) {
	rest, ok := strings.CutPrefix(name, pattern[0])
	if !ok || len(pattern) == 1 {
		return nil, ok && rest == ""
	}
	last := len(pattern) - 1
	for _, part := range pattern[1:last] {
		text, after, found := strings.Cut(rest, part)
		if !found {
			return nil, false
		}
		texts, rest = append(texts, text), after
	}
	text, ok := strings.CutSuffix(rest, pattern[last])
	return append(texts, text), ok
}

// fill puts texts for the stars of a pattern that was split there.
func fill(pattern, texts []string) string {
	var b strings.Builder
	for i, part := range pattern {
		b.WriteString(part)
		if i < len(texts) {
			b.WriteString(texts[i])
		}
	}
	return b.String()
}

type renamed struct {
	File
	names []string
	old   map[string]string
}

func (r renamed) Names() []string { return slices.Clone(r.names) }

// was is a tensor's name in the file; a tensor without a name has one that no file has.
func (r renamed) was(name string) (string, bool) {
	old, ok := r.old[name]
	return old, ok
}

func (r renamed) Type(name string) (array.DType, []int, bool) {
	old, ok := r.was(name)
	if !ok {
		return array.Invalid, nil, false
	}
	return r.File.Type(old)
}

func (r renamed) Format(name string) string {
	old, ok := r.was(name)
	if !ok {
		return ""
	}
	return r.File.Format(old)
}

func (r renamed) Get(name string) (*array.Array, error) {
	old, ok := r.was(name)
	if !ok {
		return nil, missing(name)
	}
	return r.File.Get(old)
}

// maxProposed and maxCompared bound the rules that are proposed, and the names that are compared for them.
const maxProposed, maxCompared = 4, 1000

// Proposal is the result of Renames.
type Proposal struct {
	Rules  []string // for Rename
	Open   []string // wanted names that no rule gives
	Unsure bool     // tensors of one type were taken in their order, which may exchange them
}

// Hint is a sentence for the user: how shows the use of the rules.
func (p Proposal) Hint(how string) string {
	text := "the names match with "
	if len(p.Open) > 0 {
		text = "the names match, except " + quote(p.Open[0]) + more(len(p.Open)-1) + ", with "
	}
	text += how
	if p.Unsure {
		text += "; tensors of one type are taken in their order, which may exchange them: check which is which"
	}
	return text
}

func more(n int) string {
	if n == 0 {
		return ""
	}
	return " and " + strconv.Itoa(n) + " more"
}

// Renames proposes rules of Rename for tensors of a file, have, whose names are not those of
// the tensors that are wanted: prefixes of names, up to a dot, that are to be others. fits
// reports whether one may stand for the other, by its shape for instance. Every name that a
// rule fits becomes one that is wanted, so want has the tensors that may be missing, too. There are no rules
// where names have no parts in common. Where several tensors fit as well, names with more
// parts in common go together, then the earlier in have gets the name of the earlier in want,
// which is a guess: files of torch.save and of nn.SaveFile have the order of the model.
func Renames(have, want []string, fits func(have, want string) bool) Proposal {
	p := Proposal{Open: want}
	if len(have) > maxCompared || len(want) > maxCompared {
		return p
	}
	p.Rules, p.Open = propose(have, want, fits)
	reversed := slices.Clone(want)
	slices.Reverse(reversed)
	others, _ := propose(have, reversed, fits)
	p.Unsure = !slices.Equal(slices.Sorted(slices.Values(p.Rules)), slices.Sorted(slices.Values(others)))
	return p
}

func propose(have, want []string, fits func(have, want string) bool) (rules, open []string) {
	left, open := slices.Clone(have), slices.Clone(want)
	for len(rules) < maxProposed && len(left) > 0 && len(open) > 0 {
		rule, names := best(left, open, fits)
		if rule == "" {
			break
		}
		rules = append(rules, rule)
		for old, new := range names {
			left = slices.DeleteFunc(left, func(s string) bool { return s == old })
			open = slices.DeleteFunc(open, func(s string) bool { return s == new })
		}
	}
	return rules, open
}

// best is the rule that gives most names one that is open; of several the one of the names with the longest
// common ending, then the one that gives the first name the first one, of those the shortest.
func best(left, open []string, fits func(have, want string) bool) (rule string, names map[string]string) {
	tried := map[string]bool{}
	type found struct {
		rule     string
		names    map[string]string
		alike    int // parts of the common ending
		from, to int // the first name that it fits, and the place of that name's new one
	}
	var all []found
	for i, h := range left {
		for k, w := range open {
			rules := prefixes(h, w)
			for _, rule := range rules {
				if tried[rule] || len(tried) > maxCompared {
					continue
				}
				tried[rule] = true
				if names := apply(rule, left, open, fits); len(names) > 0 {
					all = append(all, found{rule, names, len(rules), i, k})
				}
			}
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	top := slices.MaxFunc(all, func(a, b found) int {
		return cmp.Or(cmp.Compare(len(a.names), len(b.names)), cmp.Compare(a.alike, b.alike), cmp.Compare(b.from, a.from), cmp.Compare(b.to, a.to),
			cmp.Compare(len(b.rule), len(a.rule)), strings.Compare(b.rule, a.rule))
	})
	return top.rule, top.names
}

// prefixes lists the rules that make w of h: the parts before a common ending, of the longest one first.
func prefixes(h, w string) (rules []string) {
	a, b := strings.Split(h, "."), strings.Split(w, ".")
	same := 0
	for same < min(len(a), len(b)) && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	if h == w || strings.ContainsAny(h+w, "*=") {
		return nil
	}
	pattern := func(parts []string, same int) string {
		return strings.Join(append(slices.Clone(parts[:len(parts)-same]), "*"), ".")
	}
	for ; same > 0; same-- {
		rules = append(rules, pattern(a, same)+"="+pattern(b, same))
	}
	return rules
}

// apply returns the names that a rule gives, none where one of them is not open.
func apply(rule string, left, open []string, fits func(have, want string) bool) map[string]string {
	from, to, _ := strings.Cut(rule, "=")
	p, q := strings.Split(from, "*"), strings.Split(to, "*")
	names := map[string]string{}
	for _, old := range left {
		texts, ok := match(p, old)
		if !ok {
			continue
		}
		new := fill(q, texts)
		if !slices.Contains(open, new) || !fits(old, new) {
			return nil
		}
		names[old] = new
	}
	return names
}
