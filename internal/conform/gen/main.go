// Command gen writes docs/ops.md from the operators and the table of engines;
// go generate runs it in internal/conform.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gofx-dev/gofx/internal/conform"
)

func main() {
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "ops.md"), []byte(conform.Doc()), 0o644); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
