import { expect, it } from "vitest";
import { cacheFolder } from "../../../../cli/scenario/cache-folder.ts";

it.each([
  [{ XDG_CACHE_HOME: "/caches", HOME: "/home/ada" }, "/caches/gpu-ledger"],
  [{ XDG_CACHE_HOME: "caches", HOME: "/home/ada" }, "/home/ada/.cache/gpu-ledger"],
  [{ XDG_CACHE_HOME: "", HOME: "" }, undefined],
  [{}, undefined],
])("The folder of caches for %j is %s", (env, folder) => {
  expect(cacheFolder(env)).toBe(folder);
});
