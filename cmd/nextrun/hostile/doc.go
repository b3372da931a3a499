// Package hostile has the tests of rows that nobody thought of. They read all columns of
// all tables from the catalog, also those of other queues, and set each to values that
// its type allows but nobody expects, with the database's own client. Beside that, healthy
// tasks, jobs and topics have to keep their pace, all commands that read have to go on
// reading, and a row whose value was put right has to work again.
//
// make test runs a short form with a fixed seed, make hostile a long one. What fails is
// shrunk to the smallest set of values, and printed as SQL.
package hostile
