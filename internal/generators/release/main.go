// Command release makes what a release of gofx consists of, in a folder, and tries it. It pushes nothing, and changes
// the working tree only with -apply.
//
//	go run ./internal/generators/release make -version v0.1.0 -o dist
//	go run ./internal/generators/release try
//	go run ./internal/generators/release apidiff
//
// make wants a clean tree. It cuts the change log, sets the requirement of gofx in nested modules, and writes module
// zips in the layout of a module proxy, binaries of fxgen with their contents and checksums, a formula for Homebrew and a
// Dockerfile. try makes the modules of the tree as it lies, and does with them what a new user does: docs/install.md
// and docs/tutorial.md word by word, and the README's commands, with an empty module cache and without a
// replacement. apidiff compares the exported names with those of the last tag.
//
// Read main.go, then tree.go and modules.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const usage = "release make -version VERSION [-o FOLDER] [-platforms LIST] [-apply] | try [-cold] | apidiff [-against REVISION]"

// run does what the arguments ask for.
func run(ctx context.Context, args []string, w io.Writer) error {
	root, err := repo.Root()
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return fmt.Errorf("got no command, want %s", usage)
	}
	set := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "make":
		m := maker{root: root, log: w}
		set.StringVar(&m.version, "version", "", "the version, such as v0.1.0")
		set.StringVar(&m.out, "o", "dist", "the folder for all that is made; it must be empty or missing")
		set.StringVar(&m.platforms, "platforms", platforms, "of binaries, with commas between them; none for no binaries")
		set.BoolVar(&m.apply, "apply", false, "also write the change log and the go.mod files of nested modules into the working tree")
		if err := parse(set, args); err != nil {
			return err
		}
		return m.make(ctx)
	case "try":
		cold := set.Bool("cold", false, "begin with an empty build cache, too")
		if err := parse(set, args); err != nil {
			return err
		}
		return try(ctx, w, root, *cold)
	case "apidiff":
		against := set.String("against", "", "what to compare with (the last tag of a release)")
		if err := parse(set, args); err != nil {
			return err
		}
		return compatible(ctx, w, root, *against)
	}
	return fmt.Errorf("got command %q, want %s", args[0], usage)
}

// parse reads the flags of a command, after which nothing may come.
func parse(set *flag.FlagSet, args []string) error {
	if err := set.Parse(args[1:]); err != nil {
		return err
	}
	if set.NArg() > 0 {
		return fmt.Errorf("got argument %q, want %s", set.Arg(0), usage)
	}
	return nil
}
