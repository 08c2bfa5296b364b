import { formatTable } from "../format/table.ts";
import type { ExplainedHour, ServingExplanation } from "./explain-serving.ts";
import { servingText } from "./table.ts";

/** Returns an explanation of a cost of serving for people: the whole, then each service-hour with its pages and GPUs. */
export function servingExplanationText(explanation: ServingExplanation): string {
  const { hours, currency, total } = explanation;
  const { millionTokens } = total.unitCosts;
  const formula =
    millionTokens.loaded === null
      ? "no tokens were counted, so a million tokens have no cost\n"
      : `${total.cost} ${currency} ÷ (${total.computedTokens} computed + ${total.generatedTokens} generated tokens) × 1,000,000 = ${millionTokens.loaded} ${currency}\n`;
  const head = servingText({ ...explanation, rows: [] }, []).split("\n\n")[0];
  return `${head}\n${formula}${hours.map((hour) => hourText(hour, currency)).join("")}`;
}

function hourText(
  { hour, cluster, namespace, workload, cost, phases, pages, gpus }: ExplainedHour,
  currency: string,
): string {
  const split = Object.entries(phases).map(
    ([phase, part]) => `${phase} ${part.cost}${part.basis === "" ? "" : ` (by ${part.basis})`}`,
  );
  const ofPages = pages.map((page) => [
    { text: page.pod },
    { text: page.exporter },
    ...[page.scrapes, page.failures, page.servedSeconds, page.coveredSeconds, page.idleSeconds, page.resets].map(
      (value) => ({
        number: String(value),
      }),
    ),
    { number: String(page.increases["prompt_tokens"] ?? page.increases["computed_prompt_tokens"] ?? "") },
    { number: String(page.increases["generation_tokens"] ?? "") },
    { text: page.lastScrape ?? "expired" },
  ]);
  const ofGpus = gpus.map((gpu) => [
    { text: gpu.pod },
    { text: gpu.gpuModel },
    { number: gpu.gpuHours },
    { number: gpu.cost },
    { text: gpu.price },
    { text: gpu.line ?? "" },
  ]);
  return `
${hour}, ${cluster}/${namespace}/${workload}: ${cost} ${currency}: ${split.join(", ")}

${formatTable(["pod", "program", "scrapes", "failed", "served s", "covered s", "idle s", "resets", "prompt", "generated", "last scrape"], ofPages)}
${formatTable(["pod", "GPU model", "GPU-hours", currency, "price", "gpu-ledger explain"], ofGpus)}`;
}
