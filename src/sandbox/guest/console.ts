/** The `console` of a run whose caller gave none: its output becomes `logs` (§13.9, SHOULD). */
import { type EncodeLimits, encodeLenient } from '../codec/encode.ts';
import { sendWire } from './port.ts';

/** The console's methods, each with its index in LOG_LEVELS (protocol.ts). */
const METHODS = [
  ['log', 0],
  ['info', 1],
  ['warn', 2],
  ['error', 3],
  ['debug', 4],
  ['trace', 4],
  ['dir', 0],
  ['table', 0],
] as const;

export function createConsole(limits: EncodeLimits): object {
  const methods: Record<string, (...args: unknown[]) => void> = {};
  for (const [name, level] of METHODS) {
    methods[name] = (...args) => sendWire('log', level, 0, encodeLenient(args, limits, 'console'));
  }
  methods.assert = (holds, ...args) => {
    if (!holds) sendWire('log', 3, 0, encodeLenient(args, limits, 'console'));
  };
  // No-ops, so that code written for other consoles does not fail: there is nothing to group, count or time here.
  for (const name of [
    'group',
    'groupCollapsed',
    'groupEnd',
    'time',
    'timeEnd',
    'timeLog',
    'count',
    'clear',
  ]) {
    methods[name] = () => undefined;
  }
  return Object.freeze(methods);
}
