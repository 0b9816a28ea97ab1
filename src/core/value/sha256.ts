/**
 * SHA-256 (FIPS 180-4) of ASCII texts, as hex digits, for the workflow VM, which lacks Node's crypto and Web Crypto.
 */

const ROUNDS = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
] as const;

const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
] as const;

/** `text` must be visible ASCII: each character is taken as one byte. */
export function sha256OfAscii(text: string): string {
  const state: number[] = [...START];
  const words = toWords(text);
  for (let block = 0; block < words.length; block += 16) compress(state, words.slice(block, block + 16));
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

function toWords(text: string): number[] {
  const words: number[] = new Array((((text.length + 8) >> 6) + 1) * 16).fill(0);
  const put = (at: number, byte: number) => {
    words[at >> 2] = (words[at >> 2] ?? 0) | (byte << (24 - (at % 4) * 8));
  };
  for (let at = 0; at < text.length; at++) put(at, text.charCodeAt(at));
  put(text.length, 0x80);
  words[words.length - 1] = text.length * 8;
  return words;
}

function compress(state: number[], block: readonly number[]): void {
  const w: number[] = [...block];
  for (let t = 16; t < 64; t++) {
    const [a = 0, b = 0, c = 0, d = 0] = [w[t - 2], w[t - 7], w[t - 15], w[t - 16]];
    w.push((small(a, 17, 19, 10) + b + small(c, 7, 18, 3) + d) | 0);
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < 64; t++) {
    const one = (h + large(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + (ROUNDS[t] ?? 0) + (w[t] ?? 0)) | 0;
    const two = (large(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
  }
  for (const [n, value] of [a, b, c, d, e, f, g, h].entries()) state[n] = ((state[n] ?? 0) + value) | 0;
}

const turn = (x: number, by: number) => (x >>> by) | (x << (32 - by));
const small = (x: number, a: number, b: number, shift: number) => turn(x, a) ^ turn(x, b) ^ (x >>> shift);
const large = (x: number, a: number, b: number, c: number) => turn(x, a) ^ turn(x, b) ^ turn(x, c);
