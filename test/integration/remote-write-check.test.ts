import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { freePort } from "../support/ports.ts";

describe("gpu-ledger check of remote write", () => {
  let folder: CommandFolder;
  beforeAll(() => {
    folder = createCommandFolder();
  });
  afterAll(() => folder.dispose());

  const check = async (listen: string, server: string): Promise<string> => {
    const config = { data: "data", server: { listen: server }, collector: { remoteWrite: { listen } } };
    return (await folder.call(["check", "--config", folder.write("c.json", config)])).stdout;
  };

  it("finds whether the port is free", async () => {
    const [port, server] = [await freePort(), `127.0.0.1:${await freePort()}`];
    expect(await check(`127.0.0.1:${port}`, server)).toMatch(
      new RegExp(`^ok {4}collector\\.remoteWrite: 127\\.0\\.0\\.1:${port} is free`, "m"),
    );
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    expect(await check(`127.0.0.1:${port}`, server)).toMatch(/^FAIL {2}collector\.remoteWrite: .*EADDRINUSE/m);
    await new Promise((resolve) => other.close(resolve));
  });

  it("shows what senders leave out, from a running collector", async () => {
    const leftOut = [{ what: "up", text: "no `up` for 2 of 2 targets" }];
    const remoteWrite = { senders: 1, targets: { total: 2, up: 2 }, leftOut };
    const running = createServer((_, response) => response.end(JSON.stringify({ collector: { remoteWrite } })));
    await new Promise<void>((resolve) => running.listen(0, "127.0.0.1", resolve));
    const text = await check("127.0.0.1:9095", `127.0.0.1:${(running.address() as AddressInfo).port}`);
    expect(text).toMatch(/^ok {4}collector\.remoteWrite: 1 sender, 2 of 2 targets up$/m);
    expect(text).toMatch(/^ok {4}collector\.remoteWrite: senders leave out: no `up` for 2 of 2 targets$/m);
    await new Promise((resolve) => running.close(resolve));
  });
});
