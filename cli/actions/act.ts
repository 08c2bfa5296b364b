import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { changeFileOf } from "../../reports/advice/change-file.ts";
import { postingOfCard } from "../../reports/delivery/card-posting.ts";
import { DeliveryError } from "../../reports/delivery/error.ts";
import { postToWebhook } from "../../reports/delivery/webhook.ts";
import { readAdviceCards, readAdviceRun, type StoredCard } from "../../reports/advice/read-cards.ts";
import type { ConfiguredWebhook } from "../../runtime/config/deliveries.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import type { Config } from "../../runtime/config/schema.ts";
import { CommandError, errorText, type CommandContext } from "../context.ts";
import { openStore } from "../store.ts";
import { writeOut } from "../write-out.ts";

/** The options of `gpu-ledger act`. */
export interface ActOptions {
  readonly dryRun?: true;
  readonly out?: string;
  readonly post?: true;
  readonly card: readonly string[];
  readonly team?: string;
  readonly kind?: string;
  readonly config?: string;
}

/** The most files of one run. */
const MOST_CARDS = 10_000;

/** Writes or posts the changes of cards. */
export async function runAct(
  { dryRun, out, post, config: path, ...asked }: ActOptions,
  context: CommandContext,
): Promise<void> {
  if (dryRun !== true)
    throw new CommandError("--dry-run is required: gpu-ledger hands over, and changes nothing in a cluster", 2);
  if (out === undefined && post === undefined) throw new CommandError("one of --out and --post is required", 2);
  const { config } = loadConfig(path, context.env);
  const { webhook } = config.act;
  if (post === true && webhook === undefined) throw new CommandError("--post: the configuration has no act.webhook", 2);
  const cards = await cardsOf(config, asked);
  if (out !== undefined) await writeCards(cards, out, context);
  if (post === true) await postCards(cards, webhook!, context);
}

async function writeCards(cards: readonly StoredCard[], out: string, context: CommandContext): Promise<void> {
  try {
    await mkdir(out, { recursive: true });
  } catch (error) {
    throw new CommandError(`--out ${out}: cannot be made: ${errorText(error)}`);
  }
  for (const { card } of cards) {
    const file = changeFileOf(card);
    if (file === undefined) {
      context.stderr.write(`${card.id}: no file, because a name in it is not a valid name in Kubernetes\n`);
      continue;
    }
    const name = join(out, file.name);
    await writeOut(context, name, [file.text]);
    context.stdout.write(`${name}\n`);
  }
}

/** Posts cards one after the other. The first one that the webhook refuses ends the command. */
async function postCards(
  cards: readonly StoredCard[],
  webhook: ConfiguredWebhook,
  context: CommandContext,
): Promise<void> {
  for (const stored of cards) {
    const { id } = stored.card;
    try {
      await postToWebhook(webhook, postingOfCard(stored), {
        version: context.version,
        signal: new AbortController().signal,
      });
    } catch (error) {
      if (error instanceof DeliveryError) throw new CommandError(`card ${id}: ${error.message}`);
      throw error;
    }
    context.stdout.write(`${id} posted\n`);
  }
}

/** Returns the chosen cards of the newest run that are not dismissed. */
async function cardsOf(
  config: Config,
  { card: ids, team, kind }: Pick<ActOptions, "card" | "team" | "kind">,
): Promise<readonly StoredCard[]> {
  const store = await openStore(config);
  try {
    const run = await readAdviceRun(store);
    if (run === undefined)
      throw new CommandError("there are no cards yet: the leading processor makes them after midnight");
    const seeing = { teams: "all", now: Date.now() } as const;
    const cards = await readAdviceCards(store, run, seeing, { team, kind, limit: MOST_CARDS });
    const missing = ids.filter((id) => !cards.some(({ card }) => card.id === id));
    if (missing.length > 0)
      throw new CommandError(`--card ${missing.join(", ")}: not in the newest cards, or dismissed`, 2);
    return ids.length === 0 ? cards : cards.filter(({ card }) => ids.includes(card.id));
  } finally {
    await store.close();
  }
}
