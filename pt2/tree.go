package pt2

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Trees of PyTorch: how arguments and results lie in lists, dictionaries and classes.

// treeJSON is TreeSpec.
type treeJSON struct {
	Type     *string         `json:"type"`
	Context  json.RawMessage `json:"context"`
	Children []treeJSON      `json:"children_spec"`
}

// mostLeaves and mostLevels bound the size of a tree that is read.
const (
	mostLeaves = 1 << 16
	mostLevels = 64
)

// readTree reads [version, tree]; nil where that is something else.
func readTree(text string) *treeJSON {
	var pair []json.RawMessage
	if json.Unmarshal([]byte(text), &pair) != nil || len(pair) != 2 {
		return nil
	}
	t := &treeJSON{}
	if json.Unmarshal(pair[1], t) != nil {
		return nil
	}
	return t
}

// keys are those of a dictionary or class, nil for lists and for nodes with other
// contexts.
func (t *treeJSON) keys() []string {
	raw := t.Context
	var text string
	if json.Unmarshal(raw, &text) == nil { // a context is JSON in a string
		raw = json.RawMessage(text)
	}
	var keys []string
	if json.Unmarshal(raw, &keys) == nil && len(keys) == len(t.Children) {
		return keys
	}
	var several []json.RawMessage // a class has its keys next to its own name
	if json.Unmarshal(raw, &several) != nil {
		return nil
	}
	for _, r := range several {
		if json.Unmarshal(r, &keys) == nil && len(keys) == len(t.Children) && len(keys) > 0 {
			return keys
		}
	}
	return nil
}

// leaves are names for the leaves of a tree: keys and places joined by _.
func leaves(text, prefix string) []string {
	t := readTree(text)
	if t == nil {
		return nil
	}
	var names []string
	var walk func(t *treeJSON, name string, depth int)
	walk = func(t *treeJSON, name string, depth int) {
		if len(names) > mostLeaves || depth > mostLevels {
			return
		}
		if t.Type == nil {
			names = append(names, name)
			return
		}
		keys := t.keys()
		for i := range t.Children {
			part := strconv.Itoa(i)
			if keys != nil {
				part = keys[i]
			}
			if name != "" {
				part = name + "_" + part
			}
			walk(&t.Children[i], part, depth+1)
		}
	}
	walk(t, prefix, 0)
	return names
}

// plainIndex reports whether a name is made of places alone, which say nothing.
func plainIndex(name string) bool {
	return strings.Trim(name, "0123456789_") == ""
}

// paths are the expressions by which Python's guards call the leaves of the arguments: L['x'], L['x'][0].
func (s *callSignature) paths() []string {
	t := readTree(s.In)
	if t == nil || len(t.Children) != 2 {
		return nil
	}
	var out []string
	var walk func(t *treeJSON, path string, depth int)
	walk = func(t *treeJSON, path string, depth int) {
		if len(out) > mostLeaves || depth > mostLevels {
			return
		}
		if t.Type == nil {
			out = append(out, path)
			return
		}
		keys := t.keys()
		for i := range t.Children {
			part := "[" + strconv.Itoa(i) + "]"
			if keys != nil {
				part = "['" + keys[i] + "']"
			}
			walk(&t.Children[i], path+part, depth+1)
		}
	}
	top := append([]treeJSON{}, t.Children[0].Children...)
	keywords := t.Children[1].keys()
	top = append(top, t.Children[1].Children...)
	for i := range top {
		name := ""
		switch k := i - len(t.Children[0].Children); {
		case i < len(s.Names):
			name = s.Names[i]
		case k >= 0 && k < len(keywords):
			name = keywords[k]
		}
		walk(&top[i], "L['"+name+"']", 0)
	}
	return out
}
