package modelfile

import (
	"strings"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/goname"
	pb "github.com/gofx-dev/gofx/internal/onnxpb"
)

// Short cuts names for messages: a file can have any.
func Short(s string) string {
	const most = 200
	if len(s) > most {
		return s[:most/2] + "..." + s[len(s)-most/2:]
	}
	return s
}

// PlainName reports whether operators or domains may have the name, which stands in messages
// as it is: letters, digits and characters that join them.
func PlainName(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '.' && r != '-' {
			return false
		}
	}
	return s != "" && len(s) <= 200
}

// GraphName is the name of a graph, made legal.
func GraphName(s string) string { return goname.Legal(s, "net") }

// Readable is the name of a value, "" where the file's says nothing: exporters number
// values, or put the path of the module in front.
func Readable(s string) string {
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

// ScopeOf is the path of the module that made a node, as exporters write it in the
// node's name: /layer1/layer1.0/conv1/Conv is in layer1.0.conv1.
func ScopeOf(name string) string {
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

// InputNames lists the inputs that are not initializers, for messages.
func InputNames(g *pb.Graph) string {
	var names []string
	initial := InitializerNames(g)
	for _, v := range g.Inputs {
		if !initial[v.Name] {
			names = append(names, diag.Quote(v.Name))
		}
	}
	return strings.Join(names, ", ")
}

// InitializerNames are the names of constants of a graph, sparse ones among them.
func InitializerNames(g *pb.Graph) map[string]bool {
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

// Domain has one name for the standard operators.
func Domain(d string) string {
	if d == "ai.onnx" {
		return ""
	}
	return d
}
