-- title: What registry entries lead to
-- unit: listings
-- chart: table
-- tables: listings
-- note: Share of all remotes of the entries listed (an entry without one counts once). "a
--   target": it names an endpoint that a census may measure. All others were left out,
--   for the reason given.
WITH counted AS (
    SELECT coalesce(reason, 'a target') AS label, count(*) AS k,
        (SELECT count(*) FROM listings) AS n
    FROM listings
    GROUP BY label
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY count DESC, label;
