package hooks

import (
	"cmp"
	"context"
	"net/url"
	"strings"

	"github.com/nextrun/nextrun/internal/text"
	"github.com/nextrun/nextrun/internal/web"
	"github.com/nextrun/nextrun/jobqueue"
	"github.com/nextrun/nextrun/jobqueue/outbox"
	"github.com/nextrun/nextrun/jobqueue/outbox/webhook"
)

// Post returns the action that posts the notice as JSON. Signature, headers and what
// answers mean are those of webhook.Publisher in binary mode. Timeout is 10 s unless it
// is set.
func Post(c webhook.Config) (Action, error) {
	c.Mode, c.Timeout = webhook.Binary, cmp.Or(c.Timeout, DefaultTimeout)
	publisher, err := webhook.New(c)
	if err != nil {
		return nil, err
	}
	return &post{publisher, secretsOf(c.URL)}, nil
}

type post struct {
	publisher *webhook.Publisher
	secrets   web.Secrets
}

func (p *post) Do(ctx context.Context, n Notice) error {
	_, err := p.publisher.Publish(ctx, []outbox.Event{{
		ID: n.ID, Topic: n.Hook, Type: "nextrun." + string(n.Event), AggregateID: cmp.Or(n.Task, n.Handler), AggregateVersion: 1,
		Payload: text.JSON(n), Created: n.At, Traceparent: n.Traceparent,
	}})
	switch {
	case err == nil:
		return nil
	case outbox.IsRefusal(err):
		return jobqueue.Permanent(p.secrets.CleanError(err))
	}
	return p.secrets.CleanError(err)
}

// secretsOf are the parts of a URL that no message may show: its path too, since that
// is where many services have their token.
func secretsOf(target string) web.Secrets {
	u, err := url.Parse(target)
	if err != nil {
		return nil
	}
	parts := []string{u.Path, u.EscapedPath()}
	for part := range strings.SplitSeq(u.Path, "/") {
		if len(part) >= minToken {
			parts = append(parts, part)
		}
	}
	return web.NewSecrets(u, nil, parts...)
}

// minToken is the length from which a part of a path may be a token.
const minToken = 8
