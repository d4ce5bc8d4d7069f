package gosrc

import "strings"

// About is the model's description by its author. It is untrusted text: printers put it
// into comments with Paragraph and CommentLine, and nowhere else.
type About struct {
	Origin  string // where the model is from, in a line
	Weights string // where its weights are from, in a line
	Doc     string
	// Inputs and Outputs say what the values mean, in their order; "" or none if
	// there is no description.
	Inputs, Outputs []string
}

// Input and Output return the meaning of a value after a colon, for the end of a line;
// "" if it has none.
func (a *About) Input(i int) string { return meaning(a.Inputs, i) }

// Output is Input for results.
func (a *About) Output(i int) string { return meaning(a.Outputs, i) }

func meaning(list []string, i int) string {
	if i >= len(list) {
		return ""
	}
	if text := CommentLine(list[i]); text != "" {
		return ": " + text
	}
	return ""
}

// From is where the weights are from, as text for comments and constants; "" where
// nothing is said.
func (a *About) From() string { return CommentLine(a.Weights) }

// Lines are the author's text as comment lines that gofmt leaves alone: each follows
// "//\t".
func (a *About) Lines() (lines []string) {
	if text := CommentLine(a.Origin); text != "" {
		lines = append(lines, text)
	}
	return append(lines, Paragraph(a.Doc)...)
}

const (
	paragraphWidth = 100
	mostLines      = 40 // of a paragraph
)

// Paragraph makes lines for comments of a text of any length, each fit as Comment has
// it, and of bounded width: the text's own lines, and those that are too long cut
// between words.
func Paragraph(text string) (lines []string) {
	const most = 4 * paragraphWidth * mostLines // more is never shown
	if len(text) > most {
		text = text[:most]
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u2028", "\n", "\u2029", "\n", "\u0085", "\n").Replace(text)
	for _, line := range strings.Split(text, "\n") {
		rest := strings.Fields(printable(line))
		for len(rest) > 0 {
			out := shortened(rest[0], paragraphWidth)
			for rest = rest[1:]; len(rest) > 0 && len(out)+1+len(rest[0]) <= paragraphWidth; rest = rest[1:] {
				out += " " + rest[0]
			}
			if len(lines) == mostLines {
				return append(lines, "...")
			}
			lines = append(lines, Comment(out)) // wrapped again, a line may begin like a directive
		}
	}
	return lines
}
