package torchpt

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/diag"
)

// The pickles of a file before PyTorch 1.6, before the saved object.
const (
	magicPickle   = "\x80\x02\x8a\x0a" + magic + "."
	versionPickle = "\x80\x02M\xe9\x03."
)

func machinePickle(little bool) string {
	end := "\x89"
	if little {
		end = "\x88"
	}
	return "\x80\x02}(" + str("protocol_version") + "M\xe9\x03" + str("little_endian") + end + "u."
}

// oldFile makes such a file of a pickle and a storage "0" of 8 bytes.
func oldFile(pickle string) []byte { return oldOf(pickle, []string{"0"}, elements(2)) }

func oldOf(pickle string, keys []string, storages ...string) []byte {
	list := "\x80\x02]("
	for _, k := range keys {
		list += str(k)
	}
	return []byte(magicPickle + versionPickle + machinePickle(true) + pickle + list + "e." + strings.Join(storages, ""))
}

// elements is a storage of 1 and 2 that says how many it has.
func elements(n uint64) string {
	return string(binary.LittleEndian.AppendUint64(nil, n)) + "\x00\x00\x80\x3f\x00\x00\x00\x40"
}

func viewOf(class, key string, n, first, count int64) string {
	return tuple(str("storage"), named("torch", class), str(key), str("cpu"), num64(n), tuple(str("v"), num64(first), num64(count))) + "Q"
}

func TestOldFile(t *testing.T) {
	s := storageOf("FloatStorage", "0", 2)
	for name, pickle := range map[string]string{
		"five": f32(2, 0, []int64{2}, []int64{1}),
		"None": state(str("w"), rebuildOf(strings.Replace(s, "tQ", "NtQ", 1), 0, []int64{2}, []int64{1})),
		"view": state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, 0, 2), 0, []int64{2}, []int64{1})),
	} {
		f, err := Parse(oldFile(pickle))
		require.NoError(t, err, name)
		require.Equal(t, []float64{1, 2}, floats(get(t, f, "w")), name)
	}
	// Parts of a storage, a tensor in another order, keys that are numbers, and one memory for all.
	number := tuple(str("storage"), named("torch", "FloatStorage"), num64(7), str("cpu"), num64(2)) + "Q"
	f, err := Parse(oldOf(state(str("a"), rebuildOf(viewOf("FloatStorage", "0", 2, 1, 1), 0, []int64{1}, []int64{1}), str("b"), rebuildOf(s, 0, []int64{1, 2}, []int64{1, 1}),
		str("c"), rebuildOf(s, 1, nil, nil), str("d"), rebuildOf(number, 1, []int64{1}, []int64{1})), []string{"0", "7"}, elements(2), elements(2)))
	require.NoError(t, err)
	require.Equal(t, []float64{2}, floats(get(t, f, "a")))
	require.Equal(t, []float64{2}, floats(get(t, f, "c")))
	require.Equal(t, []float64{2}, floats(get(t, f, "d")))
	require.True(t, get(t, f, "b").Storage().Overlaps(get(t, f, "c").Storage()), "tensors of one storage share it")
	_, err = Parse(oldOf(state(), nil))
	require.NoError(t, err)
	require.False(t, IsLegacy(nil))
}

