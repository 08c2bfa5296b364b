import { describe, expect, it } from "vitest";

import { authenticate } from "../../../../../runtime/store/embedded/credentials.ts";
import {
  adapterErrorOf,
  httpStatusOf,
  renderAdapterError,
} from "../../../../../runtime/store/embedded/adapter-error.ts";
import { readClaimedUser, readStatementRequest } from "../../../../../runtime/store/embedded/http-request.ts";

const url = (path: string) => new URL(path, "http://127.0.0.1");
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
const user = { username: "gpu_ledger", password: "i".repeat(20) };

describe("reading a request", () => {
  it("separates parameters, settings and the interface's own parameters", () => {
    const request = readStatementRequest(
      "POST",
      url(
        "/?query=SELECT+1&database=d&param_x=a%5Ctb&max_threads=2&default_format=Native&query_id=q&wait_end_of_query=1",
      ),
      { "accept-encoding": "gzip, br", "content-encoding": "gzip" },
    );
    expect(request).toMatchObject({
      urlQuery: "SELECT 1",
      database: "d",
      defaultFormat: "Native",
      bodyEncoding: "gzip",
      acceptsGzip: false,
      readOnly: false,
    });
    expect([...request.parameters]).toEqual([["x", "a\\tb"]]);
    expect([...request.settings]).toEqual([["max_threads", "2"]]);
  });

  it("compresses answers only if the client requests it twice, as the interface requires", () => {
    const asked = (path: string, encoding?: string) =>
      readStatementRequest("GET", url(path), encoding === undefined ? {} : { "accept-encoding": encoding }).acceptsGzip;
    expect(asked("/?enable_http_compression=1", "gzip")).toBe(true);
    expect(asked("/?enable_http_compression=1")).toBe(false);
    expect(asked("/", "gzip")).toBe(false);
  });

  it("refuses unsupported requests with ClickHouse's error number", () => {
    const read =
      (path: string, headers = {}) =>
      () =>
        readStatementRequest("POST", url(path), headers);
    expect(read("/?compress=1")).toThrow(expect.objectContaining({ clickhouseCode: 48 }));
    expect(read("/?decompress=1")).toThrow(expect.objectContaining({ clickhouseCode: 48 }));
    expect(read("/?session_id=a")).toThrow(expect.objectContaining({ clickhouseCode: 48 }));
    expect(read("/", { "content-encoding": "zstd" })).toThrow(expect.objectContaining({ clickhouseCode: 89 }));
  });

  it("finds the user in ClickHouse's headers, in basic authorization or in the URL", () => {
    expect(readClaimedUser(url("/"), { "x-clickhouse-user": "a", "x-clickhouse-key": "b" })).toEqual({
      username: "a",
      password: "b",
    });
    expect(readClaimedUser(url("/"), basic("a:b:c"))).toEqual({ username: "a", password: "b:c" });
    expect(readClaimedUser(url("/?user=a&password=b"), {})).toEqual({ username: "a", password: "b" });
    expect(readClaimedUser(url("/"), {})).toEqual({ username: "default", password: "" });
  });
});

describe("the user of a request", () => {
  it("is the store's user with its password, and no other", () => {
    authenticate(user, { ...user });
    for (const claimed of [
      { ...user, password: "j".repeat(20) },
      { ...user, password: "" },
      { ...user, username: "" },
      { username: "default", password: "" },
      { username: "__proto__", password: "" },
    ]) {
      expect(() => authenticate(user, claimed)).toThrow(expect.objectContaining({ clickhouseCode: 516 }));
    }
  });
});

describe("answering an error", () => {
  it("has the engine's number and name in the form that clients parse", () => {
    const error = adapterErrorOf(new Error("Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE)"));
    expect(error).toMatchObject({ clickhouseCode: 60, clickhouseName: "UNKNOWN_TABLE" });
    expect(renderAdapterError(error, "26.7.2.1")).toBe(
      "Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE) (version 26.7.2.1)\n",
    );
  });

  it("has a number of its own if the error is not the engine's", () => {
    expect(adapterErrorOf(new Error("broken pipe"))).toMatchObject({ clickhouseCode: 1001 });
  });

  it("has the HTTP status that a server would give", () => {
    expect([60, 62, 164, 497, 516, 202, 396].map(httpStatusOf)).toEqual([404, 400, 403, 403, 403, 503, 500]);
  });
});
