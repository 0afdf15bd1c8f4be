-- title: Grades
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of all endpoints with a public record in this edition. A grade is about what
--   could be looked at; how much that was is the coverage in the table endpoints. "none":
--   nothing could be assessed.
WITH labels(position, label) AS (
    VALUES (1, 'A'), (2, 'B'), (3, 'C'), (4, 'D'), (5, 'F'), (6, 'none')
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM endpoints WHERE coalesce(grade, 'none') = label) AS k,
        (SELECT count(*) FROM endpoints) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
