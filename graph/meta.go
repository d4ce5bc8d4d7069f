package graph

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/internal/kept"
)

// Key is a typed kind of side data on nodes: graph.NewKey[quant.Range]("range").
// Keys are compared by identity, so that two packages may use the same name.
type Key[T any] struct{ id *keyID }

type keyID struct {
	name      string
	inherited bool
}

// NewKey returns a new key; the name is for printers.
func NewKey[T any](name string) Key[T] { return Key[T]{&keyID{name: name}} }

// NewInheritedKey returns a key of what is told about a node and about all that
// is made of it, as position and scope are: a Cursor hands it on.
func NewInheritedKey[T any](name string) Key[T] { return Key[T]{&keyID{name, true}} }

// Maker is side data that says which pass made a node, "pass gelu": errors of a run
// that are about the node say so.
type Maker interface{ MadeBy() string }

type keyed struct {
	id *keyID
	v  any
}

// Get returns the node's value for the key.
func (k Key[T]) Get(n *Node) (v T, ok bool) {
	if n.extra != nil {
		for _, e := range n.extra.keys {
			if e.id == k.id {
				return e.v.(T), true
			}
		}
	}
	return v, false
}

// Set stores a value for the key on the node.
func (k Key[T]) Set(n *Node, v T) {
	edited(n.g)
	x := n.more()
	for i := range x.keys {
		if x.keys[i].id == k.id {
			x.keys[i].v = v
			return
		}
	}
	x.keys = append(x.keys, keyed{k.id, v})
}

// Delete removes the node's value for the key.
func (k Key[T]) Delete(n *Node) {
	if n.extra == nil {
		return
	}
	edited(n.g)
	for i, e := range n.extra.keys {
		if e.id == k.id {
			n.extra.keys = append(n.extra.keys[:i:i], n.extra.keys[i+1:]...)
			return
		}
	}
}

// CopyMeta gives dst the side data of src that dst does not have.
func CopyMeta(dst, src *Node) {
	if src.extra != nil && len(src.extra.keys) > 0 {
		edited(dst.g)
		dst.more().fill(src.extra.keys)
	}
}

// fill adds what is not there.
func (x *extra) fill(keys []keyed) {
	for _, e := range keys {
		if !slices.ContainsFunc(x.keys, func(have keyed) bool { return have.id == e.id }) {
			x.keys = append(x.keys, e)
		}
	}
}

// namespace makes names unique: base, base_1, base_2, ...
type namespace struct{ next map[string]uint32 }

func newNamespace() namespace { return namespace{map[string]uint32{}} }

// unique returns a name like hint that no node has: characters outside
// [A-Za-z0-9_] become _, a leading digit gets one in front, a trailing number is
// taken off and counted again.
func (s *namespace) unique(hint string) (base string, num uint32) {
	base, num = splitName(cleanName(hint))
	next, used := s.next[base]
	switch {
	case !used || num >= next:
		s.next[base] = num + 1
		return base, num
	case next > maxNumber: // a number that large would read as part of the base
		return s.unique(base + "_n")
	}
	s.next[base] = next + 1
	return base, next
}

// take marks a name that the caller knows to be free as used.
func (s *namespace) take(name string) (base string, num uint32) {
	base, num = splitName(name)
	s.next[base] = max(s.next[base], num+1)
	return base, num
}

const maxNumber = 1<<31 - 1

// splitName takes the number off a name: "add_1" is "add" and 1.
func splitName(name string) (base string, num uint32) {
	if i := strings.LastIndexByte(name, '_'); i > 0 && i < len(name)-1 && name[i+1] != '0' {
		if v, err := strconv.ParseUint(name[i+1:], 10, 31); err == nil {
			return name[:i], uint32(v)
		}
	}
	return name, 0
}

// free makes the name available again when it was the last one given out.
func (s *namespace) free(base string, num uint32) {
	if s.next[base] == num+1 {
		if num == 0 {
			delete(s.next, base)
		} else {
			s.next[base] = num
		}
	}
}

