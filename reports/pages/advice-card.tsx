import type { VNode } from "preact";
import { z } from "zod";
import { CARD_KINDS, confidenceOf, type Card, type CardHours } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { difference, formatAmount, type Money as Amount } from "../../domain/exact/units.ts";
import { DAY_MILLIS, momentText } from "../../domain/time.ts";
import { changeFileOf } from "../advice/change-file.ts";
import { isDismissed, type Mark } from "../advice/marks.ts";
import { decisionText, subjectText, whatIfText } from "../advice/text.ts";
import { readAdviceCard, readAdviceRun, type AdviceRun, type StoredCard } from "../advice/read-cards.ts";
import { Problem } from "../question/problem.ts";
import { address, teamAddress } from "../parts/address.ts";
import { HoursChart } from "../parts/charts/hours.tsx";
import { Figure } from "../parts/figures.tsx";
import { Money, moneyColumn } from "../parts/money.tsx";
import { Empty, Table } from "../parts/table.tsx";
import type { AddPage, PageContext } from "./context.ts";
import { MarkForm } from "./decisions.tsx";

/** Adds the page of one card: its evidence, its change with the exact lines, and both bills. */
export function addCard(add: AddPage, { now }: PageContext): void {
  const query = z.object({ id: z.string().min(1).max(100) });
  add("/advice/card", { schema: { querystring: query } }, async ({ query: asked, viewer }, { store }) => {
    const { id } = asked as z.output<typeof query>;
    const [found, latest] = await Promise.all([readAdviceCard(store, id, viewer), readAdviceRun(store)]);
    if (found === undefined) throw new Problem("not-found", `there is no card ${id}`);
    const { stored, run } = found;
    const title = `${CARD_KINDS[stored.card.kind]}: ${subjectText(stored.card)}`;
    const isLatest = latest?.id === run.id;
    return { title, content: <CardPage {...{ stored, run, isLatest, title, now: now() }} /> };
  });
}

interface CardProps {
  readonly stored: StoredCard;
  readonly run: AdviceRun;
  /** False if the latest run has no such card. */
  readonly isLatest: boolean;
  readonly title: string;
  readonly now: number;
}

function CardPage({ stored, run, isLatest, title, now }: CardProps): VNode {
  const { card, since, mark } = stored;
  const { figures, remedy, risks, doubts, alternatives, currency, subject, window, hours } = card;
  return (
    <>
      <h1>
        <bdi>{title}</bdi>
      </h1>
      <p class="lead">
        Of the team{" "}
        <a href={teamAddress(subject.team, "7d")}>
          <bdi>{subject.team}</bdi>
        </a>
        , cluster {subject.cluster}. In cards since {momentText(since)}; the evidence holds since{" "}
        {momentText(card.from)}. The window is {momentText(window.from)} to {momentText(window.until)} (UTC).
      </p>
      {!isLatest && (
        <div class="notice">
          <p>
            <strong>The latest run has no such card.</strong> This is the card of the window that ended{" "}
            {momentText(run.window.until)}. The waste ended, or its evidence is no longer enough.
          </p>
        </div>
      )}
      {mark !== undefined && <Decision mark={mark} now={now} />}
      <MarkForm id={card.id} />
      <Savings card={card} />
      <h2>Change</h2>
      <p>{remedy.what}</p>
      <Lines text={remedy.lines} label="The lines of the change" />
      <FileLink card={card} />
      <h2>Evidence</h2>
      <Table
        caption="Measured in the window"
        rows={figures}
        columns={[
          { head: "figure", cell: ({ name }) => name },
          { head: "value", cell: ({ value }) => value },
        ]}
      />
      {hours !== undefined && <Charts hours={hours} from={window.from} />}
      <h2>Both bills</h2>
      <Bills card={card} />
      <h2>What could go wrong</h2>
      <List items={risks} none="Nothing is known." />
      <h2>Confidence: {confidenceOf(card)}</h2>
      <List items={doubts} none="The evidence has no gaps." />
      {alternatives.length > 0 && (
        <>
          <h2>Instead</h2>
          <Table
            caption={`Other changes for the same workload. Their savings do not add to this one (${currency}).`}
            rows={alternatives}
            columns={[
              { head: "kind", cell: ({ kind }) => CARD_KINDS[kind] },
              { head: "change", cell: ({ what }) => <bdi>{what}</bdi> },
              {
                head: "owner",
                isNumber: true,
                cell: ({ owner }) => <Money amount={formatAmount(owner)} currency={currency} />,
              },
            ]}
          />
        </>
      )}
      <h2>The change as a file</h2>
      <p>
        <code>{`gpu-ledger advise ${momentText(window.from)}/${momentText(window.until)} --what-if FILE`}</code>{" "}
        computes both bills from this file, with spread costs and markups.
      </p>
      <Lines text={whatIfText(card).trimEnd()} label="The file for a what-if" />
      <h2>Decide</h2>
      <p>
        A person who operates gpu-ledger records a decision with its reason. A dismissed card is hidden until the day of{" "}
        <code>--until</code>.
      </p>
      <Lines
        text={`gpu-ledger advise mark ${card.id} --as dismissed --why "…" --until ${momentText(window.until + 90 * DAY_MILLIS)}`}
        label="The command of a decision"
      />
      <p class="links">
        <a href={address("/advice", { team: subject.team })}>All cards of the team</a>
        {subject.workload !== "" && (
          <a
            href={address("/workload", {
              cluster: subject.cluster,
              namespace: subject.namespace,
              workload: subject.workload,
              span: `${momentText(window.from)}/${momentText(window.until)}`,
            })}
          >
            The workload’s charges in the window
          </a>
        )}
        <a href={address("/api/v1/advice", { id: card.id })}>This card as JSON</a>
      </p>
    </>
  );
}

