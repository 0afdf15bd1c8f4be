-- title: Transports
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of all endpoints with a public record in this edition, by the transport that
--   the registry lists.
WITH labels(position, label) AS (
    VALUES (1, 'streamable-http'), (2, 'sse')
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM endpoints WHERE transport = label) AS k,
        (SELECT count(*) FROM endpoints) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
