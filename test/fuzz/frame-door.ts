/**
 * Frames that a compromised child of the sandbox sends to its host: valid messages changed at random, and random bytes.
 */

import type { Random } from '../support/seeded-random.ts';
import { json, number, record, text } from './garbage.ts';

const KINDS = ['ready', 'crossing', 'remark', 'settled', 'idle', 'run', '__proto__'];
const WIRES = [
  'undefined',
  'text("x")',
  'args("x")',
  '{ text: "[[[[" }',
  '{ text: "[[1],[2],\\"VA\\"]", bytes: Buffer.alloc(64) }',
];

/**
 * Source for `escaped-main.ts`. The program exits by itself, so the run ends whatever the host does with its frames.
 */
export function frames(random: Random): string {
  const count = 1 + random.below(20);
  const lines = Array.from({ length: count }, () => statement(random));
  // Some runs settle before the exit; all end with it.
  return `${lines.join('\n')}\nawait new Promise((resolve) => setTimeout(resolve, 5)); require("node:process").reallyExit(0);`;
}

function statement(random: Random): string {
  const kind = random.below(10);
  if (kind === 0) return `raw(Buffer.from("${bytes(random)}", "hex"));`;
  if (kind === 1)
    return `{ const b = frame(${literal(message(random))}, ${random.pick(WIRES)}); b[${random.below(40)} % b.length] ^= ${1 + random.below(255)}; raw(b); }`;
  if (kind === 2)
    return `raw(frame(${literal(message(random))}, ${random.pick(WIRES)}).subarray(0, ${random.below(60)}));`;
  const times = random.chance(0.1) ? random.below(3000) : 1;
  return `for (let i = 0; i < ${times}; i++) say(${literal(message(random))}, ${random.pick(WIRES)});`;
}

function bytes(random: Random): string {
  return Array.from({ length: random.below(200) }, () =>
    random.below(256).toString(16).padStart(2, '0'),
  ).join('');
}

/** `"RUN"` stands for the id of the current run. */
function message(random: Random): unknown {
  if (random.chance(0.1)) return json(random);
  const made: Record<string, unknown> = {
    kind: random.pick(KINDS),
    run: random.chance(0.8) ? 'RUN' : number(random),
  };
  if (random.chance(0.6))
    made.crossing = {
      kind: random.pick(['call', 'answer', 'x']),
      id: small(random),
      fn: small(random),
      ok: random.chance(0.5),
    };
  if (random.chance(0.6)) made.remark = { kind: random.pick(['report', 'log', 'x']), level: small(random) };
  if (random.chance(0.6)) made.settlement = settlement(random);
  if (random.chance(0.5)) made.memoryUsedBytes = number(random);
  if (random.chance(0.5)) made.rssBytes = number(random);
  if (random.chance(0.2)) Object.assign(made, record(random));
  return made;
}

function settlement(random: Random): unknown {
  const error = {
    name: random.chance(0.8) ? 'x' : json(random),
    message: text(random),
    line: number(random),
    stack: json(random),
  };
  return {
    status: random.pick(['success', 'error', 'memory', 'link_error', 'terminated', 'x']),
    held: random.chance(0.3),
    error,
  };
}

const small = (random: Random): number => (random.chance(0.8) ? random.below(6) : number(random));

function literal(value: unknown): string {
  return (JSON.stringify(value) ?? 'null').replaceAll('"RUN"', 'run');
}