func TestHostileOldFiles(t *testing.T) {
	good := f32(2, 0, []int64{2}, []int64{1})
	head := magicPickle + versionPickle + machinePickle(true)
	one := []int64{1}
	for name, c := range map[string]struct {
		b    []byte
		code diag.Code
		msg  string
	}{
		"magic alone":       {[]byte(magicPickle), CodeSyntax, "of the version of the format, at byte 15 of the file"},
		"magic without end": {[]byte(magicPickle[:14]), CodeSyntax, "the pickle of the magic number"},
		"version":           {[]byte(magicPickle + "\x80\x02M\xea\x03." + machinePickle(true)), CodeFormat, "version of the format is 1002"},
		"big-endian":        {[]byte(magicPickle + versionPickle + machinePickle(false) + good), CodeFormat, "big-endian"},
		"no machine":        {[]byte(magicPickle + versionPickle + "N." + good), CodeFormat, "big-endian"},
		"no keys":           {[]byte(head + good), CodeSyntax, "the keys of the storages"},
		"keys no list":      {[]byte(head + good + "N."), CodeSyntax, "no list of the storages"},
		"key of nothing":    {oldOf(good, []string{"1"}, elements(2)), CodeSyntax, `there is a storage "1"`},
		"key None":          {[]byte(head + good + "\x80\x02](Ne."), CodeSyntax, "there is a storage"},
		"key twice":         {oldOf(good, []string{"0", "0"}, elements(2), elements(2)), CodeSyntax, "is there twice"},
		"key missing":       {oldOf(good, nil), CodeTensor, "lacks"},
		"cut off":           {oldOf(good, []string{"0"}, elements(2)[:12]), CodeFormat, `storage "0" of 2 elements is cut off`},
		"no number":         {oldOf(good, []string{"0"}, "\x02\x00"), CodeFormat, "is cut off"},
		"more than there":   {oldOf(f32(1<<40, 0, one, one), []string{"0"}, elements(1<<40)), CodeFormat, "is cut off"},
		"more than counts":  {oldOf(f32(1<<62, 0, one, one), []string{"0"}, elements(1<<62)), CodeFormat, "is cut off"},
		"other number":      {oldOf(good, []string{"0"}, elements(3)), CodeFormat, "has 3 elements, expected 2"},
		"huge number":       {oldOf(good, []string{"0"}, elements(1<<63)), CodeFormat, "has 9223372036854775808 elements"},
		"two types":         {oldOf(state(str("a"), rebuildOf(storageOf("FloatStorage", "0", 2), 0, one, one), str("b"), rebuildOf(storageOf("IntStorage", "0", 2), 0, one, one)), []string{"0"}, elements(2)), CodeSyntax, "several types"},
		"view outside":      {oldFile(state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, 1, 2), 0, one, one))), CodeTensor, "of a view from 1 of 2 elements"},
		"view before":       {oldFile(state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, -1, 2), 0, one, one))), CodeTensor, "of a view from -1"},
		"view wraps":        {oldFile(state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, 1<<62, 1<<62), 0, one, one))), CodeTensor, "of a view from"},
		"outside of view":   {oldFile(state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, 0, 1), 1, one, one))), CodeTensor, "outside of its storage"},
		"offset wraps":      {oldFile(state(str("w"), rebuildOf(viewOf("FloatStorage", "0", 2, 1, 1), 1<<63-1, one, one))), CodeTensor, "outside of its storage"},
		"view of text":      {oldFile(state(str("w"), strings.Replace(rebuildOf(storageOf("FloatStorage", "0", 2), 0, one, one), "tQ", str("v")+"tQ", 1))), CodeSyntax, "a part of a storage is not described"},
		"outside":           {oldFile(f32(2, 1, []int64{2}, one)), CodeTensor, "outside of its storage"},
		"module":            {oldFile(state(str("w"), tuple(str("module"), named("torch.nn", "Linear"), str("linear.py"), str("import os"))+"Q")), CodeObject, `"a module with its source"`},
		"code":              {oldFile(named("posix", "system") + tuple(str("touch executed")) + "R."), CodeObject, "nothing is executed"},
		"code before":       {[]byte(magicPickle + versionPickle + named("posix", "system") + tuple(str("touch executed")) + "R."), CodeFormat, "big-endian"},
	} {
		_, err := Parse(c.b)
		require.ErrorIs(t, err, c.code, name)
		require.ErrorContains(t, err, c.msg, name)
	}
	for name, c := range faults() { // errors of archives are errors here too
		_, err := Parse(oldFile(c.pickle))
		if name == "below the mark" {
			continue
		}
		require.Error(t, err, name)
	}
	require.NoFileExists(t, "executed")
}

// readAll reads all tensors of a file that may be anything: it is refused, or they are read.
func readAll(t *testing.T, b []byte) {
	file, err := Parse(b)
	if err != nil {
		return
	}
	for _, name := range file.Names() {
		a, err := file.Get(name)
		if err != nil {
			var e *diag.Error
			require.ErrorAs(t, err, &e)
			continue
		}
		require.LessOrEqual(t, a.Len(), max(maxRepeat, len(b)))
		_ = array.Describe(a.DType(), a.Shape())
	}
}
