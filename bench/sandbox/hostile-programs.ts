/** Hostile programs, the same text for every engine, and how to detect whether they did harm. */

export interface Hostile {
  readonly name: string;
  readonly source: string;
  /** Arguments for the code, which may also call the host function `same`. */
  readonly args?: readonly unknown[];
  /** Milliseconds; default 200. */
  readonly deadlineMs?: number;
  /**
   * `ends`: the program must be terminated. Otherwise: what it means if the answer, or the host after it, shows harm.
   */
  readonly harm: 'ends' | 'allowed' | 'delivered' | 'reached';
}

const ARRAYS = 'const all = []; for (;;) all.push(new Array(1000).fill(1)); export default 1;';
const MAP = 'const all = new Map(); for (let i = 0; ; i++) all.set(i, { i }); export default 1;';

export const HOSTILE: readonly Hostile[] = [
  { name: 'endless loop', harm: 'ends', source: 'for (;;); export default 1;' },
  {
    name: 'endless microtasks',
    harm: 'ends',
    source: 'export default async () => { for (;;) await null; };',
  },
  { name: 'arrays without end', harm: 'ends', source: ARRAYS },
  { name: 'a Map without end', harm: 'ends', source: MAP },
  // With a long deadline only the memory limit can stop these.
  { name: 'arrays, deadline 2 s', harm: 'ends', source: ARRAYS, deadlineMs: 2000 },
  { name: 'a Map, deadline 2 s', harm: 'ends', source: MAP, deadlineMs: 2000 },
  {
    name: 'repeat, 2 MB each',
    harm: 'ends',
    source: "for (;;) 'ab'.repeat(1 << 20).includes('c'); export default 1;",
  },
  {
    name: 'normalize, 2 MB each',
    harm: 'ends',
    source: "const text = 'a\\u030a'.repeat(1 << 20); for (;;) text.normalize('NFC'); export default 1;",
  },
  {
    name: 'BigInt squared for ever',
    harm: 'ends',
    source: 'let a = 3n; for (;;) a = a * a; export default 1;',
  },
  {
    name: 'fill of 16 MiB for ever',
    harm: 'ends',
    source: 'const all = new Float64Array(2 << 20); for (;;) all.fill(1.5); export default 1;',
  },
  {
    name: 'eval, new Function',
    harm: 'allowed',
    source: `
      const ways = [
        () => (0, eval)('40 + 2'),
        () => new Function('return 40 + 2')(),
        () => (async () => undefined).constructor('return 40 + 2')() && 42,
      ];
      const ran = ways.map((way) => { try { return way() === 42; } catch { return false; } });
      export default ran.filter(Boolean).length;`,
  },
  {
    name: 'constructor.constructor',
    harm: 'reached',
    args: [{ given: [] }],
    source: `
      export default function (given) {
        const from = [() => globalThis, () => same, () => given, () => given.given, () => same(1)];
        for (const each of from) {
          try {
            const { pid } = each().constructor.constructor('return process')();
            if (pid > 0) return pid;
          } catch {}
        }
        try { return process.pid; } catch {}
        return 0;
      }`,
  },
  {
    name: 'prototype pollution',
    harm: 'reached',
    args: [{ given: [] }],
    source: `
      export default async function (given) {
        const answer = same(1);
        for (const each of [given, given.given, same, answer, globalThis]) {
          for (let at = each; at; at = Object.getPrototypeOf(at)) {
            try { if (at !== each) at.polluted = true; } catch {}
          }
        }
        given.__proto__.polluted = true;
        return 0;
      }`,
  },
  {
    name: 'a result of 512 MB',
    harm: 'delivered',
    source: "export default 'x'.repeat(2 ** 29 - 24);",
  },
];
