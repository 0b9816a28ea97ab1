/** Base64 (RFC 4648, padded) without Buffer: core also runs without Node. */

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

export function toBase64(bytes: Uint8Array): string {
  const groups: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const [second, third] = [bytes[at + 1], bytes[at + 2]];
    const bits = ((bytes[at] ?? 0) << 16) | ((second ?? 0) << 8) | (third ?? 0);
    const end = (second === undefined ? '=' : digit(bits >> 6)) + (third === undefined ? '=' : digit(bits));
    groups.push(digit(bits >> 18) + digit(bits >> 12) + end);
  }
  return groups.join('');
}

function digit(bits: number): string {
  return DIGITS[bits & 63] as string;
}

const DATA_URL = /^data:[^,]{0,300};base64,/i;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/**
 * Normalises base64 in the forms that people, browsers and models send: either alphabet, broken into lines, or as a
 * data URL. Returns the bare base64 text without decoding it, or undefined if the input is not base64.
 */
export function parseBase64(data: unknown): string | undefined {
  if (typeof data !== 'string') return undefined;
  const text = data.trimStart().replace(DATA_URL, '').replace(/\s+/g, '');
  return BASE64.test(text) ? text : undefined;
}
