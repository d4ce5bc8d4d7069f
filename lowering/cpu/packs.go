package cpu

import (
	"bytes"
	"strconv"
	"sync"
	"weak"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/kernel"
	"github.com/gofx-dev/gofx/lowering/plan"
)

// packs are the packed weights of all executables of the process. Those that read one
// tensor in one form share the memory.
var packs = packTable{byKey: map[packKey]weak.Pointer[packed]{}}

// packKey names a tensor as it lies in memory, and the form.
type packKey struct {
	memory weak.Pointer[array.Storage]
	form   string // the type and layout of the tensor, and the packer
}

// packed is a weight as a kernel reads it. It never changes: what is made of a tensor that
// was written is another one.
type packed struct {
	value *array.Array
	key   packKey
	users int // weights of open executables, guarded by packs.mu
}

// packTable finds packed weights. It keeps none alive, so that an executable that is dropped
// without Close leaves nothing.
type packTable struct {
	mu    sync.Mutex
	byKey map[packKey]weak.Pointer[packed]
	swept int // entries that were left when dead ones were last removed
}

// pack lays out a tensor for k, or returns what has the same bytes already. It always packs: Go
// code that has the memory may have written to it without a word, which no version tells.
func (t *packTable) pack(w *kernel.Workspace, k kernel.Packer, a *array.Array) *packed {
	p := &packed{value: kernel.Pack(w, k, a), key: keyOfPack(k, a), users: 1}
	if old := t.hold(p.key); old != nil {
		if p.value.DType() == old.value.DType() && bytes.Equal(p.value.Storage().Bytes(), old.value.Storage().Bytes()) {
			return old
		}
		t.release(old)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enter(p)
	return p
}

func keyOfPack(k kernel.Packer, a *array.Array) packKey {
	form := []byte(a.DType().String())
	for _, list := range [3][]int{{a.Offset()}, a.Shape(), a.Strides()} {
		form = append(form, ' ')
		for _, n := range list {
			form = append(form, strconv.Itoa(n)...)
			form = append(form, ',')
		}
	}
	return packKey{weak.Make(a.Storage()), string(form) + plan.KernelName(k)}
}

// hold returns the packed weight of a key for one more user, nil where there is none.
func (t *packTable) hold(key packKey) *packed {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.byKey[key].Value()
	if p != nil {
		p.users++
	}
	return p
}

// retain is for one more user of a packed weight that somebody has.
func (t *packTable) retain(p *packed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.users++
}

// release ends a use. What nobody uses any more is found no more.
func (t *packTable) release(p *packed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.users--; p.users == 0 && t.byKey[p.key].Value() == p {
		delete(t.byKey, p.key)
	}
}

// enter makes a packed weight the one of its key, with mu.
func (t *packTable) enter(p *packed) {
	t.byKey[p.key] = weak.Make(p)
	if len(t.byKey) <= 2*t.swept+8 {
		return
	}
	for key, p := range t.byKey {
		if p.Value() == nil {
			delete(t.byKey, key)
		}
	}
	t.swept = len(t.byKey)
}
