// Package judge runs random programs eagerly and captured, in every engine, and
// says where the two differ. Built programs link it; see package capturefuzz.
package judge

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gofx-dev/gofx/tensor"
)

// Entry is one program as its source enters it.
type Entry struct {
	ID     int
	Seed   uint64   // of the program, and of the numbers in its inputs
	N      int      // size of symbolic axes where they are fixed
	File   string   // base name of the source file
	Inputs []string // types, such as f32[N,4]
	// New makes the state again and returns the instance to capture.
	New func() Instance
}

// Instance is the captured object, with fresh state.
type Instance struct {
	Target  any // pointer to a module, or a function
	Globals map[string]*tensor.Tensor
}

// Kind says how one comparison ended.
type Kind string

// The kinds. Different, Missed, NoLine, Crash and Loud are failures: of these, the
// first two are silent.
const (
	Agree     Kind = "agree"
	Refused   Kind = "refused"   // by the trace, with a line of the program
	Excluded  Kind = "excluded"  // by an engine, with a documented code
	Panics    Kind = "panics"    // eagerly, so that captured it must fail, too
	Different Kind = "different" // values, state or inputs differ
	Missed    Kind = "missed"    // a value where eager panics
	NoLine    Kind = "no-line"   // refused without a line of the program
	Loud      Kind = "loud"      // an error where eager has none and none is documented
	Crash     Kind = "crash"     // a panic that is no diagnostic
)

// Bad reports whether the kind is a failure, Silent whether nobody would notice.
func (k Kind) Bad() bool {
	return k != Agree && k != Refused && k != Excluded && k != Panics
}

// Silent reports whether nothing tells the user of the failure.
func (k Kind) Silent() bool { return k == Different || k == Missed }

// Verdict is the outcome of one program in one engine, or of its capture.
type Verdict struct {
	ID      int
	Capture string // how it was captured: fixed, symbolic, ...
	Engine  string // "" for the capture itself
	Size    int    // of symbolic axes
	Kind    Kind
	Code    string
	Detail  string
}

var programs []Entry

// Enter adds a program.
func Enter(p Entry) { programs = append(programs, p) }

// Main judges all programs that were entered, and writes a verdict a line.
func Main(generated ...Generated) {
	out := flag.String("out", "", "file for the verdicts")
	gen := flag.String("gen", "", "folder for generated code")
	flag.Parse()
	debug.SetGCPercent(400)
	ctx := context.Background()
	f, err := os.Create(*out)
	check(err)
	enc := json.NewEncoder(f)
	var mu sync.Mutex
	var wg sync.WaitGroup
	next := make(chan func() []Verdict)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for work := range next {
				list := work()
				mu.Lock()
				for _, v := range list {
					check(enc.Encode(v))
				}
				mu.Unlock()
			}
		})
	}
	byID := map[int]Entry{}
	for _, p := range programs {
		byID[p.ID] = p
		if len(generated) == 0 {
			next <- watched(p, func(p Entry) []Verdict { return judge(ctx, p, *gen) })
		}
	}
	for _, p := range programs {
		if len(generated) == 0 {
			next <- watched(p, again)
		}
	}
	for _, g := range generated {
		next <- watched(byID[g.ID], func(p Entry) []Verdict { return judgeGenerated(ctx, p, g) })
	}
	close(next)
	wg.Wait()
	check(f.Close())
}

// watched ends the command when a program does not end.
func watched(p Entry, f func(p Entry) []Verdict) func() []Verdict {
	return func() []Verdict {
		t := time.AfterFunc(time.Minute, func() { check(fmt.Errorf("program %d of file %s does not end", p.ID, p.File)) })
		defer t.Stop()
		return f(p)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// judge captures a program in every way and runs it in every engine.
func judge(ctx context.Context, p Entry, gen string) (list []Verdict) {
	moved.RLock()
	defer moved.RUnlock()
	expected := map[int]*run{}
	want := func(n int) *run {
		if expected[n] == nil {
			expected[n] = eager(p, n)
		}
		return expected[n]
	}
	if r := want(p.N); r.failed != nil {
		list = append(list, Verdict{ID: p.ID, Engine: "eager", Size: p.N, Kind: Panics, Detail: r.failed.Error()})
	}
	list = append(list, lazily(p, want)...)
	list = append(list, programmed(ctx, p, want)...)
	list = append(list, donating(p), gradients(ctx, p))
	printed := false
	for _, c := range captures {
		add := func(engine string, n int, k Kind, code, detail string) {
			list = append(list, Verdict{ID: p.ID, Capture: c.name, Engine: engine, Size: n, Kind: k, Code: code, Detail: detail})
		}
		if !c.applies(p) {
			continue
		}
		t := c.capture(ctx, p)
		if t.err != nil {
			kind, code, detail := refusal(p, t.err)
			add("", 0, kind, code, detail)
			continue
		}
		if gen != "" && c.printed && !printed {
			printed = true
			list = append(list, printAll(p, c, t, gen)...)
		}
		for _, e := range engines {
			for _, n := range c.sizes(p) {
				k, code, detail := e.compare(ctx, p, c, n, want(n))
				add(e.name, n, k, code, detail)
				if k.Bad() {
					break
				}
			}
		}
	}
	return list
}
