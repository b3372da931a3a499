// Package consumers proves that nextrun feeds other queues, with their real
// workers. The worker programs are in the directories below; the tests run them
// beside processes of nextrun, some of which they kill.
//
// The workers are modules or packages of npm that nextrun itself does not need,
// therefore this directory is a module of its own. `make test` runs the tests of
// River, `make test-queues` all of them.
package consumers
