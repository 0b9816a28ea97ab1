/**
 * Converts `state.context` for the store and back. What structured clone takes is kept; the rest is dropped and noted.
 * S4. It never throws: what code leaves in its scratch does not change the outcome of the code.
 * - A scratch of plain JSON is stored as JSON. Of another one, each key whose value JSON cannot hold is stored as
 *   `{"$clone": base64}`, the serialised clone.
 * - A key that does not fit into the limit is dropped whole.
 */

import { deserialize, serialize } from 'node:v8';
import { toJsonText } from '../../core/value/json-value.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import { isRecord } from '../../core/value/record.ts';
import { kindOf } from '../../core/value/tagged-json.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import type { Flow } from '../state/running-execution.ts';
import type { ThreadEnv } from '../state/thread-env.ts';

export interface WrittenScratch {
  /** Absent if the scratch has not changed since the work began. */
  readonly text?: string;
  /** What was dropped, and why; one line for each place. */
  readonly dropped: readonly string[];
}

export interface Scratch {
  readonly flow: Flow;
  /** The stored text of the scratch when it was opened. */
  readonly before: string;
  /** Adds a function that removes secrets, which the code has read, from what is written. */
  redactWith(redactKnown: ThreadEnv['redactKnown']): void;
  write(): WrittenScratch;
}

type Stored = Readonly<Record<string, unknown>>;

export function openScratch(stored: Stored): Scratch {
  const before = JSON.stringify(stored);
  const flow: Flow = { directive: undefined, scratch: readScratch(JSON.parse(before) as Stored) };
  const redactions: ThreadEnv['redactKnown'][] = [];
  const redact = <Value>(value: Value) => redactions.reduce((each, redactKnown) => redactKnown(each), value);
  return {
    flow,
    before,
    redactWith: (redactKnown) => void redactions.push(redactKnown),
    write() {
      const plain = toPlainText(redact, flow.scratch);
      const { text, dropped } =
        plain === undefined ? toMixedText(redact, flow.scratch) : { text: plain, dropped: [] };
      return text === before ? { dropped } : { text, dropped };
    },
  };
}

/** The values of a stored scratch, as the code left them. */
export function readScratch(stored: Stored): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(stored).map(([key, value]) => [key, isClone(value) ? readClone(value.$clone) : value]),
  );
}

function isClone(value: unknown): value is { readonly $clone: string } {
  return isRecord(value) && typeof value.$clone === 'string' && Object.keys(value).length === 1;
}

function readClone(text: string): unknown {
  try {
    return deserialize(Buffer.from(text, 'base64'));
  } catch {
    // Written by a version of Node that this one cannot read.
    return undefined;
  }
}

type Redact = <Value>(value: Value) => Value;

/** S2, plain JSON as JSON: undefined if the scratch is something else, or too large. */
function toPlainText(redact: Redact, scratch: Stored): string | undefined {
  try {
    if (Object.values(scratch).some(isClone)) return undefined;
    return toJsonText(redact(scratch), { name: 'state.context', maxBytes: LIMITS.scratchBytes });
  } catch {
    return undefined;
  }
}

/** S2, each key as it can be stored. */
function toMixedText(redact: Redact, scratch: Stored): { readonly text: string; readonly dropped: string[] } {
  const { value, dropped } = keepCloneable(scratch, 'state.context');
  const members: string[] = [];
  let bytes = 2;
  for (const [key, member] of Object.entries(redact(value) as Stored)) {
    if (member === undefined) continue;
    const text = `${JSON.stringify(key)}:${toMemberText(member)}`;
    bytes += utf8Length(text) + 1;
    if (bytes <= LIMITS.scratchBytes) members.push(text);
    else {
      dropped.push(`state.context.${key}: with it, the whole exceeds ${LIMITS.scratchBytes} bytes`);
      bytes -= utf8Length(text) + 1;
    }
  }
  return { text: `{${members.join(',')}}`, dropped };
}

function toMemberText(member: unknown): string {
  try {
    if (!isClone(member)) return toJsonText(member, { name: 'it', maxBytes: LIMITS.scratchBytes });
  } catch {
    // Not plain JSON.
  }
  return JSON.stringify({ $clone: serialize(member).toString('base64') });
}

