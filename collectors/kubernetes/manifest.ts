import { parseAllDocuments } from "yaml";
import { DEPTH_FORM, excessOf, MOST_DEPTH } from "../../runtime/config/yaml-bounds.ts";
import type { KubeObject } from "./projection/kube-object.ts";
import { text } from "./projection/wire.ts";

/** The objects of a text, and the parts that are not objects, with the reasons. */
export interface Manifest {
  readonly objects: readonly KubeObject[];
  readonly ignored: readonly { readonly what: string; readonly why: string }[];
}

/**
 * Returns whether a text looks like Kubernetes objects or node labels and not like an exporter's page, by its first line that is not a
 * comment, in YAML's block or flow style. A line of an exposition can also begin with a brace, but never with a brace and a name with a colon.
 */
export function looksLikeObjects(page: string): boolean {
  const first = /^(?:\s*(?:#.*)?\n)*[ \t]*(.*(?:\n.*){0,2})/.exec(page.slice(0, 65_536))?.[1] ?? "";
  return (
    first.startsWith("---") ||
    /^(-\s+)?(\{\s*)?(apiVersion|kind|metadata|spec|status|items):(\s|$)/.test(first) ||
    /^(-\s+)?\{\s*"[^"]+"\s*:|^\[\s*[{\]]/.test(first)
  );
}

/**
 * Reads YAML of one or several documents, or JSON: an object, a List, or an array of objects. A plain map of texts (the output of `kubectl
 * get node -o json | jq .metadata.labels`) is read as a node's labels. Never throws: unreadable parts are ignored with the reason.
 */
export function readManifest(source: string): Manifest {
  const objects: KubeObject[] = [];
  const ignored: { what: string; why: string }[] = [];
  const add = (value: unknown, what: string, depth = 0): void => {
    if (value === null || value === undefined) return;
    if (depth > MOST_DEPTH) ignored.push({ what, why: `not ${DEPTH_FORM}` });
    else if (Array.isArray(value))
      value.forEach((entry: unknown, index) => add(entry, `${what}, entry ${index + 1}`, depth + 1));
    else if (typeof value !== "object") ignored.push({ what, why: "it is not an object" });
    else if ("items" in value && Array.isArray(value.items)) add(value.items, what, depth + 1);
    else if ("kind" in value && text(value.kind) !== undefined) objects.push(value as KubeObject);
    else if (areLabels(value)) objects.push({ apiVersion: "v1", kind: "Node", metadata: { labels: value } });
    else ignored.push({ what, why: "it has no kind" });
  };
  const json = /^\s*[{[]/.test(source) ? parseJson(source) : undefined;
  if (json !== undefined) {
    add(json.value, "the text");
    return { objects, ignored };
  }
  const excess = excessOf(source);
  if (excess !== undefined) return { objects, ignored: [{ what: "the text", why: `not ${excess.allowed}` }] };
  parseAllDocuments(source).forEach((document, index) => {
    const what = `document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      ignored.push({ what, why: error.message.split("\n")[0]!.replace(/:$/, "") });
      return;
    }
    try {
      add(document.toJS(), what);
    } catch (refusal) {
      ignored.push({ what, why: refusal instanceof Error ? refusal.message : String(refusal) });
    }
  });
  return { objects, ignored };
}

function parseJson(source: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(source) as unknown };
  } catch {
    return undefined;
  }
}

function areLabels(value: object): value is Record<string, string> {
  const entries = Object.entries(value);
  return entries.some(([name]) => name.includes("/")) && entries.every(([, entry]) => typeof entry === "string");
}
