-- A claim skips from one group to the next for each of its tasks, and within a
-- group it distinguishes jobs of high and of low priority only. So neither many
-- groups, nor many priorities, nor jobs of other tasks slow it down.

-- +goose Up
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (task, group_, (priority > 5), submitted, jid) WHERE state = 'waiting';

-- +goose Down
DROP INDEX nextrun_job_waiting;
CREATE INDEX nextrun_job_waiting ON job (group_, task, priority, submitted, jid) WHERE state = 'waiting';
