// Package browser drives a Chromium without a window, for tests of pages: it speaks
// the W3C's WebDriver protocol to Debian's chromedriver. Tests skip where the two
// programs are absent.
//
// It stands outside of the rooms, and only tests import it.
package browser
