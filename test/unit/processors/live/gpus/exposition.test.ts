import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createPageWriter, labelText } from "../../../../../processors/live/gpus/exposition.ts";

const NOTHING = Buffer.alloc(0);

describe("labels as text", () => {
  it("have backslashes, quotes and line feeds escaped, and nothing else", () => {
    expect(labelText(["a", "b"], ['1"2\\3\n4', "\té"])).toBe('a="1\\"2\\\\3\\n4",b="\té"');
  });
});

describe("the writer of a page", () => {
  it("passes on one chunk at a time, and writes no chunk before its sink is ready", async () => {
    const chunks: string[] = [];
    const done: (() => void)[] = [];
    const writer = createPageWriter((chunk) => {
      chunks.push(String(chunk));
      return new Promise((resolve) => done.push(resolve));
    });
    const labels = Buffer.from('a="1",b="2"');
    writer.sample(Buffer.from("one"), labels, 0, 5, Buffer.from(',c="3"'), 0.25);
    await writer.flush(1, 0);
    writer.sample(Buffer.from("two"), labels, 6, 11, NOTHING, -1e21);
    const flushed = writer.flush(1, 0);
    await setImmediate();
    expect(chunks).toEqual(['one{a="1",c="3"} 0.25\n']);
    done[0]!();
    await flushed;
    expect(chunks.slice(1)).toEqual(['two{b="2"} -1e+21\n']);
    done[1]!();
    await writer.end();
    expect(chunks).toHaveLength(2);
  });

  it("fails at its end if the sink failed while the next chunk was written", async () => {
    const writer = createPageWriter(() => Promise.reject(new Error("the reader has gone")));
    writer.text("one 1\n");
    await writer.flush(0, 0);
    await setImmediate();
    await expect(writer.end()).rejects.toThrow("the reader has gone");
  });
});
