package report

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/gofx-dev/gofx/diag"
)

// schema is the address of the form's description, by which tools know it.
const schema = "https://json.schemastore.org/sarif-2.1.0.json"

// sourceRoot is the name for the working folder.
const sourceRoot = "%SRCROOT%"

type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool           `json:"tool"`
		Invocations []sarifInvocation   `json:"invocations"`
		Bases       map[string]artifact `json:"originalUriBaseIds"`
		ColumnKind  string              `json:"columnKind"`
		Results     []sarifResult       `json:"results"`
	}
	sarifTool struct {
		Driver struct {
			Name           string      `json:"name"`
			Version        string      `json:"version,omitempty"`
			InformationURI string      `json:"informationUri"`
			Rules          []sarifRule `json:"rules"`
		} `json:"driver"`
	}
	sarifRule struct {
		ID               string       `json:"id"`
		ShortDescription sarifMessage `json:"shortDescription"`
		FullDescription  sarifMessage `json:"fullDescription"`
		Help             sarifMessage `json:"help"`
	}
	sarifMessage struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Arguments           []string            `json:"arguments"`
		ExecutionSuccessful bool                `json:"executionSuccessful"`
		ExitCode            int                 `json:"exitCode"`
		Notifications       []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string       `json:"level"`
		Message sarifMessage `json:"message"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifMessage      `json:"message"`
		Locations  []sarifLocation   `json:"locations,omitempty"`
		Related    []sarifLocation   `json:"relatedLocations,omitempty"`
		Properties map[string]string `json:"properties,omitempty"`
	}
	sarifLocation struct {
		Physical *physical     `json:"physicalLocation,omitempty"`
		Logical  []logical     `json:"logicalLocations,omitempty"`
		Message  *sarifMessage `json:"message,omitempty"`
	}
	physical struct {
		Artifact artifact `json:"artifactLocation"`
		Region   *region  `json:"region,omitempty"`
	}
	artifact struct {
		URI  string `json:"uri"`
		Base string `json:"uriBaseId,omitempty"`
	}
	region struct {
		Line   int `json:"startLine"`
		Column int `json:"startColumn,omitempty"`
	}
	logical struct {
		Name string `json:"name"`
		Kind string `json:"kind,omitempty"`
	}
)

// SARIF returns the run as a log of SARIF 2.1.0. Each code is a rule, with its cause and its cure; what has no code is a
// notification of the run.
func (r *Run) SARIF() ([]byte, error) {
	one := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{},
		Bases: map[string]artifact{sourceRoot: {URI: uri(r.Dir) + "/"}}}
	driver := &one.Tool.Driver
	driver.Name, driver.Version, driver.InformationURI, driver.Rules = "fxgen", r.Version, "https://github.com/gofx-dev/gofx", []sarifRule{}
	run := sarifInvocation{Arguments: append([]string{}, r.Args...), ExecutionSuccessful: r.ExitCode == 0 || r.ExitCode == 1, ExitCode: r.ExitCode}
	cols := &columns{r.Dir, map[string][]string{}}
	for _, e := range r.Found {
		if e.Code == "" {
			run.Notifications = append(run.Notifications, sarifNotification{level(e), sarifMessage{full(e)}})
			continue
		}
		at := slices.IndexFunc(driver.Rules, func(r sarifRule) bool { return r.ID == string(e.Code) })
		if at < 0 {
			at = len(driver.Rules)
			driver.Rules = append(driver.Rules, ruleOf(e.Code))
		}
		one.Results = append(one.Results, cols.result(e, at))
	}
	one.Invocations = []sarifInvocation{run}
	return indented(sarifLog{schema, "2.1.0", []sarifRun{one}})
}

// OwnSARIF reports whether a file is a log that fxgen alone has written.
func OwnSARIF(data []byte) bool {
	var log sarifLog
	return json.Unmarshal(data, &log) == nil && len(log.Runs) == 1 && log.Runs[0].Tool.Driver.Name == "fxgen"
}

func level(e *diag.Error) string {
	if e.Note {
		return "note"
	}
	return "error"
}

// full is the message with its cure, which has no place of its own in a result.
func full(e *diag.Error) string {
	if e.Hint == "" {
		return text(e)
	}
	return text(e) + "\nHint: " + e.Hint
}

func ruleOf(code diag.Code) sarifRule {
	r := sarifRule{ID: string(code), ShortDescription: sarifMessage{string(code)}, FullDescription: sarifMessage{string(code)}, Help: sarifMessage{string(code)}}
	if info, ok := diag.Lookup(code); ok {
		r.ShortDescription.Text, r.FullDescription.Text, r.Help.Text = info.Title, info.Cause, info.Cure
	}
	return r
}

func (c *columns) result(e *diag.Error, rule int) sarifResult {
	res := sarifResult{RuleID: string(e.Code), RuleIndex: rule, Level: level(e), Message: sarifMessage{full(e)}}
	l := c.location(e.Pos)
	if e.Node != "" {
		l.Logical = append(l.Logical, logical{e.Node, "element"})
	}
	if l.Physical != nil || l.Logical != nil {
		res.Locations = []sarifLocation{l}
	}
	for _, other := range e.Related {
		l := c.location(other.Pos)
		l.Message = &sarifMessage{other.Msg}
		res.Related = append(res.Related, l)
	}
	for key, value := range map[string]string{"operator": e.Op, "phase": e.Phase} {
		if value != "" {
			if res.Properties == nil {
				res.Properties = map[string]string{}
			}
			res.Properties[key] = value
		}
	}
	return res
}

func (c *columns) location(p diag.Pos) (l sarifLocation) {
	p, part := parted(p, c.dir)
	if p.File == "" {
		return l
	}
	if part != "" {
		l.Logical = []logical{{part, "element"}}
	}
	l.Physical = &physical{Artifact: artifact{URI: uri(p.File)}}
	if !filepath.IsAbs(p.File) {
		l.Physical.Artifact.Base = sourceRoot
	}
	if p.Line > 0 {
		l.Physical.Region = &region{p.Line, c.of(p)}
	}
	return l
}
