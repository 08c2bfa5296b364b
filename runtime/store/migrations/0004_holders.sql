-- Who was joined to a sample, beside the name: the pod's UID, empty where it was not known, and how many pods the row
-- stands for. Where it is more than one, name and UID are of the first, by namespace and name. Rows from before this have 0.
ALTER TABLE gpu_samples $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS holder_uid LowCardinality(String) AFTER evidence,
  ADD COLUMN IF NOT EXISTS holders UInt16 CODEC(ZSTD(1)) AFTER holder_uid;
