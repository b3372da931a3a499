-- What people did, and when: one row for each change that somebody made by the
-- dashboard, by a command, or by a program with store.By.

-- +goose Up
CREATE TABLE periodic_action (
  id      bigint        GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at      timestamp     NOT NULL DEFAULT (clock_timestamp() AT TIME ZONE 'UTC'),
  who     varchar(254)  NOT NULL,
  action  varchar(32)   NOT NULL,
  task_id varchar(254),
  jid     varchar(254),
  detail  varchar(1000)
);
COMMENT ON TABLE  periodic_action         IS 'what people did, one row for each change; rows are only added, and deleted with old ticks';
COMMENT ON COLUMN periodic_action.at      IS 'when, UTC';
COMMENT ON COLUMN periodic_action.who     IS 'a user of the dashboard, or USER@host of a command';
COMMENT ON COLUMN periodic_action.action  IS 'such as pause, resume, run, change, cancel, retry, resend';
COMMENT ON COLUMN periodic_action.task_id IS 'id of the task; it may not exist any more';
COMMENT ON COLUMN periodic_action.jid     IS 'id of the job or event';
COMMENT ON COLUMN periodic_action.detail  IS 'more about it, for people';
CREATE INDEX nextrun_action_task ON periodic_action (task_id, id);
CREATE INDEX nextrun_action_job ON periodic_action (jid, id) WHERE jid IS NOT NULL;
CREATE INDEX nextrun_action_at ON periodic_action (at);

-- +goose Down
DROP TABLE periodic_action;