/**
 * Copies what structured clone takes of a value: plain data at any depth, dates, maps, sets, errors, bytes, cycles. An object of an
 * author's class is copied as plain data, without its prototype. The rest is left out, and its place is listed.
 */
interface Cloneable {
  readonly value: unknown;
  /** Place and reason of each part that is left out, such as `state.context.done: a function cannot be kept`. */
  readonly dropped: string[];
}

/** Places that are listed; further ones are counted. */
const LISTED = 20;

/** `name`: the value's name in the places. */
function keepCloneable(value: unknown, name: string): Cloneable {
  const copy = new CloneableCopy();
  const kept = copy.keep(value, name);
  const { dropped } = copy;
  const more = dropped.length - LISTED;
  return {
    value: kept,
    dropped: more > 0 ? [...dropped.slice(0, LISTED), `${more} more parts cannot be kept`] : dropped,
  };
}

const DROPPED = Symbol('dropped');

class CloneableCopy {
  readonly dropped: string[] = [];
  readonly #made = new Map<object, unknown>();

  keep(part: unknown, place: string): unknown {
    if (typeof part === 'function' || typeof part === 'symbol')
      return this.#drop(place, `a ${typeof part} cannot be kept`);
    if (typeof part !== 'object' || part === null) return part;
    const before = this.#made.get(part);
    if (before !== undefined) return before;
    try {
      return this.#keepObject(part, place);
    } catch (error) {
      return this.#drop(place, errorMessage(error));
    }
  }

  #keepObject(part: object, place: string): unknown {
    const kind = kindOf(part);
    if (kind === 'Array') {
      const list: unknown[] = [];
      this.#made.set(part, list);
      // By index, since holes are members too; a dropped member leaves its place.
      for (let index = 0; index < (part as unknown[]).length; index++)
        list.push(orUndefined(this.keep((part as unknown[])[index], `${place}[${index}]`)));
      return list;
    }
    if (kind === 'Map') {
      const map = new Map<unknown, unknown>();
      this.#made.set(part, map);
      for (const [key, value] of part as Map<unknown, unknown>) {
        const kept = [this.keep(key, `a key of ${place}`), this.keep(value, `a value of ${place}`)];
        if (!kept.includes(DROPPED)) map.set(kept[0], kept[1]);
      }
      return map;
    }
    if (kind === 'Set') {
      const set = new Set<unknown>();
      this.#made.set(part, set);
      for (const value of part as Set<unknown>) {
        const kept = this.keep(value, `a value of ${place}`);
        if (kept !== DROPPED) set.add(kept);
      }
      return set;
    }
    if (kind !== 'Object') return this.#keepLeaf(part, place, kind);
    const record: Record<string, unknown> = {};
    this.#made.set(part, record);
    for (const key of Object.keys(part)) {
      const kept = this.#keepMember(part, key, `${place}.${key}`);
      // Not an assignment: a key may be `__proto__`.
      if (kept !== DROPPED)
        Object.defineProperty(record, key, {
          value: kept,
          enumerable: true,
          writable: true,
          configurable: true,
        });
    }
    return record;
  }

  /** One getter that throws must not take the other members with it. */
  #keepMember(part: object, key: string, place: string): unknown {
    try {
      return this.keep((part as Record<string, unknown>)[key], place);
    } catch (error) {
      return this.#drop(place, errorMessage(error));
    }
  }

  /** A date, an error, bytes; not a promise or a weak map, and not an object whose data are private. */
  #keepLeaf(part: object, place: string, kind: string): unknown {
    const clone: unknown = structuredClone(part);
    if (typeof clone === 'object' && clone !== null && kindOf(clone) !== kind)
      return this.#drop(place, `an object of the class ${kind} cannot be kept`);
    this.#made.set(part, clone);
    return clone;
  }

  #drop(place: string, why: string): typeof DROPPED {
    this.dropped.push(`${place}: ${why}`);
    return DROPPED;
  }
}

const orUndefined = (kept: unknown) => (kept === DROPPED ? undefined : kept);
