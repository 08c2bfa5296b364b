import type { DeliveryStatus } from "../../reports/delivery/list.ts";
import { renderTable } from "../table.ts";

/** Returns deliveries as text: the state of each period for each recipient. */
export function deliveriesText(list: readonly DeliveryStatus[]): string {
  if (list.length === 0) return "the configuration has no deliveries, and none was due in the last 92 days";
  const rows = list.map((status) => [
    status.delivery,
    status.recipient,
    status.period,
    minute(status.due),
    stateText(status),
  ]);
  return renderTable(["delivery", "to", "period", "due", "state"], rows);
}

/** The maximum length of a reason in a line. JSON has the whole reason. */
const MOST_REASON = 200;

function stateText(status: DeliveryStatus): string {
  const { state, at, tries, nextTry, file, cost, currency, isConfigured } = status;
  const line = (status.reason ?? "").replaceAll(/\s+/g, " ");
  const reason = line.length > MOST_REASON ? `${line.slice(0, MOST_REASON)}…` : line;
  const gone = isConfigured ? "" : "; no longer in the configuration";
  switch (state) {
    case "scheduled":
      return "scheduled";
    case "due":
      return `due${gone}`;
    case "waiting":
      return `waiting: ${reason}${gone}`;
    case "under way":
      return `under way since ${minute(at!)}`;
    case "failed":
      return `failed ${times(tries)}: ${reason}; next try ${minute(nextTry!)}${gone}`;
    case "delivered":
      return `delivered ${minute(at!)}: ${file}, ${cost} ${currency}`;
    case "given up":
      return `given up ${minute(at!)} after ${times(tries)}: ${reason}${gone}`;
  }
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function minute(iso: string): string {
  return `${iso.slice(0, 16)}Z`;
}
