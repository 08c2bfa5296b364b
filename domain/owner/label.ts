import type { Owner } from "./owner.ts";
import type { Marks } from "../marks.ts";
import type { LabelRule } from "./rule.ts";
import type { Source } from "./source.ts";

/**
 * Returns the source that reads a label or annotation. A label takes precedence over an annotation of the same name. An empty text is not a
 * value.
 */
export function sourceOfLabel(rule: LabelRule): Source {
  if ("podAnnotation" in rule) {
    const { podAnnotation: name } = rule;
    return ({ pod }) => answerOf(textOf(pod.annotations, name), rule.name, `podAnnotation ${name}`);
  }
  if ("namespaceLabel" in rule) {
    const { namespaceLabel: name } = rule;
    return ({ namespaceMarks }) => answerOf(markOf(namespaceMarks, name), rule.name, `namespaceLabel ${name}`);
  }
  if ("podLabel" in rule) {
    const { podLabel: name } = rule;
    return ({ pod }) => answerOf(markOf(pod, name), rule.name, `podLabel ${name}`);
  }
  const { ownerLabel: name } = rule;
  return ({ owner }) => answerOf(markOf(owner, name), rule.name, `ownerLabel ${name}`);
}

/** Returns the label, or else the annotation, of a name. */
function markOf(marks: Marks | undefined, name: string): string | undefined {
  return marks === undefined ? undefined : (textOf(marks.labels, name) ?? textOf(marks.annotations, name));
}

function textOf(texts: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

function answerOf(value: string | undefined, name: string | undefined, source: string): readonly Owner[] {
  return value === undefined || value === "" ? [] : [{ value, rule: name ?? source, source }];
}
