-- title: How first contact was answered
-- unit: endpoints
-- chart: bars
-- tables: endpoints
-- note: Share of all endpoints with a public record in this edition. "open": answers without
--   credentials. "oauth": asks for them and publishes where to get a token. "protected":
--   asks for them and does not. "unreachable": no answer that tells.
WITH labels(position, label) AS (
    VALUES (1, 'open'), (2, 'oauth'), (3, 'protected'), (4, 'unreachable')
), counted AS (
    SELECT position, label,
        (SELECT count(*) FROM endpoints WHERE auth = label) AS k,
        (SELECT count(*) FROM endpoints) AS n
    FROM labels
)
SELECT label, k AS count, n AS denominator,
    CASE WHEN n > 0 THEN k / n END AS share,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE - 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS low,
    CASE WHEN n > 0 THEN (k + 1.920729410347062::DOUBLE + 1.959963984540054::DOUBLE * sqrt(k * (n - k) / n + 0.960364705173531::DOUBLE)) / (n + 3.841458820694124::DOUBLE) END AS high
FROM counted
ORDER BY position;
