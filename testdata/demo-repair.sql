-- An edit takes effect at once.
UPDATE periodic_task SET timer = '*:*:0/4' WHERE id = 'mistake';
