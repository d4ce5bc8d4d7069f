package gosrc

import (
	"bytes"
	"strings"
)

// GroupImports puts the imports of the standard library before all others, with a
// blank line between. source has one block of imports, as it is printed.
func GroupImports(source []byte) []byte {
	const begin, end = "\nimport (\n", "\n)\n"
	at := bytes.Index(source, []byte(begin))
	if at < 0 {
		return source
	}
	at += len(begin)
	n := bytes.Index(source[at:], []byte(end))
	var std, others []string
	for _, line := range strings.Split(string(source[at:at+n]), "\n") {
		path, _, _ := strings.Cut(line[strings.IndexByte(line, '"')+1:], "\"")
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			others = append(others, line)
		} else {
			std = append(std, line)
		}
	}
	if std == nil || others == nil {
		return source
	}
	grouped := strings.Join(std, "\n") + "\n\n" + strings.Join(others, "\n")
	return append(append(append([]byte(nil), source[:at]...), grouped...), source[at+n:]...)
}
