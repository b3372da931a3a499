// Package verify is the command `nextrun verify`.
package verify
