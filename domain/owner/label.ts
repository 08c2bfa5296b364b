import type { Marks, Owner } from "./owner.ts";
import type { LabelRule } from "./rule.ts";
import type { Source } from "./source.ts";

/**
 * The source that reads a label or annotation. A label counts before an annotation of the same name, and an empty text is no
 * answer.
 */
export function sourceOfLabel(rule: LabelRule, place: string): Source {
  if ("podAnnotation" in rule) {
    const { podAnnotation: name } = rule;
    return ({ pod }) => answerOf(textOf(pod.annotations, name), place, `podAnnotation ${name}`);
  }
  if ("namespaceLabel" in rule) {
    const { namespaceLabel: name } = rule;
    return ({ namespaceMarks }) => answerOf(markOf(namespaceMarks, name), place, `namespaceLabel ${name}`);
  }
  if ("podLabel" in rule) {
    const { podLabel: name } = rule;
    return ({ pod }) => answerOf(markOf(pod, name), place, `podLabel ${name}`);
  }
  const { ownerLabel: name } = rule;
  return ({ owner }) => answerOf(markOf(owner, name), place, `ownerLabel ${name}`);
}

/** A label counts before an annotation of the same name. */
function markOf(marks: Marks | undefined, name: string): string | undefined {
  return marks === undefined ? undefined : (textOf(marks.labels, name) ?? textOf(marks.annotations, name));
}

function textOf(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

/** An empty text is no answer. */
function answerOf(value: string | undefined, place: string, source: string): readonly Owner[] {
  return value === undefined || value === "" ? [] : [{ value, place, source }];
}
