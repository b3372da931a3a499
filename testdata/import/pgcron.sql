--
-- Data for Name: job; Type: TABLE DATA; Schema: cron; Owner: postgres
--

COPY cron.job (jobid, schedule, command, nodename, nodeport, database, username, active, jobname) FROM stdin;
1	0 3 * * *	VACUUM (ANALYZE) orders	localhost	5432	shop	postgres	t	nightly vacuum
2	*/5 * * * *	REFRESH MATERIALIZED VIEW\n  sales	localhost	5432	shop	reports	t	\N
3	30 seconds	CALL pump()	localhost	5432	shop	shop	t	pump
4	0 22 $ * *	CALL close_month()	db2.example.org	5433	ledger	shop	f	close-month
7	@reboot	SELECT warm()	localhost	5432	shop	shop	t	warm
8	@yearly	CALL archive()	localhost	5432	shop	shop	t	archive
9	90 seconds	CALL slow()	localhost	5432	shop	shop	t	slow
\.

SELECT pg_catalog.setval('cron.jobid_seq', 9, true);
