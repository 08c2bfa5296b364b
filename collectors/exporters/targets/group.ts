import { toUrl, type Target } from "./target.ts";

/** The defaults that complete an address to a URL. */
export type AddressDefaults = Parameters<typeof toUrl>[1];

/**
 * Reads a Prometheus list of target groups, `[{ targets: [address], labels: { name: value } }]`, as in `file_sd` files and HTTP service
 * discovery. `__scheme__` and `__metrics_path__` are applied. Other labels that begin with two underscores are left out. Throws with a
 * sentence that names the wrong group.
 */
export function readTargetGroups(groups: unknown, defaults: AddressDefaults): Target[] {
  if (!Array.isArray(groups)) throw new TypeError("not a list of target groups");
  return groups.flatMap((group: unknown, index) => {
    if (!isGroup(group)) throw new TypeError(`group ${index + 1} is not { targets: [addresses], labels: { … } }`);
    const labels = Object.entries(group.labels ?? {}).map(([name, value]) => [name, String(value)] as const);
    const given = new Map(labels);
    const scheme = given.get("__scheme__") === "https" ? "https" : given.has("__scheme__") ? "http" : defaults.scheme;
    const path = given.get("__metrics_path__") ?? defaults.path;
    const shown = Object.fromEntries(labels.filter(([name]) => !name.startsWith("__")));
    return group.targets.map((address) => ({ url: toUrl(address, { ...defaults, scheme, path }), labels: shown }));
  });
}

interface Group {
  readonly targets: readonly string[];
  readonly labels?: Readonly<Record<string, string | number | boolean>> | null;
}

function isGroup(group: unknown): group is Group {
  if (typeof group !== "object" || group === null) return false;
  const { targets, labels } = group as { targets?: unknown; labels?: unknown };
  return (
    Array.isArray(targets) &&
    targets.every((target) => typeof target === "string") &&
    (labels === undefined || labels === null || typeof labels === "object")
  );
}
