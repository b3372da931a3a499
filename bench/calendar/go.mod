module github.com/nextrun/nextrun/bench/calendar

go 1.26.0

replace github.com/nextrun/nextrun => ../..

require (
	github.com/adhocore/gronx v1.20.4
	github.com/nextrun/nextrun v0.0.0-00010101000000-000000000000
	github.com/robfig/cron/v3 v3.0.1
)
