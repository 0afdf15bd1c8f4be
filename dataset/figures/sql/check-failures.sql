-- title: Checks by how often they fail
-- unit: endpoints
-- chart: table
-- tables: checks
-- note: Of the endpoints where the check came out as pass, warn or fail, the share where it
--   failed. An endpoint counts once for a check, at its worst outcome; one where it was
--   skipped or only informs is not in the denominator.
WITH counted AS (
    SELECT check_id AS label,
        count(*) FILTER (WHERE status = 'fail') AS k,
        count(*) FILTER (WHERE status IN ('pass', 'warn', 'fail')) AS n
    FROM checks
    GROUP BY check_id
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY share DESC NULLS LAST, label;
