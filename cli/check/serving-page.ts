import { inspectServingPage } from "../../collectors/exporters/serving/inspect.ts";
import type { TenantRules } from "../../collectors/exporters/serving/tenants.ts";
import type { Target } from "../../collectors/exporters/targets/target.ts";
import { counted } from "../../domain/counted.ts";
import type { Finding } from "./finding.ts";

const MOST_NAMES = 3;

/**
 * Checks the page of an engine or a gateway: its program, its models, and the pod whose GPUs compute the tokens. An engine without a pod is a
 * failure, because the cost of its tokens cannot be found.
 */
export function checkServingPage(
  what: string,
  { page, complete }: { readonly page: Buffer; readonly complete: boolean },
  { labels, pod }: Target,
  rules: TenantRules,
): Finding {
  const inspection = inspectServingPage(page, complete, rules);
  if ("reason" in inspection) return { ok: false, what, answer: `${inspection.reason}: ${inspection.detail}` };
  const { exporter, rows, drops } = inspection;
  const answer = `${exporter}, ${counted(rows.length, "row")}${ofModels(rows.map(({ series }) => series.model))}, ${counted(drops.length, "line")} dropped`;
  const hasPod = pod !== undefined || (labels["namespace"] ?? "") !== "" || (labels["pod_uid"] ?? "") !== "";
  if (hasPod || rows.every(({ series }) => series.kind === "gateway")) return { ok: true, what, answer };
  const lack = "the target has no pod, so the cost of its tokens cannot be found: add the labels namespace and pod";
  return { ok: false, what, answer: `${answer}; ${lack}` };
}

function ofModels(all: readonly string[]): string {
  const models = [...new Set(all.filter((model) => model !== ""))];
  if (models.length === 0) return "";
  const more = models.length > MOST_NAMES ? ` and ${models.length - MOST_NAMES} more` : "";
  return ` of ${models.slice(0, MOST_NAMES).join(", ")}${more}`;
}
