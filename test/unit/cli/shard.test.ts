import { describe, expect, it } from "vitest";
import { readShard } from "../../../cli/shard.ts";

describe("a collector's shard", () => {
  it("has all targets by default", () => {
    expect(readShard({}, { HOSTNAME: "gpu-ledger-collector-1" })).toEqual({ index: 0, count: 1 });
  });

  it("is the shard of --shard, on any host", () => {
    expect(readShard({ shard: "1/3" }, { HOSTNAME: "gpu-ledger-collector-0" })).toEqual({ index: 1, count: 3 });
  });

  it("is the number at the end of the pod's name, out of the number in --shards", () => {
    expect(readShard({ shards: "2" }, { HOSTNAME: "gpu-ledger-collector-0" })).toEqual({ index: 0, count: 2 });
    expect(readShard({ shards: "12" }, { HOSTNAME: "gpu-ledger-collector-11" })).toEqual({ index: 11, count: 12 });
  });

  it.each([
    [
      "of a shard beyond the last",
      { shard: "2/2" },
      {},
      "--shard 2/2: must be index/count with the index below the count",
    ],
    ["of no fraction", { shard: "one" }, {}, "--shard one: must be index/count"],
    [
      "of no number",
      { shards: "two" },
      {},
      "--shards two: must be the number of collectors that share the targets, such as 2",
    ],
    [
      "of no collector",
      { shards: "0" },
      { HOSTNAME: "a-0" },
      "--shards 0: must be the number of collectors that share",
    ],
    ["of both", { shard: "0/2", shards: "2" }, {}, "--shard 0/2 and --shards 2: give only one of them"],
    ["where the pod has no name", { shards: "2" }, {}, "--shards 2: HOSTNAME, the name of this pod, is not set"],
    [
      "where the name has no number",
      { shards: "2" },
      { HOSTNAME: "gpu-ledger-7d9f-x2zkb" },
      "gpu-ledger-7d9f-x2zkb, does not end in a number, as the names of a StatefulSet's pods do; use --shard index/count instead",
    ],
    [
      "where there are more pods than shards",
      { shards: "2" },
      { HOSTNAME: "gpu-ledger-collector-2" },
      "gpu-ledger-collector-2, ends in 2, and the last shard is 1; set --shards to the number of replicas",
    ],
  ])("is refused with a sentence %s", (_, options, env, sentence) => {
    expect(() => readShard(options, env)).toThrow(sentence);
  });
});
