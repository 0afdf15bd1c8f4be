-- title: Operators with the most endpoints
-- unit: endpoints
-- chart: table
-- tables: endpoints
-- note: Share of all endpoints with a public record in this edition, for the twenty
--   registrable domains with the most of them. One operator can be a large part of a
--   census; read every other figure with that in mind.
WITH counted AS (
    SELECT operator AS label, count(*) AS k,
        (SELECT count(*) FROM endpoints) AS n
    FROM endpoints
    GROUP BY operator
    ORDER BY k DESC, label
    LIMIT 20
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY count DESC, label;
