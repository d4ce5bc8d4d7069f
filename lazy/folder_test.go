package lazy_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/lazy"
	"github.com/gofx-dev/gofx/tensor"
)

// fill runs a step until it is compiled, and returns the files of the folder.
func fill(t *testing.T, dir string, step func(s *lazy.Session)) (files []string) {
	s := lazy.New(lazy.Options{Folder: dir})
	for range 4 {
		step(s)
		s.Wait()
	}
	require.NoError(t, s.Close())
	return entries(t, dir)
}

func entries(t *testing.T, dir string) (files []string) {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range list {
		files = append(files, filepath.Join(dir, e.Name()))
	}
	return files
}

func expSum(s *lazy.Session) { s.In(vec(1, 2)).Exp().Sum().Item() }

func TestFolder_startsWarm(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "graphs")
	require.Len(t, fill(t, dir, expSum), 1)
	s := open(t, lazy.Options{Folder: dir})
	s.Wait()
	require.Equal(t, 1, s.Stats().Kept)
	expSum(s)
	st := s.Stats()
	require.Equal(t, []int{1, 0, 0}, []int{st.Hits, st.Interpreted, st.Compiles})
	require.Equal(t, lazy.Compiled, s.Explain().Graphs[0].State)
	require.Equal(t, vec(1, 2).Exp().Sum().Item(), s.In(vec(1, 2)).Exp().Sum().Item())
	s.In(vec(1, 2, 3)).Exp().Sum().Item()
	require.Equal(t, 1, s.Stats().Interpreted, "another graph")
}

// A graph that reads a model is compiled when it comes, with the weights that it had.
func TestFolder_weights(t *testing.T) {
	dir := t.TempDir()
	model := func() (step func(s *lazy.Session) float64, w *tensor.Tensor) {
		w = tensor.Param(array.FromSlice([]float32{1, 2, 3, 4}, 2, 2))
		return func(s *lazy.Session) float64 { return s.In(matrix(1, 2, 3, 4)).Matmul(w).Sum().Item() }, w
	}
	step, _ := model()
	files := fill(t, dir, func(s *lazy.Session) { step(s) })
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(text), "weights: w1\n")

	other, w := model()
	s := open(t, lazy.Options{Folder: dir, Warm: 100})
	s.Wait()
	fresh, _ := model()
	want := fresh(open(t, lazy.Options{}))
	for range 3 {
		require.Equal(t, want, other(s))
		s.Wait()
	}
	st := s.Stats()
	require.LessOrEqual(t, st.Interpreted, 1, "the first call may come before the plan")
	require.Equal(t, []int{3, 1}, []int{st.Interpreted + st.Hits, st.Compiles})
	w.MulScalarInPlace(2)
	require.Equal(t, 2*want, other(s), "the plan has the new weight")
}

// Files have nothing of the program or of the machine: two programs write the same.
func TestFolder_filesAreOfGraphsAlone(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	first := fill(t, a, expSum)
	second := fill(t, b, func(s *lazy.Session) {
		s.In(vec(7)).Neg().Item() // another graph before
		x := s.In(vec(5, 6))
		y := x.Exp()
		y.Sum().Item()
	})
	require.Len(t, second, 2)
	text, err := os.ReadFile(first[0])
	require.NoError(t, err)
	same, err := os.ReadFile(filepath.Join(b, filepath.Base(first[0])))
	require.NoError(t, err)
	require.Equal(t, string(text), string(same))
	require.NotContains(t, string(text), ".go")
	require.NotContains(t, string(text), "0x")
	require.NotContains(t, string(text), " at ")
}

func TestFolder_hostileFiles(t *testing.T) {
	dir := t.TempDir()
	good := fill(t, dir, expSum)[0]
	text, err := os.ReadFile(good)
	require.NoError(t, err)
	put := func(name, s string) { require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(s), 0o600)) }
	named := func(s string) { // with the name that fits its text
		_, graph, _ := strings.Cut(strings.TrimPrefix(s, "gofx lazy 1\n"), "\n")
		put(lazy.EntryName(graph), s)
	}
	body := func(g string) string { return "gofx lazy 1\nweights:\n" + g }
	require.NoError(t, os.Truncate(good, int64(len(text)-3)))
	put("0000.graph", string(text))
	put("garbage.graph", "\x00\xff garbage")
	put("large.graph", strings.Repeat("a", 5<<20))
	put("empty.graph", "")
	put("readme.txt", "not an entry")
	named(strings.Replace(string(text), "weights:", "weights: w9", 1)) // in the place of the good one
	named(body("gofx 1\n\ngraph lazy(%x0: f32[2]) {\n  %y = call_function[no_such_op](%x0) : f32[2]\n  return %y\n}\n"))
	named(body("gofx 1\n\ngraph lazy(%x0: f32[99999999999,99]) {\n  %exp = call_function[exp](%x0) : f32[99999999999,99]\n  return %exp\n}\n"))
	named(body("gofx 1\n\ngraph lazy(%x0: f32[2]) {\n  return %nothing\n}\n"))
	named(body("gofx 1\n"))
	named(body(strings.Repeat("(", 1<<16)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder.graph"), 0o700))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero.graph")))
	bad := len(entries(t, dir)) - 1 // all but the text file

	s := open(t, lazy.Options{Folder: dir})
	s.Wait()
	require.Equal(t, []int{0, bad}, []int{s.Stats().Kept, s.Stats().Ignored})
	for range 4 {
		require.Equal(t, vec(1, 2).Exp().Sum().Item(), s.In(vec(1, 2)).Exp().Sum().Item())
		s.Wait()
	}
	require.Equal(t, 1, s.Stats().Kept, "the damaged file is replaced")
	again := open(t, lazy.Options{Folder: dir})
	again.Wait()
	require.Equal(t, []int{1, bad - 1}, []int{again.Stats().Kept, again.Stats().Ignored})
}

// Where nothing can be written the session computes the same.
func TestFolder_thatIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	s := open(t, lazy.Options{Folder: file})
	for range 4 {
		expSum(s)
		s.Wait()
	}
	st := s.Stats()
	require.Equal(t, []int{1, 0, 2}, []int{st.Hits, st.Kept, st.Ignored}, "it was neither read nor written")
}

func TestFolder_isBounded(t *testing.T) {
	dir := t.TempDir()
	s := open(t, lazy.Options{Folder: dir, MaxPrograms: 3, Warm: 1})
	for size := range 6 {
		for range 3 {
			s.In(tensor.Ones(size + 1)).Exp().Sum().Item()
			s.Wait()
		}
	}
	require.Len(t, entries(t, dir), 3)
	require.Equal(t, 3, s.Stats().Kept)
}

func TestFolder_ofManySessions(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			s := lazy.New(lazy.Options{Folder: dir, Threads: 1})
			defer s.Close()
			for range 6 {
				expSum(s)
				s.In(vec(3)).Neg().Item()
			}
			s.Wait()
		})
	}
	all.Wait()
	for _, name := range entries(t, dir) {
		require.Equal(t, ".graph", filepath.Ext(name), "nothing unfinished is left")
	}
	s := open(t, lazy.Options{Folder: dir})
	s.Wait()
	require.Equal(t, []int{2, 0}, []int{s.Stats().Kept, s.Stats().Ignored})
}

func TestFolder_rounding(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, expSum)
	s := open(t, lazy.Options{Folder: dir, Rounding: true})
	s.Wait()
	alone := open(t, lazy.Options{Rounding: true})
	run := func(s *lazy.Session) string { return show(s.In(vec(0.1, 0.2)).Exp().Sum().Reshape(1)) }
	require.Equal(t, run(alone), run(s))
}
