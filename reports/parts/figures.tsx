import type { ComponentChildren, VNode } from "preact";
import type { ChargesQuestion } from "../question/question.ts";
import type { Report } from "../report/report.ts";
import { changeAddress, explainAddress } from "./address.ts";
import { Link } from "./link.tsx";
import { spanTitle } from "./time.ts";
import { changeColumn, Hours, Money, Ratio, ratioOf, TREND } from "./money.tsx";

/** The observed part of the held time from which ratios of the observed states mean something. */
const LEAST_COVERAGE = 0.5;
const UNOBSERVED = "most of the held time is not observed yet";

/** The sums of a report as a row of figures with links to their explanations. */
export function Figures({ report, question }: FiguresProps): VNode {
  const { total, currency } = report;
  const whole = explainAddress(question);
  const stateLink = (state: string): string => explainAddress(question, [{ dimension: "state", values: [state] }]);
  const idle = total.states.idle ?? "0";
  const isObserved = Number(total.coverage ?? 0) >= LEAST_COVERAGE;
  return (
    <dl class="figures">
      <div>
        <dt>Cost in {currency}</dt>
        <dd class="amount">
          <Link to={whole}>
            <Money amount={total.cost} currency={currency} />
          </Link>
        </dd>
        <dd class="beside">
          <Link to={whole}>
            <Hours hours={total.gpuHours} />
          </Link>{" "}
          GPU-hours
        </dd>
      </div>
      <Compared report={report} question={question} />
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
              <Link to={stateLink("idle")}>
                <Ratio ratio={ratioOf(idle, total.cost)} />
              </Link>{" "}
              of the cost
            </>
          ) : (
            UNOBSERVED
          )}
        </dd>
      </div>
      <div>
        <dt>Cost per held GPU-hour</dt>
        <dd class="amount">
          {total.costPerHeldGpuHour === null ? (
            "–"
          ) : (
            <Link to={whole}>
              <Money amount={total.costPerHeldGpuHour} currency={currency} />
            </Link>
          )}
        </dd>
        <dd class="beside">
          {!isObserved ? (
            UNOBSERVED
          ) : total.costPerActiveGpuHour === null ? (
            "no active GPU-hour"
          ) : (
            <>
              <Link to={stateLink("active")}>
                <Money amount={total.costPerActiveGpuHour} currency={currency} />
              </Link>{" "}
              per active GPU-hour
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Coverage of held time</dt>
        <dd class="amount">
          <Link to={stateLink("unobserved")}>
            <Ratio ratio={total.coverage} />
          </Link>
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

/** The cost beside that of the time before. */
function Compared({ report: { total, currency, comparedWith }, question }: FiguresProps): VNode {
  const whole = explainAddress(question);
  const earlier = comparedWith === null ? whole : explainAddress({ ...question, kind: "showback", span: comparedWith });
  return (
    <div>
      <dt>{question.compared === undefined ? "Compared with the time before" : "Compared with another time"}</dt>
      <dd class="amount">
        {total.change === null ? (
          <span class="quiet">–</span>
        ) : (
          <Link to={changeAddress(question)}>{changeColumn([total], TREND, currency).foot}</Link>
        )}
      </dd>
      <dd class="beside">
        {comparedWith === null || total.before === null ? (
          "no earlier charges"
        ) : (
          <>
            <Link to={earlier}>
              <Money amount={total.before} currency={currency} />
            </Link>{" "}
            in {spanTitle(comparedWith)}
          </>
        )}
      </dd>
    </div>
  );
}

interface FiguresProps {
  readonly report: Report;
  readonly question: ChargesQuestion;
}

/** A figure with its title, and a text beside it, with an address that both lead to. */
export function Figure({ title, beside, to, children }: FigureProps): VNode {
  const linked = (content: ComponentChildren): ComponentChildren =>
    to === undefined ? content : <Link to={to}>{content}</Link>;
  return (
    <div>
      <dt>{title}</dt>
      <dd class="amount">{linked(children)}</dd>
      <dd class="beside">{linked(beside)}</dd>
    </div>
  );
}

interface FigureProps {
  readonly title: string;
  readonly beside: ComponentChildren;
  readonly to?: string;
  readonly children: ComponentChildren;
}
