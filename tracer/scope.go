package tracer

import (
	"reflect"
	"runtime"
	"strings"
	"sync"

	"github.com/gofx-dev/gofx/diag"
	"github.com/gofx-dev/gofx/graph"
	"github.com/gofx-dev/gofx/tensor"
)

// scoping finds the modules whose Forward a model calls as a Go method, without nn.Run. A call
// of which the stack leaves doubt stands under the nearest module around it that is known.
type scoping struct {
	known   map[call]graph.Scope // by receiver
	at      map[string][]owned   // modules, by path
	paths   map[any][]string     // all paths of a tensor (ID) or module (Key)
	nested  map[string]bool      // functions of types that hold modules of the same type
	leaves  sync.Map             // types whose calls are leaves
	skip    sync.Map             // functions of leaves
	plain   map[diag.Site]bool   // stacks without calls that need to be told apart
	modules map[tensor.Key]bool  // that were entered
	stack   stackReader
	entry   string // the function that is traced
}

// library is in front of functions that leave their receivers alone.
const library = "github.com/gofx-dev/gofx/nn."

// owned is a module at a path.
type owned struct {
	function string
	key      tensor.Key
	scope    graph.Scope
}

func newScoping() *scoping {
	return &scoping{known: map[call]graph.Scope{}, at: map[string][]owned{}, paths: map[any][]string{}, nested: map[string]bool{},
		plain: map[diag.Site]bool{}, modules: map[tensor.Key]bool{}}
}

// tensor enters a tensor of the root.
func (s *scoping) tensor(x *tensor.Tensor, path string) {
	s.paths[x.ID()] = append(s.paths[x.ID()], path)
}

// forwardOf returns the name of the method Forward of a pointer type.
func forwardOf(t reflect.Type) string {
	if m, ok := t.MethodByName("Forward"); ok {
		if f := runtime.FuncForPC(m.Func.Pointer()); f != nil {
			return f.Name()
		}
	}
	return ""
}

// module enters a module that the walk of the root finds at path; it may be found again at
// others.
func (s *scoping) module(m any, path string) {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer {
		return
	}
	k := tensor.ModuleKey(m)
	s.paths[k] = append(s.paths[k], path)
	function := forwardOf(v.Type())
	for outer := path; ; outer = parent(outer) {
		for _, o := range s.at[outer] {
			s.nested[function] = s.nested[function] || o.function == function && o.key != k && !strings.HasPrefix(function, library)
		}
		if outer == "" {
			break
		}
	}
	scope := scopeOf(m, path)
	if around := s.at[path]; len(around) > 0 {
		scope = around[0].scope // an embedded module is part of the one around it
	}
	s.at[path] = append(s.at[path], owned{function, k, scope})
	if s.modules[k] || v.Type().Elem().Size() == 0 {
		return // values without size share addresses
	}
	s.modules[k] = true
	s.known[call{function, v.Pointer()}] = scope
	s.embedded(v.Elem(), scope)
}

// embedded enters the structs that a module embeds, whose Forward may be its own. Those with
// unexported names are no modules for the walk.
func (s *scoping) embedded(v reflect.Value, scope graph.Scope) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !v.Type().Field(i).Anonymous {
			continue
		}
		if f.Kind() == reflect.Struct && f.CanAddr() {
			f = f.Addr()
		}
		if f.Kind() != reflect.Pointer || f.IsNil() || f.Type().Elem().Kind() != reflect.Struct || f.Type().Elem().Size() == 0 {
			continue
		}
		at := call{forwardOf(f.Type()), f.Pointer()}
		switch have, known := s.known[at]; {
		case !known && at.function != "":
			s.known[at] = scope
			s.embedded(f.Elem(), scope)
		case known && have != scope:
			s.known[at] = graph.Scope{} // part of two modules
		}
	}
}

func scopeOf(m any, path string) graph.Scope {
	ty := reflect.Indirect(reflect.ValueOf(m)).Type()
	return graph.Scope{Path: path, Type: ty.PkgPath() + "." + ty.Name()}
}

// leaf is told of modules of one operator: their Forward is no scope. Any goroutine may call it.
func (s *scoping) leaf(m any) {
	if s == nil {
		return
	}
	if t := reflect.TypeOf(m); t.Kind() == reflect.Pointer {
		if _, known := s.leaves.Load(t); !known {
			s.skip.Store(forwardOf(t), true)
			s.leaves.Store(t, true)
		}
	}
}

// find returns the scope of the call that is being recorded; ok is false where the stack
// names none inside the one that nn.Run told of. m is the module that is called, nil for
// none, and in are operands.
func (s *scoping) find(m any, in []*tensor.Tensor) (scope graph.Scope, ok bool) {
	var site diag.Site
	here := diag.HereSite(&site)
	if here && s.plain[site] {
		return scope, false
	}
	calls, end := s.stack.running()
	if n := len(calls); n > 0 && (end == atScope || end == atStart && calls[n-1].function == s.entry) {
		calls = calls[:n-1] // the module that nn.Run, or the trace, runs itself
	}
	plain := true
	for _, c := range calls {
		if _, leaf := s.skip.Load(c.function); leaf {
			continue
		}
		plain = false
		if scope, ok = s.scope(c, m, in); ok {
			return scope, scope.Path != ""
		}
	}
	if here && plain {
		s.plain[site] = true
	}
	return graph.Scope{}, false
}

// scope returns the module that a call is of. Its receiver tells, except where a type holds
// modules of its own type: there a method may have moved on to another one. If the receiver is
// not known, it is the only module with the method that holds what the call uses.
func (s *scoping) scope(c call, m any, in []*tensor.Tensor) (graph.Scope, bool) {
	scope, known := s.known[c]
	switch {
	case known && !s.nested[c.function]:
		return scope, true
	case !known && c.receiver != 0:
		return graph.Scope{}, false // a module that the root does not hold
	}
	var found owners
	if m != nil {
		s.owners(&found, c.function, tensor.ModuleKey(m))
	}
	for _, x := range in {
		if x != nil {
			s.owners(&found, c.function, x.ID())
		}
	}
	return found.scope, found.count == 1
}

// owners are the modules found to hold something.
type owners struct {
	owned
	count int
}

// owners adds the modules with the method that hold a tensor or module, under any of its paths.
func (s *scoping) owners(to *owners, function string, id any) {
	for _, path := range s.paths[id] {
		for outer := path; ; outer = parent(outer) {
			for _, o := range s.at[outer] {
				if o.function == function && o.key != id && (to.count == 0 || o.key != to.key) {
					to.owned = o
					to.count++
				}
			}
			if outer == "" {
				break
			}
		}
	}
}

// parent is the path of what holds a path's last element.
func parent(path string) string { return path[:max(strings.LastIndexByte(path, '.'), 0)] }
