//go:build !js

package graphviz_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gofx-dev/gofx/draw/graphviz"
)

func ExampleRender() {
	svg, err := graphviz.Render(context.Background(), "digraph { x -> relu -> output }", "svg")
	fmt.Println(bytes.Contains(svg, []byte("<svg")), bytes.Contains(svg, []byte("relu")), err)

	_, err = graphviz.Render(context.Background(), "digraph {", "svg")
	fmt.Println(err != nil)
	_, err = graphviz.Render(context.Background(), "digraph {}", "gif")
	fmt.Println(err)
	// Output:
	// true true <nil>
	// true
	// format "gif", expected svg or png [FX8042]
}
