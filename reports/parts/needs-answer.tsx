import type { VNode } from "preact";
import { UNOWNED } from "../../domain/owner/owner.ts";
import type { Period } from "../read/periods.ts";
import type { Report } from "../report/report.ts";
import { address } from "./address.ts";
import { Hours, Money } from "./money.tsx";

/** The list of everything that waits for a person: costs without an owner, machines without a price, and months that can be closed; nothing if all is answered. */
export function NeedsAnswer({ report, span, periods, now }: NeedsAnswerProps): VNode | null {
  const { rows, total, currency } = report;
  const unowned = rows.find(({ dimensions }) => dimensions["team"] === UNOWNED);
  const due = periods
    .filter(({ status, closesFrom }) => status === "open" && Date.parse(closesFrom) <= now)
    .toReversed();
  const items = [
    unowned !== undefined && Number(unowned.cost) > 0 && (
      <a href={address("/prices", { span })}>
        <Money amount={unowned.cost} currency={currency} /> {currency} have no owner
      </a>
    ),
    Number(total.unpricedGpuHours) > 0 && (
      <a href={address("/prices", { span })}>
        <Hours hours={total.unpricedGpuHours} /> GPU-hours have no price
      </a>
    ),
    ...due.map(({ period }) => <a href={address("/statement", { period })}>{period} can be closed</a>),
  ].filter((item) => item !== false);
  if (items.length === 0) return null;
  return (
    <>
      <h2>Needs an answer</h2>
      <ul class="notes">
        {items.map((item) => (
          <li>{item}</li>
        ))}
      </ul>
    </>
  );
}

interface NeedsAnswerProps {
  readonly report: Report;
  readonly span: string;
  readonly periods: readonly Period[];
  readonly now: number;
}
