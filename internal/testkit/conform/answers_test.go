package conform

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/array"
	"github.com/gofx-dev/gofx/array/npy"
	"github.com/gofx-dev/gofx/internal/testkit/fxtest"
	"github.com/gofx-dev/gofx/internal/testkit/pyenv"
	"github.com/gofx-dev/gofx/lowering"
	"github.com/gofx-dev/gofx/lowering/cpu"
	"github.com/gofx-dev/gofx/onnx"
)

// realAnswers judge the results of networks with real weights for real inputs: the folder
// has the output of testdata/real/answers.py for the subject.
var realAnswers = map[string]func(t *testing.T, folder string, s onnxSet, out []*array.Array){
	"sentences": nearestSentences,
	"line":      readLine,
	"files":     fileTypes,
	"speech":    speechFound,
}

// TestRealAnswers: results are those of PyTorch or ONNX Runtime, and the answer makes sense.
func TestRealAnswers(t *testing.T) {
	fxtest.Nightly(t)
	python := pyenv.Need(t, "torch", "transformers", "onnxruntime", "PIL", "tokenizers")
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	cases := t.TempDir()
	cmd := exec.Command(python, "testdata/real/answers.py", filepath.Join(cache, "gofx", "real"), cases)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", text)
	for subject, judge := range realAnswers {
		t.Run(subject, func(t *testing.T) {
			c := onnxCase{path: subject, tol: onnx.Tolerance{Rel: 1e-3, Abs: 1e-4}}
			sets, err := c.sets(cases)
			require.NoError(t, err)
			require.Len(t, sets, 1)
			for engine, run := range onnxEngines {
				out, err := run(sets[0].m, sets[0].args)
				require.NoError(t, err, engine)
				_, err = sets[0].sample.Check(out, c.tol)
				require.NoError(t, err, engine)
				judge(t, filepath.Join(cases, subject), sets[0], out)
			}
		})
	}
}

// nearestSentences: each sentence is nearest to the one that says the same.
func nearestSentences(t *testing.T, _ string, s onnxSet, out []*array.Array) {
	mask, hidden := s.sample.Inputs["attention_mask"], out[0]
	n, length, width := hidden.Shape()[0], hidden.Shape()[1], hidden.Shape()[2]
	means := make([][]float64, n)
	for i := range means {
		means[i] = make([]float64, width)
		for k := range length {
			for e := range width {
				means[i][e] += array.Float64At(hidden, (i*length+k)*width+e) * array.Float64At(mask, i*length+k)
			}
		}
	}
	for i := range means {
		best, nearest := -2.0, -1
		for j := range means {
			if near := cosine(means[i], means[j]); j != i && near > best {
				best, nearest = near, j
			}
		}
		require.Equal(t, i^1, nearest, "the nearest of sentence %d", i)
	}
}

func cosine(a, b []float64) float64 {
	var ab, aa, bb float64
	for i := range a {
		ab, aa, bb = ab+a[i]*b[i], aa+a[i]*a[i], bb+b[i]*b[i]
	}
	return ab / math.Sqrt(aa*bb)
}

// lines reads a file of a case.
func lines(t *testing.T, folder, name string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	require.NoError(t, err)
	return strings.Split(string(text), "\n")
}

// most is the class with the highest score in a row.
func most(scores *array.Array, row int) (class int) {
	n := scores.Shape()[scores.Rank()-1]
	for k := range n {
		if array.Float64At(scores, row*n+k) > array.Float64At(scores, row*n+class) {
			class = k
		}
	}
	return class
}

// readLine: the classes spell the text, repeated ones once; class 0 is none.
func readLine(t *testing.T, folder string, _ onnxSet, out []*array.Array) {
	characters := append(append([]string{""}, lines(t, folder, "characters.txt")...), " ")
	text, last := "", 0
	for k := range out[0].Shape()[1] {
		class := most(out[0], k)
		if class != last {
			text += characters[class]
		}
		last = class
	}
	require.Equal(t, lines(t, folder, "text.txt")[0], text)
}

// fileTypes: each file is of the type that its row is named for.
func fileTypes(t *testing.T, folder string, _ onnxSet, out []*array.Array) {
	labels := lines(t, folder, "labels.txt")
	for i, want := range lines(t, folder, "answers.txt") {
		require.Equal(t, want, labels[most(out[0], i)])
	}
}

// late is the number of frames of noise after speech that are not judged: half a second in which the
// state of the model still says speech.
const late = 16

// speechFound goes through the frames with the state of the one before: each probability is ONNX
// Runtime's, and speech is told from silence and from noise.
func speechFound(t *testing.T, folder string, s onnxSet, _ []*array.Array) {
	frames, kinds := readNpy(t, filepath.Join(folder, "frames.npy")), readNpy(t, filepath.Join(folder, "speech.npy"))
	theirs := readNpy(t, filepath.Join(folder, "probability.npy"))
	exe, err := cpu.Compile(s.m, lowering.Options{Threads: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, exe.Close()) }()
	state, rate, width := s.sample.Inputs["state"], s.sample.Inputs["sr"], frames.Shape()[1]
	var sum, count [3]float64 // of silence, speech and noise
	for i := range frames.Shape()[0] {
		frame := array.New(array.F32, 1, width)
		for k := range width {
			array.SetFloat64At(frame, k, array.Float64At(frames, i*width+k))
		}
		inputs := map[string]*array.Array{"input": frame, "state": state, "sr": rate}
		out, err := exe.Run(ctx, s.named(inputs))
		require.NoError(t, err)
		p, kind := array.Float64At(out[0], 0), array.Int64At(kinds, i)
		require.InDelta(t, array.Float64At(theirs, i), p, 1e-3, "frame %d", i)
		state = out[1]
		if kind == 2 && array.Int64At(kinds, max(0, i-late)) != kind {
			continue
		}
		sum[kind], count[kind] = sum[kind]+p, count[kind]+1
	}
	require.Less(t, sum[0]/count[0], 0.2, "silence")
	require.Greater(t, sum[1]/count[1], 0.6, "speech")
	require.Less(t, sum[2]/count[2], 0.2, "noise")
}

// named are the arguments of the graph for the model's inputs by name.
func (s onnxSet) named(inputs map[string]*array.Array) (args []*array.Array) {
	for _, n := range s.m.Graph.Inputs() {
		args = append(args, inputs[n.Name()])
	}
	return args
}

func readNpy(t *testing.T, path string) *array.Array {
	t.Helper()
	a, err := npy.ReadFile(path)
	require.NoError(t, err)
	return a
}
