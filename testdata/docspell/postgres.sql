-- The tables of Docspell's database that concern jobs, as a Docspell 0.43 has
-- them: names, types, keys and indexes.
CREATE TABLE "job" (
  "jid" varchar(254) NOT NULL PRIMARY KEY, "task" varchar(254) NOT NULL, "group_" varchar(254) NOT NULL,
  "args" text NOT NULL, "subject" varchar(254) NOT NULL, "submitted" timestamp NOT NULL,
  "submitter" varchar(254) NOT NULL, "priority" int NOT NULL, "state" varchar(254) NOT NULL,
  "retries" int NOT NULL, "progress" int NOT NULL, "tracker" varchar(254), "worker" varchar(254),
  "started" timestamp, "finished" timestamp, "startedmillis" bigint);
CREATE TABLE "joblog" (
  "id" varchar(254) NOT NULL PRIMARY KEY, "jid" varchar(254) NOT NULL, "level" varchar(254) NOT NULL,
  "created" timestamp NOT NULL, "message" text NOT NULL, FOREIGN KEY ("jid") REFERENCES "job" ("jid"));
ALTER TABLE "joblog" ADD COLUMN "counter" bigserial;
CREATE INDEX "joblog_id_created_idx" ON "joblog" ("jid", "created");
CREATE INDEX "joblog_jid_idx" ON "joblog" ("jid");
CREATE TABLE "jobgroupuse" (
  "groupid" varchar(254) NOT NULL, "workerid" varchar(254) NOT NULL, PRIMARY KEY ("groupid", "workerid"));
CREATE TABLE "periodic_task" (
  "id" varchar(254) NOT NULL PRIMARY KEY, "enabled" boolean NOT NULL, "task" varchar(254) NOT NULL,
  "group_" varchar(254) NOT NULL, "args" text NOT NULL, "subject" varchar(254) NOT NULL,
  "submitter" varchar(254) NOT NULL, "priority" int NOT NULL, "worker" varchar(254), "marked" timestamp,
  "timer" varchar(254) NOT NULL, "nextrun" timestamp NOT NULL, "created" timestamp NOT NULL);
ALTER TABLE "periodic_task" ADD COLUMN "summary" varchar(254);
CREATE TABLE "node" (
  "id" varchar(254) NOT NULL, "type" varchar(254) NOT NULL, "url" varchar(254) NOT NULL,
  "updated" timestamp NOT NULL, "created" timestamp NOT NULL, "not_found" int NOT NULL DEFAULT 0,
  "server_secret" varchar);

INSERT INTO "periodic_task" VALUES
  ('8Xp1-house-keeping', true, 'housekeeping', 'docspell-system', '{}', 'Docspell house-keeping', 'docspell-system',
   0, NULL, NULL, 'Sun *-*-* 00:00:00 UTC', '2026-03-01 00:00:00', '2025-12-24 10:11:12.131415', NULL),
  ('5KqB-scan-mailbox', true, 'scan-mailbox', 'family', '{"id":"5KqB","folders":["INBOX"]}', 'Scan mailbox', 'dad',
   10, NULL, NULL, '*-*-* 0/2:00:00', '2026-02-25 12:00:00', '2025-12-25 08:00:00', 'mail'),
  ('2Fz9-disabled', false, 'notify-due-items', 'family', '{"days":7}', 'Due items', 'mum',
   0, NULL, NULL, 'Mon *-*-* 06:00:00', '2026-01-05 06:00:00', '2025-12-26 08:00:00', NULL);
INSERT INTO "job" VALUES
  ('j-done', 'housekeeping', 'docspell-system', '{}', 'Docspell house-keeping', '2026-02-22 00:00:01', 'docspell-system',
   0, 'success', 0, 100, '8Xp1-house-keeping', 'joex1', '2026-02-22 00:00:02', '2026-02-22 00:00:09', 1771718402000),
  ('j-waits', 'process-item', 'family', '{"file":"a.pdf"}', 'Process a.pdf', '2026-02-25 09:00:00', 'dad',
   10, 'waiting', 0, 0, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "joblog" ("id", "jid", "level", "created", "message") VALUES
  ('l-1', 'j-done', 'info', '2026-02-22 00:00:03', 'Removing old jobs');
INSERT INTO "jobgroupuse" VALUES ('family', 'joex1');
