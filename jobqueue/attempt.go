package jobqueue

import "time"

type attempt struct{}

func (a *attempt) log(line Line, at time.Time) {}
func (a *attempt) setProgress(percent int)     {}
func (a *attempt) setResult(message string)    {}
