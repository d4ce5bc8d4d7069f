package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gofx-dev/gofx/internal/testkit/repo"
)

// changeLog is the file of it.
const changeLog = "CHANGELOG.md"

// unreleased is the heading of what the next release brings.
const unreleased = "Unreleased"

// section is a part of the change log: a heading and the text under it.
type section struct{ heading, text string }

// sections splits a change log at its headings of the second level; the first one is what comes before them.
func sections(log string) (list []section) {
	head, rest, found := strings.Cut(log, "\n## ")
	list = append(list, section{text: head})
	for found {
		var part string
		part, rest, found = strings.Cut(rest, "\n## ")
		heading, text, _ := strings.Cut(part, "\n")
		list = append(list, section{strings.TrimSpace(heading), text})
	}
	return list
}

// cut makes a release of what the change log has for it: the first part, under the heading Unreleased or under the
// version itself, gets the version and the day. It returns the log and the release's notes.
func cut(log, version string, day time.Time) (out, notes string, err error) {
	number := strings.TrimPrefix(version, "v")
	list := sections(log)
	if len(list) < 2 {
		return "", "", fmt.Errorf("the change log has no part, want one under %q", "## "+unreleased)
	}
	first := list[1]
	if first.heading != unreleased && first.heading != number {
		return "", "", fmt.Errorf("the first part of the change log is %q, want %q: nothing tells what %s brings", first.heading, unreleased, version)
	}
	for _, s := range list[2:] {
		if name, _, _ := strings.Cut(s.heading, ","); name == number {
			return "", "", fmt.Errorf("the change log has %s already, want another version", number)
		}
	}
	if strings.TrimSpace(first.text) == "" {
		return "", "", fmt.Errorf("the part %q of the change log is empty, want what %s brings", first.heading, version)
	}
	heading := "\n## " + first.heading + "\n"
	out = strings.Replace(log, heading, "\n## "+number+", "+day.Format(time.DateOnly)+"\n", 1)
	return out, strings.TrimSpace(first.text) + "\n", nil
}

// inTree is the beginning of a link to a file of the repository.
var inTree = regexp.MustCompile(`\]\((\w[\w-]*[./][\w./-]*(?:#[\w-]*)?)\)`)

// absolute makes links of the notes lead to the files of the tag: the page of a release does not lie in the tree.
func absolute(notes, version string) string {
	return inTree.ReplaceAllString(notes, "](https://"+repo.Module+"/blob/"+version+"/$1)")
}
