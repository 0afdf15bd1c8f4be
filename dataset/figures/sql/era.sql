-- title: Which handshakes are answered
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of the endpoints that answered an MCP handshake without credentials. "modern":
--   server/discover (2026-07-28). "legacy": initialize (2025-11-25 and earlier). "dual":
--   both. "discover-only-legacy": server/discover, which lists legacy revisions only.
--   "inconsistent": the two contradict each other.
WITH labels(position, label) AS (
    VALUES (1, 'modern'), (2, 'dual'), (3, 'legacy'), (4, 'discover-only-legacy'), (5, 'inconsistent'), (6, 'other')
), answered AS (
    SELECT CASE WHEN era IN (SELECT label FROM labels) THEN era ELSE 'other' END AS era
    FROM endpoints
    WHERE outcome = 'answered'
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM answered WHERE era = label) AS k,
        (SELECT count(*) FROM answered) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
