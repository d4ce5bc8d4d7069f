// Package links says which links and compilations a test waits for when its time runs out:
// nearly all the time of the tests that build programs goes into them, and the stacks that a
// timeout prints end at a wait for a process.
package links

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Watch prints what [Running] lists some time before the limit of go test -timeout, which is then
// passed unless the tests end. It returns at once; stop ends the watch.
func Watch(before time.Duration) (stop func()) {
	flag.Parse()
	limit, err := time.ParseDuration(flag.Lookup("test.timeout").Value.String())
	if err != nil || limit <= before {
		return func() {}
	}
	t := time.AfterFunc(limit-before, func() {
		fmt.Fprintf(os.Stderr, "tests run for %v and wait for:\n%s\n", limit-before, strings.Join(Running(), "\n"))
	})
	return func() { t.Stop() }
}

// tools are the programs of the go command that take long.
var tools = []string{"compile", "link", "vet", "asm"}

// process is a process as /proc describes it.
type process struct {
	id, parent int
	args       []string
}

// Running lists the tools of the go command that this process and those that it has started run:
// the tool, the package or program that it makes, and the folder of the go command. It is empty
// where there is no /proc.
func Running() (list []string) {
	all := processes()
	below := map[int]bool{os.Getpid(): true}
	for range all { // a child may be listed before its parent
		for _, p := range all {
			below[p.id] = below[p.id] || below[p.parent]
		}
	}
	for _, p := range all {
		name := strings.TrimSuffix(filepath.Base(p.args[0]), ".exe")
		if !below[p.id] || !slices.Contains(tools, name) {
			continue
		}
		at, _ := os.Readlink(filepath.Join("/proc", strconv.Itoa(p.id), "cwd"))
		list = append(list, name+" "+p.makes()+" in "+at)
	}
	return list
}

// makes is the package that is compiled, or the file that is written.
func (p *process) makes() string {
	for _, flag := range []string{"-p", "-o"} {
		if i := slices.Index(p.args, flag); i >= 0 && i+1 < len(p.args) {
			return p.args[i+1]
		}
	}
	return strings.Join(p.args[1:], " ")
}

func processes() (all []process) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		stat, err := os.ReadFile(file)
		line, err2 := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		end := strings.LastIndexByte(string(stat), ')') // of the name, in which anything may stand
		if err != nil || err2 != nil || len(line) == 0 || end < 0 {
			continue // it has ended, or is the kernel's
		}
		fields := strings.Fields(string(stat[end+1:])) // its state, its parent
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			all = append(all, process{id, parent, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")})
		}
	}
	return all
}
