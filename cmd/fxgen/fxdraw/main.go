// Command fxdraw renders DOT from the standard input as SVG or PNG. fxgen draw
// runs it: linking Graphviz takes seconds to start, which no other command of
// fxgen should pay for.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/gofx-dev/gofx/draw/graphviz"
)

func main() {
	format := flag.String("format", "svg", "svg or png")
	flag.Parse()
	if err := render(*format); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(format string) error {
	dot, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	out, err := graphviz.Render(context.Background(), string(dot), format)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(out)
	return err
}
