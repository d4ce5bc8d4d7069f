package quant

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// ParseConfig reads a configuration in JSON, of which file is the name in messages.
// All mistakes are returned at once, with line and column: fields that there are
// not, values of another kind, rules that select in no way or in several.
//
//	{"global": {"mode": "static", "weight": {"granularity": "channel"}},
//	 "rules": [{"op": "embedding", "mode": "weight_only", "weight": {"bits": 4, "granularity": "group"}}],
//	 "exclude": [{"scope": "head"}],
//	 "strict": true}
func ParseConfig(src []byte, file string) (*Config, error) {
	p := &configReader{src: src, file: file, dec: json.NewDecoder(bytes.NewReader(src))}
	p.dec.UseNumber()
	c := &Config{File: file}
	var all json.RawMessage
	if err := json.Unmarshal(src, &all); err != nil { // the decoder does not tell places as exactly
		return nil, p.syntax(err)
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	p.fields(root, "the configuration", map[string]func(member){
		"global": func(m member) {
			c.at = p.pos(m.value.at)
			p.setting(m.value, "global", &c.Global, nil)
		},
		"rules":   func(m member) { p.each(m, func(v value) { c.Rules = append(c.Rules, p.rule(v)) }) },
		"exclude": func(m member) { p.each(m, func(v value) { c.Exclude = append(c.Exclude, p.selector(v)) }) },
		"strict":  func(m member) { c.Strict = p.bool(m) },
	})
	if len(p.errs) == 0 {
		p.errs = c.check()
	}
	if err := p.errs.Err(); err != nil {
		p.errs.Sort()
		return nil, p.errs
	}
	return c, nil
}

// value is a JSON value with its place.
type value struct {
	at     int64
	scalar any // nil, bool, string, json.Number
	object []member
	list   []value
	kind   byte // '{', '[', or 0 for a scalar
}

type member struct {
	name  string
	at    int64
	value value
}

type configReader struct {
	src  []byte
	file string
	dec  *json.Decoder
	errs diag.List
}

// maxDepth is more than any configuration nests.
const maxDepth = 16

func (p *configReader) token() (t json.Token, at int64, err error) {
	at = p.dec.InputOffset()
	for at < int64(len(p.src)) && strings.IndexByte(" \t\r\n,:", p.src[at]) >= 0 {
		at++
	}
	t, err = p.dec.Token()
	return t, at, err
}

func (p *configReader) value(depth int) (v value, err error) {
	t, at, err := p.token()
	if err != nil {
		return v, err
	}
	if depth > maxDepth {
		return v, p.error(at, "values are nested too deeply")
	}
	v.at = at
	d, ok := t.(json.Delim)
	if !ok {
		v.scalar = t
		return v, nil
	}
	v.kind = byte(d)
	for p.dec.More() {
		var m member
		if d == '{' {
			name, at, err := p.token()
			if err != nil {
				return v, err
			}
			m.name, m.at = name.(string), at // a key is a string, or Token fails
		}
		if m.value, err = p.value(depth + 1); err != nil {
			return v, err
		}
		if d == '{' {
			v.object = append(v.object, m)
		} else {
			v.list = append(v.list, m.value)
		}
	}
	_, _, err = p.token()
	return v, err
}

// syntax positions an error of encoding/json.
func (p *configReader) syntax(err error) error {
	var s *json.SyntaxError
	at := int64(len(p.src))
	if errors.As(err, &s) && s.Error() != "unexpected end of JSON input" {
		at = s.Offset - 1
	}
	return p.error(at, "not JSON: "+err.Error())
}

func (p *configReader) pos(at int64) diag.Pos {
	before := p.src[:max(0, min(at, int64(len(p.src))))]
	return diag.Pos{File: p.file, Line: 1 + bytes.Count(before, []byte("\n")), Col: len(before) - bytes.LastIndexByte(before, '\n')}
}

func (p *configReader) error(at int64, msg string) *diag.Error {
	return diag.New(BadConfig, msg).At(p.pos(at)).WithHint("docs/quant.md describes the file")
}

func (p *configReader) bad(at int64, msg string) { p.errs = append(p.errs, p.error(at, msg)) }

// fields calls the reader of each member of an object.
func (p *configReader) fields(v value, of string, known map[string]func(member)) {
	if v.kind != '{' {
		p.bad(v.at, of+" is no object")
		return
	}
	seen := map[string]bool{}
	for _, m := range v.object {
		read, ok := known[m.name]
		switch {
		case !ok:
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			p.bad(m.at, of+" has no field "+strconv.Quote(m.name)+", expected one of "+strings.Join(names, ", "))
		case seen[m.name]:
			p.bad(m.at, "field "+strconv.Quote(m.name)+" is given twice")
		default:
			seen[m.name] = true
			read(m)
		}
	}
}

func (p *configReader) each(m member, read func(value)) {
	if m.value.kind != '[' {
		p.bad(m.value.at, m.name+" is no list")
		return
	}
	for _, v := range m.value.list {
		read(v)
	}
}

func (p *configReader) rule(v value) (r Rule) {
	r.Pos = p.pos(v.at)
	p.setting(v, "a rule", &r.Setting, p.selects(&r.Selector))
	return r
}

func (p *configReader) selector(v value) (s Selector) {
	s.Pos = p.pos(v.at)
	p.fields(v, "an exclusion", p.selects(&s))
	return s
}

func (p *configReader) selects(s *Selector) map[string]func(member) {
	return map[string]func(member){
		"op": p.string(&s.Op), "type": p.string(&s.Type), "scope": p.string(&s.Scope), "name": p.string(&s.Name),
	}
}

// setting reads a setting, and the further fields in the same object.
func (p *configReader) setting(v value, of string, s *Setting, more map[string]func(member)) {
	known := map[string]func(member){
		"mode":       enum(p, modeNames, &s.Mode),
		"activation": func(m member) { p.scheme(m.value, "activation", &s.Activation) },
		"weight":     func(m member) { p.scheme(m.value, "weight", &s.Weight) },
	}
	for name, read := range more {
		known[name] = read
	}
	p.fields(v, of, known)
}

func (p *configReader) scheme(v value, of string, s *Scheme) {
	p.fields(v, of, map[string]func(member){
		"dtype":       p.dtype(&s.DType),
		"bits":        p.int(&s.Bits),
		"granularity": enum(p, granularityNames, &s.Granularity),
		"group":       p.int(&s.Group),
		"symmetry":    enum(p, symmetryNames, &s.Symmetry),
		"observer":    enum(p, observerNames, &s.Observer.Kind),
		"averaging":   p.float(&s.Observer.Averaging),
		"percentile":  p.float(&s.Observer.Percentile),
	})
}

func (p *configReader) string(to *string) func(member) {
	return func(m member) {
		s, ok := m.value.scalar.(string)
		if !ok || s == "" {
			p.bad(m.value.at, m.name+" is no text")
		}
		*to = s
	}
}

func (p *configReader) int(to *int) func(member) {
	return func(m member) {
		n, _ := m.value.scalar.(json.Number)
		i, err := strconv.Atoi(string(n))
		if err != nil {
			p.bad(m.value.at, m.name+" is no integer")
		}
		*to = i
	}
}

func (p *configReader) float(to *float64) func(member) {
	return func(m member) {
		n, _ := m.value.scalar.(json.Number)
		f, err := strconv.ParseFloat(string(n), 64)
		if err != nil {
			p.bad(m.value.at, m.name+" is no number")
		}
		*to = f
	}
}

func (p *configReader) bool(m member) bool {
	b, ok := m.value.scalar.(bool)
	if !ok {
		p.bad(m.value.at, m.name+" is neither true nor false")
	}
	return b
}

func (p *configReader) dtype(to *array.DType) func(member) {
	return func(m member) {
		s, _ := m.value.scalar.(string)
		d, ok := array.ParseDType(s)
		if !ok {
			p.bad(m.value.at, m.name+" is no element type, expected u8 or i8")
		}
		*to = d
	}
}

func enum[T ~uint8](p *configReader, names []string, to *T) func(member) {
	return func(m member) {
		s, _ := m.value.scalar.(string)
		i := slices.Index(names, s)
		if i < 0 {
			is := "no text"
			if s != "" {
				is = strconv.Quote(s)
			}
			p.bad(m.value.at, m.name+" is "+is+", expected one of "+strings.Join(names, ", "))
			return
		}
		*to = T(i)
	}
}
