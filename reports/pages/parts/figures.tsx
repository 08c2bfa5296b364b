import type { ComponentChildren, VNode } from "preact";
import type { ChargesQuestion } from "../../question/question.ts";
import type { Report } from "../../report/report.ts";
import { explainAddress } from "../address.ts";
import { Link } from "./link.tsx";
import { changeColumn, Hours, Money, Ratio, ratioOf, TREND } from "./money.tsx";

/** The observed part of the held time from which ratios of the observed states mean something. */
const LEAST_COVERAGE = 0.5;
const UNOBSERVED = "most of the held time is not observed yet";

/** The sums of a report as a row of figures with links to their explanations. */
export function Figures({ report: { total, currency, comparedWith }, question }: FiguresProps): VNode {
  const stateLink = (state: string): string => explainAddress(question, [{ dimension: "state", values: [state] }]);
  const idle = total.states.idle ?? "0";
  const isObserved = Number(total.coverage ?? 0) >= LEAST_COVERAGE;
  return (
    <dl class="figures">
      <div>
        <dt>Cost in {currency}</dt>
        <dd class="amount">
          <Link to={explainAddress(question)}>
            <Money amount={total.cost} currency={currency} />
          </Link>
        </dd>
        <dd class="beside">
          <Hours hours={total.gpuHours} /> GPU-hours
        </dd>
      </div>
      <div>
        <dt>Compared with the time before</dt>
        <dd class="amount">
          {total.change === null ? <span class="quiet">–</span> : changeColumn([total], TREND, currency).foot}
        </dd>
        <dd class="beside">
          {comparedWith === null || total.before === null ? (
            "no earlier charges"
          ) : (
            <>
              <Money amount={total.before} currency={currency} /> in {comparedWith.name}
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Idle: held but not used</dt>
        <dd class="amount">
          <Link to={stateLink("idle")}>
            <Money amount={idle} currency={currency} />
          </Link>
        </dd>
        <dd class="beside">
          {isObserved ? (
            <>
              <Ratio ratio={ratioOf(idle, total.cost)} /> of the cost
            </>
          ) : (
            UNOBSERVED
          )}
        </dd>
      </div>
      <div>
        <dt>Cost per held GPU-hour</dt>
        <dd class="amount">
          {total.costPerHeldGpuHour === null ? "–" : <Money amount={total.costPerHeldGpuHour} currency={currency} />}
        </dd>
        <dd class="beside">
          {!isObserved ? (
            UNOBSERVED
          ) : total.costPerActiveGpuHour === null ? (
            "no active GPU-hour"
          ) : (
            <>
              <Money amount={total.costPerActiveGpuHour} currency={currency} /> per active GPU-hour
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Coverage of held time</dt>
        <dd class="amount">
          <Ratio ratio={total.coverage} />
        </dd>
        <dd class="beside">
          <Link to={stateLink("unobserved")}>
            <Money amount={total.states.unobserved ?? "0"} currency={currency} />
          </Link>{" "}
          {currency} unobserved
        </dd>
      </div>
      <div>
        <dt>Without a price</dt>
        <dd class="amount">
          <Link to={explainAddress(question, [{ dimension: "unpriced", values: ["true"] }])}>
            <Hours hours={total.unpricedGpuHours} />
          </Link>
        </dd>
        <dd class="beside">GPU-hours that have no cost</dd>
      </div>
    </dl>
  );
}

interface FiguresProps {
  readonly report: Report;
  readonly question: ChargesQuestion;
}

/** A figure with its title, and a text beside it. */
export function Figure({ title, beside, children }: FigureProps): VNode {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="amount">{children}</dd>
      <dd class="beside">{beside}</dd>
    </div>
  );
}

interface FigureProps {
  readonly title: string;
  readonly beside: ComponentChildren;
  readonly children: ComponentChildren;
}
