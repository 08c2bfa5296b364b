/** The currencies that are money (ISO 4217, list one, without funds, metals and test codes). */
const CODES = `
AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP CNY COP
CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD
IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR
MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP
SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VED VES VND VUV WST XAF XCD XCG
XOF XPF YER ZAR ZMW ZWG`;

/** The currencies whose minor unit does not have 2 digits. */
const OTHER_DIGITS: Readonly<Record<number, string>> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
};

const DIGITS: ReadonlyMap<string, number> = new Map([
  ...wordsOf(CODES).map((code) => [code, 2] as const),
  ...Object.entries(OTHER_DIGITS).flatMap(([digits, codes]) =>
    wordsOf(codes).map((code) => [code, Number(digits)] as const),
  ),
]);

/** Returns the number of digits of a currency's minor unit: 2 for USD, 0 for JPY; undefined if it is not a currency of ISO 4217. */
export function minorDigitsOf(currency: string): number | undefined {
  return DIGITS.get(currency);
}

function wordsOf(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
