// Package browser tests the dashboard in a real browser: Debian's chromium, which the
// tests drive. `make test-browser` runs them, `make pictures` has them take the pictures
// of the documentation.
//
// The tests need a browser, and axe-core from npm; nextrun itself needs neither of them nor
// the library that drives the browser. Therefore this directory is a module of its own.
package browser
