import type { CountedGpus } from "../../domain/allocation/usage-hour.ts";
import { COUNTED_BY, isGuess } from "../../domain/share/node-gpus.ts";
import { titleOfDimension } from "../question/question.ts";
import type { ExportedLine } from "./export-lines.ts";
import type { ExplainedLine, Explanation, Part } from "./explanation.ts";

const EVIDENCE: Readonly<Record<string, string>> = {
  dra: "the devices that DRA allocated",
  annotation: "the scheduler's annotation on the pod",
  group: "the group whose reservation pod has the GPU",
  label: "the exporter's label",
  status: "the devices in the pod's status",
  "hpc-job": "the job that the exporter names",
  node: "only the node: its GPU is unknown",
};

const PAYERS: Readonly<Record<string, string>> = {
  holder: "its holder",
  owner: "the owner of the node pool",
  platform: "the platform",
  spread: "not known yet (it will be spread)",
};

/** Returns an explanation as text: the sum first, then its reasons, step by step. `currency` is the bill's. */
export function explanationText(explanation: Explanation, currency: string): string {
  const { question, states, owners, prices, workloads, evidence, lines } = explanation;
  if (lines.length === 0) return `No charges: ${titleOf(question)}.`;
  const amount = (part: Part): string => amountText(part, currency);
  const paragraph = (title: string, sentences: readonly string[]): string =>
    [title, ...sentences.map((sentence) => `  ${sentence}`)].join("\n");
  return [
    `${titleOf(question)}: ${amount(explanation)}. Policy: ${question.policy}.`,
    paragraph(
      "States and payers:",
      states.map(({ state, because, payer, ...part }) => {
        const reason = because === "" ? "" : `, because ${because}`;
        return `${state}${reason}, paid by ${PAYERS[payer] ?? payer}: ${amount(part)}`;
      }),
    ),
    paragraph(
      "Owners:",
      owners.map(
        ({ team, rule, ...part }) => `${team}${rule === "" ? "" : `, by the rule "${rule}"`}: ${amount(part)}`,
      ),
    ),
    paragraph(
      "Prices:",
      prices.map(({ price, since, ...part }) =>
        price === "" ? `no price: ${amount(part)}` : `"${price}", in use since ${since}: ${amount(part)}`,
      ),
    ),
    paragraph(
      "Workloads:",
      workloads.map(({ namespace, workloadKind, workload, pods, ...part }) =>
        workload === ""
          ? `not held: ${amount(part)}`
          : `${workloadKind} ${namespace}/${workload}, ${pods} pod${pods === 1 ? "" : "s"}: ${amount(part)}`,
      ),
    ),
    paragraph(
      "Evidence of the holder:",
      evidence.flatMap(({ attribution, ...part }) =>
        attribution === "" ? [] : [`${EVIDENCE[attribution] ?? attribution}: ${amount(part)}`],
      ),
    ),
    paragraph(
      lines.length === 1 ? "The line:" : "The lines with the highest cost:",
      lines.flatMap((line) => lineText(line, currency)),
    ),
  ].join("\n\n");
}

/** Returns the lines of exports behind a cost as a paragraph; nothing without lines. */
export function exportLinesText(lines: readonly ExportedLine[]): readonly string[] {
  if (lines.length === 0) return [];
  const texts = lines.map(({ source, file, row, kind, machine, effective, currency, invoice }) => {
    const status = invoice === "" ? "not invoiced yet" : `invoice ${invoice}`;
    return `  ${source}, ${file}, row ${row}: ${kind} ${machine}, ${effective} ${currency}, ${status}`;
  });
  return [["The bill of the provider:", ...texts].join("\n")];
}

function titleOf(question: Explanation["question"]): string {
  if ("gpu" in question) {
    const { gpu, at } = question;
    return `GPU ${gpu.slot} of ${gpu.cluster}/${gpu.node} at ${new Date(at).toISOString().replace(".000Z", "Z")}`;
  }
  const { where, span } = question;
  const all = where.some(({ dimension }) => dimension === "team") ? [] : ["all teams"];
  const some = where.map(({ dimension, values }) => {
    const title = dimension === "team" || dimension === "state" ? "" : `${titleOfDimension(dimension)} `;
    return `${title}${values.join(" or ")}`;
  });
  return [...all, ...some, span.name].join(", ");
}

function amountText({ gpuHours, cost, unpricedGpuHours, kWh, carbonGrams }: Part, currency: string): string {
  const unpriced = unpricedGpuHours === "0" ? "" : ` (${unpricedGpuHours} without a price)`;
  const energy = kWh === null ? "" : `, ${kWh} kWh at the GPU`;
  const carbon = carbonGrams === null ? "" : `, ${carbonGrams} g of CO₂e`;
  return `${gpuHours} GPU-hours${unpriced}, ${cost} ${currency}${energy}${carbon}`;
}

function lineText(line: ExplainedLine, currency: string): readonly string[] {
  const { node, gpu, from, until, state, namespace, pod, share, rawShare, segment } = line;
  const where = gpu === null ? node : `GPU ${gpu} of ${node}`;
  const who =
    pod === ""
      ? ""
      : `, ${namespace}/${pod} has ${share} of it${rawShare === share ? "" : ` (requested: ${rawShare})`}`;
  const correction = line.isCorrection ? `, a correction booked in ${line.billingPeriod}` : "";
  const head = `${where}, ${from} to ${until}${who}: ${state}, ${amountText(line, currency)}${correction}`;
  const imported = line.imported === null ? [] : [`  the pod was imported from ${line.imported}`];
  if (segment === null) return [head, ...imported];
  const { counted, samples, firstSample, lastSample, coveredMillis, activityPpm, energyCoveredMillis } = segment;
  const length = Date.parse(segment.until) - Date.parse(segment.from);
  const ofGpu = [
    ...imported,
    ...counted.flatMap(countText),
    ...(energyCoveredMillis === 0
      ? []
      : [`  energy is known for ${seconds(energyCoveredMillis)} of ${seconds(length)} s of the GPU`]),
  ];
  if (pod === "") return [head, ...ofGpu];
  const covered = `${seconds(coveredMillis)} of ${seconds(length)} s are covered`;
  if (samples === 0) return [head, `  no sample between ${segment.from} and ${segment.until}`, ...ofGpu];
  const activity = activityPpm === null ? "" : `, ${(activityPpm / 10_000).toFixed(1)} % active on average`;
  return [
    head,
    `  ${samples} samples of ${segment.gpuKey} from ${firstSample} to ${lastSample}: ${covered}${activity}`,
    ...ofGpu,
  ];
}

/** Returns text about the number of a node's GPUs if the number is a guess or contradicts a source; otherwise nothing. */
function countText({ count, countedBy, otherCount }: CountedGpus): readonly string[] {
  if (countedBy === undefined) return [];
  const by = `  the node's GPUs are ${count} by ${COUNTED_BY[countedBy]}`;
  if (otherCount !== undefined)
    return [`${by} and ${otherCount.count} by ${COUNTED_BY[otherCount.by]}; ${count} is used`];
  return isGuess(countedBy) ? [`${by}: a guess, because this source also counts replicas and partitions`] : [];
}

function seconds(millis: number): string {
  return String(Math.round(millis / 1000));
}
