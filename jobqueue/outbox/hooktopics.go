package outbox

import "strings"

// HookTopics is how the topics of hooks begin; see package hooks. A relay that is not
// for hooks, and a consumer that does not name such a topic, leave them alone.
const HookTopics = "nextrun.hooks/"

// IsHookTopic reports whether a topic is one of hooks.
func IsHookTopic(topic string) bool { return strings.HasPrefix(topic, HookTopics) }
