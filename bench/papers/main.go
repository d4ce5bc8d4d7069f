// Command papers judges what gofx measures of workloads of papers by what the papers say. It runs in bench:
//
//	go run ./papers                 # the verdicts of the stored rows
//	go run ./papers -run W1,W2      # measures two workloads here and judges them
//	go run ./papers -run W1 -keep   # and stores their rows in papers/rows.json
//	go run ./papers -doc            # writes docs/results.md and its plots from the stored rows
//
// Arguments after these are flags of the benchmark: -pairs 5.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// stored are the rows that docs/results.md shows.
const stored = "papers/rows.json"

func main() {
	workloads := flag.String("run", "", "measure these `workloads`")
	keep := flag.Bool("keep", false, "store what was measured")
	doc := flag.Bool("doc", false, "write docs/results.md and its plots")
	peers := flag.String("peers", "torch", "`processes` to compare with")
	flag.Parse()
	if err := run(arguments(*workloads, *peers, *keep, *doc, flag.Args())); err != nil {
		fmt.Fprintln(os.Stderr, "papers:", err)
		os.Exit(1)
	}
}

// arguments are those of the benchmark.
func arguments(workloads, peers string, keep, doc bool, more []string) []string {
	return slices.Concat([]string{"-papers", stored, "-workloads", workloads, "-peers", peers, fmt.Sprint("-keep=", keep), fmt.Sprint("-doc=", doc)}, more)
}

// run runs the benchmark.
func run(args []string) error {
	cmd := exec.Command("go", slices.Concat([]string{"run", "."}, args)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
