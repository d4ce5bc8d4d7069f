package torchpt

import (
	"strconv"
	"strings"
)

// storageClass is a class of storages, of one of bytes where it has no type.
type storageClass struct{ dtype *dtype }

// calls are the functions and classes that are known, by module and name. Each gets its
// arguments and returns false for arguments that it does not take.
var calls map[string]func(m *machine, args []any) (any, bool)

func init() { // not a literal: calls call each other
	first := func(_ *machine, a []any) (any, bool) { return a[0], true }
	plain := func(*machine, []any) (any, bool) { return opaque{}, true }
	set := func(_ *machine, a []any) (any, bool) {
		l, ok := a[0].(*seq)
		return l, ok
	}
	calls = map[string]func(m *machine, args []any) (any, bool){
		"collections.OrderedDict":                    ordered,
		"torch._utils._rebuild_tensor":               rebuild,
		"torch._utils._rebuild_tensor_v2":            rebuild,
		"torch._utils._rebuild_tensor_v3":            rebuildTyped,
		"torch._utils._rebuild_parameter":            first,
		"torch._utils._rebuild_parameter_with_state": first,
		"torch._tensor._rebuild_from_type_v2":        rebuildFrom,
		"torch.Size":                                 first,
		"torch.device":                               plain,
		"_codecs.encode":                             plain, // bytes in protocol 2
		"__builtin__.set":                            set,
		"builtins.set":                               set,
		"__builtin__.complex":                        plain,
		"builtins.complex":                           plain,
	}
}

// types are classes that arguments may name.
var types = map[string]bool{"torch.Tensor": true, "torch.nn.parameter.Parameter": true, "torch.nn.parameter.Buffer": true}

// named returns the value of a name.
func (m *machine) named(module, name string) any {
	if m.err != nil {
		return nil
	}
	full := module + "." + name
	if calls[full] != nil || types[full] {
		return global{full}
	}
	if full == "torch.storage.UntypedStorage" || full == "torch.UntypedStorage" {
		return storageClass{}
	}
	if module == "torch" {
		if d := find(func(d *dtype) bool { return d.storage == name && name != "" }); d != nil {
			return storageClass{d}
		}
		if d := find(func(d *dtype) bool { return d.name == name }); d != nil {
			return d
		}
	}
	return m.refuse(full)
}

// call applies a function or class.
func (m *machine) call(f, args any) any {
	list, ok := args.(*seq)
	switch g := f.(type) {
	case opaque:
		return opaque{}
	case global:
		if ok && calls[g.name] != nil && !(len(list.items) == 0 && g.name != "collections.OrderedDict") {
			if m.count(); m.err != nil {
				return nil
			}
			for _, a := range list.items {
				if _, unknown := a.(opaque); unknown && len(m.refused) > 0 {
					return opaque{}
				}
			}
			if v, ok := calls[g.name](m, list.items); ok {
				return v
			}
		}
		m.fail(g.name + " is called with arguments that it does not take")
	default:
		m.fail("something is called that is no function")
	}
	return nil
}

// ordered makes a dictionary: an empty one, or of a list of pairs.
func ordered(m *machine, args []any) (any, bool) {
	d := &dict{}
	if len(args) == 0 {
		return d, true
	}
	l, ok := args[0].(*seq)
	if !ok {
		return nil, false
	}
	for _, p := range l.items {
		pair, ok := p.(*seq)
		if !ok || len(pair.items) != 2 {
			return nil, false
		}
		d.set(pair.items[0], pair.items[1])
	}
	return d, true
}

// rebuild takes storage, offset, size, stride, requires_grad, hooks and, of views that
// are conjugated or negated, metadata.
func rebuild(m *machine, args []any) (any, bool) {
	if len(args) < 4 || len(args) > 7 {
		return nil, false
	}
	s, ok := args[0].(*storage)
	if !ok || s.dtype == nil {
		return nil, false
	}
	if len(args) == 7 && !m.plainView(args[6]) {
		return opaque{}, true
	}
	return stridedOf(s, s.dtype, args)
}

// rebuildTyped takes the arguments of rebuild and, before the metadata, the element
// type: the storage is one of bytes.
func rebuildTyped(m *machine, args []any) (any, bool) {
	if len(args) < 7 || len(args) > 8 {
		return nil, false
	}
	s, ok := args[0].(*storage)
	d, ok2 := args[6].(*dtype)
	if !ok || !ok2 {
		return nil, false
	}
	if len(args) == 8 && !m.plainView(args[7]) {
		return opaque{}, true
	}
	return stridedOf(s, d, args)
}

