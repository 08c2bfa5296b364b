import { isAbsolute, join } from "node:path";

/**
 * Returns the folder for files that this program can make again: `gpu-ledger` in the user's folder of caches
 * (https://specifications.freedesktop.org/basedir-spec/latest/). Returns undefined for a user without a home.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string | undefined {
  const { XDG_CACHE_HOME: caches = "", HOME: home = "" } = env;
  if (isAbsolute(caches)) return join(caches, "gpu-ledger");
  return isAbsolute(home) ? join(home, ".cache", "gpu-ledger") : undefined;
}
