-- title: Newest protocol revision reported
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of the endpoints that answered an MCP handshake without credentials, by the
--   newest dated revision that each one reports. "not said": none that is a date.
WITH counted AS (
    SELECT coalesce(protocol_version, 'not said') AS label, count(*) AS k,
        (SELECT count(*) FROM endpoints WHERE outcome = 'answered') AS n
    FROM endpoints
    WHERE outcome = 'answered'
    GROUP BY label
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY label DESC;
