-- Each fact's place on the bus, by which what is new is found, as with scrapes; facts from before this stand at 0. The gang of a
-- pod is asked for by name, on whatever nodes its members are.
ALTER TABLE workload_facts $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS partition UInt32,
  ADD COLUMN IF NOT EXISTS position UInt64,
  ADD COLUMN IF NOT EXISTS gang String MATERIALIZED JSONExtractString(fact, 'gang', 'name');

ALTER TABLE inventory_facts $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS partition UInt32,
  ADD COLUMN IF NOT EXISTS position UInt64;

ALTER TABLE cluster_facts $ON_CLUSTER
  ADD COLUMN IF NOT EXISTS partition UInt32,
  ADD COLUMN IF NOT EXISTS position UInt64;
