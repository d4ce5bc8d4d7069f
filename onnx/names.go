package onnx

import (
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
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

func graphName(s string) string { return goname.Legal(s, "net") }

// readable is the name of a value, "" where the file's says nothing: exporters number
// values, or put the path of the module in front.
func readable(s string) string {
	if goname.IsNumber(s) || strings.Contains(s, "::") {
		return ""
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.LastIndex(s, "_output_"); i > 0 {
		s = s[:i]
	}
	return strings.ToLower(goname.Legal(s, ""))
}

// scopeOf is the path of the module that made a node, as exporters write it in the
// node's name: /layer1/layer1.0/conv1/Conv is in layer1.0.conv1.
func scopeOf(name string) string {
	parts := strings.Split(strings.Trim(name, "/"), "/")
	path := ""
	for _, p := range parts[:len(parts)-1] {
		p = goname.LegalPath(p)
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

// domain has one name for the standard operators.
func domain(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}
