// Package calendar says when a timer elapses.
package calendar
