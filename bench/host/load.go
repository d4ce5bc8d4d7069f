// Package host tells of the machine that measures: its processor, and the load of other
// programs.
package host

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"time"

	"github.com/gofx-dev/gofx/bench/peers"
)

// ticks is the kernel's unit of processor time in /proc.
const ticks = 100

// Load is the processor time used since the machine started, in seconds.
type Load struct {
	all, ours float64
	at        time.Time
	ok        bool
}

// ReadLoad reads the processor time of all processes and of this one and its
// peers. It is not ok on systems without /proc.
func ReadLoad(list map[string]*peers.Peer) Load {
	l := Load{at: time.Now()}
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return l
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 8 || string(f[0]) != "cpu" {
		return l
	}
	for _, i := range []int{1, 2, 3, 6, 7} { // user, nice, system, interrupts
		l.all += number(f[i])
	}
	l.ours = used("self")
	for _, p := range list {
		l.ours += used(fmt.Sprint(p.PID()))
	}
	l.ok = true
	return l
}

// used returns the processor time of a process.
func used(pid string) float64 {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0
	}
	// The name of the program, in parentheses, may contain spaces.
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 13 {
		return 0
	}
	return number(f[11]) + number(f[12])
}

func number(b []byte) float64 {
	v, _ := strconv.ParseFloat(string(b), 64)
	return v / ticks
}

// Processor returns the name of the first processor, where it is not known the architecture.
func Processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range bytes.Lines(b) {
		if k, v, ok := bytes.Cut(line, []byte(":")); ok && string(bytes.TrimSpace(k)) == "model name" {
			return string(bytes.TrimSpace(v))
		}
	}
	return runtime.GOARCH
}

// Commit is the commit of the working folder, with a word where code differs from it; "" where git does not know. Documentation and
// rows, which measuring writes, are no code.
func Commit() string {
	b, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return ""
	}
	name := string(bytes.TrimSpace(b))
	if exec.Command("git", "diff", "--quiet", "HEAD", "--", ":/", ":(top,exclude)docs", ":(top,exclude)bench/papers/rows.json").Run() != nil {
		return name + ", changed"
	}
	return name
}

// Foreign returns how many processors others have kept busy since l was read.
func (l Load) Foreign(now Load) float64 {
	d := now.at.Sub(l.at).Seconds()
	if !l.ok || !now.ok || d <= 0 {
		return 0
	}
	return max(0, (now.all-l.all-(now.ours-l.ours))/d)
}
