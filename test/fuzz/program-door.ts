/** Programs for the sandbox that call host functions, log, report and answer with whatever JavaScript can make. */
import type { Random } from '../support/seeded-random.ts';

const VALUES = [
  'undefined',
  'null',
  '-0',
  'NaN',
  '2n ** 4000n',
  '"\\ud800"',
  'Symbol("x")',
  'new Map([[NaN, 1], [{}, new Set([1n])]])',
  'new Set(Array.from({ length: 3000 }, (_, i) => (BigInt(i) << 64n) + 1n))',
  'new Proxy({}, { ownKeys() { throw new Error("trap"); } })',
  'new Proxy([], { get() { return 1; } })',
  'Object.create(null)',
  'Object.defineProperty({}, "x", { get() { throw null; }, enumerable: true })',
  'new Uint8Array(100_000)',
  'new ArrayBuffer(8, { maxByteLength: 64 })',
  'new Date(NaN)',
  '/(a+)+$/u',
  'new (class Odd {})()',
  'new Error("e", { cause: new Error("c") })',
  '(() => { const a = []; a[0] = a; return a; })()',
  '(() => { let d = {}; for (let i = 0; i < 700; i++) d = { d }; return d; })()',
  'Array.from({ length: 50_000 }, (_, i) => ({ ["k" + i]: i }))',
  '{ __proto__: null, then: 1 }',
  '{ then(resolve) { resolve(this); } }',
  'JSON.parse(\'{"__proto__":{"x":1}}\')',
  'async () => { throw undefined; }',
  'function () { return arguments; }',
  '"x".repeat(1 << 20)',
  'new WeakRef({})',
  'Promise.reject(new Error("loose"))',
  'globalThis',
];

export function program(random: Random): string {
  const value = () => `(${random.pick(VALUES)})`;
  const lines = Array.from({ length: 1 + random.below(8) }, () => statement(random, value));
  return `export default async () => {\n${lines.join('\n')}\n};`;
}

function statement(random: Random, value: () => string): string {
  switch (random.below(11)) {
    case 0:
    case 1:
      return `try { await echo(${value()}); } catch {}`;
    case 2:
      return `console.${random.pick(['log', 'error', 'debug'])}(${value()}, ${value()});`;
    case 3:
      return `try { report(${value()}); } catch {}`;
    case 4:
      return `try { const back = await echo(() => ${value()}); await back?.(); } catch {}`;
    case 5:
      return `await Promise.allSettled(Array.from({ length: ${random.below(400)} }, () => echo(${value()})));`;
    case 6:
      return `try { await fails(${value()}); } catch (e) { console.log(e); }`;
    case 7:
      return `return ${value()};`;
    case 8:
      return `throw ${value()};`;
    case 9:
      return 'void Promise.reject(1);';
    default:
      return `for (let i = 0; i < ${random.below(2000)}; i++) console.log(i, "${'y'.repeat(random.below(200))}");`;
  }
}
