/** The error for a value that cannot cross the sandbox boundary, with the value's path and kind in its message. */
import { classNameOf, dataOf, isRevoked } from './brand.ts';
import { cut, define, freeze, matchOf, stringify, symbolText } from './intrinsics.ts';
import { NAME_LENGTH } from './wire.ts';

/** A class for the convenience of users; our own code recognises it by its name, as it does all errors. */
export class SerializationError extends Error {
  constructor(where: string, what: string, hint: string | undefined) {
    super(
      `${where} is ${what} and cannot cross the sandbox boundary.${hint === undefined ? '' : ` ${hint}`}`,
    );
    const name = { __proto__: null, value: 'SerializationError', writable: true, configurable: true };
    define(this, 'name', name);
  }
}
// User code can reach the class through an instance, and could otherwise put its own constructor above it.
freeze(SerializationError);
freeze(SerializationError.prototype);

/** How a value is reached from the value that contains it. */
export type Via = 'root' | 'property' | 'item' | 'get' | 'keys' | 'values';

/** One step of the path to a value. */
export interface Step {
  readonly parent: Step | undefined;
  readonly via: Via;
  readonly key: unknown;
}

const PATH_LENGTH = 256;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** Formats a path such as `value.a[3].get("k")`; a long path is cut to its end. */
export function pathOf(root: string, step: Step | undefined): string {
  let path = '';
  let at = step;
  while (at !== undefined && path.length < PATH_LENGTH) {
    path = stepText(at) + path;
    at = at.parent;
  }
  return at === undefined ? root + path : `${root}…${path}`;
}

function stepText({ via, key }: Step): string {
  if (via === 'property') {
    const name = key as string;
    return name.length <= NAME_LENGTH && matchOf(IDENTIFIER, name) ? `.${name}` : `[${quoted(name)}]`;
  }
  if (via === 'root') return '';
  if (via === 'item') return `[${key as number}]`;
  if (via === 'get') return `.get(${typeof key === 'string' ? quoted(key) : (key as number)})`;
  return `.${via}()[${key as number}]`;
}

const quoted = (text: string): string => stringify(shortened(text));

export function shortened(text: string, length: number = NAME_LENGTH): string {
  return text.length <= length ? text : `${cut(text, 0, length)}…`;
}

/** Why a value cannot cross; `text` replaces it when it is only displayed. */
export interface Refusal {
  readonly what: string;
  /** Always an own property, even if `undefined`: a missing one would be looked up in a polluted prototype. */
  readonly hint: string | undefined;
  readonly text: string;
}

export function refusalOf(value: object): Refusal {
  if (isRevoked(value)) return { what: 'a revoked Proxy', hint: undefined, text: '[revoked Proxy]' };
  const name = shortened(classNameOf(value));
  const text = `[${name === '' ? 'object' : name}]`;
  switch (name) {
    case '':
      return { what: 'an instance of a class', hint: 'Pass plain data instead.', text };
    case 'Promise':
      return { what: 'a Promise', hint: 'Await it first.', text };
    case 'Number':
    case 'String':
    case 'Boolean':
    case 'BigInt':
    case 'Symbol':
      return { what: `a boxed ${name}`, hint: 'Pass the primitive value itself.', text };
    default:
      return { what: `an instance of ${name}`, hint: 'Pass plain data instead.', text };
  }
}

export function symbolRefusal(value: symbol): Refusal {
  const text = shortened(symbolText(value));
  return { what: `the symbol ${text}`, hint: 'Pass a string instead.', text: `[${text}]` };
}

export function functionRefusal(value: object): Refusal {
  const name = functionName(value);
  return {
    what: name === '' ? 'a function' : `the function ${name}`,
    hint: 'Only data can be passed here.',
    text: name === '' ? '[Function]' : `[Function: ${name}]`,
  };
}

/** Returns at most 64 characters; empty if the name is a getter, or if a trap of a Proxy throws. */
export function functionName(value: object): string {
  try {
    const name = dataOf(value, 'name');
    return typeof name === 'string' ? cut(name, 0, NAME_LENGTH) : '';
  } catch {
    return '';
  }
}

/** Returns `[Getter threw: …]` for any thrown value. Runs no getter; what a trap of a Proxy throws is ignored. */
export function threwText(thrown: unknown): string {
  let text = '';
  try {
    if (typeof thrown === 'string') text = thrown;
    else if (typeof thrown === 'object' && thrown !== null) {
      const message = dataOf(thrown, 'message');
      text = typeof message === 'string' ? message : classNameOf(thrown);
    } else text = typeof thrown;
  } catch {}
  return `[Getter threw: ${shortened(text, PATH_LENGTH)}]`;
}