// plainView refuses tensors whose elements are not those of the storage.
func (m *machine) plainView(metadata any) bool {
	d, ok := metadata.(*dict)
	if !ok {
		return metadata == nil
	}
	for i, v := range d.values {
		if v != false {
			key, _ := d.keys[i].(string)
			m.refuse("a tensor with " + key + " set")
			return false
		}
	}
	return true
}

func stridedOf(s *storage, d *dtype, args []any) (any, bool) {
	t := &strided{dtype: d, storage: s}
	var ok [3]bool
	t.offset, ok[0] = args[1].(int64)
	t.shape, ok[1] = integers(args[2])
	t.stride, ok[2] = integers(args[3])
	return t, ok == [3]bool{true, true, true}
}

func integers(v any) ([]int64, bool) {
	l, ok := v.(*seq)
	if !ok || len(l.items) > maxRank {
		return nil, false
	}
	out := make([]int64, len(l.items))
	for i, x := range l.items {
		if out[i], ok = x.(int64); !ok {
			return nil, false
		}
	}
	return out, true
}

// rebuildFrom takes a function, a class of tensors, the function's arguments, and
// attributes, which are of no interest.
func rebuildFrom(m *machine, args []any) (any, bool) {
	if len(args) != 4 {
		return nil, false
	}
	g, ok := args[0].(global)
	class, ok2 := args[1].(global)
	if !ok || !ok2 || !types[class.name] || !strings.HasPrefix(g.name, "torch._utils.") {
		return nil, false
	}
	return m.call(g, args[2]), true
}

// persistent returns the storage that torch.save writes outside the pickle: ("storage", class, key,
// location, number of elements), and before PyTorch 1.6 also (key, first element, number of
// elements) where it is a part of that storage, or None. A module, which PyTorch once wrote there
// with its source, is refused, and the error names its class.
func (m *machine) persistent(id any) any {
	l, ok := id.(*seq)
	if ok && len(l.items) > 0 && l.items[0] == "module" {
		return m.refuse("a module with its source")
	}
	if !ok || len(l.items) < 5 || l.items[0] != "storage" {
		m.fail("a value outside of the pickle is no storage")
		return nil
	}
	class, ok := l.items[1].(storageClass)
	if _, refused := l.items[1].(opaque); refused {
		return opaque{}
	}
	key, ok2 := keyOf(l.items[2])
	n, ok3 := l.items[4].(int64)
	if !ok || !ok2 || !ok3 || n < 0 {
		m.fail("a storage is not described by class, key and number of elements")
		return nil
	}
	s := &storage{class.dtype, key, n, nil}
	if m.storages == nil {
		m.storages = map[string]*storage{}
	}
	if old := m.storages[key]; old == nil {
		m.storages[key] = &storage{class.dtype, key, n, nil}
	} else if old.dtype != s.dtype || old.n != n {
		m.unlike = key
	}
	if len(l.items) > 5 && l.items[5] != nil {
		part, ok := l.items[5].(*seq)
		if !ok || len(part.items) != 3 {
			m.fail("a part of a storage is not described by key, first element and number of elements")
			return nil
		}
		first, ok := part.items[1].(int64)
		count, ok2 := part.items[2].(int64)
		if !ok || !ok2 {
			m.fail("a part of a storage is not described by key, first element and number of elements")
			return nil
		}
		s.view = &view{first, count}
	}
	m.count()
	return s
}

// keyOf is the key of a storage: a text, or a number in the oldest files.
func keyOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return digits(v), true
	}
	return "", false
}

// reason describes something refused, for the message.
func reason(name string) string {
	switch {
	case strings.Contains(name, "sparse"):
		return "sparse tensors are not read"
	case strings.HasPrefix(name, "torch.Q") || strings.Contains(name, "qtensor") || strings.Contains(name, "per_channel_") || strings.Contains(name, "per_tensor_"):
		return "quantised tensors are not read"
	case strings.HasPrefix(name, "__torch__"):
		return "TorchScript modules are not read"
	case strings.HasPrefix(name, "a tensor"):
		return "such views are not read"
	}
	return "only tensors, numbers, texts, lists, tuples and dictionaries are read, and nothing is executed"
}

func digits(n int64) string { return strconv.FormatInt(n, 10) }
