package diag

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCodesAreCompleteAndSorted(t *testing.T) {
	form := regexp.MustCompile(`^FX[1-9]\d{3}$`)
	all := Codes()
	require.NotEmpty(t, all)
	for i, c := range all {
		require.Regexp(t, form, string(c.Code))
		for what, s := range map[string]string{"title": c.Title, "cause": c.Cause, "cure": c.Cure, "example": c.Example} {
			require.NotEmpty(t, s, "%s of %s", what, c.Code)
		}
		if i > 0 {
			require.Less(t, string(all[i-1].Code), string(c.Code), "each code stands in one table once")
		}
		got, ok := Lookup(c.Code)
		require.True(t, ok)
		require.Equal(t, c, got)
	}
	_, ok := Lookup("FX0000")
	require.False(t, ok)
}

// Every code that a room declares is in the table, with its cure.
func TestDeclaredCodesAreInTheTable(t *testing.T) {
	declared := regexp.MustCompile(`diag\.Code = "(FX\d{4})"|diag\.Code\("(FX\d{4})"\)`)
	found := 0
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(src), -1) {
			found++
			info, ok := Lookup(Code(m[1] + m[2]))
			require.True(t, ok, "%s declares %s, which fxgen explain does not know", path, m[1]+m[2])
			require.NotEmpty(t, info.Cure)
		}
		return err
	}))
	require.Greater(t, found, 50)
}

func TestCodesStandInTheirStage(t *testing.T) {
	for stage, table := range map[string][]Info{
		"1": traceCodes, "2": typeCodes, "3": passCodes, "4": codegenCodes, "5": lowerCodes, "6": quantCodes, "7": textCodes, "8": fileCodes, "9": internalCodes,
	} {
		for _, c := range table {
			require.Equal(t, "FX"+stage, string(c.Code)[:3])
		}
	}
}
