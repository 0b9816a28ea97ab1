/** Values that a careful program does not expect: as values, as JSON text, and as raw bytes. */
import type { Random } from '../support/seeded-random.ts';

const TEXTS = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u2028',
  '__proto__',
  'constructor',
  'toString',
  '../../etc/passwd',
  '{{name}}',
  "'; DROP TABLE message; --",
  '%s%n%x',
  '\u001b[2J\u001b[1;1H',
  '😀'.repeat(40),
  '-0',
  '1e999',
  'null',
  '$ref',
];
const NUMBERS = [0, -0, -1, 1.5, 2 ** 31, -(2 ** 31), 2 ** 53, 2 ** 63, 1e300, -1e300, 5e-324, 255, 65_536];
const KEYS = [
  'id',
  'content',
  'role',
  'metadata',
  'attachments',
  'arguments',
  'name',
  'silent',
  'stored',
  'reason',
  'inMs',
  'reportOf',
  'boot',
  'speaks',
  'agent',
  'version',
  'carried',
  'messages',
  'parentId',
  'rootId',
  'userId',
  'executionId',
  '__proto__',
  'constructor',
  'toJSON',
  'then',
  'length',
];

export function text(random: Random): string {
  if (random.chance(0.6)) return random.pick(TEXTS);
  if (random.chance(0.1)) return 'x'.repeat(random.below(200_000));
  return Array.from({ length: random.below(40) }, () => String.fromCharCode(random.below(0x1_0000))).join('');
}

export function number(random: Random): number {
  return random.chance(0.7) ? random.pick(NUMBERS) : (random.next() - 0.5) * 10 ** random.below(30);
}

/**
 * A random JSON value, at most `depth` levels deep; `deep` makes the rare one that has thousands of levels, as text.
 */
export function json(random: Random, depth = 4): unknown {
  const kind = random.below(depth > 0 ? 8 : 5);
  if (kind === 0) return null;
  if (kind === 1) return random.chance(0.5);
  if (kind === 2) return number(random);
  if (kind <= 4) return text(random);
  if (kind === 5) return Array.from({ length: random.below(6) }, () => json(random, depth - 1));
  return record(random, depth - 1);
}

export function record(random: Random, depth = 3): Record<string, unknown> {
  const entries = Array.from({ length: random.below(7) }, () => [
    random.chance(0.8) ? random.pick(KEYS) : text(random),
    json(random, depth),
  ]);
  // Includes own `__proto__` keys, as JSON.parse makes them.
  const made: Record<string, unknown> = {};
  for (const [key, value] of entries as [string, unknown][]) {
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return made;
}

/** JSON text with `levels` levels of nesting around a small value. */
export function deep(random: Random, levels: number): string {
  const list = random.chance(0.5);
  const open = list ? '[' : '{"a":';
  return `${open.repeat(levels)}1${(list ? ']' : '}').repeat(levels)}`;
}

export function bytes(random: Random, most = 2_000): Buffer {
  return Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
}
