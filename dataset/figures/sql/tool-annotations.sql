-- title: What tools say about themselves
-- unit: tools
-- chart: table
-- tables: tools
-- note: Share of all tools that were listed without credentials. The hints are what the
--   server says, and nobody has verified them. "not given" means absent or null.
WITH labels(position, hint, value) AS (
    VALUES (1, 'readOnlyHint', 'true'), (2, 'readOnlyHint', 'false'), (3, 'readOnlyHint', 'not given'),
        (4, 'destructiveHint', 'true'), (5, 'destructiveHint', 'false'), (6, 'destructiveHint', 'not given'),
        (7, 'idempotentHint', 'true'), (8, 'idempotentHint', 'false'), (9, 'idempotentHint', 'not given'),
        (10, 'openWorldHint', 'true'), (11, 'openWorldHint', 'false'), (12, 'openWorldHint', 'not given')
), given(hint, value) AS (
    SELECT 'readOnlyHint', coalesce(read_only::VARCHAR, 'not given') FROM tools
    UNION ALL SELECT 'destructiveHint', coalesce(destructive::VARCHAR, 'not given') FROM tools
    UNION ALL SELECT 'idempotentHint', coalesce(idempotent::VARCHAR, 'not given') FROM tools
    UNION ALL SELECT 'openWorldHint', coalesce(open_world::VARCHAR, 'not given') FROM tools
), counted AS (
    SELECT position, hint || ' ' || value AS label,
        (SELECT count(*) FROM given g WHERE g.hint = l.hint AND g.value = l.value) AS k,
        (SELECT count(*) FROM tools) AS n
    FROM labels l
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
