import { formatAmount, type GpuHours, type Money } from "../domain/exact/units.ts";
import type { Held } from "../domain/share/claim.ts";
import { minorDigitsOf } from "../domain/price/currency.ts";
import { momentText } from "../domain/time.ts";
import { COUNTED } from "../reports/format/counted.ts";
import { roundedTo } from "../reports/format/rounded.ts";
import { formatTable, type TableCell } from "../reports/format/table.ts";
import { monthOf } from "./month.ts";
import type { Snapshot } from "./snapshot.ts";

/** The kinds of parts that holders have. */
export const HELD: Readonly<Record<Held["what"], string>> = {
  whole: "whole GPUs",
  instance: "MIG instances",
  partition: "partitions",
  replicas: "replicas of shared GPUs",
  consumed: "capacity of DRA devices",
  vgpu: "vGPUs",
  fraction: "fractions",
  common: "an unknown part of its node",
};

/** The most workloads and practices that a table has. */
const MOST_ROWS = 20;

/** Formats amounts for people: money to the minor unit, GPUs to two digits. */
export function amounts(currency: string): {
  readonly money: (amount: Money) => string;
  readonly gpus: (amount: GpuHours) => string;
} {
  const digits = minorDigitsOf(currency) ?? 2;
  return {
    money: (amount) => roundedTo(formatAmount(amount), digits),
    gpus: (amount) => roundedTo(formatAmount(amount), 2),
  };
}

/** Returns a snapshot as text for a terminal, which ends with a line break. `prices` is the source of the prices. */
export function snapshotText(snapshot: Snapshot, prices: string): string {
  const { cluster, atMillis, currency, fleet, total, teams, holders, wastes, practices, unseen, remarks } = snapshot;
  const { money, gpus } = amounts(currency);
  const text = (value: string): TableCell => ({ text: value });
  const cost = (amount: Money): readonly TableCell[] => [{ number: money(amount) }, { number: money(monthOf(amount)) }];
  const physical = fleet.reduce((sum, line) => sum + line.gpus, 0);
  const sections: readonly (readonly [title: string, body: string])[] = [
    [
      `${physical} physical GPUs`,
      formatTable(
        ["model", "GPUs", "nodes", "counted"],
        fleet.map(({ model, gpus: count, nodes, countedBy }) => [
          text(model),
          { number: String(count) },
          { number: String(nodes) },
          text(COUNTED[countedBy]),
        ]),
      ),
    ],
    [
      "Cost by team and state",
      formatTable(
        ["team", "state", "GPUs", `${currency} per hour`, "per month"],
        teams.map((line) => [text(line.team), text(line.state), { number: gpus(line.gpus) }, ...cost(line.cost)]),
      ),
    ],
    [
      holders.length > MOST_ROWS
        ? `The ${MOST_ROWS} workloads with the highest cost, of ${holders.length}`
        : "Workloads with GPUs",
      formatTable(
        ["workload", "team", "type", "holds", "pods", "GPUs", "activity", `${currency} per hour`],
        holders
          .slice(0, MOST_ROWS)
          .map(({ namespace, kind, workload, team, type, held, pods, activity, ...of }) => [
            text(`${namespace}/${kind}/${workload}`),
            text(team),
            text(type),
            text(held.map((what) => HELD[what]).join(", ")),
            { number: String(pods) },
            { number: gpus(of.gpus) },
            { number: activity === undefined ? "" : `${(activity * 100).toFixed(1)} %` },
            { number: money(of.cost) },
          ]),
      ),
    ],
    [
      "The largest wastes now",
      formatTable(
        ["state", "of", "team", "GPUs", `${currency} per hour`, "per month"],
        wastes.map(({ state, of, team, ...spend }) => [
          text(state),
          text(of),
          text(team),
          { number: gpus(spend.gpus) },
          ...cost(spend.cost),
        ]),
      ) + [...new Set(wastes.map(({ advice }) => advice))].map((advice) => `- ${advice}\n`).join(""),
    ],
    [
      "Practices that are not followed (amounts overlap)",
      formatTable(
        ["severity", "practice", "team", "objects", `${currency} per month at stake`],
        practices
          .slice(0, MOST_ROWS)
          .map(({ severity, title, team, count, atStake }) => [
            text(severity),
            text(title),
            text(team ?? ""),
            { number: String(count) },
            { number: atStake === undefined ? "" : money(atStake) },
          ]),
      ),
    ],
    ["Not seen", unseen.map(({ what, why, without }) => `- ${what}: ${why}. Without it ${without}.\n`).join("")],
    [
      "Objects that look wrong",
      remarks
        .slice(0, MOST_ROWS)
        .map((remark) => `- ${remark}\n`)
        .join(""),
    ],
  ];
  const unpriced = total.unpricedGpus === 0n ? "" : ` ${gpus(total.unpricedGpus)} GPUs have no price.`;
  return [
    `${cluster}, ${momentText(atMillis)}: ${money(total.cost)} ${currency} per hour, ${money(monthOf(total.cost))} per month of 730 h at this pace.${unpriced}\n`,
    `Prices: ${prices}\n`,
    "This is one moment. Nothing is stored. A workload that is idle now may work in an hour.\n",
    ...sections
      .filter(([, body]) => body.split("\n").length > 2 || body.startsWith("-"))
      .map(([title, body]) => `\n${title}\n\n${body}`),
  ].join("");
}
