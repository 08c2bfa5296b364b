import { createHash } from "node:crypto";
import { DEAD_LETTER_TOPIC } from "../../domain/messages/topics.ts";
import { readDeadLetter, type DeadLetter } from "../../processors/ingest/dead-letter.ts";
import { BusError, type Bus } from "../../runtime/bus/bus.ts";
import { openBus } from "../../runtime/bus/open.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { createLogger } from "../../runtime/telemetry/log.ts";
import { CommandError, type CommandContext } from "../context.ts";
import { renderTable } from "../table.ts";

/** The options of `gpu-ledger dead-letter replay`. */
export interface DeadLetterOptions {
  readonly config?: string;
}

/** The options of `gpu-ledger dead-letter list`. */
export interface DeadLetterListOptions extends DeadLetterOptions {
  readonly format: string;
}

/** The options of `gpu-ledger dead-letter show`. */
export interface DeadLetterShowOptions extends DeadLetterOptions {
  readonly raw?: true;
}

interface ListedDeadLetter extends DeadLetter {
  readonly id: number;
  readonly at: string;
}

const PAGE = 500;

/** Prints the dead letters. */
export async function runDeadLetterList(options: DeadLetterListOptions, context: CommandContext): Promise<void> {
  if (options.format !== "table" && options.format !== "json") {
    throw new CommandError(`--format ${options.format}: must be table or json`, 2);
  }
  await withBus(options, context, async (bus) => {
    const letters = await readAll(bus);
    if (options.format === "json") {
      const shown = letters.map(({ value, ...rest }) => ({ ...rest, bytes: value.length }));
      context.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
      return;
    }
    const rows = letters.map((letter) => {
      const { id, at, reason, value, cause } = letter;
      return [String(id), at, reason, placeOf(letter), String(value.length), cause.slice(0, 80)];
    });
    const header = ["id", "at", "reason", "position", "bytes", "cause"];
    context.stdout.write(rows.length === 0 ? "no dead letters\n" : `${renderTable(header, rows)}\n`);
  });
}

/** Prints one dead letter, or only its bytes. Fails with a `CommandError` if there is none with this id. */
export async function runDeadLetterShow(
  id: string,
  options: DeadLetterShowOptions,
  context: CommandContext,
): Promise<void> {
  await withBus(options, context, async (bus) => {
    const { value, ...rest } = await readOne(bus, id);
    if (options.raw === true) context.stdout.write(value);
    else context.stdout.write(`${JSON.stringify(rest, null, 2)}\n${hexDump(value)}\n`);
  });
}

/** Sends dead letters to their topic again. Fails with a `CommandError` at the first id without a dead letter. */
export async function runDeadLetterReplay(
  ids: readonly string[],
  options: DeadLetterOptions,
  context: CommandContext,
): Promise<void> {
  await withBus(options, context, async (bus) => {
    for (const id of ids) {
      const { topic, key, value, schemaVersion } = await readOne(bus, id);
      await bus.send(topic, [{ key, value, schemaVersion }]);
      context.stdout.write(`${id}: sent to ${topic} again\n`);
    }
  });
}

async function withBus<Value>(
  options: DeadLetterOptions,
  { env }: CommandContext,
  use: (bus: Bus) => Promise<Value>,
): Promise<Value> {
  const { config } = loadConfig(options.config, env);
  const bus = await openBus(config, createLogger("error"));
  try {
    return await use(bus);
  } finally {
    await bus.close();
  }
}

/**
 * Returns each dead letter once. After a rebalance or a restart, a processor sends those of its last batch again. They have the same position and
 * the same bytes.
 */
async function readAll(bus: Bus): Promise<readonly ListedDeadLetter[]> {
  const [watermarks] = await bus.watermarks(DEAD_LETTER_TOPIC).catch(noneWithoutTopic);
  if (watermarks === undefined) return [];
  const letters = new Map<string, ListedDeadLetter>();
  for (let from = watermarks.low; from < watermarks.high; from += PAGE) {
    const page = await bus.read(
      { topic: DEAD_LETTER_TOPIC, partition: 0 },
      from,
      Math.min(PAGE, watermarks.high - from),
    );
    for (const letter of page.map(toListed)) {
      const same = `${placeOf(letter)} ${createHash("sha256").update(letter.value).digest("hex")}`;
      if (!letters.has(same)) letters.set(same, letter);
    }
  }
  return [...letters.values()];
}

function placeOf({ topic, partition, offset }: DeadLetter): string {
  return `${topic}/${partition}/${offset}`;
}

async function readOne(bus: Bus, id: string): Promise<ListedDeadLetter> {
  const offset = Number(id);
  if (!Number.isInteger(offset) || offset < 0) throw new CommandError(`${id} is not the id of a dead letter`, 2);
  const [letter] = await bus.read({ topic: DEAD_LETTER_TOPIC, partition: 0 }, offset, 1).catch(noneWithoutTopic);
  if (letter?.offset !== offset) throw new CommandError(`there is no dead letter ${id}`);
  return toListed(letter);
}

/** Returns nothing for a topic that does not exist yet, because no message was sent. */
function noneWithoutTopic(error: unknown): [] {
  if (error instanceof BusError && error.code === "unknown-topic") return [];
  throw error;
}

function toListed(message: Parameters<typeof readDeadLetter>[0]): ListedDeadLetter {
  return { id: message.offset, at: new Date(message.sentAtMillis).toISOString(), ...readDeadLetter(message) };
}

/** Returns 16 bytes in each line, in hexadecimal and as text. */
function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const part = Buffer.from(bytes.subarray(at, at + 16));
    const text = part.toString("latin1").replace(/[^\u0020-\u007e]/g, ".");
    const hex = (part.toString("hex").match(/../g) ?? []).join(" ");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(47)}  ${text}`);
  }
  return lines.join("\n");
}
