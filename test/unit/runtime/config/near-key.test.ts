import { expect, it } from "vitest";
import { createConfigSchema } from "../../../../runtime/config/schema.ts";
import { createNearKey } from "../../../../runtime/config/near-key.ts";

const nearKey = createNearKey(createConfigSchema({ env: {}, resolvePath: (path) => path, readFile: () => "" }));

it.each([
  [["colector"], "collector"],
  [["Server"], "server"],
  [["server", "port"], "listen"],
  [["collector", "jobs", 3, "schem"], "scheme"],
  [["collector", "jobs", 0, "kubernetes", "kubeconfi"], "kubeconfig"],
  [["store", "clickhouse", "endpoint"], "url"],
  [["nothing"], undefined],
  [["nothing", "listen"], undefined],
])("the nearest key of %j is %s", (path, key) => expect(nearKey(path)).toBe(key));
