import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DAY_MILLIS } from "../domain/time.ts";
import type { Period } from "../reports/read/periods.ts";
import type { SystemStatus } from "../services/system.ts";
import { defineBench, report, withKit, type Kit } from "./frame.ts";
import { familyMegabytes } from "./measure.ts";
import { commandFolder } from "./parts.ts";

const LONGEST_SECONDS = 900;
/** The time without a waiting hour after which the past is complete. Hours that another hour reopens wait again within it. */
const QUIET_SECONDS = 5;
const EIGHT_DAYS_MILLIS = 8 * DAY_MILLIS;

/** The seconds of a first start since its pages' program began, and the memory of all of its processes after the last of them. */
interface FirstStart {
  readonly pages: number;
  readonly charged: number;
  readonly cards: number;
  readonly closed: number;
  readonly megabytes: number;
}

/**
 * `gpu-ledger up` on an empty folder, with the demo: the time until its pages answer, its eight days are charged, its cards are made, and the
 * month before is closed; and the memory after a minute of rest.
 */
export const start = defineBench({
  name: "start",
  about: "the first start with the demo: pages, the charged past, the cards, memory",
  options: { gpus: 96, runs: 3, rest: 60 },
  async run({ gpus, runs, rest }) {
    const starts: FirstStart[] = [];
    for (let run = 0; run < runs; run++) starts.push(await withKit((kit) => startOnce(kit, gpus, rest)));
    const of = (name: keyof FirstStart): readonly number[] => starts.map((each) => each[name]);
    report("a first start to its pages", of("pages"), "s", { atMost: 6 });
    report("a first start to eight charged days", of("charged"), "s", { atMost: 60 });
    report("a first start to the cards", of("cards"), "s", { atMost: 60 });
    report("a first start to a closed month", of("closed"), "s");
    report(`memory of all processes ${rest} s later (PSS)`, of("megabytes"), "MB", { atMost: 900 });
  },
});

async function startOnce(kit: Kit, gpus: number, rest: number): Promise<FirstStart> {
  const folder = commandFolder(kit);
  const settings = { data: join(folder.path, "data"), server: { listen: "127.0.0.1:0" }, demo: { gpus } };
  const config = folder.write("gpu-ledger.yaml", settings);
  const begunAt = Date.now();
  const begun = performance.now();
  const command = folder.start(["up", "--log", "json", "--config", config]);
  const address = await command.address();
  const status = (): Promise<SystemStatus | undefined> => answerOf(`${address}/api/status`);

  /** Resolves with the seconds since the start when a condition has held for `quiet` seconds: the time when it began to hold. */
  async function when(holds: () => Promise<boolean>, quiet = 0): Promise<number> {
    let since: number | undefined;
    for (;;) {
      const seconds = (performance.now() - begun) / 1000;
      if (seconds > LONGEST_SECONDS) throw new Error(`not complete within ${LONGEST_SECONDS} s:\n${command.log()}`);
      since = (await holds()) ? (since ?? seconds) : undefined;
      if (since !== undefined && seconds - since >= quiet) return since;
      await pause(250);
    }
  }

  // The messages of the older past, which follow, are no part of the eight days.
  let isStored = false;
  const pages = await when(async () => (await status()) !== undefined);
  const charged = await when(async () => {
    const { demo, processor } = (await status()) ?? {};
    isStored ||= (demo?.history.sent ?? 0) > 0 && (processor?.lagMessages ?? Infinity) < 50;
    const waiting = processor?.hoursWaiting?.filter((hour) => hour > begunAt - EIGHT_DAYS_MILLIS);
    return isStored && waiting?.length === 0;
  }, QUIET_SECONDS);
  const cards = await when(async () => {
    const advice = await answerOf<{ readonly cards: readonly unknown[] }>(`${address}/api/v1/advice`);
    return advice !== undefined && advice.cards.length > 0;
  });
  const closed = await when(async () => {
    const books = await answerOf<{ readonly periods: readonly Period[] }>(`${address}/api/v1/periods`);
    return books?.periods.some((period) => period.status === "closed") === true;
  });
  await pause(rest * 1000);
  const megabytes = familyMegabytes(command.processId);
  await command.end("SIGINT");
  return { pages, charged, cards, closed, megabytes };
}

async function answerOf<Answer>(url: string): Promise<Answer | undefined> {
  const answer = await fetch(url).catch(() => undefined);
  return answer?.ok === true ? ((await answer.json()) as Answer) : undefined;
}
