import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { VNode } from "preact";
import { z } from "zod";
import { PERIOD_FORM, readPeriod } from "../../domain/period.ts";
import { instantOf, INSTANT_FORM } from "../../domain/price/instant.ts";
import { DECISIONS, writeMark, type Decision } from "../advice/marks.ts";
import { readAdviceCard } from "../advice/read-cards.ts";
import type { ApiContext } from "../api/context.ts";
import { CloseRefused, type ClosePreview } from "../closing.ts";
import { address } from "../parts/address.ts";
import { cardAddress } from "../parts/cards.tsx";
import { Hours, Money } from "../parts/money.tsx";
import { Notes } from "../parts/notes.tsx";
import { Table } from "../parts/table.tsx";
import { Problem } from "../question/problem.ts";
import type { LoginPage } from "./login.tsx";

const CLOSE_PATH = "/statement/close";

/** The longest reason. */
const LONGEST = 1_000;

const asked = z.object({ period: z.string().max(LONGEST) });
const closeForm = z.object({
  period: z.string().max(LONGEST),
  action: z.enum(["preview", "close"]),
  typed: z.string().max(LONGEST).default(""),
  why: z.string().trim().max(LONGEST).default(""),
});
const markForm = z.object({
  id: z.string().min(1).max(100),
  as: z.enum(DECISIONS),
  why: z.string().trim().min(1, "must have the reason").max(LONGEST),
  until: z.string().max(LONGEST).default(""),
});

/** The parts that decisions use. */
export interface DecisionParts extends Pick<ApiContext, "store" | "closing" | "answers" | "now"> {
  readonly page: LoginPage;
}

/**
 * Adds everything that changes the ledger in a browser: the close of a billing period with a preview and a typed confirmation, and decisions
 * about cards. The audit trail has the viewer's name and reason. Requests from other sites are refused before (`runtime/http/sites.ts`).
 */
export function addDecisions(server: FastifyInstance, { store, closing, answers, now, page }: DecisionParts): void {
  const hidden = { schema: { hide: true } };
  const send = (request: FastifyRequest, reply: FastifyReply, view: CloseView): FastifyReply =>
    reply
      .code(view.problem === undefined ? 200 : 409)
      .header("cache-control", "no-store")
      .type("text/html; charset=utf-8")
      .send(page(request, `Close ${view.period}`, <ClosePage {...view} />));

  server.get(CLOSE_PATH, hidden, (request, reply) =>
    send(request, reply, { period: periodIn(parsed(asked, request.query).period), why: "" }),
  );

  server.post(CLOSE_PATH, hidden, async (request, reply) => {
    const { action, typed, why, ...of } = parsed(closeForm, request.body);
    const period = periodIn(of.period);
    const by = request.viewer.name;
    if (action === "preview") return send(request, reply, { period, why, preview: await closing.preview(period, by) });
    if (typed !== period) return send(request, reply, { period, why, problem: `type ${period} to confirm the close` });
    if (why === "") return send(request, reply, { period, why, problem: "a close is final: write its reason" });
    try {
      await closing.close(period, { by, why });
    } catch (error) {
      if (!(error instanceof CloseRefused)) throw error;
      return send(request, reply, { period, why, problem: error.message });
    }
    answers.forgetVersion();
    return reply.redirect(address("/statement", { period }), 303);
  });

  server.post("/advice/mark", hidden, async (request, reply) => {
    const { id, as: what, why, until } = parsed(markForm, request.body);
    if ((await readAdviceCard(store, id, request.viewer)) === undefined)
      throw new Problem("not-found", `there is no card ${id}`);
    const mark = { what, at: now(), until: endOf(until, what, now()), who: request.viewer.name, why };
    await writeMark(store, id, mark);
    answers.forgetVersion();
    return reply.redirect(cardAddress(id), 303);
  });
}

function parsed<Of>(schema: z.ZodType<Of>, given: unknown): Of {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Problem("wrong-parameter", `${issue!.path.join(".")}: ${issue!.message}`);
}

function periodIn(text: string): string {
  const period = readPeriod(text);
  if (period === undefined)
    throw new Problem("wrong-parameter", `period: ${JSON.stringify(text)} is not ${PERIOD_FORM}`);
  return period.name;
}

/** Returns the end of a dismissal, a day or a time; undefined without one. */
function endOf(text: string, what: Decision, now: number): number | undefined {
  if (text === "" || what !== "dismissed") return undefined;
  const until = instantOf(text);
  if (until === undefined || until <= now)
    throw new Problem("wrong-parameter", `until: must be ${INSTANT_FORM}, in the future`);
  return until;
}

interface CloseView {
  readonly period: string;
  readonly why: string;
  readonly preview?: ClosePreview;
  /** The reason why the close was refused. */
  readonly problem?: string;
}

function ClosePage({ period, why, preview, problem }: CloseView): VNode {
  return (
    <>
      <h1>Close {period}</h1>
      <p class="lead">
        A close freezes the month: its charges, prices, owners and statements. Later changes become corrections in the
        open month. Nobody can take a close back.
      </p>
      {problem !== undefined && (
        <div class="notice" role="alert">
          <p>
            <strong>Not closed:</strong> {problem}.
          </p>
        </div>
      )}
      {preview !== undefined && <Preview preview={preview} />}
      <form class="view" method="post" action={CLOSE_PATH}>
        <input type="hidden" name="period" value={period} />
        <label>
          Reason, for the audit trail
          <input name="why" value={why} maxLength={LONGEST} size={40} />
        </label>
        <label>
          Type {period} to confirm
          <input name="typed" autocomplete="off" size={12} />
        </label>
        <button type="submit" name="action" value="preview">
          Preview
        </button>
        <button type="submit" name="action" value="close">
          Close {period}
        </button>
      </form>
      <p class="links">
        <a href={address("/statement", { period })}>The statement of {period}</a>
        <a href="/periods">The periods</a>
      </p>
    </>
  );
}

function Preview({ preview }: { readonly preview: ClosePreview }): VNode {
  const { posted, currency, unowned, unpricedGpuHours, objections, differences } = preview;
  return (
    <>
      <p>
        A close would post{" "}
        <strong>
          <Money amount={posted} currency={currency} /> {currency}
        </strong>
        , of which <Money amount={unowned} currency={currency} /> {currency} have no owner.{" "}
        <Hours hours={unpricedGpuHours} /> GPU-hours have no price and no cost.
      </p>
      {objections.length === 0 ? <p>The month can be closed.</p> : <Notes notes={objections} />}
      {differences !== undefined && (
        <Table
          caption="Changes since the last preview"
          rows={differences}
          columns={[
            { head: "of", cell: ({ what }) => <bdi>{what}</bdi>, foot: differences.length === 0 ? "none" : undefined },
            { head: "before", isNumber: true, cell: ({ before }) => before || "none" },
            { head: "now", isNumber: true, cell: ({ now }) => now || "none" },
          ]}
        />
      )}
    </>
  );
}

/** The form for a decision about a card. */
export function MarkForm({ id }: { readonly id: string }): VNode {
  return (
    <form class="view" method="post" action="/advice/mark">
      <input type="hidden" name="id" value={id} />
      <label>
        Decision
        <select name="as">
          <option value="taken">taken: the change is made</option>
          <option value="dismissed">dismissed: the change is not wanted</option>
          <option value="open">open again</option>
        </select>
      </label>
      <label>
        Dismissed until
        <input type="date" name="until" />
      </label>
      <label>
        Reason, for the audit trail
        <input name="why" required maxLength={LONGEST} size={40} />
      </label>
      <button type="submit">Decide</button>
    </form>
  );
}
