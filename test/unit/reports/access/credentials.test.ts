import { expect, it } from "vitest";
import { cookieOf, loginCookie, logoutCookie, setCookie } from "../../../../reports/access/credentials.ts";

it("sets cookies that scripts and other sites cannot use", () => {
  expect(loginCookie("gpul_a-b_c", { isHttps: true })).toBe(
    "__Host-gpu_ledger_token=gpul_a-b_c; Path=/; HttpOnly; SameSite=Lax; Secure",
  );
  expect(logoutCookie({ isHttps: false })).toBe("gpu_ledger_token=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0");
});

it.each(["a; Domain=example.com", "a, b=c", "a\r\nset-cookie: b=c", 'a"b', "a b", "é"])(
  "never sets a value that could add attributes: %j",
  (value) => expect(() => setCookie("a", value, { isHttps: true })).toThrow("has other characters"),
);

it("reads a cookie by its whole name, and none of two", () => {
  expect(cookieOf("xa=1; a=2=3 ;b=4", "a")).toBe("2=3");
  expect(cookieOf("a=1; a=2", "a")).toBe("malformed");
  expect(cookieOf("b=1", "a")).toBeUndefined();
});
