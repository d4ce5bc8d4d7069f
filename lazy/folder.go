package lazy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/internal/swap"
	"github.com/gofx-dev/gofx/lowering"
)

// What is read of a folder that others may have written: an entry is a small file of few
// nodes, whose values fit into a small machine.
const (
	mostEntryBytes = 4 << 20
	mostEntryNodes = 1 << 14
	mostValueBytes = 1 << 30
)

const (
	entryHead   = "gofx lazy 1\nweights:"
	entryEnding = ".graph"
	entryTemp   = ".graph-"
)

// folder has the graphs that sessions before this one have compiled. An entry is the text
// form of a graph, in which tensors of models have the numbers of their places as names,
// and which of these were weights of the plan. It has no machine code, no values, and
// nothing of the program: no line, no name, no address.
type folder struct {
	dir     string
	most    int // entries
	options lowering.Options
	target  lowering.Target

	mu      sync.Mutex
	entries map[string]*entry // by text
	ignored int
}

// entry is a graph of the folder.
type entry struct {
	weights []string
	module  *graph.Module
	run     lowering.Executable // of a graph without weights; nil before it is compiled, and once it was taken
}

func openFolder(o Options) *folder {
	if o.Folder == "" || !o.compiles() {
		return nil
	}
	return &folder{dir: o.Folder, most: o.MaxPrograms, options: lowering.Options{Exact: !o.Rounding, Threads: o.Threads}, target: o.Target, entries: map[string]*entry{}}
}

// load reads the folder, and compiles the graphs that read no tensors of models. It runs next
// to the program.
func (f *folder) load() {
	swap.Clean(f.dir, entryTemp)
	list, err := os.ReadDir(f.dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.ignore()
	}
	n := 0
	for _, d := range list {
		if filepath.Ext(d.Name()) != entryEnding || n == f.most {
			continue
		}
		n++
		text, e := f.read(d)
		if e == nil {
			f.ignore()
			continue
		}
		var run lowering.Executable
		if len(e.module.Params()) == 0 {
			if run = f.compile(e.module); run == nil {
				f.ignore()
				continue
			}
		}
		f.mu.Lock()
		e.run = run
		f.entries[text] = e
		f.mu.Unlock()
	}
}

func (f *folder) ignore() {
	f.mu.Lock()
	f.ignored++
	f.mu.Unlock()
}

// read reads an entry, nil where it is no entry that a session has written.
func (f *folder) read(d os.DirEntry) (text string, e *entry) {
	if !d.Type().IsRegular() {
		return "", nil
	}
	file, err := os.Open(filepath.Join(f.dir, d.Name()))
	if err != nil {
		return "", nil
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, mostEntryBytes+1))
	if err != nil || len(src) > mostEntryBytes {
		return "", nil
	}
	rest, ok := strings.CutPrefix(string(src), entryHead)
	if !ok {
		return "", nil
	}
	weights, text, ok := strings.Cut(rest, "\n")
	if !ok || entryName(text) != d.Name() {
		return "", nil
	}
	m := parsed(text)
	if m == nil {
		return "", nil
	}
	e = &entry{weights: strings.Fields(weights), module: m}
	for _, w := range e.weights {
		if m.Param(w) == nil {
			return "", nil
		}
	}
	return text, e
}

// parsed is the module of a text, nil where it is none of a session's.
func parsed(text string) (m *graph.Module) {
	defer func() {
		if recover() != nil {
			m = nil
		}
	}()
	m, err := graph.Parse([]byte(text), "")
	if err != nil || graph.Lint(m.Graph).Err() != nil || m.Graph.Len() > mostEntryNodes || graph.Print(m, graph.PrintOptions{}) != text {
		return nil
	}
	for n := range m.Graph.All() {
		size, known := n.Type().Bytes().Int()
		if n.Graph() != m.Graph || n.Opcode() == graph.CallModule || known && size > mostValueBytes {
			return nil
		}
	}
	return m
}

// compile compiles a graph of the folder, nil where that fails: whoever wrote it may have
// meant another target.
func (f *folder) compile(m *graph.Module) (run lowering.Executable) {
	defer func() {
		if recover() != nil {
			run = nil
		}
	}()
	run, err := f.target.Compile(graph.Clone(m), f.options)
	if err != nil {
		return nil
	}
	return run
}

// find returns the entry of a graph, and its program where there is one that nobody took.
func (f *folder) find(text string) (e *entry, run lowering.Executable) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e = f.entries[text]; e != nil {
		run, e.run = e.run, nil
	}
	return e, run
}

// store writes an entry, unless there is one. That it cannot be written is no mistake of the
// program: the session computes the same without it.
func (f *folder) store(text string, weights []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries[text] != nil || len(f.entries) >= f.most || len(text) > mostEntryBytes/2 {
		return
	}
	if err := f.write(entryName(text), entryHead+strings.Join(append([]string{""}, weights...), " ")+"\n"+text); err != nil {
		f.ignored++
		return
	}
	f.entries[text] = &entry{weights: weights}
}

func (f *folder) write(name, text string) (err error) {
	if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	temp, err := os.CreateTemp(f.dir, entryTemp)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.WriteString(text)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return swap.Into([]swap.File{{Temp: temp.Name(), Path: filepath.Join(f.dir, name)}}, -1)
}

func entryName(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:]) + entryEnding
}

// counts are the entries that there are, and those that were ignored.
func (f *folder) counts() (kept, ignored int) {
	if f == nil {
		return 0, 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.entries), f.ignored
}

// close ends the programs that nobody took.
func (f *folder) close() {
	for _, e := range f.entries {
		if e.run != nil {
			e.run.Close()
		}
	}
}

// textOf is the text form of a graph under which folders have it: tensors of models are
// named by their places among what the graph reads.
func (c *cache) textOf(k *cone) string {
	for i, l := range k.leaves {
		if l.slot() != nil {
			l.slot().name = placeName(i)
		}
	}
	_, m, _ := c.build(&program{}, k)
	return graph.Print(m, graph.PrintOptions{})
}

func placeName(leaf int) string { return "w" + strconv.Itoa(leaf) }

// adopt gives a program that is not compiled what the folder has of it, which may be read after
// the program came for the first time: the plan where it needs nothing of a
// model, else the knowledge that it is worth compiling at once, and which tensors are
// weights.
func (c *cache) adopt(p *program, k *cone) {
	f := c.folder
	if f == nil || p.story.sketch == nil || p.open != nil || k.branches() { // entries have sizes that are numbers, and no control flow
		return
	}
	if p.text == "" {
		p.text = c.textOf(k.sketch())
	}
	e, run := f.find(p.text)
	switch {
	case e == nil:
	case run != nil:
		exe, m, _ := c.build(p, k)
		if same, _ := graph.Equal(m.Graph, e.module.Graph); !same {
			run.Close()
			return
		}
		exe.run = run
		p.mu.Lock()
		p.exe = exe
		p.mu.Unlock()
		p.queue = true
	default:
		for _, w := range e.weights {
			for i, l := range k.leaves {
				if l.slot() != nil && placeName(i) == w {
					l.slot().runs = max(l.slot().runs, c.s.opts.Warm)
				}
			}
		}
		c.compile(p, k)
	}
}

// packed names the tensors of models that are weights of a program.
func (c *cache) packed(k *cone) (names []string) {
	for i, l := range k.leaves {
		if c.frozen(l.slot()) {
			names = append(names, placeName(i))
		}
	}
	return names
}

// keep stores a compiled program.
func (c *cache) keep(p *program, weights []string) {
	if c.folder != nil && p.text != "" {
		c.folder.store(p.text, weights)
	}
}
