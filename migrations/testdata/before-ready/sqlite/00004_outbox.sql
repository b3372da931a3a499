-- Events instead of jobs: the store of events, the outbox of messages that a
-- relay publishes, and the offsets of groups that read the store itself. What
-- the columns mean is said in the comments of postgres/00004_outbox.sql.

-- +goose Up
CREATE TABLE event_store (
  seq               integer      NOT NULL PRIMARY KEY,
  id                varchar(254) NOT NULL UNIQUE,
  topic             varchar(254) NOT NULL,
  type              varchar(254) NOT NULL,
  aggregate_id      varchar(254) NOT NULL,
  aggregate_version bigint       NOT NULL CONSTRAINT nextrun_version_positive CHECK (aggregate_version > 0),
  payload           text         NOT NULL DEFAULT '{}',
  due               timestamp,
  created           timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  position          bigint,
  CONSTRAINT nextrun_event_version UNIQUE (aggregate_id, aggregate_version)
);
-- Guarantee G1: at most one event for each tick of a task.
CREATE UNIQUE INDEX nextrun_event_due ON event_store (aggregate_id, due) WHERE due IS NOT NULL;
CREATE UNIQUE INDEX nextrun_event_position ON event_store (topic, position) WHERE position IS NOT NULL;
CREATE INDEX nextrun_event_unplaced ON event_store (topic, seq) WHERE position IS NULL;

CREATE TABLE event_aggregate (
  id      varchar(254) NOT NULL PRIMARY KEY,
  version bigint       NOT NULL
) WITHOUT ROWID;

CREATE TABLE event_topic (
  topic    varchar(254) NOT NULL PRIMARY KEY,
  position bigint       NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE event_offset (
  group_   varchar(254) NOT NULL,
  topic    varchar(254) NOT NULL,
  position bigint       NOT NULL DEFAULT 0,
  holder   varchar(254),
  token    bigint       NOT NULL DEFAULT 0,
  expires  timestamp,
  attempts integer      NOT NULL DEFAULT 0,
  problem  text,
  retry    timestamp,
  updated  timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  PRIMARY KEY (group_, topic)
) WITHOUT ROWID;

CREATE TABLE outbox_message (
  id        integer      NOT NULL PRIMARY KEY,
  event_id  varchar(254) NOT NULL UNIQUE REFERENCES event_store (id),
  topic     varchar(254) NOT NULL,
  created   timestamp    NOT NULL DEFAULT (strftime('%Y-%m-%d %H:%M:%f000', 'now')),
  published timestamp,
  attempts  integer      NOT NULL DEFAULT 0,
  refusals  integer      NOT NULL DEFAULT 0,
  problem   text,
  retry     timestamp,
  dead      timestamp
);
CREATE INDEX nextrun_message_pending ON outbox_message (topic, id) WHERE published IS NULL AND dead IS NULL;
CREATE INDEX nextrun_message_dead ON outbox_message (topic, id) WHERE dead IS NOT NULL;
CREATE INDEX nextrun_message_published ON outbox_message (published) WHERE published IS NOT NULL;

CREATE TABLE outbox_topic (
  topic   varchar(254) NOT NULL PRIMARY KEY,
  strict  boolean      NOT NULL DEFAULT 0,
  holder  varchar(254),
  token   bigint       NOT NULL DEFAULT 0,
  expires timestamp
) WITHOUT ROWID;

CREATE VIEW outbox_lag AS
  SELECT topic,
         count(*) FILTER (WHERE dead IS NULL) AS pending,
         min(created) FILTER (WHERE dead IS NULL) AS oldest,
         coalesce((julianday('now') - julianday(min(created) FILTER (WHERE dead IS NULL))) * 86400, 0) AS age,
         count(*) FILTER (WHERE dead IS NOT NULL) AS dead
    FROM outbox_message WHERE published IS NULL GROUP BY topic;

-- +goose Down
DROP VIEW outbox_lag;
DROP TABLE outbox_topic;
DROP TABLE outbox_message;
DROP TABLE event_offset;
DROP TABLE event_topic;
DROP TABLE event_aggregate;
DROP TABLE event_store;
