// Command server answers requests over HTTP with a generated network.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"example.com/server/digitsnet"
	"example.com/server/serve"
)

//go:generate go tool -modfile=fxgen.mod fxgen gen -o digitsnet -package digitsnet -weights-mode embed ../onnx/digits.onnx

// settings are the flags.
type settings struct {
	addr, admin, weights string
	drain, grace         time.Duration
	options              serve.Options
}

func main() {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	err := run(os.Args[1:], signals, log, nil)
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		log.Error("ended", "error", err)
		os.Exit(1)
	}
}

func parse(args []string, usage io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(usage)
	o := &s.options
	flags.StringVar(&s.addr, "addr", ":8080", "`address` of predictions and health")
	flags.StringVar(&s.admin, "admin", "localhost:8081", "`address` of /metrics and /reload, which is not for everyone")
	flags.StringVar(&s.weights, "weights", "", "safetensors `file` of weights, read again on SIGHUP and POST /reload (default: those in the program)")
	flags.IntVar(&o.MaxBatch, "max-batch", 32, "the most images that are computed at once")
	flags.DurationVar(&o.MaxWait, "max-wait", 2*time.Millisecond, "the longest that an image waits for others")
	flags.IntVar(&o.Workers, "workers", 1, "how many batches are computed at once")
	flags.IntVar(&o.MaxRequests, "max-requests", 256, "the most requests that are read, waiting or computed; more are refused")
	flags.Int64Var(&o.MaxBody, "max-body", 256<<10, "the most `bytes` of a request")
	flags.DurationVar(&o.Timeout, "timeout", 5*time.Second, "the longest that a request waits for its answer")
	flags.DurationVar(&s.drain, "drain", 5*time.Second, "how long to be not ready, and still answer, before shutting down: longer than clients and load balancers take to notice")
	flags.DurationVar(&s.grace, "grace", 20*time.Second, "the longest that shutting down waits for answers")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return s, nil
}

// load returns a function that reads the weights, "" for those in the program.
func load(path string, threads int) func() (serve.Model, error) {
	return func() (serve.Model, error) {
		m, err := read(path)
		if err != nil {
			return nil, err
		}
		m.Threads = threads
		return m, nil
	}
}

func read(path string) (*digitsnet.Model, error) {
	if path == "" {
		return digitsnet.New()
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // who opens a pipe waits, here for good
		return nil, fmt.Errorf("%s is no regular file, expected safetensors", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	return digitsnet.Load(f, info.Size())
}

// run serves until a signal ends it; SIGHUP reads the weights again. started is told
// the addresses that are listened on.
func run(args []string, signals <-chan os.Signal, log *slog.Logger, started func(addr, admin string)) error {
	s, err := parse(args, os.Stderr)
	if err != nil {
		return err
	}
	s.options.Row, s.options.Log = []int{1, 8, 8}, log
	server, err := serve.New(load(s.weights, serve.Threads(s.options.Workers)), s.options)
	if err != nil {
		return err
	}
	defer server.Close()
	front, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	defer front.Close()
	back, err := net.Listen("tcp", s.admin)
	if err != nil {
		return err
	}
	defer back.Close()
	if started != nil {
		started(front.Addr().String(), back.Addr().String())
	}
	public, admin := limited(server.Handler(), s.options.Timeout), limited(server.Admin(), time.Minute)
	ended := make(chan error, 2)
	go func() { ended <- public.Serve(serve.Listener(front)) }()
	go func() { ended <- admin.Serve(back) }()
	log.Info("serving", "addr", front.Addr(), "admin", back.Addr())
	for {
		select {
		case err := <-ended: // a listener failed
			return errors.Join(err, public.Close(), admin.Close())
		case sig := <-signals:
			if sig == syscall.SIGHUP {
				go func() { _ = server.Reload() }() // which is logged and counted
				continue
			}
			log.Info("shutting down", "signal", sig)
			return shutDown(server, public, admin, s, signals)
		}
	}
}

// limited returns an HTTP server that no slow client holds on to: wait is the longest that
// its handler takes.
func limited(h http.Handler, wait time.Duration) *http.Server {
	return &http.Server{Handler: h, ConnContext: serve.Context, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: wait + 15*time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
}

// shutDown tells load balancers, and clients with each answer, to go elsewhere, still answers
// for a while, lets requests that have begun end, and closes. Connections that were idle all
// the while are closed then: nobody can tell whether their clients are about to send. A
// second signal, or the end of the grace, cuts requests off.
func shutDown(server *serve.Server, public, admin *http.Server, s settings, signals <-chan os.Signal) error {
	server.Drain()
	ctx, cancel := context.WithTimeout(context.Background(), s.drain+s.grace)
	defer cancel()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case sig := <-signals:
				if sig != syscall.SIGHUP {
					cancel()
				}
			case <-stop:
				return
			}
		}
	}()
	select {
	case <-time.After(s.drain):
	case <-ctx.Done():
	}
	err := public.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("requests were cut off: %w", errors.Join(err, public.Close()))
	}
	return errors.Join(err, admin.Close())
}
