package webhook

// RetryAfterOf is retryAfter.
var RetryAfterOf = retryAfter
