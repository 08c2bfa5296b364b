import type { ComponentChildren, VNode } from "preact";

/** How a text in Markdown is completed: its code and the targets of its links. */
export interface Markup {
  /** Returns code as it is shown. `language` is the word after the fence; undefined for code within a sentence. */
  readonly code: (code: string, language: string | undefined) => string;
  readonly href: (target: string) => string;
}

/**
 * A text in Markdown as our documents use it: headings, paragraphs, lists with blocks in them, fenced code and tables, which stay as they are
 * written; in a sentence code and links.
 */
export function Markdown({ text, markup }: { readonly text: string; readonly markup: Markup }): VNode {
  return <>{blocksOf(text.split("\n"), markup)}</>;
}

const ITEM = /^(?:(\d+)\.|-) +/;
const FENCE = /^```(\w*)$/;

function blocksOf(lines: readonly string[], markup: Markup): VNode[] {
  const blocks: VNode[] = [];
  let at = 0;
  /** Takes the lines from here on for which a condition holds. */
  const take = (isPart: (line: string, index: number) => boolean): string[] => {
    const from = at;
    while (at < lines.length && isPart(lines[at]!, at - from)) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const [, depth, title] = /^(#+) (.*)$/.exec(line) ?? [];
    const [fence, language] = FENCE.exec(line) ?? [];
    const marker = ITEM.exec(line);
    if (line === "") at += 1;
    else if (depth !== undefined) {
      blocks.push(depth === "#" ? <h1>{title}</h1> : <h2>{title}</h2>);
      at += 1;
    } else if (fence !== undefined) {
      at += 1;
      const code = take((each) => each !== "```");
      at += 1;
      blocks.push(<Code code={markup.code(code.join("\n"), language)} />);
    } else if (marker !== null) {
      const isOfList = (each: string): boolean => each === "" || each.startsWith(" ") || ITEM.test(each);
      const items = itemsOf(take(isOfList)).map((item) => <li>{blocksOf(item, markup)}</li>);
      blocks.push(marker[1] === undefined ? <ul>{items}</ul> : <ol>{items}</ol>);
    } else if (line.startsWith("|")) {
      blocks.push(<Code code={take((each) => each.startsWith("|")).join("\n")} />);
    } else {
      const isOfParagraph = (each: string, index: number): boolean =>
        each !== "" && (index === 0 || !(FENCE.test(each) || ITEM.test(each)));
      blocks.push(<p>{inline(take(isOfParagraph).join(" "), markup)}</p>);
    }
  }
  return blocks;
}

/** Returns the lines of each item of a list, without its marker and its indentation. */
function itemsOf(lines: readonly string[]): string[][] {
  const items: string[][] = [];
  let indent = 0;
  for (const line of lines) {
    const marker = ITEM.exec(line);
    if (marker !== null) {
      indent = marker[0].length;
      items.push([line.slice(indent)]);
    } else items.at(-1)!.push(line.slice(Math.min(indent, line.length - line.trimStart().length)));
  }
  return items;
}

/** Code of several lines. It can be scrolled with the keyboard. */
function Code({ code }: { readonly code: string }): VNode {
  return (
    <pre class="lines" tabIndex={0}>
      <code>{code}</code>
    </pre>
  );
}

function inline(text: string, { code, href }: Markup): ComponentChildren {
  return text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (part.startsWith("`")) return <code>{code(part.slice(1, -1), undefined)}</code>;
    const [, name, target] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
    return name === undefined ? part : <a href={href(target!)}>{name}</a>;
  });
}
