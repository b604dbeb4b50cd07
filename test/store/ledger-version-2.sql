-- A ledger as version 2 of its tables stored it.
CREATE TABLE batch (
  principal TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  label TEXT,
  model TEXT NOT NULL,
  submitted_at INTEGER NOT NULL,
  item_count INTEGER NOT NULL,
  repeat INTEGER NOT NULL,
  input_hash TEXT NOT NULL,
  only_task_id TEXT,
  PRIMARY KEY (principal, batch_id)
) WITHOUT ROWID;
CREATE INDEX batch_newest ON batch (principal, submitted_at DESC, batch_id DESC);
CREATE INDEX batch_input ON batch (principal, input_hash);
CREATE INDEX batch_only_task ON batch (principal, only_task_id) WHERE only_task_id IS NOT NULL;
CREATE INDEX batch_age ON batch (submitted_at);
CREATE TABLE item (
  principal TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  input_index INTEGER NOT NULL,
  name TEXT,
  chains TEXT NOT NULL,
  PRIMARY KEY (principal, batch_id, input_index)
) WITHOUT ROWID;
CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'submitted', 'unknown')),
  batch_id TEXT,
  upstream_request_id TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (principal, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (at);
CREATE TABLE unknown_outcome (
  principal TEXT NOT NULL,
  input_hash TEXT NOT NULL,
  upstream_request_id TEXT,
  at INTEGER NOT NULL
);
CREATE INDEX unknown_outcome_input ON unknown_outcome (principal, input_hash);
CREATE INDEX unknown_outcome_age ON unknown_outcome (at);
CREATE TABLE score (
  principal TEXT NOT NULL,
  task_id TEXT NOT NULL,
  ptm REAL,
  iptm REAL,
  mean_plddt REAL,
  chain_pairs TEXT NOT NULL,
  PRIMARY KEY (principal, task_id)
) WITHOUT ROWID;
-- One row: the mark (mark.ts), the newest time at which something was written, and up to when
-- what is past its time was deleted.
CREATE TABLE mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  text TEXT,
  newest INTEGER NOT NULL DEFAULT 0,
  pruned_to INTEGER
);
INSERT INTO mark (id) VALUES (1);
INSERT INTO batch VALUES
  ('p', 'b1', 'label of b1', 'm', 1000, 2, 3, 'same', 't1'),
  ('p', 'b2', NULL, 'm', 1500, 2, 3, 'same', NULL),
  ('q', 'b1', NULL, 'm', 1700, 2, 3, 'same', NULL);
INSERT INTO item VALUES
  ('p', 'b1', 0, 'dimer', '[{"ids":["A","B"],"kind":"PROTEIN","length":21,"proteinHash":null}]'),
  ('p', 'b1', 1, NULL, '[]');
INSERT INTO idempotency VALUES
  ('p', 'paid', 'h1', 'submitted', 'b1', NULL, 999),
  ('p', 'sent', 'h2', 'pending', NULL, NULL, 1999),
  ('p', 'unknown', 'h3', 'unknown', NULL, 'req_1', 1200);
INSERT INTO unknown_outcome VALUES ('p', 'lost', 'req_1', 1200), ('p', 'same', NULL, 1300);
INSERT INTO score VALUES ('p', 't1', 0.5, NULL, 0.875, '[]');
PRAGMA user_version = 2;
