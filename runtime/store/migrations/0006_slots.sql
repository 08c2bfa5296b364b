-- Machines, each from when it joined until it left: a node's name can go from one to the next. gpus is the highest number that
-- was ever seen of it. left_at is 2299-12-31 as long as it is there.
CREATE VIEW IF NOT EXISTS machines $ON_CLUSTER AS
SELECT
  cluster, node, uid, joined_at, gpus, model, instance_type, capacity_type,
  least(
    if(was_ended, last_at, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')),
    leadInFrame(joined_at, 1, toDateTime64('2299-12-31 00:00:00', 3, 'UTC')) OVER (
      PARTITION BY cluster, node ORDER BY joined_at ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) AS left_at
FROM (
  SELECT
    cluster, node, uid,
    max(joined_at) AS joined_at,
    max(gpus) AS gpus,
    argMax(model, (epoch, version, ended, seen_at)) AS model,
    argMax(instance_type, (epoch, version, ended, seen_at)) AS instance_type,
    argMax(capacity_type, (epoch, version, ended, seen_at)) AS capacity_type,
    argMax(ended, (epoch, version, ended, seen_at)) AS was_ended,
    argMax(at, (epoch, version, ended, seen_at)) AS last_at
  FROM inventory_facts FINAL
  GROUP BY cluster, node, uid
);

-- GPUs in their slots: which one sat where, from its first sample there to its last. A slot is a GPU's index on a machine.
-- source = 'kubernetes': node_uid is the machine's; slots of machines that no exporter spoke of have no gpu_key, and hold from
-- when the machine joined until it left. source = 'scrapes': no Node of Kubernetes has the name, and the samples are all that is
-- known: bare machines, Slurm.
CREATE VIEW IF NOT EXISTS gpu_slots $ON_CLUSTER AS
WITH
  seen AS (
    SELECT cluster, node, gpu, gpu_key, any(model) AS model, min(first_at) AS first_at, max(last_at) AS last_at, node_uid
    FROM (
      SELECT
        h.cluster AS cluster, h.node AS node, h.gpu AS gpu, h.gpu_key AS gpu_key, h.model AS model,
        h.first_at AS first_at, h.last_at AS last_at,
        if(h.first_at < m.left_at, m.uid, '') AS node_uid
      FROM gpu_hours_published AS h
      ASOF LEFT JOIN machines AS m ON h.cluster = m.cluster AND h.node = m.node AND h.first_at >= m.joined_at
      WHERE h.scope = 'device'
    )
    GROUP BY cluster, node, gpu, gpu_key, node_uid
  ),
  slots AS (
    SELECT cluster, node, uid, toString(arrayJoin(range(gpus))) AS gpu, model, joined_at, left_at FROM machines
  )
SELECT cluster, node, node_uid, gpu, gpu_key, model, if(node_uid = '', 'scrapes', 'kubernetes') AS source, first_at, last_at
FROM seen
UNION ALL
SELECT cluster, node, uid, gpu, '', model, 'kubernetes', joined_at, left_at
FROM slots
WHERE (cluster, node, uid, gpu) NOT IN (SELECT cluster, node, node_uid, gpu FROM seen);
