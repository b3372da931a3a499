// Package dashboard is a page that answers at a glance: did it run, when does it run
// next, and why not? A program mounts it:
//
//	pages, err := dashboard.Handler(db, dashboard.Options{Prefix: "/schedules"})
//	mux.Handle("/schedules/", pages)
//
// Without more it only reads, and answers to names of this host only. To let people act,
// say who they are with [Options.Authorize]. Every page is also JSON: add ?format=json.
//
// # Safety
//
// A page costs the database one short transaction that reads, and is given up after two
// seconds. Give [Handler] a store with a small pool of its own, so that pages never wait
// in the way of a scheduler. Requests that change something are POST only, refused from
// other origins (net/http.CrossOriginProtection), and refused unless Authorize allows
// them; who did it is recorded in the row. Args and logs are escaped, shortened, and
// masked by key.
package dashboard
