package draw

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/near"
)

// markFile is an overlay as a file has it. A value is a number, a text, or both.
type markFile struct {
	Name  string                     `json:"name"`
	Unit  string                     `json:"unit"`
	Nodes map[string]json.RawMessage `json:"nodes"`
}

type markValue struct {
	Value *float64 `json:"value"`
	Text  string   `json:"text"`
}

// ParseOverlay reads an overlay from JSON:
//
//	{"name": "latency", "unit": "ms", "nodes": {"conv1": 1.5, "fc": "int8", "relu": {"value": 0.1, "text": "fused"}}}
//
// or the object of the nodes alone. The least number is coldest, the largest hottest; a
// node with a text alone keeps its own colour. Nodes have the names that the graph has
// for them, as %conv1 too. Names that no node of m has are an error that lists them. file
// is for errors.
func ParseOverlay(text []byte, file string, m *graph.Module) (*Overlay, error) {
	at := func(e *diag.Error) error { return e.At(diag.Pos{File: file}) }
	f, values, err := readMarks(text)
	if err != nil {
		return nil, at(err)
	}
	var known []string
	for n := range m.All() {
		known = append(known, qualified(n))
	}
	if err := checkMarks(values, known); err != nil {
		return nil, at(err)
	}
	return f.overlay(values), nil
}

// readMarks decodes a file.
func readMarks(text []byte) (f markFile, values map[string]markValue, err *diag.Error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return f, nil, badOverlay("the text is no object of JSON: "+err.Error(), `write {"conv1": 1.5, "fc": "note"}, with the names of nodes`)
	}
	f = markFile{Nodes: all}
	if wrapped(all) {
		f = markFile{}
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&f); err != nil {
			return f, nil, badOverlay("the overlay cannot be read: "+err.Error(), "the fields are name, unit and nodes")
		}
	}
	if f.Name == "" {
		f.Name = "overlay"
	}
	if f.Name == costName || f.Name == bytesName {
		return f, nil, badOverlay("the name "+strconv.Quote(f.Name)+" is that of an overlay which every page has", "give another name")
	}
	values = map[string]markValue{}
	for _, name := range slices.Sorted(maps.Keys(f.Nodes)) {
		v, err := markOf(f.Nodes[name])
		if err != nil {
			return f, nil, badOverlay("node "+strconv.Quote(name)+" has "+clip(string(f.Nodes[name]), maxLine)+", expected a number, a text, or both", `write 1.5, "text", or {"value": 1.5, "text": "text"}`)
		}
		node := strings.TrimPrefix(name, "%")
		if _, twice := values[node]; twice {
			return f, nil, badOverlay("node "+strconv.Quote(node)+" is there twice, with % and without", "leave one out")
		}
		values[node] = v
	}
	return f, values, nil
}

// wrapped reports whether an object has the nodes in a field: nodes, and next to it only a
// name and a unit.
func wrapped(all map[string]json.RawMessage) bool {
	nodes := bytes.TrimSpace(all["nodes"])
	if len(nodes) == 0 || nodes[0] != '{' {
		return false
	}
	for k := range all {
		if k != "nodes" && k != "name" && k != "unit" {
			return false
		}
	}
	return true
}

func markOf(raw json.RawMessage) (v markValue, err error) {
	switch bytes.TrimSpace(raw)[0] {
	case '"':
		err = json.Unmarshal(raw, &v.Text)
	case '{':
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&v)
	default:
		err = json.Unmarshal(raw, &v.Value)
	}
	if err == nil && v.Value == nil && v.Text == "" {
		err = errors.New("neither a value nor a text")
	}
	return v, err
}

// checkMarks refuses names that no node has.
func checkMarks(values map[string]markValue, known []string) *diag.Error {
	is := map[string]bool{}
	for _, k := range known {
		is[k] = true
	}
	var wrong []string
	for name := range values {
		if !is[name] {
			wrong = append(wrong, name)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	slices.Sort(wrong)
	const most = 10
	list := "%" + strings.Join(wrong[:min(len(wrong), most)], ", %")
	if len(wrong) > most {
		list += " and " + strconv.Itoa(len(wrong)-most) + " more"
	}
	return badOverlay("no node of the graph is called "+clean(list), near.Hint(wrong[0], known, "fxgen print lists the names; after passes they may be others"))
}

func badOverlay(msg, hint string) *diag.Error { return diag.New(BadOverlay, msg).WithHint(hint) }

// overlay colours the values.
func (f markFile) overlay(values map[string]markValue) *Overlay {
	o := &Overlay{Name: f.Name, Marks: map[string]Mark{}}
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v.Value != nil {
			least, most = min(least, *v.Value), max(most, *v.Value)
		}
	}
	heat := func(v float64) float64 {
		if most <= least {
			return 0
		}
		return (v/2 - least/2) / (most/2 - least/2) // halves, so that no difference is infinite
	}
	number := func(v float64) string {
		return strings.TrimSpace(digits(v) + " " + f.Unit)
	}
	for name, v := range values {
		switch {
		case v.Value == nil:
			o.Marks[name] = Mark{Text: v.Text, Plain: true}
		default:
			o.Marks[name] = Mark{Heat: heat(*v.Value), Text: strings.TrimSuffix(number(*v.Value)+", "+v.Text, ", ")}
		}
	}
	if least > most {
		return o
	}
	o.Legend = []Mark{{Heat: heat(least), Text: number(least)}}
	if least < most {
		o.Legend = append(o.Legend, Mark{Heat: 0.5, Text: number(least/2 + most/2)}, Mark{Heat: 1, Text: number(most)})
	}
	return o
}
