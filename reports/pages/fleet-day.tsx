import type { VNode } from "preact";
import { formatAmount, type GpuHours } from "../../domain/exact/units.ts";
import { fleetUse, type FleetHours } from "../../domain/fleet/use.ts";
import { explainAddress } from "../parts/address.ts";
import { Figure } from "../parts/figures.tsx";
import { Hours, Ratio } from "../parts/money.tsx";
import type { ChargesQuestion } from "../question/question.ts";

/** The use of the fleet over the last charged day. */
export interface FleetDay {
  readonly question: ChargesQuestion;
  readonly hours: FleetHours;
}

/** The common measures of the use of a fleet over a day. */
export function DayOfFleet({ question, hours }: FleetDay): VNode {
  const { effective, wasted, utilization, schedulingEfficiency } = fleetUse(hours);
  const gpuHours = (amount: GpuHours): VNode => <Hours hours={formatAmount(amount)} />;
  const ofState = (state: string): string => explainAddress(question, [{ dimension: "state", values: [state] }]);
  return (
    <>
      <h2>Use of the fleet in the last day, in GPU-hours</h2>
      <dl class="figures">
        <Figure title="Total" beside="the capacity">
          <a href={explainAddress(question)}>{gpuHours(hours.total)}</a>
        </Figure>
        <Figure title="Held" beside={<>{gpuHours(hours.unavailable)} unavailable</>}>
          {gpuHours(hours.held)}
        </Figure>
        <Figure title="Effective" beside="held, available, started and used">
          {gpuHours(effective)}
        </Figure>
        <Figure title="Wasted" beside={<>{gpuHours(hours.unused)} held and unused</>}>
          {gpuHours(wasted)}
        </Figure>
        <Figure title="Utilization" beside={<>{gpuHours(hours.active)} active, divided by the total</>}>
          <a href={ofState("active")}>
            <Ratio ratio={utilization} />
          </a>
        </Figure>
        <Figure title="Scheduling efficiency" beside="held, divided by the usable capacity">
          <Ratio ratio={schedulingEfficiency} />
        </Figure>
      </dl>
    </>
  );
}
