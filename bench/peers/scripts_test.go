package peers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The scripts find modules of the repository by their own place: what moves takes these paths
// with it. Where a peer is not installed, nothing else would tell.
func TestScripts_findTheRepositorysFolders(t *testing.T) {
	scripts, err := filepath.Glob("*.py")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	place := regexp.MustCompile(`os\.path\.abspath\(__file__\)\)((?:, "[^"]+")+)\)`)
	found := 0
	for _, s := range scripts {
		text, err := os.ReadFile(s)
		require.NoError(t, err)
		for _, m := range place.FindAllStringSubmatch(string(text), -1) {
			found++
			folder := filepath.Join(strings.Split(strings.Trim(m[1], `, "`), `", "`)...)
			if installed, err := os.ReadDir("node_modules"); strings.HasPrefix(folder, "node_modules/") && (err != nil || len(installed) == 0) {
				continue // npm has put nothing there
			}
			require.DirExists(t, folder, s)
		}
	}
	require.Positive(t, found, "no script names a folder: this test reads them wrongly")
}
