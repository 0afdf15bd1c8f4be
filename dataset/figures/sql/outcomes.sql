-- title: What became of each endpoint
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of all endpoints with a public record in this edition. "answered": an MCP
--   handshake succeeded without credentials. "protected": first contact was refused for
--   want of them. "unreachable": no HTTP answer came. "not-mcp": an answer came and was
--   no MCP. "undetermined": it could not be told.
WITH labels(position, label) AS (
    VALUES (1, 'answered'), (2, 'protected'), (3, 'unreachable'), (4, 'not-mcp'), (5, 'undetermined')
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM endpoints WHERE outcome = label) AS k,
        (SELECT count(*) FROM endpoints) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
