/** The parts of a path of the API. */
export interface ApiPath {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Empty for all namespaces, and for resources without one. */
  readonly namespace: string;
  /** Empty for the collection. */
  readonly name: string;
}

/** Reads `/api/v1/…` and `/apis/<group>/<version>/…`; `undefined` if the path has no collection or object. */
export function parseApiPath(path: string): ApiPath | undefined {
  const parts = path.split("/").slice(1).map(decodeURIComponent);
  const isCore = parts[0] === "api";
  if (!isCore && parts[0] !== "apis") return undefined;
  const [group, version, ...rest] = isCore ? ["", ...parts.slice(1)] : parts.slice(1);
  if (group === undefined || version === undefined || rest.length === 0 || rest.some((part) => part === "")) {
    return undefined;
  }
  // `namespaces/x` is the object of that name. With more parts behind, it is the namespace of the next parts.
  if (rest[0] === "namespaces" && rest.length > 2) {
    const [, namespace = "", resource = "", name = "", ...more] = rest;
    return more.length > 0 ? undefined : { group, version, resource, namespace, name };
  }
  const [resource = "", name = "", ...more] = rest;
  return more.length > 0 ? undefined : { group, version, resource, namespace: "", name };
}
