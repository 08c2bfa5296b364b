import { parse } from "csv-parse/sync";
import { NO_PRICE, priceOf, type CarriedPrice, type LeftOut, type OpenCostPrices } from "./carried.ts";

/**
 * The columns of OpenCost's CSV pricing, in this order. `EndTimestamp` and `Version` have no effect. Source:
 * https://github.com/opencost/opencost/blob/develop/pkg/cloud/provider/csvprovider.go.
 */
const COLUMNS = 8;
const HEAD = /^EndTimestamp$/i;
const TYPE_LABELS = ["node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"];
const LABEL_FIELD = /^metadata\.labels\.(.+)$/;

interface Row {
  /** `line 4: gpu-a`. */
  readonly what: string;
  readonly id: string;
  readonly region: string;
  readonly asset: string;
  /** The place of the id: `spec.providerID`, `metadata.labels.pool`; the label of a GPU. */
  readonly field: string;
  readonly type: string;
  readonly price: string;
}

/** Returns true if the first row that is no comment has the columns of OpenCost's CSV pricing. */
export function isCsvPricing(text: string): boolean {
  const first = text.split(/\r?\n/).find((line) => line.trim() !== "" && !line.startsWith("#")) ?? "";
  return first.replace(/^\uFEFF/, "").split(",").length === COLUMNS && !first.trimStart().startsWith("{");
}

/**
 * Returns the prices of OpenCost's CSV pricing: rows of nodes by instance type or by label, and rows of GPUs by label. If the file has rows of
 * GPUs, its rows of nodes are left out: OpenCost adds the price of the GPUs to that of the node, and one entry of a book prices a GPU.
 */
export function csvPrices(text: string): OpenCostPrices {
  const { rows, leftOut } = rowsOf(text);
  const gpuRows = rows.filter(({ asset }) => asset === "gpu");
  const nodeRows = rows.filter(({ asset }) => asset === "node");
  const gpuLabel = gpuRows[0]?.field;
  const nodeField = nodeRows.at(-1)?.field;
  const matchOf = (row: Row): CarriedPrice["match"] | string => {
    if (row.asset === "pv") return "a price of storage";
    if (row.asset !== "node" && row.asset !== "gpu") return "AssetClass is none of node, gpu and pv";
    if (row.id === "" && row.type === "") return "it has neither an InstanceID nor an InstanceType";
    if (row.asset === "gpu") return gpuMatch(row, gpuLabel);
    return gpuLabel === undefined
      ? nodeMatch(row, nodeField)
      : "the price of a node without its GPUs, to which OpenCost adds theirs";
  };
  const carried = new Map<string, { readonly what: string; readonly price: CarriedPrice }>();
  for (const row of rows) {
    const { what } = row;
    const match = matchOf(row);
    const list = priceOf(row.price);
    if (typeof match === "string" || list === undefined) {
      leftOut.push({ what, why: typeof match === "string" ? match : NO_PRICE });
      continue;
    }
    const id = JSON.stringify(match);
    const other = carried.get(id);
    // OpenCost takes the last row of a label, and the first one of an instance type.
    const isBetter = other === undefined || match.nodeLabel !== undefined;
    if (other !== undefined && other.price.list !== list)
      leftOut.push({ what: isBetter ? other.what : what, why: "another row has the price of the same nodes" });
    if (isBetter)
      carried.set(id, { what, price: { match, per: row.asset === "gpu" ? "gpu-hour" : "node-hour", list } });
  }
  const prices = [...carried.values()].map(({ price }) => price);
  const notes =
    gpuLabel === undefined ? [] : ["OpenCost does not distinguish capitals in the values of labels. These entries do."];
  return { currency: undefined, prices, leftOut, notes };
}

/** Reads the rows. Comments and the head are no rows. */
function rowsOf(text: string): { readonly rows: readonly Row[]; readonly leftOut: LeftOut[] } {
  const cells = parse(text, { bom: true, relax_column_count: true, skip_empty_lines: true, trim: true, info: true });
  const rows: Row[] = [];
  const leftOut: LeftOut[] = [];
  // The types of csv-parse omit `info`: https://csv.js.org/parse/options/info/
  for (const { record, info } of cells as unknown as { record: string[]; info: { lines: number } }[]) {
    const [end = "", id = "", region = "", asset = "", field = "", type = "", price = ""] = record;
    if (end.startsWith("#") || HEAD.test(end)) continue;
    const what = `line ${info.lines}: ${id || type || "no id"}`;
    if (record.length === COLUMNS) rows.push({ what, id, region, asset, field, type, price });
    else leftOut.push({ what, why: `it has not ${COLUMNS} columns` });
  }
  return { rows, leftOut };
}

const inRegion = ({ region }: Row) => (region === "" ? {} : { region });

function gpuMatch(row: Row, label: string | undefined): CarriedPrice["match"] | string {
  if (row.field === "" || row.id === "") return "it names no label of GPUs, or no value";
  if (row.field !== label) return `a label other than ${label}: a node can have both, and then it has no price`;
  return { nodeLabel: { [row.field]: row.id }, ...inRegion(row) };
}

/** OpenCost finds a node by its type and region in any row, and otherwise by the field of the last row of nodes. */
function nodeMatch(row: Row, field: string | undefined): CarriedPrice["match"] | string {
  const label = LABEL_FIELD.exec(row.field)?.[1];
  if (label !== undefined && row.id !== "" && TYPE_LABELS.includes(label))
    return { instanceType: row.id, ...inRegion(row) };
  if (label !== undefined && row.id !== "" && row.field === field)
    return { nodeLabel: { [label]: row.id }, ...(row.type === "" ? {} : { instanceType: row.type }), ...inRegion(row) };
  if (row.type !== "") return { instanceType: row.type, ...inRegion(row) };
  if (label !== undefined) return `OpenCost reads only the field of the last row of nodes, ${field}`;
  return "a price of one machine by its name or id: give such machines a label, or an `owned` entry with `machines`";
}
