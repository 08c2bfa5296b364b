import { fieldsOf } from "./object.ts";
import type { ApiResource } from "./resources.ts";
import { parseFieldSelector, parseLabelSelector, type Selector } from "./selectors.ts";
import { failure, invalidOption } from "./status.ts";
import type { StreamingLists } from "./troubles.ts";

/** The options of a list or watch, read and checked. */
export interface ListQuery {
  readonly selects: Selector;
  readonly hasSelector: boolean;
  readonly limit: number;
  readonly continue: string;
  /** `undefined` if none was given. */
  readonly resourceVersion: number | undefined;
  readonly match: "" | "NotOlderThan" | "Exact";
  readonly watch: boolean;
  readonly allowBookmarks: boolean;
  readonly timeoutSeconds: number | undefined;
  readonly sendInitialEvents: boolean | undefined;
}

const NAME_FIELDS = ["metadata.name", "metadata.namespace"];

/**
 * Reads the options of a request. `streamingLists` is true if the server offers them, or else the code with which it
 * refuses them. Fails with the Status of real servers.
 */
export function readListQuery(
  resource: ApiResource,
  parameters: URLSearchParams,
  streamingLists: StreamingLists,
): ListQuery {
  const text = (name: string): string => parameters.get(name) ?? "";
  const labels = text("labelSelector");
  const fields = text("fieldSelector");
  const known = new Set([...NAME_FIELDS, ...fieldsOf(resource.kind)]);
  const byLabel = parseLabelSelector(labels);
  const byField = parseFieldSelector(fields, known);
  const initial = parameters.get("sendInitialEvents");
  const query: ListQuery = {
    selects: (object) => byLabel(object) && byField(object),
    hasSelector: labels !== "" || fields !== "",
    limit: wholeNumber("limit", text("limit")) ?? 0,
    continue: text("continue"),
    resourceVersion: wholeNumber("resourceVersion", text("resourceVersion")),
    match: matchOf(text("resourceVersionMatch")),
    watch: isTrue(parameters.get("watch")),
    allowBookmarks: isTrue(parameters.get("allowWatchBookmarks")),
    timeoutSeconds: wholeNumber("timeoutSeconds", text("timeoutSeconds")),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
  };
  if (query.watch) checkWatch(query, streamingLists);
  else checkList(query);
  return query;
}

function checkWatch({ match, sendInitialEvents }: ListQuery, streamingLists: StreamingLists): void {
  if (sendInitialEvents === undefined) {
    if (match === "") return;
    throw forbidden(
      "resourceVersionMatch",
      "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
    );
  }
  if (streamingLists !== "offered" && streamingLists !== "event") {
    const problem = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
    throw forbidden("sendInitialEvents", problem, streamingLists);
  }
  if (match !== "NotOlderThan") {
    throw forbidden("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  }
}

function checkList({ match, resourceVersion, sendInitialEvents, ...query }: ListQuery): void {
  if (sendInitialEvents !== undefined) throw forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if (query.continue !== "" && resourceVersion !== undefined && resourceVersion !== 0) {
    throw failure(400, "BadRequest", "specifying resource version is not allowed when using continue");
  }
  if (match === "") return;
  if (resourceVersion === undefined) {
    throw forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (query.continue !== "") {
    throw forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  }
  if (match === "Exact" && resourceVersion === 0) {
    throw forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
}

function forbidden(field: string, problem: string, code: 400 | 422 = 422): Error {
  return invalidOption(field, `Forbidden: ${problem}`, code);
}

function matchOf(text: string): ListQuery["match"] {
  if (text === "" || text === "NotOlderThan" || text === "Exact") return text;
  throw invalidOption("resourceVersionMatch", `Unsupported value: ${JSON.stringify(text)}`);
}

function wholeNumber(name: string, text: string): number | undefined {
  if (text === "") return undefined;
  if (!/^\d{1,15}$/.test(text)) {
    throw failure(400, "BadRequest", `${name}: Invalid value: ${JSON.stringify(text)}: must be a whole number`);
  }
  return Number(text);
}

/** Returns a flag of a query: true for every present value except `false` and `0` (k8s.io/apimachinery, Convert_Slice_string_To_bool). */
export function isTrue(text: string | null): boolean {
  return text !== null && text !== "0" && text.toLowerCase() !== "false";
}
