// Package ui is what all commands share: how they read flags, variables and the
// database, and how they write. It knows no command; the packages beside it know this one.
package ui
