package pjrt

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The sizes and places that a C compiler gives the structs of version 0.104 of the
// interface, on 64-bit machines.
func TestLayoutIsThatOfC(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("plugins are of 64-bit machines")
	}
	require.EqualValues(t, []uintptr{24, 24, 24}, []uintptr{known(unsafe.Sizeof(objectArgs{})), unsafe.Offsetof(flagArgs{}.flag), unsafe.Offsetof(intArgs{}.n)})
	require.EqualValues(t, []uintptr{32, 40, 40, 32}, []uintptr{known(unsafe.Sizeof(wordArgs{})), known(unsafe.Sizeof(listArgs{})), known(unsafe.Sizeof(countedArgs{})), known(unsafe.Sizeof(attributesArgs{}))})

	var v namedValue
	require.EqualValues(t, []uintptr{16, 32, 40, 48, 56}, []uintptr{unsafe.Offsetof(v.name), unsafe.Offsetof(v.kind), unsafe.Offsetof(v.word), unsafe.Offsetof(v.n), unsafe.Sizeof(v)})
	var create createArgs
	require.EqualValues(t, []uintptr{64, 88}, []uintptr{unsafe.Offsetof(create.client), known(unsafe.Sizeof(create))})
	var prog program
	require.EqualValues(t, []uintptr{40, 48}, []uintptr{unsafe.Offsetof(prog.formatSize), known(unsafe.Sizeof(prog))})
	var comp compileArgs
	require.EqualValues(t, []uintptr{24, 48, 56}, []uintptr{unsafe.Offsetof(comp.program), unsafe.Offsetof(comp.executable), known(unsafe.Sizeof(comp))})
	var from fromHostArgs
	require.EqualValues(t, []uintptr{24, 32, 40, 56, 72, 80, 88, 96, 104, 112, 120}, []uintptr{unsafe.Offsetof(from.data), unsafe.Offsetof(from.kind), unsafe.Offsetof(from.dims), unsafe.Offsetof(from.strides),
		unsafe.Offsetof(from.semantics), unsafe.Offsetof(from.device), unsafe.Offsetof(from.memory), unsafe.Offsetof(from.layout), unsafe.Offsetof(from.done), unsafe.Offsetof(from.buffer), known(unsafe.Sizeof(from))})
	var rows layout
	require.EqualValues(t, []uintptr{16, 72, 76, 80, 56}, []uintptr{unsafe.Offsetof(rows.tiled), unsafe.Offsetof(rows.kind), unsafe.Offsetof(rows.kind) + 4, known(unsafe.Sizeof(rows)), unsafe.Sizeof(rows.tiled)})
	var to toHostArgs
	require.EqualValues(t, []uintptr{24, 32, 40, 48, 56}, []uintptr{unsafe.Offsetof(to.layout), unsafe.Offsetof(to.data), unsafe.Offsetof(to.n), unsafe.Offsetof(to.event), known(unsafe.Sizeof(to))})
	var opts executeOptions
	require.EqualValues(t, []uintptr{56, 64, 120}, []uintptr{unsafe.Offsetof(opts.keep), unsafe.Offsetof(opts.numKeep), known(unsafe.Sizeof(opts))})
	var exec executeArgs
	require.EqualValues(t, []uintptr{24, 32, 40, 48, 56, 64, 72, 80}, []uintptr{unsafe.Offsetof(exec.options), unsafe.Offsetof(exec.arguments), unsafe.Offsetof(exec.devices), unsafe.Offsetof(exec.n),
		unsafe.Offsetof(exec.outputs), unsafe.Offsetof(exec.events), unsafe.Offsetof(exec.device), known(unsafe.Sizeof(exec))})
	var dims outputDimsArgs
	require.EqualValues(t, []uintptr{24, 32, 40, 48}, []uintptr{unsafe.Offsetof(dims.n), unsafe.Offsetof(dims.dims), unsafe.Offsetof(dims.ranks), known(unsafe.Sizeof(dims))})
	var mem memoryStatsArgs
	require.EqualValues(t, []uintptr{32, 80, 176, 192}, []uintptr{unsafe.Offsetof(mem.peak), unsafe.Offsetof(mem.limit), unsafe.Offsetof(mem.peakPool), known(unsafe.Sizeof(mem))})
	var compiled compiledMemoryArgs
	require.EqualValues(t, []uintptr{24, 32, 40, 48, 56, 104, 112}, []uintptr{unsafe.Offsetof(compiled.code), unsafe.Offsetof(compiled.arguments), unsafe.Offsetof(compiled.outputs), unsafe.Offsetof(compiled.alias),
		unsafe.Offsetof(compiled.temp), unsafe.Offsetof(compiled.peak), known(unsafe.Sizeof(compiled))})
	require.EqualValues(t, []uintptr{40, 40 + 97*8}, []uintptr{unsafe.Sizeof(apiTable{}), tableSize})
}

// known is the size of a struct without the room after its fields.
func known(size uintptr) uintptr { return size - unsafe.Sizeof(room{}) }

func TestEveryFunctionHasAName(t *testing.T) {
	seen := map[string]fn{}
	for f, name := range fnNames {
		require.Less(t, f, fn(tableFunctions))
		require.NotContains(t, seen, name)
		seen[name] = f
	}
}
