-- A claim skips from one group to the next for each of its tasks, and within a
-- group it distinguishes jobs of high and of low priority only. So neither many
-- groups, nor many priorities, nor jobs of other tasks slow it down.

-- +goose Up
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task COLLATE "C", group_ COLLATE "C", (priority > 5), submitted, jid)
  WHERE state = 'waiting';

-- +goose Down
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (group_ COLLATE "C", task COLLATE "C", priority, submitted, jid)
  WHERE state = 'waiting';
