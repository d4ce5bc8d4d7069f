package onnx

import (
	"strings"

	"github.com/gofx-dev/gofx/diag"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// short cuts names for messages: a file can have any.
func short(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most/2] + "..." + s[len(s)-most/2:]
	}
	return s
}

// plainName reports whether operators or domains may have the name, which stands in messages
// as it is: letters, digits and characters that join them.
func plainName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 200
}

// legalName makes an identifier of a name of a file: letters, digits and underscores,
// not starting with a digit; def where nothing is left.
func legalName(s, def string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= 100 {
			break
		}
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "":
		return def
	case name[0] <= '9':
		return def + "_" + name
	}
	return name
}

// legalPath makes the path of a parameter: legal names with dots between.
func legalPath(s string) string {
	parts := strings.Split(s, ".")
	for i, p := range parts {
		if isNumber(p) {
			continue
		}
		parts[i] = legalName(p, "p")
	}
	return strings.Join(parts, ".")
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != "" && len(s) < 10
}

func graphName(s string) string { return legalName(s, "net") }

// readable is the name of a value, "" where the file's says nothing: exporters number
// values, or put the path of the module in front.
func readable(s string) string {
	if isNumber(s) || strings.Contains(s, "::") {
		return ""
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.LastIndex(s, "_output_"); i > 0 {
		s = s[:i]
	}
	return strings.ToLower(legalName(s, ""))
}

// scopeOf is the path of the module that made a node, as exporters write it in the
// node's name: /layer1/layer1.0/conv1/Conv is in layer1.0.conv1.
func scopeOf(name string) string {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	path := ""
	for _, p := range parts[:len(parts)-1] {
		p = legalPath(p)
		switch {
		case path == "", strings.HasPrefix(p, path+"."):
			path = p
		default:
			if last := path[strings.LastIndexByte(path, '.')+1:]; strings.HasPrefix(p, last+".") {
				p = p[len(last)+1:]
			}
			path += "." + p
		}
	}
	return path
}

func inputNames(g *pb.Graph) string {
	var names []string
	initial := initializerNames(g)
	for _, v := range g.Inputs {
		if !initial[v.Name] {
			names = append(names, diag.Quote(v.Name))
		}
	}
	return strings.Join(names, ", ")
}

func initializerNames(g *pb.Graph) map[string]bool {
	names := make(map[string]bool, len(g.Initializers))
	for _, t := range g.Initializers {
		names[t.Name] = true
	}
	for _, t := range g.Sparse {
		if t.Values != nil {
			names[t.Values.Name] = true
		}
	}
	return names
}