func cleanName(s string) string {
	ok := len(s) > 0 && (s[0] < '0' || s[0] > '9')
	for i := 0; ok && i < len(s); i++ {
		ok = nameByte(s[i])
	}
	if ok {
		return s
	}
	b := []byte(s)
	for i := range b {
		if !nameByte(b[i]) {
			b[i] = '_'
		}
	}
	if len(b) == 0 || (b[0] >= '0' && b[0] <= '9') {
		b = append([]byte{'_'}, b...)
	}
	return string(b)
}

func nameByte(c byte) bool {
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
}

// Scope is a module whose Forward was running: its path ("layer1.0") and Go type.
type Scope struct {
	Path string
	Type string
}

// ScopeID names an interned Scope; 0 is the root.
type ScopeID uint32

type scopes struct {
	list []Scope
	ids  map[Scope]ScopeID
}

func newScopes() *scopes {
	return &scopes{list: []Scope{{}}, ids: map[Scope]ScopeID{{}: 0}}
}

func (s *scopes) clone() *scopes { return &scopes{list: slices.Clone(s.list), ids: maps.Clone(s.ids)} }

func (s *scopes) get(id ScopeID) Scope { return s.list[id] }

// Scope interns a scope of the graph.
func (g *Graph) Scope(s Scope) ScopeID {
	if id, ok := g.scopes.ids[s]; ok {
		return id
	}
	id := ScopeID(len(g.scopes.list))
	g.scopes.list = append(g.scopes.list, s)
	g.scopes.ids[s] = id
	return id
}

// PosID names an interned stack of user frames; 0 is none.
type PosID uint32

// positions interns stacks as a tree: a frame and its caller's stack. Frames are
// resolved only when printed.
type positions struct {
	frames []frame
	ids    map[frame]PosID
	sites  map[siteKey]PosID
}

// siteKey is a call stack and how many of its user frames are wanted.
type siteKey struct {
	site   diag.Site
	frames int
}

type frame struct {
	pc     uintptr
	caller PosID
}

func newPositions() *positions {
	return &positions{frames: make([]frame, 1), ids: map[frame]PosID{}, sites: map[siteKey]PosID{}}
}

// adopt interns a stack of another graph.
func (p *positions) adopt(from *positions, id PosID) PosID {
	if id == 0 {
		return 0
	}
	return p.intern(frame{from.frames[id].pc, p.adopt(from, from.frames[id].caller)})
}

func (p *positions) intern(f frame) PosID {
	id, ok := p.ids[f]
	if !ok {
		id = PosID(len(p.frames))
		p.frames = append(p.frames, f)
		p.ids[f] = id
	}
	return id
}

// clone copies the table; where stacks were seen is learnt again.
func (p *positions) clone() *positions {
	return &positions{frames: slices.Clone(p.frames), ids: maps.Clone(p.ids), sites: map[siteKey]PosID{}}
}

// Position records up to frames user frames above the caller (skip more frames
// first) and returns their interned stack; see diag.UserCode.
func (g *Graph) Position(skip, frames int) PosID {
	// Unwinding is most of what recording a node costs. A stack that was seen
	// before, as in loops and repeated blocks, is found by its return addresses.
	key := siteKey{frames: frames}
	if !diag.HereSite(&key.site) {
		return g.pos.unwind(skip+1, frames)
	}
	id, seen := g.pos.sites[key]
	if !seen {
		id = g.pos.unwind(skip+1, frames)
		g.pos.sites[key] = id
	}
	return id
}

// unwind interns the stack of the caller of Position.
func (p *positions) unwind(skip, frames int) PosID {
	var pcs [diag.MaxFrames]uintptr
	k := diag.Callers(skip+1, pcs[:min(frames, diag.MaxFrames)])
	id := PosID(0)
	for i := k - 1; i >= 0; i-- {
		id = p.intern(frame{pcs[i], id})
	}
	return id
}

func (p *positions) first(id PosID) diag.Pos {
	if id == 0 {
		return diag.Pos{}
	}
	return diag.Resolve(p.frames[id].pc)
}

func (p *positions) stack(id PosID) []diag.Pos {
	var out []diag.Pos
	for ; id != 0; id = p.frames[id].caller {
		out = append(out, diag.Resolve(p.frames[id].pc))
	}
	return out
}

