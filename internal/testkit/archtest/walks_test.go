package archtest

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gofx-dev/gofx/internal/generators/godecl"
)

// The fewest and the most stations of a walk: fewer leave files out, more are not read. A
// reader who climbs more than twice loses the thread: the code is in the wrong rooms.
const (
	fewestStations = 5
	mostStations   = 8
	mostClimbs     = 2
)

var (
	stationHead = regexp.MustCompile(`(?m)^(\d+)\. `)
	namedFile   = regexp.MustCompile("`([\\w./]+\\.go)`(?:\\s+\\(([^)]*)\\))?")
	quoted      = regexp.MustCompile("`([^`]+)`")
	member      = regexp.MustCompile("`(\\w+)\\.(\\w+)`")
)

// walk is one section of docs/architecture.md that follows a thing through the files.
type walk struct{ title, text string }

func walksOf(section string) (list []walk) {
	for _, s := range strings.Split(section, "\n### ")[1:] {
		title, text, _ := strings.Cut(s, "\n")
		list = append(list, walk{title, text})
	}
	return list
}

// files are those that the walk names, in its order.
func (w walk) files() (list []string) {
	for _, m := range namedFile.FindAllStringSubmatch(w.text, -1) {
		list = append(list, m[1])
	}
	return list
}

// climbs lead to a file in a higher row than that of the file before it.
func (w walk) climbs() (list []string) {
	files := w.files()
	for i := 1; i < len(files); i++ {
		from, to := path.Dir(files[i-1]), path.Dir(files[i])
		if row(to) < row(from) {
			list = append(list, "from `"+from+"` to `"+to+"`")
		}
	}
	return list
}

// count is the sentence after the walk.
func (w walk) count() string {
	files, climbs := w.files(), w.climbs()
	slices.Sort(files)
	return "The walk names " + strconv.Itoa(len(slices.Compact(files))) + " files and climbs " + strconv.Itoa(len(climbs)) +
		" times: " + strings.Join(climbs, ", ") + "."
}

// stations are the numbered items.
func (w walk) stations() (list []string) {
	heads := stationHead.FindAllStringIndex(w.text, -1)
	for i, h := range heads {
		end := len(w.text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		list = append(list, w.text[h[0]:end])
	}
	return list
}

// faults compares a walk with what the files declare.
func (w walk) faults(declared map[string]map[string]bool) (wrong []string) {
	fault := func(s ...string) { wrong = append(wrong, w.title+": "+strings.Join(s, "")) }
	stations := w.stations()
	if n := len(stations); n < fewestStations || n > mostStations {
		fault(strconv.Itoa(n), " stations, expected ", strconv.Itoa(fewestStations), " to ", strconv.Itoa(mostStations))
	}
	for i, s := range stations {
		at := "station " + strconv.Itoa(i+1)
		if !strings.HasPrefix(s, strconv.Itoa(i+1)+". ") {
			fault(at, " has another number")
		}
		here := map[string]bool{}
		files := namedFile.FindAllStringSubmatch(s, -1)
		if len(files) == 0 {
			fault(at, " names no file")
		}
		for _, m := range files {
			file, names := m[1], quoted.FindAllStringSubmatch(m[2], -1)
			if row(path.Dir(file)) < 0 || declared[file] == nil {
				fault(at, " names ", file, ", which is no file of a room")
				continue
			}
			if len(names) == 0 {
				fault(at, " does not say, in parentheses, what to look for in ", file)
			}
			for name := range declared[file] {
				here[name] = true
			}
			for _, n := range names {
				if !declared[file][n[1]] {
					fault(at, " names ", n[1], ", which ", file, " does not declare")
				}
			}
		}
		for _, m := range member.FindAllStringSubmatch(s, -1) {
			name := m[1] + "." + m[2]
			if m[2] != "go" && m[1] != "kernel" && !here[name] {
				fault(at, " names ", name, ", which no file of the station declares")
			}
		}
	}
	if n := len(w.climbs()); n > mostClimbs {
		fault("climbs ", strconv.Itoa(n), " times, expected at most ", strconv.Itoa(mostClimbs))
	}
	if text := strings.Join(strings.Fields(w.text), " "); !strings.Contains(text, w.count()) {
		fault("the count should be: ", w.count())
	}
	return wrong
}

// declarations are the names that each file declares, methods as Type.Method.
func declarations(t *testing.T) map[string]map[string]bool {
	declared := map[string]map[string]bool{}
	for _, s := range handWritten(t) {
		declared[s.path] = map[string]bool{}
		godecl.Names(s.file, declared[s.path])
	}
	return declared
}

func TestWalksNameWhatExists(t *testing.T) {
	list := walksOf(between(t, architecture(t), "## Five walks\n", "\n## "))
	require.Len(t, list, 5)
	declared := declarations(t)
	for _, w := range list {
		require.Empty(t, w.faults(declared))
	}
}

func TestWrongWalksAreFound(t *testing.T) {
	declared := declarations(t)
	for _, w := range walksOf(between(t, architecture(t), "## Five walks\n", "\n## ")) {
		file := regexp.QuoteMeta(w.files()[0])
		for _, wrong := range []struct{ pattern, with, says string }{
			{"`" + file + "` \\(`", "${0}no", "does not declare"},
			{file, "no/${0}", "is no file of a room"},
			{"\n1\\. ", "${0}`trace.nothing` ", "which no file of the station declares"},
			{"`" + file + "` \\([^)]*\\)", "`" + w.files()[0] + "`", "what to look for"},
			{"climbs \\d+", "climbs 17", "the count should be"},
			{"names \\d+ files", "names 99 files", "the count should be"},
			{"\n2\\. ", "${0}`op/op.go` (`Op`) `fx/module.go` (`Input`) ", "expected at most 2"},
			{"\n2\\. ", "\n3. ", "another number"},
			{"\n2\\. ", "\n2. Nothing.\n3. ", "names no file"},
			{"(?s)\n3\\. .*\nThe walk", "\nThe walk", "2 stations"},
		} {
			text := regexp.MustCompile(wrong.pattern).ReplaceAllString(w.text, wrong.with)
			require.NotEqual(t, w.text, text, "%s: %s", w.title, wrong.pattern)
			require.Contains(t, strings.Join(walk{w.title, text}.faults(declared), "\n"), wrong.says)
		}
	}
}
