package counts

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// frontEnds are the folders whose code records programs: those that all ways have in common, and those
// of one way.
var frontEnds = []struct {
	folders []string
	shared  bool
}{
	{[]string{"tensor", "tracer/record", "tracer/alias", "op", "shape", "graph", "diag"}, true},
	{[]string{"tracer", "lazy"}, false},
}

// Lines counts lines with code of the repository in a folder, without those that a program has written and without tests: W10.
func Lines(root string) func(tell Tell) error {
	return func(tell Tell) error {
		var shared, all float64
		for _, f := range frontEnds {
			for _, folder := range f.folders {
				n, err := linesOf(filepath.Join(root, filepath.FromSlash(folder)))
				if err != nil {
					return err
				}
				if all += n; f.shared {
					shared += n
				}
			}
		}
		tell("lines", all)
		tell("shared", shared)
		tell("percent", 100*shared/all)
		return nil
	}
}

func linesOf(folder string) (n float64, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s has no code", folder)
	}
	for _, name := range files {
		b, failed := os.ReadFile(name)
		if failed != nil {
			return 0, failed
		}
		if strings.HasSuffix(name, "_test.go") || bytes.Contains(b, []byte("DO NOT EDIT")) {
			continue
		}
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
	}
	return n, err
}
