import { CARD_KINDS, confidenceOf, namedNodes, type Card } from "../../domain/advice/card.ts";
import { perMonth } from "../../domain/advice/card-json.ts";
import { counted } from "../../domain/counted.ts";
import { DAY_MILLIS, momentText } from "../../domain/time.ts";
import { lessText, subjectText } from "./text.ts";

/** A file with the change of a card, for a person to read and to apply. */
export interface ChangeFile {
  /** `c00fb099104a-idle-workload.sh` for commands, `.yaml` for lines of a manifest. */
  readonly name: string;
  readonly text: string;
}

/** Names of Kubernetes' objects, namespaces and kinds. Other names could be options, or further commands. */
const NAME = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i;

/**
 * Returns the change of a card as a file: commands, or lines of a manifest, with the text of the card as comments. Undefined if a name in it
 * is not a valid name in Kubernetes, such as a name that only an exporter has reported: the file could do something else.
 */
export function changeFileOf(card: Card): ChangeFile | undefined {
  if (!namesOf(card).every((name) => NAME.test(name))) return undefined;
  const { id, kind, remedy, subject } = card;
  const isCommand = remedy.lines.split("\n").every((line) => line.startsWith("kubectl "));
  const use = isCommand
    ? `Run it with kubectl's context of the cluster ${subject.cluster}.`
    : `Merge these lines into the manifest of ${subjectText(card)} in the cluster ${subject.cluster}.`;
  const comment = [...commentOf(card), "", `gpu-ledger changes nothing in a cluster. Read this file first. ${use}`];
  const text = [
    ...(isCommand ? ["#!/bin/sh"] : []),
    ...comment.flatMap((line) => line.split(LINE_BREAK)).map((line) => `# ${line}`.trimEnd()),
    ...(isCommand ? ["set -eu"] : []),
    remedy.lines,
    "",
  ].join("\n");
  return { name: `${id}-${kind}.${isCommand ? "sh" : "yaml"}`, text };
}

/** Everything that ends a line for some reader, so that no text of a comment becomes a command. */
const LINE_BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;

function namesOf({ subject, changes }: Card): readonly string[] {
  const { namespace, kind, workload } = subject;
  return workload === "" ? namedNodes(changes) : [namespace, kind, workload];
}

function commentOf(card: Card): readonly string[] {
  const { id, kind, window, currency, saving, remedy, risks, doubts, subject } = card;
  const days = counted(Math.round((window.until - window.from) / DAY_MILLIS), "day");
  return [
    `Card ${id}: ${CARD_KINDS[kind]}`,
    `${subjectText(card)} of ${subject.team}, from ${momentText(window.from)} to ${momentText(window.until)} (UTC)`,
    "",
    remedy.what,
    `In ${days} the owner would have paid ${lessText(saving.owner, currency)}, ${lessText(perMonth(saving.owner, window), currency)} a month.`,
    `The organization would have paid ${lessText(saving.organization, currency)}, and ${lessText(saving.organizationIfFreedLeave, currency)} if freed GPUs leave.`,
    ...risks.map((risk) => `Risk: ${risk}`),
    `Confidence: ${confidenceOf(card)}`,
    ...doubts.map((doubt) => `Doubt: ${doubt}`),
  ];
}
