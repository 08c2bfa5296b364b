import { CHECKS } from "./checks.ts";
import type { Check, FixOf, Severity } from "./check.ts";
import { DRIVER_BRANCHES } from "./driver-branches.ts";
import { EXEMPT_MARK } from "./exempt.ts";

/** The address of docs/practices.md. */
const PAGE = "https://github.com/gpu-ledger/gpu-ledger/blob/main/docs/practices.md";

/** Returns the address of the text about a check. */
export function whyAddress(check: string): string {
  return `${PAGE}#${check}`;
}

const PLACEHOLDERS: FixOf = { kind: "KIND", namespace: "NAMESPACE", name: "NAME", value: "VALUE" };

const SEVERITY_MEANINGS: Readonly<Record<Severity, string>> = {
  high: "money or work is lost now, or nothing is measured",
  medium: "money or work is lost when something else happens: a shortage, a drain, a mistake",
  low: "the cluster is harder to run than it needs to be",
};

/** Returns docs/practices.md: every check with its severity, its reason, and how to mend its findings. */
export function renderPracticesPage(): string {
  return [
    "# Practices",
    "",
    "`gpu-ledger audit practices`, the page `/practices`, `GET /api/v1/practices` and the metrics `gpu_ledger_practice_findings` and",
    "`gpu_ledger_practice_cost` check the newest facts of the watched clusters against the practices below. A finding has its objects, the money",
    "at stake, commands or lines of manifests that mend the first objects, and a link to this page. There is no score.",
    "",
    "Written by `npm run generate` from `domain/practice/`.",
    "",
    "```sh",
    "gpu-ledger audit practices",
    "gpu-ledger audit practices --team vision --check no-priority-class --format json",
    "curl -s 'localhost:8080/api/v1/practices?severity=high'",
    "```",
    "",
    "- **The money at stake** is exact: published charges of the billing policy of the last 7 days (`practices.days`) for GPUs without work, or for",
    "  work that an interruption makes worthless, because the practice is not followed. Checks without a rule for it below risk something that",
    "  charges do not show. One GPU-hour can be in several findings, so amounts of different checks do not add up.",
    "- **A finding** has the objects of one team, or of one cluster. It names the 20 objects with the most money, and counts all of them. The most",
    "  urgent findings come first, and of these the ones with the most money at stake.",
    "- **A viewer** sees the findings of the own teams, with the teams' own charges. Findings of nodes, pools and clusters are for finance and",
    "  administrators.",
    "- **Facts of releases before 0.4** do not have all fields. Their objects are left out of the checks that need these fields, until a watcher of",
    "  this release has seen them.",
    "",
    "## Exemptions",
    "",
    `The label or annotation \`${EXEMPT_MARK}\` names the checks from which an object is exempt: on a pod, on an owner that the collectors may`,
    "read, on a namespace with all of its pods, or as a label on a node. A pool is exempt if all of its nodes are. In an annotation, names are",
    "separated by commas. In a label, whose value cannot have commas, they are separated by dots.",
    "",
    "```sh",
    `kubectl annotate namespace vision-lab ${EXEMPT_MARK}=namespace-without-quota,whole-gpu-for-notebook`,
    `kubectl label node gpu-a ${EXEMPT_MARK}=gpu-node-without-taint.driver-end-of-life`,
    "```",
    "",
    "The configuration switches checks off for all clusters. An unknown name is an error.",
    "",
    "```yaml",
    "practices:",
    "  days: 14",
    "  off: [tolerates-everything]",
    "```",
    "",
    "## Checks",
    "",
    ...Object.entries(SEVERITY_MEANINGS).map(([severity, meaning]) => {
      const names = CHECKS.flatMap((check) => (check.severity === severity ? [`[${check.name}](#${check.name})`] : []));
      return `- **${severity}** (${meaning}): ${names.join(", ")}`;
    }),
    "",
    ...CHECKS.flatMap(sectionOf),
    "## Ends of driver branches",
    "",
    "`driver-end-of-life` knows these branches of NVIDIA's data-center driver. A branch is supported until the end of the month. Branches that",
    "are not here have no known date.",
    "",
    "| branch | supported until | source |",
    "| --- | --- | --- |",
    ...DRIVER_BRANCHES.map(({ branch, endOfLife, source }) => `| ${branch} | ${endOfLife} | <${source}> |`),
    "",
  ].join("\n");
}

function sectionOf({ name, severity, what, why, amount, fix }: Check): readonly string[] {
  return [
    `### ${name}`,
    "",
    `**${severity}**: ${what}`,
    "",
    amount === undefined ? why : `${why} The money at stake is ${amount}.`,
    "",
    "```yaml",
    fix(PLACEHOLDERS),
    "```",
    "",
  ];
}
