// Command dump writes every sample of every operator to a folder, for oracle.py.
package main

import (
	"fmt"
	"os"

	"github.com/gofx-dev/gofx/internal/testkit/oracle"
	_ "github.com/gofx-dev/gofx/op/std" // the operators to dump
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dump FOLDER")
		os.Exit(2)
	}
	if err := oracle.Dump(os.Args[1], oracle.Samples()); err != nil {
		fmt.Fprintln(os.Stderr, "dump:", err)
		os.Exit(1)
	}
}
