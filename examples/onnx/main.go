// Command onnx makes a program of an ONNX file, for this machine or another one:
//
//	go run . -os linux -arch arm64 digits.onnx
//
// It generates a Go package of the model, writes a main package next to it, and
// builds that without cgo: one file that runs on a machine with nothing installed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run is the command; messages of the commands that it calls go to log.
func run(ctx context.Context, args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("onnx", flag.ContinueOnError)
	flags.SetOutput(log)
	var o options
	flags.StringVar(&o.goos, "os", runtime.GOOS, "the `system` to build for, as GOOS")
	flags.StringVar(&o.goarch, "arch", runtime.GOARCH, "the `processor` to build for, as GOARCH")
	flags.StringVar(&o.program, "o", "", "the program's `file` (default: the model's name, in this folder)")
	flags.StringVar(&o.folder, "source", "", "the `folder` of the program's source, in this module (default build/NAME)")
	flags.Usage = func() {
		fmt.Fprintln(log, "usage: go run . [flags] MODEL.onnx [flags of fxgen gen]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return fmt.Errorf("no model, expected the name of an ONNX file")
	}
	o.model, o.gen = flags.Arg(0), flags.Args()[1:]
	program, err := build(ctx, o, log)
	if err != nil {
		return err
	}
	info, err := os.Stat(program)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s/%s, %.1f MB\n", program, o.goos, o.goarch, float64(info.Size())/1e6)
	return nil
}
