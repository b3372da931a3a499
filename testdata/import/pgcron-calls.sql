-- SELECT cron.schedule('off', '0 1 * * *', 'SELECT 1');
SELECT cron.schedule('0 1 * * *', $$SELECT 'one'$$);
SELECT cron.schedule('it''s', '0 2 * * *', E'SELECT\n2');
SELECT cron.schedule_in_database(
  'ledger-close', '0 22 $ * *', $sql$CALL close_month()$sql$, 'ledger', NULL, false);
SELECT cron.schedule('made', '0 4 * * *', format('SELECT %s', 4));