/** A link that saves the change with its explanation; nothing if a name of the card is not a valid name in Kubernetes. */
function FileLink({ card }: { readonly card: Card }): VNode | null {
  const file = changeFileOf(card);
  if (file === undefined) return null;
  return (
    <p class="links">
      <a href={`data:text/plain;charset=utf-8,${encodeURIComponent(file.text)}`} download={file.name}>
        Save as {file.name}
      </a>
    </p>
  );
}

function Decision({ mark, now }: { readonly mark: Mark; readonly now: number }): VNode {
  return (
    <div class="notice">
      <p>
        <strong>{isDismissed(mark, now) ? "Dismissed." : "Decision:"}</strong> {decisionText(mark)}, on{" "}
        {momentText(mark.at).slice(0, 10)}: <bdi>{mark.why}</bdi>
      </p>
    </div>
  );
}

function Savings({ card }: { readonly card: Card }): VNode {
  const { saving, window, currency } = card;
  const days = counted(Math.round((window.until - window.from) / DAY_MILLIS), "day");
  const amount = (of: Amount): VNode => <Money amount={formatAmount(of)} currency={currency} />;
  const month = (of: Amount): VNode => <>{amount(perMonth(of, window))} per month of 730 h</>;
  return (
    <>
      <dl class="figures">
        <Figure title={`The owner would have paid less in ${days}, ${currency}`} beside={month(saving.owner)}>
          {amount(saving.owner)}
        </Figure>
        <Figure title="The organization would have paid less" beside={month(saving.organization)}>
          {amount(saving.organization)}
        </Figure>
        <Figure title="The same, if the freed GPUs leave" beside={month(saving.organizationIfFreedLeave)}>
          {amount(saving.organizationIfFreedLeave)}
        </Figure>
      </dl>
      {saving.freed > 0n && (
        <p>
          The freed GPUs cost {amount(saving.freed)} {currency} more without a holder. The organization saves that
          amount only if their nodes leave the fleet.
        </p>
      )}
    </>
  );
}

function Charts({ hours, from }: { readonly hours: CardHours; readonly from: number }): VNode {
  const activity = [
    { name: "highest sample", values: hours.max, color: "var(--idle)" },
    { name: "mean", values: hours.mean, color: "var(--active)" },
  ];
  const memory = hours.memoryMiB.map((mib) => (mib < 0 ? mib : Math.round(mib / 102.4) / 10));
  return (
    <>
      <h3>Activity of the devices in each hour</h3>
      <HoursChart title="Activity in each hour" lines={activity} from={from} unit="%" most={100} />
      <h3>Memory in use, of the device that used most</h3>
      <HoursChart
        title="Memory in use in each hour"
        lines={[{ name: "memory", values: memory, color: "var(--active)" }]}
        from={from}
        unit="GiB"
      />
      <h3>Devices held</h3>
      <HoursChart
        title="Devices held in each hour"
        lines={[{ name: "devices", values: hours.devices, color: "var(--active)" }]}
        from={from}
        unit=""
        height={110}
      />
    </>
  );
}

/** The bill of the changed GPUs as it was, and after the change. A viewer of some teams sees the lines of these teams. */
function Bills({ card: { lines, currency } }: { readonly card: Card }): VNode {
  if (lines.length === 0)
    return (
      <Empty>
        <p>You may see no line of these bills.</p>
      </Empty>
    );
  const column = (of: (line: Card["lines"][number]) => Amount) =>
    moneyColumn(lines, (line) => formatAmount(of(line)), currency);
  return (
    <Table
      caption={`The GPUs that the change affects, in the window (${currency})`}
      rows={lines}
      columns={[
        { head: "team", cell: ({ team }) => <bdi>{team}</bdi>, foot: "sum" },
        { head: "state", cell: ({ state }) => state },
        { head: "as it was", ...column(({ was }) => was) },
        { head: "otherwise", ...column(({ otherwise }) => otherwise) },
        { head: "less", ...column(({ was, otherwise }) => difference(was, otherwise)) },
      ]}
    />
  );
}

/** Lines to copy. A click selects all of them. */
function Lines({ text, label }: { readonly text: string; readonly label: string }): VNode {
  return (
    <pre class="lines" tabIndex={0} role="region" aria-label={label}>
      <code>{text}</code>
    </pre>
  );
}

function List({ items, none }: { readonly items: readonly string[]; readonly none: string }): VNode {
  if (items.length === 0) return <p>{none}</p>;
  return (
    <ul>
      {items.map((item) => (
        <li>
          <bdi>{item}</bdi>
        </li>
      ))}
    </ul>
  );
}
