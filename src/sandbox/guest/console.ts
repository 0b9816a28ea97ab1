/** The `console` that a run has when its caller gave none: what is written becomes `logs` (§13.9, SHOULD). */
import { type EncodeLimits, encodeLenient } from '../codec/encode.ts';
import { sayWire } from './port.ts';

/** Places in LOG_LEVELS of the protocol, by the console's method. */
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
    methods[name] = (...args) => sayWire('log', level, 0, encodeLenient(args, limits, 'console'));
  }
  methods.assert = (holds, ...args) => {
    if (!holds) sayWire('log', 3, 0, encodeLenient(args, limits, 'console'));
  };
  // Code written for other consoles must not fall over; there is nothing to group, count or time here.
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
