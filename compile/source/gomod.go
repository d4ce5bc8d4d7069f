package source

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

var minorVersion = regexp.MustCompile(`go1\.\d+`)

// minor is the Go version of the program without the number of the patch.
func minor() string { return Minor(runtime.Version()) }

// Minor is a Go version without the number of the patch.
func Minor(version string) string { return minorVersion.FindString(version) }

// module is the text of a go.mod, line by line.
type module []string

// goMod reads the go.mod of the folder in which a program runs.
func goMod(folder func() (string, error)) (module, error) {
	dir, err := folder()
	for ; err == nil; dir = filepath.Dir(dir) {
		var text []byte
		if text, err = os.ReadFile(filepath.Join(dir, "go.mod")); err == nil {
			return strings.Split(string(text), "\n"), nil
		}
		if dir != filepath.Dir(dir) && os.IsNotExist(err) {
			err = nil
		}
	}
	return nil, err
}

// version returns the version of a module that a go.mod demands or replaces.
func (m module) version(path string) (v string) {
	block := ""
	for _, line := range m {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
			continue
		case words[0] == ")":
			block = ""
			continue
		case len(words) == 2 && words[1] == "(":
			block = words[0]
			continue
		case block != "":
			words = append([]string{block}, words...)
		}
		for i := range words {
			words[i] = strings.Trim(words[i], "\"`")
		}
		switch {
		case len(words) < 3 || words[1] != path:
		case words[0] == "require" && v == "":
			v = words[2]
		case words[0] == "replace":
			v = replaced(words[2:])
		}
	}
	return v
}

// replaced reads what stands after the module of a replacement.
func replaced(words []string) string {
	for i, w := range words {
		if w != "=>" {
			continue
		}
		switch rest := words[i+1:]; len(rest) {
		case 1:
			return Replaced
		case 2:
			return rest[0] + "@" + rest[1]
		}
	}
	return ""
}
