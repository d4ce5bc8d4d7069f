// Command docs writes docs/errors.md from the table of diagnostics, docs/grad.md from the
// operators' entries, docs/zoo.md from the table of networks, and files into the pages that quote them. A test fails when a page is stale.
//
//	go run ./internal/generators/docs
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/gofx-dev/gofx/diag"
)

func main() {
	err := os.WriteFile("docs/errors.md", errorsPage(), 0o644)
	if err == nil {
		err = os.WriteFile("docs/grad.md", gradPage(), 0o644)
	}
	if err == nil {
		err = os.WriteFile("docs/zoo.md", zooPage(), 0o644)
	}
	if err == nil {
		err = writeQuotes(".")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}

// errorsPage lists every code with cause, example and cure.
func errorsPage() []byte {
	var b strings.Builder
	b.WriteString("# Diagnostics\n\nWritten by `go run ./internal/generators/docs` from package diag; `fxgen explain CODE` prints one of them.\n" +
		"The first digit is the stage: 1 capture and running, 2 types, 3 passes, 4 code generation, 5 lowering, 6 quantisation,\n" +
		"7 text form, 8 files and weights, 9 bugs of gofx itself.\n")
	for _, c := range diag.Codes() {
		fmt.Fprintf(&b, "\n## %s: %s\n\n%s\n\n**Cure.** %s\n", c.Code, c.Title, c.Cause, c.Cure)
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```\n%s\n```\n", strings.TrimRight(c.Example, "\n"))
		}
	}
	return []byte(b.String())
}
