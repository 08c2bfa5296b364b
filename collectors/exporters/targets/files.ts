import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { parse } from "yaml";
import { excessOf } from "../../../runtime/config/yaml-bounds.ts";
import { readTargetGroups, type AddressDefaults } from "./group.ts";
import { createPolledDiscovery } from "./polled.ts";
import type { Discovery, Target } from "./target.ts";

/**
 * Creates a discovery like Prometheus' `file_sd`: JSON or YAML files of target groups, read again every `refreshMillis`. (Reading costs
 * less than a missed change: mounted ConfigMaps change by links, which watches do not see.) The last part of a path may contain `*`. If a
 * file cannot be read, its last targets stay, and the error is reported.
 */
export function createFileDiscovery(options: {
  readonly files: readonly string[];
  readonly refreshMillis: number;
  readonly defaults: AddressDefaults;
}): Discovery {
  const { files, refreshMillis, defaults } = options;
  const known = new Map<string, readonly Target[]>();
  let report: (error: Error) => void = () => {};
  const polled = createPolledDiscovery({
    name: `files ${files.join(",")}`,
    refreshMillis,
    async look() {
      const paths = (await Promise.all(files.map(expand))).flat().sort();
      for (const path of known.keys()) if (!paths.includes(path)) known.delete(path);
      for (const path of paths) {
        try {
          const text = await readFile(path, "utf8");
          const excess = excessOf(text);
          if (excess !== undefined) throw new Error(`not ${excess.allowed}`);
          known.set(path, readTargetGroups(parse(text), defaults));
        } catch (error) {
          report(new Error(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error }));
        }
      }
      return [...known.values()].flat();
    },
  });
  return {
    ...polled,
    start(onTargets, onError) {
      report = onError;
      polled.start(onTargets, onError);
    },
  };
}

/** Returns the paths of a pattern. A path without `*` stands for itself, whether it exists or not. */
async function expand(pattern: string): Promise<string[]> {
  const name = basename(pattern);
  if (!name.includes("*")) return [pattern];
  const parts = name.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const matcher = new RegExp(`^${parts.join(".*")}$`);
  const entries = await readdir(dirname(pattern));
  return entries.filter((entry) => matcher.test(entry)).map((entry) => join(dirname(pattern), entry));
}
