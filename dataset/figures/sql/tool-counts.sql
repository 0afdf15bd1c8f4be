-- title: Tools an endpoint lists
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of the endpoints whose catalogue could be read without credentials.
WITH labels(position, label, least, most) AS (
    VALUES (1, 'none', 0, 0), (2, '1 to 5', 1, 5), (3, '6 to 10', 6, 10), (4, '11 to 20', 11, 20),
        (5, '21 to 50', 21, 50), (6, 'over 50', 51, 2147483647)
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM endpoints WHERE tools BETWEEN least AND most) AS k,
        (SELECT count(*) FROM endpoints WHERE tools IS NOT NULL) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
