//go:build js

package graphviz

import (
	"context"
	"runtime"

	"github.com/gofx-dev/gofx/diag"
)

// MaxPNGNodes is the number of nodes that a PNG may have.
const MaxPNGNodes = 400

// Render reports that there is no Graphviz for this system: it runs as WebAssembly itself.
func Render(context.Context, string, string) ([]byte, error) {
	return nil, diag.New(Format, "there is no Graphviz on "+runtime.GOOS+"/"+runtime.GOARCH+" to make pictures with").
		WithHint("write DOT, and draw it elsewhere")
}
