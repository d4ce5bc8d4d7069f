package packs

import (
	"bytes"
	"strconv"
	"sync"
	"weak"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// all are the packed weights of the process. What reads one tensor in one form shares the memory.
var all = table{byKey: map[key]weak.Pointer[Packed]{}}

// key names a tensor as it lies in memory, and the form.
type key struct {
	memory weak.Pointer[array.Storage]
	form   string // the type and layout of the tensor, and the packer
}

// Packed is a weight as a kernel reads it. It never changes: what is made of a tensor that
// was written is another one.
type Packed struct {
	value *array.Array
	key   key
	users int // guarded by all.mu
}

// table finds packed weights. It keeps none alive, so that a program that is dropped without
// Release leaves nothing.
type table struct {
	mu    sync.Mutex
	byKey map[key]weak.Pointer[Packed]
	swept int // entries that were left when dead ones were last removed
}

// Of lays out a tensor for k, or returns what has the same bytes already, for one more user. It always packs: Go
// code that has the memory may have written to it without a word, which no version tells.
func Of(w *kernel.Workspace, k kernel.Packer, a *array.Array) *Packed {
	p := &Packed{value: kernel.Pack(w, k, a), key: keyOf(k, a), users: 1}
	if old := all.hold(p.key); old != nil {
		if p.value.DType() == old.value.DType() && bytes.Equal(p.value.Storage().Bytes(), old.value.Storage().Bytes()) {
			return old
		}
		old.Release()
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.enter(p)
	return p
}

func keyOf(k kernel.Packer, a *array.Array) key {
	form := []byte(a.DType().String())
	for _, list := range [3][]int{{a.Offset()}, a.Shape(), a.Strides()} {
		form = append(form, ' ')
		for _, n := range list {
			form = append(form, strconv.Itoa(n)...)
			form = append(form, ',')
		}
	}
	return key{weak.Make(a.Storage()), string(form) + plan.KernelName(k)}
}

// Value is what kernels read.
func (p *Packed) Value() *array.Array { return p.value }

// Retain is for one more user of a packed weight that somebody has.
func (p *Packed) Retain() {
	all.mu.Lock()
	defer all.mu.Unlock()
	p.users++
}

// Release ends a use. What nobody uses any more is found no more.
func (p *Packed) Release() {
	all.mu.Lock()
	defer all.mu.Unlock()
	if p.users--; p.users == 0 && all.byKey[p.key].Value() == p {
		delete(all.byKey, p.key)
	}
}

// Forms returns in how many forms a tensor is found.
func Forms(a *array.Array) (n int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for k, p := range all.byKey {
		if k.memory.Value() == a.Storage() && p.Value() != nil {
			n++
		}
	}
	return n
}

// hold returns the packed weight of a key for one more user, nil where there is none.
func (t *table) hold(k key) *Packed {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.byKey[k].Value()
	if p != nil {
		p.users++
	}
	return p
}

// enter makes a packed weight the one of its key, with mu.
func (t *table) enter(p *Packed) {
	t.byKey[p.key] = weak.Make(p)
	if len(t.byKey) <= 2*t.swept+8 {
		return
	}
	for k, p := range t.byKey {
		if p.Value() == nil {
			delete(t.byKey, k)
		}
	}
	t.swept = len(t.byKey)
}
