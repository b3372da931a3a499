-- What people did, and when: one row for each change that somebody made by the
-- dashboard, by a command, or by a program with store.By.

-- +goose Up
CREATE TABLE periodic_action (
  id      integer       PRIMARY KEY,
  at      timestamp     NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  who     varchar(254)  NOT NULL,
  action  varchar(32)   NOT NULL,
  task_id varchar(254),
  jid     varchar(254),
  detail  varchar(1000)
);
CREATE INDEX nextrun_action_task ON periodic_action (task_id, id);
CREATE INDEX nextrun_action_job ON periodic_action (jid, id) WHERE jid IS NOT NULL;
CREATE INDEX nextrun_action_at ON periodic_action (at);

-- +goose Down
DROP TABLE periodic_action;
