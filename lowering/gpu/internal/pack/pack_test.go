package pack_test

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/lowering/gpu/internal/pack"
)

func TestPacksComeBack(t *testing.T) {
	var p pack.Pack
	require.Equal(t, 0, p.Len())
	require.Nil(t, p.Find("a"))
	p.Add("// what it is for\n\nint a;\n", []byte("first"))
	p.Add("int b;\n", bytes.Repeat([]byte("second"), 1000))
	p.Add("int a;\n", []byte("again"))
	q, err := pack.Read(p.Bytes())
	require.NoError(t, err)
	require.Equal(t, 2, q.Len())
	require.Equal(t, "again", string(q.Find("int a;\n")))
	require.Equal(t, "again", string(q.Find("// other words\nint a;\n")))
	require.Len(t, q.Find("int b;\n"), 6000)
	require.Nil(t, q.Find("int b;"))
	require.True(t, q.Has("int b;\n"))
	require.Equal(t, p.Bytes(), q.Bytes())
	var none *pack.Pack
	require.Nil(t, none.Find("int a;\n"))
	require.Equal(t, 0, none.Len())
	empty, err := pack.Read(none.Bytes())
	require.NoError(t, err)
	require.Equal(t, 0, empty.Len())
}

// TestDamagedPacksAreRefused cuts a pack at every byte and changes each; and writes right sums
// under what is wrong.
func TestDamagedPacksAreRefused(t *testing.T) {
	var p pack.Pack
	p.Add("int a;\n", []byte("image"))
	good := p.Bytes()
	for i := range good {
		_, err := pack.Read(good[:i])
		require.ErrorIs(t, err, pack.BadPack, "cut at %d", i)
		changed := bytes.Clone(good)
		changed[i] ^= 1
		_, err = pack.Read(changed)
		require.ErrorIs(t, err, pack.BadPack, "changed at %d", i)
	}
	body := good[:len(good)-sha256.Size]
	for cut := len("gofx pack 1\n") + 1; cut < len(body); cut++ {
		_, err := pack.Read(summed(body[:cut]))
		require.ErrorIs(t, err, pack.BadPack, "summed and cut at %d", cut)
	}
	noDeflate := bytes.Clone(body)
	noDeflate[len("gofx pack 1\n")+sha256.Size+4] = 0xff
	q, err := pack.Read(summed(noDeflate))
	require.NoError(t, err)
	require.Nil(t, q.Find("int a;\n"))
}

func summed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}