// place writes the position of a node. Many nodes share one.
func (p *printer) place(n *Node) {
	if n.pos == 0 || n.extra != nil {
		p.at(n.Pos())
		return
	}
	text, known := p.places[n.pos]
	if !known {
		before := len(p.b)
		p.at(n.Pos())
		if p.places == nil {
			p.places = map[PosID]string{}
		}
		text, p.b = string(p.b[before:]), p.b[:before]
		p.places[n.pos] = text
	}
	p.str(text)
}

// at writes a position where positions are wanted.
func (p *printer) at(pos diag.Pos) {
	if !p.Positions || pos.File == "" {
		return
	}
	file := pos.File
	if p.BaseNames {
		file = baseName(file)
	}
	// The last one or two numbers are line and column, so that a file name that
	// itself ends like a line number needs both.
	text, col := file+":"+within(pos.Line), within(pos.Col)
	if _, _, ok := cutNumber(file); col != "0" || ok {
		text += ":" + col
	}
	p.str(" at ", strconv.Quote(text))
	if pos.Func != "" {
		p.str(" ", strconv.Quote(pos.Func))
	}
}

// within is the text of a line or column; one that no file has means unknown.
func within(n int) string {
	if n < 0 || n > math.MaxInt32 {
		n = 0
	}
	return strconv.Itoa(n)
}

// baseName is the last element of a path with slashes of either kind. A name that
// ends in slashes keeps them.
func baseName(file string) string {
	name := strings.TrimRight(file, `/\`)
	return file[strings.LastIndexAny(name, `/\`)+1:]
}

// cutNumber takes ":digits" off the end of s.
func cutNumber(s string) (rest string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 || i == len(s)-1 || s[i+1] < '0' || s[i+1] > '9' {
		return s, 0, false
	}
	v, err := strconv.ParseUint(s[i+1:], 10, 31)
	return s[:i], int(v), err == nil
}

// Analysis is a question about a graph whose answer is kept: it is computed when somebody
// asks first, and again after the next edit. Make one with NewAnalysis, in a variable of a
// package; it is compared by identity.
type Analysis[T any] struct {
	name string
	of   func(g *Graph) T
}

// NewAnalysis returns the analysis that of computes; the name is for people. of may ask
// other analyses and must change nothing. Answers are shared by all who ask, which may be
// many goroutines at once, so that nobody may change one.
func NewAnalysis[T any](name string, of func(g *Graph) T) *Analysis[T] { return &Analysis[T]{name, of} }

// Name returns the name.
func (a *Analysis[T]) Name() string { return a.name }

// Of returns the answer for g. Any edit of the program that g belongs to ends it: of g, of a
// body in it, of a graph around it, of another graph of its module, of the state, of what leaf
// modules do, of symbols, guards or side data. What changes without a method of this package
// being called (an element of an array, a field of a Param) is not seen. An answer that somebody
// holds stays what it was.
func (a *Analysis[T]) Of(g *Graph) T {
	r := answersOf(g)
	if r == nil {
		kept.Count(a.name)
		return a.of(g)
	}
	v := r.Get(asked{a, g}, a.name, func() stamp { return stampOf(g) }, func() any { return a.of(g) })
	t, _ := v.(T) // not where T is an interface and the answer nil
	return t
}

// asked is the key of an answer.
type asked struct {
	analysis any
	g        *Graph
}

// answers are those about the graphs of one program: those of a module, or a graph
// that has none with its bodies.
type answers struct {
	edits atomic.Uint64 // several goroutines may give side data to nodes
	kept.Store[stamp]
}

// stamp tells two states of a program apart.
type stamp struct {
	edits   uint64
	mod     *Module
	main    *Graph
	version uint32 // of mod
}

// answersOf returns where answers about g are kept, nil where nothing keeps them.
func answersOf(g *Graph) *answers {
	if g = g.root(); g.mod != nil {
		return g.mod.answers
	}
	return g.own
}

func stampOf(g *Graph) stamp {
	r := answersOf(g)
	s := stamp{edits: r.edits.Load()}
	if s.mod = g.root().mod; s.mod != nil {
		s.main, s.version = s.mod.Graph, s.mod.version
	}
	return s
}

// edited ends the answers about the program of g.
func edited(g *Graph) {
	if r := answersOf(g); r != nil {
		r.edits.Add(1)
	}
}
