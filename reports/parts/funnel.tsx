import type { VNode } from "preact";
import { amountOf, difference, formatAmount, type Amount } from "../../domain/exact/units.ts";
import type { ChargesQuestion } from "../question/question.ts";
import type { Report } from "../report/report.ts";
import { explainAddress } from "./address.ts";
import { Link } from "./link.tsx";
import { Money } from "./money.tsx";

/** The total, its allocated part and its active part; and the waste. */
export function Funnel({ report: { total, currency }, question }: FunnelProps): VNode {
  const { states, cost } = total;
  const held = sumOf(states, ["active", "idle", "waiting", "starting", "unobserved"]);
  const forNothing = formatAmount(difference(amountOf<"currency">(cost), amountOf<"currency">(states.active ?? "0")));
  const ofStates = (names: readonly string[]): string =>
    explainAddress(question, [{ dimension: "state", values: names }]);
  const steps = [
    { name: "The fleet", amount: cost, href: explainAddress(question), what: "its whole cost" },
    {
      name: "Allocated",
      amount: held,
      href: ofStates(["active", "idle", "waiting", "starting", "unobserved"]),
      what: "held by workloads",
    },
    { name: "Active", amount: states.active ?? "0", href: ofStates(["active"]), what: "used, as measured" },
    {
      name: "Waste",
      amount: forNothing,
      href: explainAddress(question),
      what: "the cost of all states other than active",
    },
  ];
  return (
    <ol class="funnel">
      {steps.map(({ name, amount, href, what }) => (
        <li>
          <span>
            <strong>{name}</strong> <span class="quiet">{what}</span>
          </span>
          <span class="number">
            <Link to={href}>
              <Money amount={amount} currency={currency} />
            </Link>
          </span>
          <svg
            viewBox="0 0 100 8"
            preserveAspectRatio="none"
            role="img"
            aria-label={`${percentOf(amount, cost)} of the cost`}
          >
            <rect width={widthOf(amount, cost)} height="8" fill={name === "Waste" ? "var(--idle)" : "var(--active)"} />
          </svg>
        </li>
      ))}
    </ol>
  );
}

function sumOf(states: Report["total"]["states"], names: readonly (keyof Report["total"]["states"])[]): string {
  const sum = names.reduce<bigint>((total, name) => total + amountOf<"currency">(states[name] ?? "0"), 0n);
  return formatAmount(sum as Amount<"currency">);
}

function widthOf(part: string, whole: string): number {
  return Math.max(0, Math.min(100, (Number(part) / Number(whole)) * 100 || 0));
}

function percentOf(part: string, whole: string): string {
  return `${widthOf(part, whole).toFixed(1)} %`;
}

interface FunnelProps {
  readonly report: Report;
  readonly question: ChargesQuestion;
}
