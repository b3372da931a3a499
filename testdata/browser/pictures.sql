-- The tasks in the pictures of docs/dashboard.md: those of a small shop in Berlin.
INSERT INTO periodic_task (id, task, timer, group_, created, args, summary) VALUES
  ('nightly-backup', 'backup', '*-*-* 02:00 Europe/Berlin',           'system', '2026-03-01 00:00:00', '{"keep_days": 14, "api_token": "x"}', 'a copy of all databases'),
  ('search-index',   'index',  '6..22:0/30 Europe/Berlin',            'shop',   '2026-03-01 00:00:00', '{}', NULL),
  ('exchange-rates', 'fetch',  'hourly',                              'shop',   '2026-03-01 00:00:00', '{"from": "ECB"}', NULL),
  ('stock-sync',     'sync',   'Mon..Sat 7..20:0/15 Europe/Berlin',   'shop',   '2026-03-01 00:00:00', '{}', 'asks the warehouse what is left'),
  ('invoices',       'mail',   'Mon..Fri 07:30 Europe/Berlin',        'office', '2026-03-01 00:00:00', '{}', NULL),
  ('daily-report',   'report', 'Mon..Fri 09:00 Europe/Berlin',        'office', '2026-03-01 00:00:00', '{"to": "ada@example.org"}', NULL),
  ('newsletter',     'mail',   'Tue,Fri 16:00 Europe/Berlin',         'office', '2026-03-01 00:00:00', '{}', NULL),
  ('us-orders',      'sync',   'Mon..Fri 09..17:05 America/New_York', 'shop',   '2026-03-01 00:00:00', '{}', NULL),
  ('certificates',   'renew',  'weekly',                              'system', '2026-03-01 00:00:00', '{}', NULL),
  ('month-end',      'close',  '*-*~01 18:00 Europe/Berlin',          'office', '2026-03-01 00:00:00', '{}', 'the last day of each month'),
  ('disk-space',     'df',     'hourly',                              'system', '2026-03-01 00:00:00', '{}', NULL),
  ('legacy-import',  'fetch',  'Mun 06:00',                           'shop',   '2026-03-01 00:00:00', '{}', NULL);
INSERT INTO periodic_task (id, task, timer, sink, created) VALUES
  ('stock-changed', 'stock', 'Mon..Sat 8..19:0/30 Europe/Berlin', 'event', '2026-03-01 00:00:00');
