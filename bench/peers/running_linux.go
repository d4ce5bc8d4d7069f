package peers

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// Running returns on how many threads the process runs while it does something: the most that
// run or wait for a processor in at least a quarter of the looks, one a millisecond. busy is the
// processor time of all its threads by that on the clock, which a thread that another one wakes
// up before it sleeps does not raise.
func (p *Peer) Running(do func() error) (threads int, busy float64, err error) {
	done := make(chan error, 1)
	start, before := time.Now(), p.processorTime()
	go func() { done <- do() }()
	var seen []int // looks by the number of threads
	looks := 0
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			d := time.Since(start)
			return most(seen, looks), float64(p.processorTime()-before) / float64(d), err
		case <-tick.C:
			n := 0
			p.tasks("stat", func(b []byte) {
				// The name of the program, in parentheses, may contain spaces.
				if f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]); len(f) > 0 && string(f[0]) == "R" {
					n++
				}
			})
			for len(seen) <= n {
				seen = append(seen, 0)
			}
			seen[n]++
			looks++
		}
	}
}

// most is the largest number that at least a quarter of the looks have seen.
func most(seen []int, looks int) int {
	sum := 0
	for n := len(seen) - 1; n > 0; n-- {
		if sum += seen[n]; sum*4 >= looks {
			return n
		}
	}
	return 0
}

// processorTime is that of the threads that live.
func (p *Peer) processorTime() (d time.Duration) {
	p.tasks("schedstat", func(b []byte) {
		if f := bytes.Fields(b); len(f) > 0 {
			ns, _ := strconv.ParseInt(string(f[0]), 10, 64)
			d += time.Duration(ns)
		}
	})
	return d
}

// tasks reads a file of each thread that lives.
func (p *Peer) tasks(file string, read func(b []byte)) {
	names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", p.PID(), file))
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil {
			read(b)
		}
	}
}
