package state

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/gofx-dev/gofx/tensor"
)

// Tensors is how many tensors Apply takes.
func (r *Replay) Tensors() int { return r.tensors }

// Caps tells that slices are written, so that capacities count.
func (r *Replay) Caps() bool { return r.caps }

// Stores reports whether a replay writes anything.
func (r *Replay) Stores() int { return len(r.stores) + len(r.entries) }

// Apply writes. The machine has checked the guard of the same walk.
func (r *Replay) Apply(m *Machine, tensors []*tensor.Tensor) {
	var few [4]unsafe.Pointer
	objects := append(few[:0], make([]unsafe.Pointer, len(r.objects))...)
	for i := range r.objects {
		objects[i] = r.objects[i].make()
	}
	lead := func(l *place) unsafe.Pointer {
		switch l.to {
		case toObject:
			return unsafe.Add(m.regs[l.index], l.delta)
		case toNew:
			return unsafe.Add(objects[l.index], l.delta)
		case toTensor:
			return unsafe.Pointer(tensors[l.index])
		}
		return l.p
	}
	for i := range r.objects {
		for j := range r.objects[i].fix {
			w := &r.objects[i].fix[j]
			w.do(objects[i], lead(&w.lead))
		}
	}
	for i := range r.stores {
		w := &r.stores[i]
		w.do(m.regs[w.base], lead(&w.lead))
	}
	for _, e := range r.entries {
		if at := unsafe.Pointer(&m.regs[e.reg]); e.value < 0 {
			e.as.remove(at, e.key)
		} else {
			e.as.set(at, e.key, objects[e.value])
		}
	}
}

// do writes the word of an object.
func (w *write) do(base, p unsafe.Pointer) {
	at := unsafe.Add(base, w.off)
	if w.adds {
		storeBits(w.size, at, loadBits(w.size, at)+w.value.u)
		return
	}
	v := w.value
	v.p = p
	store(w.kind, w.size, at, v)
}

// make returns a new object.
func (f *fresh) make() unsafe.Pointer {
	if f.n < 0 {
		p := reflect.New(f.typ)
		p.Elem().Set(f.proto.Elem())
		return p.UnsafePointer()
	}
	s := reflect.MakeSlice(f.proto.Type(), f.n, f.n)
	reflect.Copy(s, f.proto)
	return s.UnsafePointer()
}

// Changed returns the paths of frozen tensors that were written, or whose memory was given away, since the walk.
func (m *Image) Changed() (paths []string) {
	for i := range m.tensors {
		if t := &m.tensors[i]; t.frozen && !t.same(t.x) {
			paths = append(paths, t.path)
		}
	}
	return paths
}

// Untouched reports whether no tensor was written, or its memory given away, since the walk.
func (m *Image) Untouched() bool {
	for i := range m.tensors {
		t := &m.tensors[i]
		if st := t.array.Storage(); st.Version() != t.version || st.Exposed() != t.exposed {
			return false
		}
	}
	return true
}

// Moments calls f for each frozen tensor with the moments when its memory was made and last written.
func (m *Image) Moments(f func(path string, born, version uint64)) {
	for i := range m.tensors {
		if t := &m.tensors[i]; t.frozen {
			f(t.path, t.array.Storage().Born(), t.version)
		}
	}
}

// Proven reports whether the objects that a replay makes are known to be new at each call. That takes a
// second call, since memory does not tell how old it is: one that ends with an object at the same address
// has it from before.
func (r *Replay) Proven() bool { return len(r.made) == 0 }

// Prove compares the new objects of two calls, the first of which has kept its own alive. It reports whether
// they are apart.
func (r *Replay) Prove(again *Replay) bool {
	for _, p := range again.made {
		if slices.Contains(r.made, p) {
			return false
		}
	}
	r.made, again.made = nil, nil
	return true
}

// Same reports whether two replays write the same.
func (r *Replay) Same(o *Replay) bool {
	return slices.EqualFunc(r.stores, o.stores, r.sameWrite) && slices.Equal(r.entries, o.entries) && r.tensors == o.tensors &&
		slices.EqualFunc(r.objects, o.objects, r.sameObject)
}

func (r *Replay) sameObject(a, b fresh) bool {
	if a.typ != b.typ || a.n != b.n || !slices.EqualFunc(a.fix, b.fix, r.sameWrite) {
		return false
	}
	p, q, lay := a.proto.UnsafePointer(), b.proto.UnsafePointer(), r.s.whole(a.typ)
	for i := range max(a.n, 1) {
		if at := uintptr(i) * lay.size; !lay.equal(unsafe.Add(p, at), unsafe.Add(q, at)) {
			return false
		}
	}
	return true
}

// sameWrite compares writes. Values in interfaces are compared by what they hold.
func (r *Replay) sameWrite(a, b write) bool {
	p, q := a.lead.p, b.lead.p
	a.lead.p, b.lead.p = nil, nil
	return a == b && (a.lead.box == nil || r.s.whole(a.lead.box).equal(p, q))
}
