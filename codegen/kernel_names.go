package codegen

import (
	"strconv"

	"github.com/gofx-dev/gofx/graph"
)

// goNames are the packages that generated code imports, which its identifiers
// never are.
var goNames = []string{"array", "kernel", "diag", "safetensors", "context", "io", "embed", "strconv", "slices", "runtime", "atomic", "bytes", "math"}

// leafNames finds the names that a structure gives to the outputs.
func leafNames(s *graph.Structure, path string, names map[int]string) {
	if s == nil {
		return
	}
	if s.Kind == graph.LeafValue {
		if _, ok := names[s.Index]; !ok {
			names[s.Index] = path
		}
		return
	}
	for i, f := range s.Fields {
		key := ""
		switch {
		case i < len(s.Keys):
			key = s.Keys[i]
		case s.Kind == graph.SliceOf && path != "":
			key = strconv.Itoa(i)
		}
		sub := key
		if path != "" && key != "" {
			sub = path + "_" + key
		}
		leafNames(f, sub, names)
	}
}
