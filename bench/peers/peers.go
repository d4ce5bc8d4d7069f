// Package peers runs the libraries that gofx is compared with, each in its own
// process. The process stays for the whole run and is stopped between requests,
// so that its threads do not spin during other measurements.
//
// A request is one line of JSON, so is the answer:
//
//	{"do":"hello","threads":1}                   {"version":"torch 1.13"}
//	{"do":"load","id":"a","inputs":[...],...}    {"probe":[...],"ns":1234}   prepares and runs a case, and times one call
//	{"do":"run","id":"a","warm":2,"calls":10}    {"ns":12345}      the time of all calls, after warm more
//	{"do":"drop","id":"a"}                       {}
//
// An answer with "error" refuses the request.
package peers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Tensor describes an operand. Its values follow from a formula that each
// process evaluates itself (Values): nothing large goes through the pipes.
type Tensor struct {
	Shape []int  `json:"shape"`
	DType string `json:"dtype"` // "f32", "u8", "s8", "i32" or "i64"
	Seed  int    `json:"seed"`
	// Floats are Shift ± Scale, integers Shift to Shift+Scale-1.
	Scale float64 `json:"scale"`
	Shift float64 `json:"shift"`
	// File has the values instead, little-endian and row-major, from Offset on.
	File   string `json:"file,omitempty"`
	Offset int64  `json:"offset,omitempty"`
}

// Request is a message to a peer; fields that a kind of request does not use are empty.
type Request struct {
	Do      string         `json:"do"`
	ID      string         `json:"id,omitempty"`
	Threads int            `json:"threads,omitempty"`
	Op      string         `json:"op,omitempty"`
	Variant string         `json:"variant"`
	Inputs  []Tensor       `json:"inputs,omitempty"`
	Weights []Tensor       `json:"weights,omitempty"` // operands after the inputs, of a program that has no constants
	Attrs   map[string]any `json:"attrs,omitempty"`
	File    string         `json:"file,omitempty"`
	Warm    int            `json:"warm,omitempty"`
	Calls   int            `json:"calls,omitempty"`
}

// Answer is a peer's reply.
type Answer struct {
	Error   string    `json:"error"`
	Version string    `json:"version"`
	Probe   []float64 `json:"probe"`
	NS      float64   `json:"ns"`
	Rate    float64   `json:"rate"`
}

// Peer is a running process.
type Peer struct {
	Name    string
	Version string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
}

// blasVariable chooses OpenBLAS's kernels.
const blasVariable = "OPENBLAS_CORETYPE"

// Dir returns the folder of the scripts: peers below the working directory or
// one of its parents.
func Dir() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		p := filepath.Join(dir, "peers")
		if _, err := os.Stat(filepath.Join(p, "torch_peer.py")); err == nil {
			return p, nil
		}
		if _, err := os.Stat(filepath.Join(dir, "torch_peer.py")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("peers: run inside the module's folder: the scripts are in its folder peers")
		}
		dir = up
	}
}

// OneDNNArgument is the argument of the program that serves oneDNN.
const OneDNNArgument = "onednn-peer"

func start(name string, cmd *exec.Cmd, threads int) (*Peer, error) {
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var log strings.Builder
	cmd.Stderr = &limited{&log, 4096}
	endWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("peers: %s does not start: %w", name, err)
	}
	p := &Peer{Name: name, cmd: cmd, in: in, out: bufio.NewReader(out)}
	a, err := p.Do(Request{Do: "hello", Threads: threads})
	if err != nil {
		p.Close()
		if s := strings.TrimSpace(log.String()); s != "" {
			lines := strings.Split(s, "\n")
			err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
		}
		return nil, err
	}
	p.Version = a.Version
	return p, nil
}

// limited keeps the first n bytes.
type limited struct {
	b *strings.Builder
	n int
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.n - l.b.Len(); room > 0 {
		l.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// ErrEnded is of a process that answers no more: it has crashed, or took longer than Patience.
var ErrEnded = errors.New("has ended")

// Patience is the most time of an answer. Compiling a network takes minutes.
const Patience = 10 * time.Minute

// Do sends a request and waits for its answer. The process runs only meanwhile.
func (p *Peer) Do(q Request) (Answer, error) {
	var a Answer
	b, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	p.resume()
	defer p.pause()
	defer time.AfterFunc(Patience, func() { _ = p.cmd.Process.Kill() }).Stop()
	if _, err := p.in.Write(append(b, '\n')); err != nil {
		return a, fmt.Errorf("peers: %s %w: %w", p.Name, ErrEnded, err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return a, fmt.Errorf("peers: %s %w: %w", p.Name, ErrEnded, err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("peers: %s: %w", p.Name, err)
	}
	if a.Error != "" {
		return a, fmt.Errorf("peers: %s: %s: %s", p.Name, q.Do, a.Error)
	}
	return a, nil
}

// PID returns the number of the process.
func (p *Peer) PID() int { return p.cmd.Process.Pid }

// Close ends the process.
func (p *Peer) Close() {
	p.resume()
	p.in.Close()
	t := time.AfterFunc(3*time.Second, func() { p.cmd.Process.Kill() })
	p.cmd.Wait()
	t.Stop()
}
