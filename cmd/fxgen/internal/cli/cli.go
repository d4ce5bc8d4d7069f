// Package cli is the command line of fxgen: flags, sources, the destinations of
// results, and the form of diagnostics. Package work does the work on a model;
// this one decides whether that happens here or in a test binary of the user's
// package.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gofx-dev/gofx/cmd/fxgen/internal/proc"
	"github.com/gofx-dev/gofx/diag"
)

// The exit codes.
const (
	exitOK       = 0
	exitInput    = 1 // the user's input is at fault, or check found a difference
	exitUsage    = 2
	exitInternal = 3
)

// errDiffers ends check and diff when the files on disk differ from those that
// gen would write; the differences have been printed.
var errDiffers = errors.New("the files differ")

// app is one call of the program.
type app struct {
	ctx            context.Context
	stdout, stderr io.Writer // text written there does nothing on a terminal; see plain
	terminal       io.Writer // stderr itself
	sayEnded       func()    // says once that a signal came
	maxBytes       string    // -max-bytes
	most           int64     // its value, 0 if not given

	out     *checked         // the destination of stdout
	said    []diagnosticJSON // diagnostics so far
	found   diag.List        // the same for reports, and what results say
	reports reports
	writers []*writer // of results
	lines   bool      // the results are documents, of which the diagnostics are one
}

// Main runs the command line without the program's name and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) (code int) {
	sayEnded := sync.OnceFunc(func() { fmt.Fprintln(stderr, ended) })
	ctx, caught := heed(sayEnded)
	defer func() {
		if s := caught(); s != nil {
			code = proc.ExitCode(s)
		}
	}()
	out := &checked{w: stdout}
	a := &app{ctx: ctx, out: out, stdout: &plain{w: out}, stderr: &plain{w: stderr}, terminal: stderr, sayEnded: sayEnded}
	defer func() {
		if r := recover(); r != nil {
			code = a.fail(diag.Bug(fmt.Sprint(r)))
		}
	}()
	root := a.root()
	root.SetArgs(longFlags(args))
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	c, err := root.ExecuteContextC(ctx)
	var usage *usageError
	if errors.As(err, &usage) && c != root && c.Name() != "help" {
		usage.command = c.Name()
	}
	if out.err != nil && (err == nil || errors.Is(err, errDiffers)) {
		err = out.err
	}
	code = a.fail(err)
	if code != exitOK {
		a.failed(c)
	}
	return writeReports(a, args, code)
}

// heed ends the context at a signal, so that the program undoes unfinished work. Work
// that does not heed the context within half a second is cut off, and sayEnded is
// called, which the program may be about to call itself. The returned function ends
// the watch and tells the signal, if there was one.
func heed(sayEnded func()) (ctx context.Context, caught func() os.Signal) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, done := make(chan os.Signal, 2), make(chan struct{})
	got := make(chan os.Signal, 1)
	signal.Notify(signals, proc.Signals...)
	go func() {
		defer close(got)
		select {
		case <-done:
			return
		case s := <-signals:
			got <- s
			cancel()
			select {
			case <-done:
				return
			case <-signals: // once more: at once
			case <-time.After(patience):
			}
			sayEnded()
			proc.Exit(s)
		}
	}()
	return ctx, func() os.Signal {
		signal.Stop(signals)
		close(done)
		cancel()
		return <-got
	}
}

// ended is the message for a signal.
const ended = "fxgen: ended by a signal"

// patience is how long a cancelled command may take to end by itself.
const patience = 600 * time.Millisecond

// checked remembers that results could not be written: to a full disk for instance.
type checked struct {
	w   io.Writer
	n   int // bytes written
	err error
}

func (c *checked) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += n
	if c.err == nil && err != nil {
		c.err = unwritable("the results", err)
	}
	return n, err
}

// longFlags makes -name of --name: flags take one dash or two.
func longFlags(args []string) []string {
	out := make([]string, len(args))
	for i, s := range args {
		if s == "--" {
			copy(out[i:], args[i:])
			return out
		}
		out[i] = s
		switch {
		case s == "-h":
			out[i] = "--help"
		case len(s) > 1 && s[0] == '-' && letter(s[1]):
			out[i] = "-" + s
		}
	}
	return out
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "fxgen",
		Short:         "Captures networks written in Go and writes them as optimised Go code",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(c, args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().StringVar(&a.maxBytes, "max-bytes", "", "the most memory that a value of a model, or all of its intermediate values, may take, such as 512MiB (half of the machine's, or GOFX_MAX_BYTES)")
	a.reports.register(root)
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		if err := given(c); err != nil {
			return err
		}
		return a.limit()
	}
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(help(root))
	root.AddCommand(a.gen(), a.check(), a.diff(), a.run(), a.bench(), a.profile(), a.quant(), a.export(), grad(a), trainCommand(a), a.print(), a.draw(), a.stats(), a.why(), a.compare(), a.bisect(), a.minimise(), lazyCommand(a), compileCommand(a), a.verify(), playground(a),
		a.lower(), a.fix(), a.models(), a.ops(), a.passes(), a.devices(), a.explain(), licencesCommand(a), a.version())
	a.documents(root.Commands())
	for _, c := range root.Commands() {
		c.Flags().SortFlags = false
		c.DisableFlagsInUseLine = true
	}
	return root
}

// help is cobra's own command, except that it refuses unknown commands.
func help(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "help [command]", Short: "Help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(root, strings.Join(args, " "))
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		}}
}

const rootHelp = `fxgen captures networks written in Go, transforms them, and writes Go code.

A SOURCE is
  mlp                  a built-in network (fxgen models lists them)
  net.fx               a graph in the text form
  net.onnx             a model in ONNX's format
  net.pt2              a program of PyTorch's torch.export
  net.gguf             the decoder of a language model
  ./folder             a saved graph with its weights
  ./pkg#Func           a function of tensors in a package
  ./pkg#Type           a module, made by the function that -new names
  ./pkg#Type.Method    the same with another method than Forward

Flags take one dash or two. The exit code is 0 for success, 1 when the input is at
fault, 2 for wrong usage and 3 for an internal error.`

// onSource is a command that takes a source; what describes it.
func onSource(name, short, what string) *cobra.Command {
	return &cobra.Command{Use: name + " [flags] SOURCE", Short: short, Args: exactly(1, what)}
}

// fail prints the error and returns the exit code.
func (a *app) fail(err error) int {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK
	case a.ctx.Err() != nil:
		a.sayEnded()
		return exitInput
	case errors.Is(err, errDiffers):
		return exitInput
	case errors.As(err, &usage):
		for _, text := range usage.wrong {
			fmt.Fprintln(a.stderr, "fxgen: "+text)
			a.said = append(a.said, diagnosticJSON{Msg: text, Hint: usage.hint()})
			a.found = append(a.found, &diag.Error{Msg: text, Hint: usage.hint()})
		}
		fmt.Fprintln(a.stderr, "    hint: "+usage.hint())
		return exitUsage
	}
	var l diag.List
	var e *diag.Error
	switch {
	case errors.As(err, &l):
	case errors.As(err, &e):
		l = diag.List{e}
	default:
		text := strings.TrimSpace(err.Error())
		fmt.Fprintln(a.stderr, "fxgen: "+text)
		a.said = append(a.said, diagnosticJSON{Msg: text})
		a.found = append(a.found, &diag.Error{Msg: text})
		return exitInput
	}
	a.diagnostics(l)
	for _, e := range l {
		if e.Code == diag.Internal {
			return exitInternal
		}
	}
	return exitInput
}
