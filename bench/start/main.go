// Command start measures the time from an ONNX file to the first result, and the memory that a process has taken by then,
// next to ONNX Runtime and OpenVINO. Each measurement is a process of its own; what the process itself and its packages
// take to start is left out of the times, and within the memory.
//
//	cd bench && go run ./start -threads 2 resnet50 bert_base mobilenet_v3_large
//
// With -doc it writes docs/bench/start.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/bench/host"
	"github.com/gofx-dev/gofx/bench/peers"
	"github.com/gofx-dev/gofx/models"
)

// tolerance is how far the sums of results may lie apart, relatively.
const tolerance = 1e-3

// engines are what is compared, gofx first.
var engines = []string{"gofx", "onnxruntime", "openvino"}

// started is what a process says of itself.
type started struct {
	Load  float64 `json:"load_ms"`  // until the network can be run
	First float64 `json:"first_ms"` // the first run
	KiB   float64 `json:"kib"`      // the most memory that was resident
	Sum   float64 `json:"sum"`      // of the magnitudes of the first result
}

func (s started) total() float64 { return s.Load + s.First }

func main() {
	threads := flag.Int("threads", 2, "threads of each")
	pairs := flag.Int("pairs", 7, "interleaved measurements of each median")
	doc := flag.Bool("doc", false, "write docs/bench/start.md")
	one := flag.String("one", "", "measure gofx on this `file` in this process, and print JSON")
	flag.Parse()
	if *one != "" {
		if err := json.NewEncoder(os.Stdout).Encode(ours(*one, *threads)); err != nil {
			fail(err)
		}
		return
	}
	text, err := table(flag.Args(), *threads, *pairs)
	if err == nil && *doc {
		err = os.WriteFile(filepath.Join("..", "docs", "bench", "start.md"), []byte(text), 0o600)
	}
	if err != nil {
		fail(err)
	}
	fmt.Print(text)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "start:", err)
	os.Exit(1)
}

// table measures networks, and writes what it has found.
func table(networks []string, threads, pairs int) (string, error) {
	if len(networks) == 0 {
		networks = []string{"resnet50", "bert_base", "mobilenet_v3_large"}
	}
	for _, name := range networks {
		if models.Lookup(name) == nil {
			return "", fmt.Errorf("there is no network %s, expected one that fxgen models lists", name)
		}
	}
	dir, err := os.MkdirTemp("", "gofx-start")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	var b strings.Builder
	fmt.Fprintf(&b, "# From a file to the first result\n\nEach measurement is a process of its own, which reads an ONNX file, prepares the network and runs it once: medians of %d turns, on %d threads. "+
		"What the process and its packages take to start is not in the times; it is in the memory, the most that was resident. The files lie in the page cache.\n\n%s, %s.\n\n"+
		"| network | engine | ready ms | first run ms | both | of the best peer | MiB | of the least peer |\n|---|---|---|---|---|---|---|---|\n", pairs, threads, host.Processor(), time.Now().Format(time.DateOnly))
	for _, name := range networks {
		file := filepath.Join(dir, name+".onnx")
		if err := export(name, file); err != nil {
			return "", err
		}
		medians, err := measure(file, threads, pairs)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		row(&b, name, medians)
	}
	fmt.Fprintf(&b, "\nMeasured by `go run ./start -threads %d -pairs %d -doc %s` in `bench`.\n", threads, pairs, strings.Join(networks, " "))
	return b.String(), nil
}

// row writes the lines of a network.
func row(b *strings.Builder, name string, medians []started) {
	own, fastest, smallest := medians[0], math.Inf(1), math.Inf(1)
	for _, m := range medians[1:] {
		fastest, smallest = min(fastest, m.total()), min(smallest, m.KiB)
	}
	for i, m := range medians {
		time, memory := "", ""
		if i == 0 {
			time, memory = fmt.Sprintf("%.2f", own.total()/fastest), fmt.Sprintf("%.2f", own.KiB/smallest)
		}
		fmt.Fprintf(b, "| %s | %s | %.1f | %.1f | %.1f | %s | %.0f | %s |\n", name, engines[i], m.Load, m.First, m.total(), time, m.KiB/1024, memory)
		name = ""
	}
}

// measure starts processes in turns, and returns the medians by engine.
func measure(file string, threads, pairs int) ([]started, error) {
	all := make([][]started, len(engines))
	for range pairs {
		for i, engine := range engines {
			s, err := start(engine, file, threads)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", engine, err)
			}
			if first := all[0]; len(first) > 0 && !(math.Abs(s.Sum-first[0].Sum) <= tolerance*first[0].Sum) {
				return nil, fmt.Errorf("%s: the magnitudes of the first result sum up to %g, those of gofx to %g", engine, s.Sum, first[0].Sum)
			}
			all[i] = append(all[i], s)
		}
	}
	medians := make([]started, len(engines))
	for i, list := range all {
		of := func(f func(started) float64) float64 {
			var v []float64
			for _, s := range list {
				v = append(v, f(s))
			}
			slices.Sort(v)
			return v[len(v)/2]
		}
		medians[i] = started{of(func(s started) float64 { return s.Load }), of(func(s started) float64 { return s.First }), of(func(s started) float64 { return s.KiB }), 0}
	}
	return medians, nil
}

// start runs one process.
func start(engine, file string, threads int) (s started, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	cmd := exec.Command(self, "-one", file, "-threads", strconv.Itoa(threads))
	if engine != engines[0] {
		python, err := peers.Python("peers")
		if err != nil {
			return s, err
		}
		cmd = exec.Command(python, filepath.Join("start", "start.py"), engine, file, strconv.Itoa(threads))
	}
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return s, fmt.Errorf("%w\n%s", err, failed.Stderr)
	}
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	return s, err
}

// resident returns the most memory that was resident, in KiB, 0 where the system does not say.
func resident() float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return n
		}
	}
	return 0
}
