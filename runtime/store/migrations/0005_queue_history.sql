-- What waited, who of a gang was bound, and what quotas and queues granted, at every time: the history of facts, opened up. A
-- row holds over [valid_from, valid_until); what was true at a moment t is where valid_from <= t and t < valid_until.

-- Pods that want GPUs and wait for a node. devices counts the GPUs, instances or shares that they ask for.
CREATE VIEW IF NOT EXISTS pending_pods $ON_CLUSTER AS
SELECT
  cluster, uid, namespace, pod, workload_kind, workload, workload_type, queue, priority_class, created_at,
  JSONExtractString(fact, 'pending', 'reason') AS reason,
  JSONExtractString(fact, 'pending', 'message') AS message,
  arraySum(ask -> if(JSONHas(ask, 'count'), JSONExtractUInt(ask, 'count'), 1), JSONExtractArrayRaw(fact, 'asks')) AS devices,
  valid_from,
  valid_until
FROM workloads
WHERE phase = 'Pending' AND node = '';

-- Pods of gangs, with their gang's size: which of them were bound at a moment tells whether it held while it waited.
CREATE VIEW IF NOT EXISTS gang_members $ON_CLUSTER AS
SELECT
  cluster, namespace,
  JSONExtractString(fact, 'gang', 'kind') AS gang_kind,
  JSONExtractString(fact, 'gang', 'name') AS gang,
  JSONExtractUInt(fact, 'gang', 'size') AS size,
  uid, pod, node, phase, scheduled_at, finished_at,
  toBool(node != '' AND phase NOT IN ('Succeeded', 'Failed')) AS holds,
  valid_from,
  valid_until
FROM workloads
WHERE JSONHas(fact, 'gang');

-- ResourceQuotas, a row for each GPU resource: what is granted and what is used of it.
CREATE VIEW IF NOT EXISTS quota_history $ON_CLUSTER AS
SELECT
  cluster, namespace, name,
  granted.1 AS resource,
  granted.2 AS hard,
  JSONExtractFloat(fact, 'body', 'used', resource) AS used,
  valid_from,
  valid_until
FROM cluster_history
ARRAY JOIN JSONExtractKeysAndValues(fact, 'body', 'hard', 'Float64') AS granted
WHERE kind = 'ResourceQuota';

-- Queues of Kueue, Volcano, KAI and Run:ai, a row for each GPU resource: quota, admitted, borrowed. pending is how many
-- workloads wait in the queue, whatever they ask for.
CREATE VIEW IF NOT EXISTS queue_history $ON_CLUSTER AS
SELECT
  cluster,
  JSONExtractString(fact, 'resource') AS queue_kind,
  namespace, name,
  JSONExtractString(fact, 'body', 'scheduler') AS scheduler,
  JSONExtractString(fact, 'body', 'parent') AS parent,
  resource,
  JSONExtractFloat(fact, 'body', 'quota', resource) AS quota,
  JSONExtractFloat(fact, 'body', 'admitted', resource) AS admitted,
  JSONExtractFloat(fact, 'body', 'borrowed', resource) AS borrowed,
  JSONExtractUInt(fact, 'body', 'pending') AS pending,
  valid_from,
  valid_until
FROM cluster_history
ARRAY JOIN arrayDistinct(arrayConcat(
  JSONExtractKeys(fact, 'body', 'quota'),
  JSONExtractKeys(fact, 'body', 'admitted'),
  JSONExtractKeys(fact, 'body', 'borrowed'))) AS resource
WHERE kind = 'Queue';
