/**
 * Copies what structured clone takes of a value: plain data at any depth, dates, maps, sets, errors, bytes, cycles. An object of an
 * author's class is copied as plain data, without its prototype. The rest is left out, and its place is listed.
 */
import { kindOf } from '../../core/value/tagged-json.ts';
import { errorMessage } from '../../core/value/thrown.ts';

export interface Cloneable {
  readonly value: unknown;
  /** Place and reason of each part that is left out, such as `state.context.done: a function cannot be kept`. */
  readonly dropped: string[];
}

/** Places that are listed; further ones are counted. */
const LISTED = 20;

/** `name`: the value's name in the places. */
export function keepCloneable(value: unknown, name: string): Cloneable {
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
